package git

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// cloned makes a bare origin with one commit on main and a clone of it, and returns a way to commit to the origin.
func (h *home) cloned(name string) (r *Repo, commit func(branch, text string) OID) {
	h.t.Helper()
	seed := h.repo(name + "-seed")
	bare := h.path(name + "-origin.git")
	h.sh(h.dir, "clone", "-q", "--bare", "--template=", seed.Root, bare)
	h.sh(h.dir, "clone", "-q", "--template=", "file://"+bare, h.path(name))
	return h.open(h.path(name)), func(branch, text string) OID {
		h.t.Helper()
		h.sh(seed.Root, "checkout", "-q", "-B", branch)
		h.write(seed.Root+"/a.txt", text)
		h.sh(seed.Root, "commit", "-q", "-am", text)
		h.sh(seed.Root, "push", "-q", "--force", "file://"+bare, branch)
		return h.oid(seed.Root, "HEAD")
	}
}

func TestABranchIsFetchedFromOrigin(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r, commit := h.cloned("demo")
	before := h.sh(r.Root, "for-each-ref", "refs/heads", "refs/tags")
	status := h.sh(r.Root, "status", "--porcelain", "--branch")
	for name, c := range map[string]struct{ branch, text string }{
		"a new commit":        {"main", "second\n"},
		"a new branch":        {"feature/x", "third\n"},
		"a rewritten one":     {"feature/x", "fourth\n"},
		"nothing that is new": {"main", "fifth\n"},
	} {
		want := commit(c.branch, c.text)
		for range 2 { // a second fetch finds nothing new
			got, err := r.FetchBranch(t.Context(), c.branch, nil)
			if err != nil || got != want {
				t.Errorf("%s: %s %v, want %s", name, got, err, want)
			}
		}
	}
	if now := h.sh(r.Root, "for-each-ref", "refs/heads", "refs/tags"); now != before {
		t.Errorf("branches or tags changed: %s", now)
	}
	if now := strings.Split(h.sh(r.Root, "status", "--porcelain", "--branch"), " ["); now[0] != status {
		t.Errorf("the checkout changed: %s", now)
	}
	if _, err := os.Lstat(r.CommonDir + "/FETCH_HEAD"); err == nil {
		t.Error("FETCH_HEAD was written, which is the person's")
	}
	_, err := r.FetchBranch(t.Context(), "nowhere", nil)
	wantErr(t, err, ErrRefNotFound)
	_, err = r.FetchBranch(t.Context(), "--upload-pack=touch /tmp/x", nil)
	wantErr(t, err, ErrBadBranch)
	_, err = h.repo("alone").FetchBranch(t.Context(), "main", nil)
	wantErr(t, err, ErrNoRemote)
}

func TestManyFetchesOfOneRepositoryAllSucceed(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r, commit := h.cloned("demo")
	want := commit("main", "second\n")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got, err := r.FetchBranch(context.Background(), "main", nil); err != nil || got != want {
				t.Errorf("%s %v", got, err)
			}
		})
	}
	all.Wait()
}

// What does not answer, or would ask, is an error within the bound, and leaves everything as it was.
func TestAnOriginThatCannotBeReached(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0") // the kernel accepts, and nobody reads
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	private := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer private.Close()
	asked := h.path("asked")
	h.program(h.path("bin/askpass"), "#!/bin/sh\ntouch '"+asked+"'\nsleep 1000\n")
	h.program(h.path("bin/ssh"), "#!/bin/sh\ncase \"$*\" in *BatchMode=yes*) exit 255;; esac\ntouch '"+asked+"'; sleep 1000\n")
	h.env["GIT_ASKPASS"], h.env["SSH_ASKPASS"], h.env["DISPLAY"] = h.path("bin/askpass"), h.path("bin/askpass"), ":0"
	h.sh(h.dir, "config", "--global", "core.askPass", h.path("bin/askpass"))
	for name, c := range map[string]struct{ url, why string }{
		"it never answers":             {"git://" + silent.Addr().String() + "/demo", "no answer in time"},
		"nothing listens":              {"git://" + gone.Addr().String() + "/demo", "fatal: unable to connect"},
		"it is not there":              {"file://" + h.path("nowhere"), "fatal: "},
		"it wants a password":          {private.URL + "/demo", "fatal: could not read Username"},
		"ssh would ask":                {"ssh://person@127.0.0.1:1/demo", "fatal: Could not read from remote"},
		"a protocol that is forbidden": {"ext::sleep 1000", "fatal: transport 'ext' not allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := h.cloned("demo-" + strings.ReplaceAll(name, " ", "-"))
			h.sh(r.Root, "remote", "set-url", "origin", c.url)
			h.sh(r.Root, "config", "core.sshCommand", h.path("bin/ssh"))
			before := h.sh(r.Root, "for-each-ref")
			g := *r.git
			g.FetchTimeout = 20 * time.Second
			if strings.Contains(c.why, "in time") {
				g.FetchTimeout = 300 * time.Millisecond
			}
			_, err := r.with(&g).FetchBranch(t.Context(), "main", nil)
			wantErr(t, err, ErrUnreachable)
			if why := Why(err); !strings.Contains(why, c.why) {
				t.Errorf("%q, want %q; %v", why, c.why, err)
			}
			if now := h.sh(r.Root, "for-each-ref"); now != before {
				t.Errorf("refs changed: %s", now)
			}
		})
	}
	if _, err := os.Lstat(asked); err == nil {
		t.Error("somebody was asked")
	}
	r, _ := h.cloned("demo")
	if _, err := r.FetchBranch(cancelled(), "main", nil); err == nil || strings.Contains(err.Error(), ErrUnreachable.Error()) {
		t.Errorf("a caller that went away: %v", err)
	}
}
