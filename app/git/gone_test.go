package git

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What only a reflog, a tag or a second branch made in the checkout holds is in the archive: all of these may be deleted
// while the task is archived, and the reflog that comes back must lead somewhere.
func TestCommitsThatOthersHeldSurviveThem(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("p")
	dir := h.worktree(r, "task")
	base := h.oid(dir, "HEAD")
	commit := func(text string) OID {
		h.write(dir+"/a.txt", text+"\n")
		h.sh(dir, "commit", "-qam", text)
		return h.oid(dir, "HEAD")
	}
	tagged := commit("only a tag holds it")
	h.sh(dir, "tag", "v1")
	h.sh(dir, "reset", "-q", "--hard", string(base))
	h.sh(dir, "checkout", "-q", "-b", "side")
	beside := commit("only another branch holds it")
	h.sh(dir, "checkout", "-q", "--detach", string(base))
	detached := commit("a detached HEAD held it")
	h.sh(dir, "checkout", "-q", "task")
	work := commit("the work")
	h.sh(dir, "tag", "-a", "-m", "of the work", "v3")
	told := h.oid(dir, "v3")
	reflog := h.sh(dir, "reflog", "--format=%H %gs")

	a, err := r.Archive(t.Context(), ArchiveOptions{Dir: dir, ID: "t1", Store: h.path("store"), Branches: []string{"task"}, Base: base})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.RemoveArchived(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	h.sh(r.Root, "branch", "-D", "side")
	h.sh(r.Root, "tag", "-d", "v1", "v3")
	h.sh(r.Root, "reflog", "expire", "--expire=now", "--all")
	h.sh(r.Root, "gc", "-q", "--prune=now")
	for what, oid := range map[string]OID{"tagged": tagged, "on another branch": beside, "detached": detached, "the work": work, "the tag object": told} {
		if out, err := h.try(r.Root, "cat-file", "-e", string(oid)); err != nil {
			t.Errorf("%s is gone: %s", what, out)
		}
	}
	if err := r.Restore(t.Context(), RestoreOptions{Archived: a, Dir: dir}); err != nil {
		t.Fatal(err)
	}
	got := h.sh(dir, "reflog", "--format=%H %gs")
	if !strings.HasSuffix(got, reflog) {
		t.Errorf("the reflog that came back:\n%s\nwas:\n%s", got, reflog)
	}
	h.sh(r.Root, "fsck", "--full", "--strict")
}

// submodule gives a checkout a submodule with work of its own: a commit that is nowhere else, a staged and an untracked file.
func (h *home) submodule(dir, path string) OID {
	h.t.Helper()
	h.repo("lib")
	h.sh(dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", h.path("lib"), path)
	h.sh(dir, "commit", "-qm", "add "+path)
	sub := filepath.Join(dir, path)
	h.write(sub+"/a.txt", "committed in the submodule\n")
	h.sh(sub, "commit", "-qam", "nowhere else")
	h.write(sub+"/a.txt", "staged in the submodule\n")
	h.sh(sub, "add", "a.txt")
	h.write(sub+"/new.txt", "untracked in the submodule\n")
	return h.oid(sub, "HEAD")
}

func TestSubmodulesComeBackWithAllTheirWork(t *testing.T) {
	t.Parallel()
	for name, place := range map[string]func(h *home, dir string) string{
		"in their place":   func(_ *home, dir string) string { return dir },
		"in another place": func(h *home, _ string) string { return h.path("else", "where", "other") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			r := h.repo("p")
			dir := h.worktree(r, "task")
			head := h.submodule(dir, "deps/lib")
			want, status := snapshot(t, dir), h.sh(dir, "status", "--porcelain=v2")
			inner := h.sh(dir+"/deps/lib", "status", "--porcelain=v2")
			a, err := r.Archive(t.Context(), ArchiveOptions{Dir: dir, ID: "t1", Store: h.path("store"), Branches: []string{"task"}})
			if err != nil {
				t.Fatal(err)
			}
			if len(a.Submodules) != 1 || a.Bytes < 1000 {
				t.Errorf("%d submodules in %d bytes", len(a.Submodules), a.Bytes)
			}
			if err := r.RemoveArchived(t.Context(), a); err != nil {
				t.Fatal(err)
			}
			if left, _ := filepath.Glob(filepath.Join(r.CommonDir, "worktrees", "*")); len(left) > 0 {
				t.Errorf("git's record is left: %q", left)
			}
			h.sh(r.Root, "gc", "-q", "--prune=now")
			to := place(h, dir)
			if err := r.Restore(t.Context(), RestoreOptions{Archived: a, Dir: to}); err != nil {
				t.Fatal(err)
			}
			got := snapshot(t, to)
			if to != dir { // git's own record has another name there
				delete(want, ".git")
				delete(got, ".git")
				delete(want, "deps/lib/.git")
				delete(got, "deps/lib/.git")
			}
			same(t, "files", want, got)
			if now := h.sh(to, "status", "--porcelain=v2"); now != status {
				t.Errorf("status:\n%s\nwas:\n%s", now, status)
			}
			sub := to + "/deps/lib"
			if now := h.sh(sub, "status", "--porcelain=v2"); now != inner || h.oid(sub, "HEAD") != head {
				t.Errorf("of the submodule:\n%s\nwas:\n%s", now, inner)
			}
			if top := h.sh(sub, "rev-parse", "--show-toplevel"); top != sub {
				t.Errorf("its repository has its files at %s", top)
			}
			h.sh(sub, "fsck", "--full")
			h.sh(sub, "commit", "-qm", "goes on")
			if a, err = r.Archive(t.Context(), ArchiveOptions{Dir: to, ID: "t1", Store: h.path("store"), Branches: []string{"task"}}); err != nil {
				t.Fatal(err)
			}
			// A submodule that changed after it was kept is not removed.
			h.sh(sub, "commit", "-q", "--allow-empty", "-m", "too late")
			wantErr(t, r.RemoveArchived(t.Context(), a), ErrChanged)
			h.sh(sub, "log", "-1", "--format=%s")
		})
	}
}

func TestACheckoutThatIsGoneIsArchivedFromWhatGitHas(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lose   func(h *home, r *Repo, dir string)
		staged bool // what was staged is still there
		branch string
	}{
		"the directory was deleted": {func(_ *home, _ *Repo, dir string) { os.RemoveAll(dir) }, true, "task"},
		"its record too": {func(h *home, r *Repo, dir string) {
			os.RemoveAll(dir)
			h.sh(r.Root, "worktree", "remove", "-f", "-f", dir)
		}, false, "task"},
		"its index too": {func(h *home, r *Repo, dir string) {
			os.RemoveAll(dir)
			os.Remove(filepath.Join(r.CommonDir, "worktrees", "task", "index"))
		}, false, "task"},
		"its HEAD is damaged": {func(h *home, r *Repo, dir string) {
			os.RemoveAll(dir)
			h.write(filepath.Join(r.CommonDir, "worktrees", "task", "HEAD"), "garbage\n")
		}, false, "task"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			r := h.repo("p")
			dir := h.worktree(r, "task")
			h.write(dir+"/a.txt", "committed\n")
			h.sh(dir, "commit", "-qam", "work")
			head := h.oid(dir, "HEAD")
			h.write(dir+"/a.txt", "staged\n")
			h.sh(dir, "add", "a.txt")
			h.write(dir+"/lost.txt", "nowhere else\n")
			o := ArchiveOptions{Dir: dir, ID: "t1", Store: h.path("store"), Branches: []string{"task"}}
			_, err := r.ArchiveGone(t.Context(), o)
			wantErr(t, err, ErrDirExists)
			c.lose(h, r, dir)
			if _, err := r.Archive(t.Context(), o); !errors.Is(err, ErrNoCheckout) {
				t.Errorf("an ordinary archive: %v", err)
			}
			a, err := r.ArchiveGone(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.RemoveArchived(t.Context(), a); err != nil {
				t.Fatal(err)
			}
			if left, _ := filepath.Glob(filepath.Join(r.CommonDir, "worktrees", "*")); len(left) > 0 && name != "its HEAD is damaged" {
				t.Errorf("git's record is left: %q", left)
			}
			h.sh(r.Root, "branch", "-D", "task")
			h.sh(r.Root, "gc", "-q", "--prune=now")
			if err := r.Restore(t.Context(), RestoreOptions{Archived: a, Dir: dir}); err != nil {
				t.Fatal(err)
			}
			want := "committed\n"
			if c.staged {
				want = "staged\n"
			}
			text, err := os.ReadFile(dir + "/a.txt")
			if err != nil || string(text) != want || h.oid(dir, "HEAD") != head || h.sh(dir, "branch", "--show-current") != c.branch {
				t.Errorf("came back with %q (%v), at %s", text, err, h.sh(dir, "branch", "--show-current"))
			}
			if status := h.sh(dir, "status", "--porcelain"); c.staged != (status == "M  a.txt") || !c.staged && status != "" {
				t.Errorf("status %q", status)
			}
		})
	}
}

func TestALockedWorktreeIsFoundWhereItIs(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("p")
	dir, to := h.path("tasks", "one"), h.path("tasks", "else")
	for _, o := range []AddOptions{{Dir: dir, Branch: "one", Reason: "termic task 1"}, {Dir: h.path("tasks", "two"), Branch: "two", Reason: "termic task 2"}} {
		o.Base = h.oid(r.Root, "HEAD")
		if err := r.AddWorktree(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	h.sh(r.Root, "worktree", "move", "-f", "-f", dir, to)
	for reason, want := range map[string]string{"termic task 1": to, "termic task": "", "": ""} {
		if got := LockedWith(r.CommonDir, reason); got != want {
			t.Errorf("locked with %q: %q, want %q", reason, got, want)
		}
	}
}
