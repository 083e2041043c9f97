package git

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// filtered makes a repository whose tree names a filter for which the person has a program: whoever can commit
// decides on what it runs at a checkout.
func filtered(t *testing.T) (h *home, r *Repo, marker string) {
	t.Helper()
	h = newHome(t)
	r = h.repo("p")
	marker = h.path("MARKER")
	h.write(h.path("p", ".gitattributes"), "*.bin filter=own\n*.txt text eol=crlf\n")
	h.write(h.path("p", "x.bin"), "stored\n")
	h.program(h.path("p", "tools", "x.sh"), "#!/bin/sh\n")
	h.program(h.path("smudge.sh"), "#!/bin/sh\necho ran >> "+marker+"\nsed s/stored/smudged/\n")
	h.sh(r.Root, "add", "-A")
	h.sh(r.Root, "commit", "-q", "-m", "filter")
	h.sh(r.Root, "config", "filter.own.smudge", h.path("smudge.sh"))
	return h, r, marker
}

func TestPlainCheckoutRunsNoFilter(t *testing.T) {
	for name, plain := range map[string]bool{"plain": true, "with the person's configuration": false} {
		t.Run(name, func(t *testing.T) {
			h, r, marker := filtered(t)
			dir := h.path("tasks", "x")
			if err := r.AddWorktree(t.Context(), AddOptions{Dir: dir, Branch: "x", Base: h.oid(r.Root, "HEAD"), Plain: plain}); err != nil {
				t.Fatal(err)
			}
			if ran := exists(marker); ran == plain {
				t.Errorf("the filter ran: %v", ran)
			}
			got, err := os.ReadFile(filepath.Join(dir, "x.bin"))
			if want := map[bool]string{true: "stored\n", false: "smudged\n"}[plain]; err != nil || string(got) != want {
				t.Errorf("x.bin is %q, %v", got, err)
			}
			if got, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(got) != "one\r\ntwo\r\nthree\r\n" {
				t.Errorf("line endings are not the person's: %q, %v", got, err)
			}
			if info, err := os.Stat(filepath.Join(dir, "tools", "x.sh")); err != nil || info.Mode()&0o100 == 0 {
				t.Errorf("the executable bit: %v, %v", info, err)
			}
			h.sh(r.Root, "config", "--unset", "filter.own.smudge")
			if out := h.sh(dir, "status", "--porcelain"); plain && out != "" {
				t.Errorf("status: %s", out)
			}
			if out := h.sh(dir, "ls-files", "-v"); strings.Contains(out, "S ") {
				t.Errorf("files are skipped:\n%s", out)
			}
		})
	}
}

// What is brought back of an archive whose commits a cage made is written without filters too.
func TestPlainRestoreRunsNoFilter(t *testing.T) {
	for name, plain := range map[string]bool{"plain": true, "with the person's configuration": false} {
		t.Run(name, func(t *testing.T) {
			h, r, marker := filtered(t)
			dir := h.path("tasks", "x")
			if err := r.AddWorktree(t.Context(), AddOptions{Dir: dir, Branch: "x", Base: h.oid(r.Root, "HEAD"), Plain: true}); err != nil {
				t.Fatal(err)
			}
			h.write(filepath.Join(dir, "mine.txt"), "untracked\n")
			a, err := r.Archive(t.Context(), ArchiveOptions{Dir: dir, ID: "x", Store: h.path("store.git")})
			if err != nil {
				t.Fatal(err)
			}
			if err := r.RemoveArchived(t.Context(), a); err != nil {
				t.Fatal(err)
			}
			if exists(marker) {
				t.Fatal("archiving ran the filter")
			}
			if err := r.Restore(t.Context(), RestoreOptions{Archived: a, Dir: dir, Plain: plain}); err != nil {
				t.Fatal(err)
			}
			if ran := exists(marker); ran == plain {
				t.Errorf("the filter ran: %v", ran)
			}
			if got, err := os.ReadFile(filepath.Join(dir, "mine.txt")); err != nil || string(got) != "untracked\n" {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

func TestPlainCheckoutFetchesNothing(t *testing.T) {
	h := newHome(t)
	origin := h.repo("origin", "a.txt", "d/b.txt")
	h.sh(origin.Root, "config", "uploadpack.allowFilter", "true")
	h.sh(h.dir, "clone", "-q", "--template=", "--filter=blob:none", "--no-checkout", "file://"+origin.Root, h.path("partial"))
	r := h.open(h.path("partial"))
	base := h.oid(origin.Root, "HEAD")
	err := r.AddWorktree(t.Context(), AddOptions{Dir: h.path("tasks", "x"), Branch: "x", Base: base, Plain: true})
	if err == nil {
		t.Fatal("files that were never fetched were checked out without fetching")
	}
	if exists(h.path("tasks", "x")) {
		t.Error("the directory is left")
	}
	if err := r.AddWorktree(t.Context(), AddOptions{Dir: h.path("tasks", "x"), Branch: "x", Base: base}); err != nil {
		t.Errorf("the twin that may fetch: %v", err)
	}
}

func TestHolders(t *testing.T) {
	h := newHome(t)
	r := h.repo("p")
	first := h.oid(r.Root, "HEAD")
	h.sh(r.Root, "switch", "-q", "-c", "side")
	h.sh(r.Root, "commit", "-q", "--allow-empty", "-m", "side")
	side := h.oid(r.Root, "HEAD")
	h.sh(r.Root, "tag", "-a", "-m", "x", "v1")
	h.sh(r.Root, "update-ref", "refs/remotes/origin/side", string(side))
	h.sh(r.Root, "update-ref", "refs/termic/t/tip", string(side))
	h.sh(r.Root, "switch", "-q", "main")
	for _, c := range []struct {
		what string
		of   OID
		want []string
	}{
		{"a commit of every branch", first, []string{"refs/heads/main", "refs/heads/side", "refs/remotes/origin/side", "refs/tags/v1", "HEAD"}},
		{"a commit of a side branch", side, []string{"refs/heads/side", "refs/remotes/origin/side", "refs/tags/v1"}},
	} {
		got, err := r.Holders(t.Context(), c.of)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v, want %q", c.what, got, err, c.want)
		}
	}
	h.sh(r.Root, "checkout", "-q", "--detach", "side")
	h.sh(r.Root, "branch", "-q", "-D", "side")
	h.sh(r.Root, "tag", "-d", "v1")
	h.sh(r.Root, "update-ref", "-d", "refs/remotes/origin/side")
	if got, err := r.Holders(t.Context(), side); err != nil || !slices.Equal(got, []string{"HEAD"}) {
		t.Errorf("a commit of a detached HEAD only: %q, %v", got, err)
	}
	_, err := r.Holders(t.Context(), "x")
	wantErr(t, err, ErrBadRef)
	if _, err := r.Holders(t.Context(), OID(strings.Repeat("a", 40))); err == nil {
		t.Error("a commit that is nowhere has holders")
	}
}

// A repository that somebody put in the place of a checkout's .git file is not asked anything.
func TestACheckoutIsFoundByItsRecordOnly(t *testing.T) {
	h := newHome(t)
	r := h.repo("p")
	dir := h.worktree(r, "x")
	if _, err := r.Status(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	other := h.repo("other")
	if err := os.Remove(filepath.Join(dir, ".git")); err != nil {
		t.Fatal(err)
	}
	for name, plant := range map[string]func(){
		"nothing":               func() {},
		"a repository":          func() { h.sh(dir, "init", "-q", "--template=") },
		"another's record":      func() { h.write(filepath.Join(dir, ".git"), "gitdir: "+other.CommonDir+"\n") },
		"the project's":         func() { h.write(filepath.Join(dir, ".git"), "gitdir: "+r.CommonDir+"\n") },
		"a link to one of ours": func() { os.Symlink(h.worktree(r, "y")+"/.git", filepath.Join(dir, ".git")) }, //nolint:errcheck // the status says
	} {
		plant()
		_, err := r.Status(t.Context(), dir)
		if wantErr(t, err, ErrNotWorktree); err == nil {
			t.Errorf("with %s in its place the checkout has a status", name)
		}
		if err := os.RemoveAll(filepath.Join(dir, ".git")); err != nil {
			t.Fatal(err)
		}
	}
}
