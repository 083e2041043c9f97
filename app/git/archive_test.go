package git

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// roundTrip archives the checkout, removes it, collects all garbage of the
// project, restores it at another place and returns that place. The record goes
// through JSON on its way.
func (h *home) roundTrip(r *Repo, dir string, o ArchiveOptions) (string, Archived) {
	h.t.Helper()
	o.Dir, o.ID, o.Store = dir, "t1", h.path("store")
	a, err := r.Archive(h.t.Context(), o)
	if err != nil {
		h.t.Fatal(err)
	}
	if err := r.RemoveArchived(h.t.Context(), a); err != nil {
		h.t.Fatal(err)
	}
	h.sh(r.Root, "reflog", "expire", "--expire=now", "--all")
	if o.Branches == nil {
		h.sh(r.Root, "gc", "-q", "--prune=now")
	} else { // what of gc matters here, in less time
		h.sh(r.Root, "prune", "--expire=now")
	}
	b, err := json.Marshal(a)
	if err != nil {
		h.t.Fatal(err)
	}
	var back Archived
	if err := json.Unmarshal(b, &back); err != nil {
		h.t.Fatal(err)
	}
	to := h.path("restored", filepath.Base(dir))
	if err := r.Restore(h.t.Context(), RestoreOptions{Archived: back, Dir: to}); err != nil {
		h.t.Fatal(err)
	}
	h.sh(r.Root, "fsck", "--full")
	return to, a
}

// roundTripQuick is roundTrip without its own checks on the way.
func (h *home) roundTripQuick(r *Repo, dir string) (string, Archived) {
	h.t.Helper()
	a, err := r.Archive(h.t.Context(), ArchiveOptions{Dir: dir, ID: "t1", Store: h.path("store")})
	if err != nil {
		h.t.Fatal(err)
	}
	if err := r.RemoveWorktree(h.t.Context(), dir); err != nil {
		h.t.Fatal(err)
	}
	h.sh(r.Root, "prune", "--expire=now")
	to := h.path("restored", filepath.Base(dir))
	if err := r.Restore(h.t.Context(), RestoreOptions{Archived: a, Dir: to}); err != nil {
		h.t.Fatal(err)
	}
	return to, a
}

// facts are what must be the same before and after: as plain git sees it, and
// the files themselves. The index is compared by what it holds, not by its stat data.
func (h *home) facts(dir string) map[string]string {
	h.t.Helper()
	m := snapshot(h.t, dir)
	delete(m, ".")
	delete(m, ".git")
	branch, _ := h.try(dir, "symbolic-ref", "-q", "HEAD")
	headOID, _ := h.try(dir, "rev-parse", "-q", "--verify", "HEAD")
	m["<branch>"], m["<head>"] = branch, headOID
	m["<index>"] = h.sh(dir, "ls-files", "--stage")
	m["<status>"] = h.sh(dir, "status", "--porcelain=v2", "--untracked-files=all")
	return m
}

func TestAnArchivedCheckoutComesBack(t *testing.T) {
	t.Parallel()
	files := []string{"a.txt", "b.txt", "run.sh", "dir/c.txt", "dir/d.txt", "gone.txt", "kind"}
	for name, prepare := range map[string]func(h *home, r *Repo, dir string){
		"nothing changed": func(h *home, r *Repo, dir string) {},
		"only an untracked file": func(h *home, r *Repo, dir string) {
			h.write(dir+"/notes/only.txt", "untracked\n")
		},
		"staged and then changed again": func(h *home, r *Repo, dir string) {
			h.write(dir+"/a.txt", "staged\n")
			h.sh(dir, "add", "a.txt")
			h.write(dir+"/a.txt", "staged\nand more\n")
			h.write(dir+"/new.txt", "new and staged\n")
			h.sh(dir, "add", "new.txt")
			h.sh(dir, "rm", "-q", "--cached", "b.txt")
			h.sh(dir, "mv", "dir/c.txt", "dir/moved.txt")
			os.Remove(dir + "/gone.txt")
		},
		"executable bits and links": func(h *home, r *Repo, dir string) {
			os.Chmod(dir+"/run.sh", 0o755)
			os.Symlink("no/such/place", dir+"/dangling")
			os.Symlink("/etc", dir+"/etc")
			h.write(dir+"/tool", "#!/bin/sh\n")
			os.Chmod(dir+"/tool", 0o755)
		},
		"files and directories change places": func(h *home, r *Repo, dir string) {
			os.Remove(dir + "/kind")
			h.write(dir+"/kind/inner.txt", "was a file\n")
			os.RemoveAll(dir + "/dir")
			h.write(dir+"/dir", "was a directory\n")
		},
		"a directory without files takes the place of a file": func(h *home, r *Repo, dir string) {
			os.Remove(dir + "/kind")
			os.MkdirAll(dir+"/kind/deep", 0o755)
			os.Remove(dir + "/gone.txt")
			os.Mkdir(dir+"/gone.txt", 0o755)
			os.Remove(dir + "/run.sh")
			os.Mkdir(dir+"/run.sh", 0o755)
			syscall.Mkfifo(dir+"/run.sh/fifo", 0o600)
		},
		"a directory of a FIFO, and one of nothing": func(h *home, r *Repo, dir string) {
			os.Mkdir(dir+"/logs", 0o755)
			os.Mkdir(dir+"/mixed", 0o755)
			syscall.Mkfifo(dir+"/mixed/fifo", 0o600)
		},
		"assume-unchanged": func(h *home, r *Repo, dir string) {
			h.sh(dir, "update-index", "--assume-unchanged", "a.txt")
			h.write(dir+"/a.txt", "mine alone\n")
		},
		"a link takes the place of a directory": func(h *home, r *Repo, dir string) {
			os.RemoveAll(dir + "/dir")
			os.Symlink("/etc", dir+"/dir")
		},
		"odd names, binary and CRLF bytes": func(h *home, r *Repo, dir string) {
			h.write(dir+"/with space/ä\t\"q\"\n.txt", "odd\n")
			h.write(dir+"/\xff\xfe.bin", "\x00\x01\xff\xfe")
			h.write(dir+"/-n", "dash\n")
			h.write(dir+"/:(top)x", "pathspec\n")
			h.write(dir+"/back\\slash~1", "x\n")
			h.write(dir+"/crlf.txt", "a\r\nb\r\n")
			h.write(dir+"/a.txt", "one\r\ntwo\n")
			os.MkdirAll(dir+"/empty/deep", 0o755)
		},
		"a commit on a detached HEAD": func(h *home, r *Repo, dir string) {
			h.sh(dir, "checkout", "-q", "--detach")
			h.write(dir+"/a.txt", "detached\n")
			h.sh(dir, "commit", "-qam", "detached")
		},
		"a merge with conflicts": func(h *home, r *Repo, dir string) {
			h.sh(dir, "checkout", "-q", "-b", "other")
			h.write(dir+"/a.txt", "theirs\n")
			h.write(dir+"/b.txt", "changed here\n")
			h.sh(dir, "commit", "-qam", "theirs")
			h.sh(dir, "checkout", "-q", "task")
			h.write(dir+"/a.txt", "ours\n")
			h.sh(dir, "rm", "-q", "b.txt")
			h.sh(dir, "commit", "-qam", "ours")
			if out, err := h.try(dir, "merge", "other"); err == nil {
				h.t.Fatalf("no conflict: %s", out)
			}
		},
		"an interactive rebase that stopped": func(h *home, r *Repo, dir string) {
			for _, s := range []string{"x", "y"} {
				h.write(dir+"/a.txt", s+"\n")
				h.sh(dir, "commit", "-qam", s)
			}
			h.sh(r.Root, "commit", "-q", "--allow-empty", "-m", "base moved")
			h.write(r.Root+"/a.txt", "main\n")
			h.sh(r.Root, "commit", "-qam", "main")
			if out, err := h.try(dir, "rebase", "main"); err == nil {
				h.t.Fatalf("no conflict: %s", out)
			}
		},
		"intent to add": func(h *home, r *Repo, dir string) {
			h.write(dir+"/later.txt", "later\n")
			h.sh(dir, "add", "-N", "later.txt")
		},
		"a branch without commits": func(h *home, r *Repo, dir string) {
			h.sh(dir, "checkout", "-q", "--orphan", "fresh")
			h.sh(dir, "rm", "-q", "--cached", "b.txt")
			h.write(dir+"/new.txt", "new\n")
		},
		"a split index": func(h *home, r *Repo, dir string) {
			h.sh(dir, "update-index", "--split-index")
			h.write(dir+"/a.txt", "staged\n")
			h.sh(dir, "add", "a.txt")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			r := h.repo("p", files...)
			dir := h.worktree(r, "task")
			prepare(h, r, dir)
			want := h.facts(dir)
			to, _ := h.roundTrip(r, dir, ArchiveOptions{Branches: []string{"task"}})
			same(t, name, want, h.facts(to))
			if exists(dir) {
				t.Error("the old checkout is still there")
			}
			s, err := r.Status(t.Context(), to)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(name, "rebase") {
				if s.InProgress != "rebase" {
					t.Errorf("in progress: %q", s.InProgress)
				}
				h.sh(to, "rebase", "--abort")
				if got := h.sh(to, "symbolic-ref", "HEAD"); got != "refs/heads/task" {
					t.Errorf("after the rebase HEAD is at %q", got)
				}
			}
		})
	}
}

func TestCommitsThatOnlyAReflogReachesSurvive(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("p")
	dir := h.worktree(r, "task")
	h.write(dir+"/a.txt", "amended away\n")
	h.sh(dir, "commit", "-qam", "first try")
	lost := h.oid(dir, "HEAD")
	h.sh(dir, "commit", "-q", "--amend", "-m", "second try")
	h.sh(dir, "checkout", "-q", "--detach")
	h.write(dir+"/a.txt", "detached\n")
	h.sh(dir, "commit", "-qam", "detached one")
	h.sh(dir, "commit", "-q", "--allow-empty", "-m", "detached two")
	detached := h.oid(dir, "HEAD")
	h.sh(dir, "update-ref", "refs/worktree/mine", string(detached))
	h.sh(dir, "checkout", "-q", "task")
	h.write(dir+"/a.txt", "stashed\n")
	h.sh(dir, "stash", "push", "-q", "-m", "kept by the repository")
	stash := h.oid(dir, "stash@{0}")

	to, a := h.roundTrip(r, dir, ArchiveOptions{})
	for what, oid := range map[string]OID{"amended": lost, "detached": detached, "stash": stash} {
		if got, err := r.Resolve(t.Context(), string(oid)); err != nil || got != oid {
			t.Errorf("%s commit: %v %v", what, got, err)
		}
	}
	if h.oid(to, "stash@{0}") != stash {
		t.Error("the stash is not where it was")
	}
	if h.oid(to, "HEAD@{1}") == "" || h.oid(to, "refs/worktree/mine") != detached {
		t.Error("private refs and reflog did not come back")
	}
	if len(a.Pins) != 4 || !slices.Contains(a.Pins, lost) || !slices.Contains(a.Pins, detached) || !slices.Contains(a.Pins, stash) {
		t.Errorf("pins %v: want HEAD, the amended commit, the last detached one, the stash", a.Pins)
	}
	if err := r.DropPins(t.Context(), "t1"); err != nil {
		t.Fatal(err)
	}
	if refs := h.sh(r.Root, "for-each-ref", "refs/termic"); refs != "" {
		t.Errorf("pins are left: %s", refs)
	}
}

func TestArchiveRefusesWhatItCannotKeep(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(h *home, r *Repo, dir string)
		options ArchiveOptions
		want    error
		paths   []string
	}{
		"a nested repository that the person gave up": {
			prepare: func(h *home, r *Repo, dir string) { h.sh(dir, "init", "-q", "sub") },
			options: ArchiveOptions{LeaveOut: []string{"sub"}},
		},
		"a repository in an ignored directory": {
			prepare: func(h *home, r *Repo, dir string) {
				h.write(dir+"/.gitignore", "deps/\n")
				h.sh(dir, "init", "-q", "deps/x")
			},
		},
		"a file below a directory called .GIT": {
			prepare: func(h *home, r *Repo, dir string) { h.write(dir+"/x/.GIT/config", "x") },
			want:    ErrUnkeepable, paths: []string{"x/.GIT/config"},
		},
		"an id with a slash": {options: ArchiveOptions{ID: "a/b"}, want: ErrBadID},
		"an id with dots":    {options: ArchiveOptions{ID: "a..b"}, want: ErrBadID},
		"an empty id":        {options: ArchiveOptions{ID: "-"}, want: ErrBadID},
		"an ordinary id":     {options: ArchiveOptions{ID: "a.b-c_d"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			r := h.repo("p", "a.txt", "dir/b.txt")
			dir := h.worktree(r, "task")
			if c.prepare != nil {
				c.prepare(h, r, dir)
			}
			before := snapshot(t, dir)
			o := c.options
			o.Dir, o.Store = dir, h.path("store")
			if o.ID == "" {
				o.ID = "t1"
			}
			a, err := r.Archive(t.Context(), o)
			wantErr(t, err, c.want)
			same(t, "checkout", before, snapshot(t, dir))
			var nested *NestedRepositoryError
			var unkeepable *UnkeepableError
			var got []string
			switch {
			case errors.As(err, &nested):
				got = nested.Paths
			case errors.As(err, &unkeepable):
				got = unkeepable.Paths
			}
			if !slices.Equal(got, c.paths) {
				t.Errorf("paths %q, want %q", got, c.paths)
			}
			if err == nil && (a.Worktree == "" || !slices.Equal(a.LeftOut, o.LeaveOut)) {
				t.Errorf("archived %+v", a)
			}
		})
	}
}

func TestIgnoredFilesAreCountedAndNotKept(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("p")
	dir := h.worktree(r, "task")
	h.write(dir+"/.gitignore", "deps/\n*.log\n")
	h.write(dir+"/deps/a/one.js", "12345")
	h.write(dir+"/deps/a/two.js", "12345")
	h.write(dir+"/x.log", "123")
	h.write(dir+"/kept.txt", "kept")
	h.sh(dir, "init", "-q", "deps/repo")
	a, err := r.Archive(t.Context(), ArchiveOptions{Dir: dir, ID: "t1", Store: h.path("store")})
	if err != nil {
		t.Fatal(err)
	}
	if a.IgnoredFiles < 3 || a.IgnoredBytes < 13 || a.IgnoredMore || !slices.Equal(a.IgnoredRepositories, []string{"deps/repo"}) {
		t.Errorf("%+v", a)
	}
	tree := h.sh(h.path("store"), "ls-tree", "-r", "--name-only", string(a.Worktree))
	if tree != ".gitignore\na.txt\nkept.txt" {
		t.Errorf("kept %q", tree)
	}
}

func TestACheckoutThatChangedAfterItsArchiveIsNotRemoved(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(h *home, dir string){
		"not at all":                     nil,
		"a file":                         func(h *home, dir string) { h.write(dir+"/a.txt", "later\n") },
		"a new file":                     func(h *home, dir string) { h.write(dir+"/later.txt", "later\n") },
		"the index":                      func(h *home, dir string) { h.sh(dir, "rm", "-q", "--cached", "a.txt") },
		"a file that was changed before": func(h *home, dir string) { h.write(dir+"/dirty.txt", "again\n") },
		"the index only": func(h *home, dir string) {
			h.sh(dir, "update-index", "--cacheinfo", "100644,"+h.sh(dir, "rev-parse", "HEAD:a.txt")+",dirty.txt")
		},
		"a commit": func(h *home, dir string) { h.sh(dir, "commit", "-q", "--allow-empty", "-m", "later") },
		"a commit that HEAD left": func(h *home, dir string) {
			later := h.sh(dir, "commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "later")
			h.sh(dir, "checkout", "-q", "--detach")
			h.sh(dir, "reset", "-q", "--soft", later)
			h.sh(dir, "reset", "-q", "--soft", "task")
			h.sh(dir, "symbolic-ref", "HEAD", "refs/heads/task")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			r := h.repo("p")
			dir := h.worktree(r, "task")
			h.write(dir+"/dirty.txt", "staged\n")
			h.sh(dir, "add", "dirty.txt")
			h.write(dir+"/dirty.txt", "dirty\n")
			a, err := r.Archive(t.Context(), ArchiveOptions{Dir: dir, ID: "t1", Store: h.path("store")})
			if err != nil {
				t.Fatal(err)
			}
			if change == nil {
				wantErr(t, r.RemoveArchived(t.Context(), a), nil)
				return
			}
			change(h, dir)
			before := snapshot(t, dir)
			wantErr(t, r.RemoveArchived(t.Context(), a), ErrChanged)
			same(t, "checkout", before, snapshot(t, dir))
			if s, err := r.Status(t.Context(), dir); err != nil || s.Branch != "task" {
				t.Errorf("the worktree does not work any more: %+v %v", s, err)
			}
		})
	}
}

// A directory in which git sees ignored files alone is no ignored directory: what else is in it comes back, and it does.
func TestWhatLiesAmongIgnoredFilesComesBack(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("p")
	dir := h.worktree(r, "task")
	h.write(r.CommonDir+"/info/exclude", "*.log\ndeps/\n")
	for _, file := range []string{"logs/x.log", "mixed/x.log", "deps/x"} {
		h.write(filepath.Join(dir, file), "x\n")
	}
	for _, fifo := range []string{"mixed/fifo", "deps/fifo"} {
		if err := syscall.Mkfifo(filepath.Join(dir, fifo), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	to, a := h.roundTrip(r, dir, ArchiveOptions{Branches: []string{"task"}})
	for name, want := range map[string]bool{"logs": true, "mixed/fifo": true, "logs/x.log": false, "mixed/x.log": false, "deps": false} {
		if exists(filepath.Join(to, name)) != want {
			t.Errorf("%s is there: %v, want %v", name, !want, want)
		}
	}
	if a.IgnoredFiles != 4 { // the FIFO in an ignored directory too
		t.Errorf("%d ignored files", a.IgnoredFiles)
	}
}
