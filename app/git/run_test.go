package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestFind(t *testing.T) {
	t.Run("the real one", func(t *testing.T) {
		h := newHome(t)
		if h.git.Version().Less(minVersion) || !filepath.IsAbs(h.git.Path()) {
			t.Errorf("%v at %q", h.git.Version(), h.git.Path())
		}
	})
	t.Run("from the environment of the process", func(t *testing.T) {
		if _, err := Find(t.Context()); err != nil {
			t.Error(err)
		}
	})
	for name, c := range map[string]struct {
		script string
		want   error
	}{
		"too old":               {`echo git version 2.35.9`, ErrTooOld},
		"just new enough":       {`echo git version 2.36.0`, nil},
		"two numbers":           {`echo git version 3.0`, nil},
		"with a vendor suffix":  {`echo 'git version 2.39.5 (Apple Git-154)'`, nil},
		"a release candidate":   {`echo git version 2.55.0.rc1`, nil},
		"from a third-party":    {`echo git version 2.44.0.windows.1`, nil},
		"silent":                {``, errAny},
		"something else":        {`echo hello`, errAny},
		"refusing":              {`exit 128`, errAny},
		"drowning us in output": {`yes git version 2.40`, ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			(&home{t: t}).program(filepath.Join(dir, "git"), "#!/bin/sh\n"+c.script+"\n")
			_, err := findIn(t.Context(), func(k string) (string, bool) { return dir + ":" + os.Getenv("PATH"), k == "PATH" })
			if c.want == errAny {
				if err == nil {
					t.Error("no error")
				}
				return
			}
			wantErr(t, err, c.want)
			var old *TooOldError
			if errors.As(err, &old) && (old.Found.String() != "2.35.9" || !strings.Contains(err.Error(), "2.35.9")) {
				t.Errorf("%v does not name the version", err)
			}
		})
	}
	t.Run("an entry of PATH that is relative", func(t *testing.T) {
		dir := t.TempDir()
		t.Chdir(dir)
		os.WriteFile("git", []byte("#!/bin/sh\necho git version 9.9.9\n"), 0o755)
		for _, path := range []string{".", "", ":", "./", "relative:."} {
			_, err := findIn(t.Context(), func(k string) (string, bool) { return path, k == "PATH" })
			wantErr(t, err, ErrNoGit)
		}
	})
	t.Run("a zero value runs nothing", func(t *testing.T) {
		_, err := new(Git).Open(t.Context(), "/")
		wantErr(t, err, ErrNoGit)
	})
}

var errAny = errors.New("any error")

func TestOnlyAllowedVariablesReachGit(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for _, name := range []string{"GIT_DIR", "GIT_EXEC_PATH", "GIT_CONFIG_PARAMETERS", "GIT_SSH_COMMAND", "SSH_AUTH_SOCK", "TERMIC_MCP_TOKEN", "LD_PRELOAD", "GIT_EXTERNAL_DIFF", "GIT_TRACE"} {
		h.env[name] = "/secret"
	}
	g := h.fakeGit(`case "$*" in *version) exec "$GIT" version;; *config*) exit 1;; esac; env; cat`)
	for name, c := range map[string]struct {
		call      call
		has, lack []string
	}{
		"a reading call":                 {call{}, []string{"GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C", "HOME=" + h.env["HOME"]}, []string{"SSH_AUTH_SOCK"}},
		"a writing call":                 {call{write: true}, []string{"GIT_TERMINAL_PROMPT=0"}, []string{"GIT_OPTIONAL_LOCKS", "SSH_AUTH_SOCK"}},
		"a call that may reach a remote": {call{write: true, remote: true}, []string{"SSH_AUTH_SOCK=/secret"}, []string{"GIT_NO_LAZY_FETCH", "GIT_ALLOW_PROTOCOL"}},
		"a sealed call":                  {call{seal: &scratch{dir: h.dir}}, []string{"HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null"}, []string{"SSH_AUTH_SOCK", h.env["HOME"]}},
	} {
		t.Run(name, func(t *testing.T) {
			c.call.args = []string{"whatever"}
			out, err := g.run(t.Context(), c.call)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range c.has {
				if !strings.Contains(string(out), want) {
					t.Errorf("%s is missing in\n%s", want, out)
				}
			}
			for _, no := range append(c.lack, "GIT_DIR", "GIT_EXEC_PATH", "GIT_CONFIG_PARAMETERS", "GIT_SSH_COMMAND", "TERMIC_MCP_TOKEN", "LD_PRELOAD", "GIT_EXTERNAL_DIFF", "GIT_TRACE") {
				if strings.Contains(string(out), no) {
					t.Errorf("%s reached git", no)
				}
			}
		})
	}
}

func TestRunBoundsWhatGitMayDo(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	pids := filepath.Join(h.dir, "pids")
	fake := func(body string) *Git {
		g := h.fakeGit(`case "$*" in *version) exec "$GIT" version;; esac; echo $$ >> '` + pids + `'; ` + body)
		g.ReadTimeout = 300 * time.Millisecond
		return g
	}
	t.Run("it hangs", func(t *testing.T) {
		_, err := fake("sleep 1000").run(t.Context(), call{args: []string{"x"}})
		wantErr(t, err, ErrNoAnswer)
	})
	t.Run("it hangs and ignores the request to end", func(t *testing.T) {
		start := time.Now()
		_, err := fake("trap '' TERM; while :; do sleep 1000; done").run(t.Context(), call{args: []string{"x"}})
		wantErr(t, err, ErrNoAnswer)
		if d := time.Since(start); d > termGrace+3*time.Second {
			t.Errorf("took %s", d)
		}
	})
	t.Run("a child of it keeps the pipe open", func(t *testing.T) {
		g := fake("sleep 1000 & echo done")
		g.ReadTimeout = time.Minute
		out, err := g.run(t.Context(), call{args: []string{"x"}})
		if err != nil || string(out) != "done\n" {
			t.Errorf("%q %v", out, err)
		}
	})
	t.Run("the caller goes away", func(t *testing.T) {
		_, err := fake("sleep 1000").run(cancelled(), call{args: []string{"x"}})
		wantErr(t, err, context.Canceled)
	})
	t.Run("it prints without end", func(t *testing.T) {
		_, err := fake("yes").run(t.Context(), call{args: []string{"x"}, limit: 1000, timeout: time.Minute})
		wantErr(t, err, ErrTooLarge)
	})
	t.Run("it prints without end, and a part will do", func(t *testing.T) {
		out, cut, err := fake("yes").runCut(t.Context(), call{args: []string{"x"}, limit: 1000, cut: true, timeout: time.Minute})
		if len(out) != 1000 || !cut || err != nil {
			t.Errorf("%d bytes, cut %v, %v", len(out), cut, err)
		}
	})
	t.Run("it prints exactly the limit", func(t *testing.T) {
		out, cut, err := fake("printf 12345").runCut(t.Context(), call{args: []string{"x"}, limit: 5, cut: true, timeout: time.Minute})
		if string(out) != "12345" || cut || err != nil {
			t.Errorf("%q, cut %v, %v", out, cut, err)
		}
	})
	t.Run("it complains without end", func(t *testing.T) {
		_, err := fake("i=0; while [ $i -lt 5000 ]; do echo 0123456789 >&2; i=$((i+1)); done; exit 3").run(t.Context(), call{args: []string{"x"}, timeout: time.Minute})
		var exit *ExitError
		if !errors.As(err, &exit) || exit.Code != 3 || len(exit.Stderr) > stderrLimit {
			t.Errorf("%.100v", err)
		}
	})
	t.Run("it quotes a password", func(t *testing.T) {
		_, err := fake("echo fatal: https://me:pass-word@example.org/x >&2; exit 1").run(t.Context(), call{args: []string{"x"}})
		if err == nil || strings.Contains(err.Error(), "pass-word") || !strings.Contains(err.Error(), "https://***@example.org/x") {
			t.Errorf("%v", err)
		}
	})
	t.Run("it reads its input", func(t *testing.T) {
		out, err := fake("cat; echo end").run(t.Context(), call{args: []string{"x"}})
		if err != nil || string(out) != "end\n" {
			t.Errorf("%q %v", out, err)
		}
	})
	b, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range strings.Fields(string(b)) {
		pid, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		n++
		// A group with a zombie in it (nobody reaps orphans here) is still there.
		if err := syscall.Kill(-pid, 0); err == nil && !onlyZombies(pid) {
			t.Errorf("process group %d is still there", pid)
		}
	}
	if n < 8 {
		t.Errorf("only %d processes were seen", n)
	}
}

// A4 of the public bug reports: a git that fails, and one that hangs, on `worktree list`.
func TestAFailedListIsNeverAnEmptyOne(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"it exits 128":              `exit 128`,
		"it hangs":                  `sleep 1000`,
		"it says nothing and exits": `exit 0`,
		"it is killed":              `kill -9 $$`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			r := h.repo("p")
			dir := h.worktree(r, "task")
			g := h.fakeGit(`case "$*" in *worktree*list*) ` + script + `;; esac; exec "$GIT" "$@"`)
			g.ReadTimeout = 500 * time.Millisecond
			bad := r.with(g)
			before := snapshot(t, h.dir)
			if list, err := bad.Worktrees(t.Context()); err == nil || list != nil {
				t.Errorf("%v %v", list, err)
			}
			if err := bad.RemoveWorktree(t.Context(), dir); err == nil || errors.Is(err, ErrMainWorktree) {
				t.Errorf("removal: %v", err)
			}
			if err := bad.DeleteBranch(t.Context(), "task", h.oid(dir, "HEAD")); err == nil || errors.Is(err, ErrBranchInUse) {
				t.Errorf("deletion: %v", err)
			}
			same(t, "everything", before, snapshot(t, h.dir))
			g.ReadTimeout = readTimeout
			if _, err := bad.Status(t.Context(), dir); err != nil {
				t.Errorf("other calls: %v", err)
			}
		})
	}
}
