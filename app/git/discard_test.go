package git

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// discard plans and applies, and returns the record as a file would have it.
func discard(t *testing.T, h *home, r *Repo, dir string, sel Selection) (Discarded, string) {
	t.Helper()
	keep := t.TempDir()
	p, err := r.PlanDiscard(t.Context(), DiscardOptions{Dir: dir, ID: "t-1", Selection: sel, Keep: keep})
	must(t, err)
	raw, err := json.Marshal(p.Discarded)
	must(t, err)
	must(t, p.Apply(t.Context()))
	var d Discarded
	must(t, json.Unmarshal(raw, &d))
	return d, keep
}

// times maps each file below dir to its time.
func times(t *testing.T, dir string, names ...string) map[string]time.Time {
	t.Helper()
	m := map[string]time.Time{}
	for _, n := range names {
		info, err := os.Lstat(filepath.Join(dir, n))
		must(t, err)
		m[n] = info.ModTime()
	}
	return m
}

func TestADiscardIsUndoneByteForByte(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("project", "a.txt", "b.txt", "c.txt", "run.sh", "sub/x.txt", "file")
	h.write(r.Root+"/.gitignore", "*.log\n")
	h.sh(r.Root, "add", ".")
	h.sh(r.Root, "commit", "-qm", "ignore")
	dir := h.worktree(r, "work")
	must(t, os.Chmod(dir+"/a.txt", 0o640)) // git does not know this bit: it stays
	clean := snapshot(t, dir)
	everyChange(h, dir)
	h.write(dir+"/a.txt", "staged, and nowhere else\n")
	h.sh(dir, "add", "a.txt", "run.sh")
	h.write(dir+"/a.txt", "unstaged\n")
	must(t, os.RemoveAll(dir+"/sub"))
	h.write(dir+"/sub", "a file for a directory\n")
	must(t, os.Remove(dir+"/file"))
	h.write(dir+"/file/in", "a directory for a file\n")
	h.write(dir+"/secret", "untracked\n")
	must(t, os.Chmod(dir+"/secret", 0o600))
	must(t, os.Chmod(dir+"/dir", 0o700))
	names := []string{"a.txt", "secret", "dir/new.txt", "sub", "file/in"}
	before, status, when := snapshot(t, dir), h.sh(dir, "status", "--porcelain", "-uall"), times(t, dir, names...)
	index := h.sh(dir, "ls-files", "--stage")

	d, keep := discard(t, h, r, dir, Selection{All: true})
	after := snapshot(t, dir)
	delete(after, "x.log") // ignored: it stays
	same(t, "after the discard", clean, after)
	if got := h.sh(dir, "status", "--porcelain", "-uall"); got != "" {
		t.Errorf("status after the discard: %s", got)
	}
	if got := h.sh(dir, "diff-files", "--name-only"); got != "" {
		t.Errorf("the index does not know the files that it wrote: %s", got)
	}
	h.sh(r.Root, "reflog", "expire", "--expire=now", "--all")
	h.sh(r.Root, "gc", "-q", "--prune=now")

	must(t, r.UndoDiscard(t.Context(), dir, d, keep))
	same(t, "after undoing", before, snapshot(t, dir))
	if got := h.sh(dir, "status", "--porcelain", "-uall"); got != status {
		t.Errorf("status\n%s\nwant\n%s", got, status)
	}
	if got := h.sh(dir, "ls-files", "--stage"); got != index {
		t.Errorf("index\n%s\nwant\n%s", got, index)
	}
	if got := h.sh(dir, "show", ":a.txt"); got != "staged, and nowhere else" {
		t.Errorf("staged: %q", got)
	}
	for n, at := range times(t, dir, names...) {
		if !at.Equal(when[n]) {
			t.Errorf("%s has another time", n)
		}
	}
	must(t, r.UndoDiscard(t.Context(), dir, d, keep)) // once more is nothing
	same(t, "after undoing twice", before, snapshot(t, dir))
	must(t, r.ForgetDiscard(t.Context(), d))
	must(t, r.ForgetDiscard(t.Context(), d))
	if got := h.sh(r.Root, "for-each-ref", "refs/termic/t-1"); got != "" {
		t.Errorf("refs left: %s", got)
	}
}

func TestADiscardTouchesNothingElse(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("project", "a.txt", "b.txt", "sub/x.txt", "sub/y.txt")
	dir := h.worktree(r, "work")
	for _, f := range []string{"a.txt", "b.txt", "sub/x.txt", "sub/y.txt", "new.txt"} {
		h.write(dir+"/"+f, "changed\n")
	}
	h.sh(dir, "add", "b.txt", "sub/y.txt")
	d, keep := discard(t, h, r, dir, Selection{Paths: []string{"a.txt", "sub"}})
	if got := h.sh(dir, "status", "--porcelain", "-uall"); got != "M  b.txt\n?? new.txt" {
		t.Errorf("status: %q", got)
	}
	// What happens meanwhile to other files is no matter for the undoing, and is left.
	h.sh(dir, "commit", "-qm", "b")
	h.write(dir+"/new.txt", "more\n")
	must(t, r.UndoDiscard(t.Context(), dir, d, keep))
	if got := h.sh(dir, "status", "--porcelain", "-uall"); got != "M a.txt\n M sub/x.txt\nM  sub/y.txt\n?? new.txt" { // sh trims the first space
		t.Errorf("status: %q", got)
	}
	if data, _ := os.ReadFile(dir + "/new.txt"); string(data) != "more\n" {
		t.Error("an untracked file that was not selected was changed")
	}
}

func TestUndoingADiscardOverwritesNothing(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(h *home, dir string){
		"the file was edited":         func(h *home, dir string) { h.write(dir+"/a.txt", "mine\n") },
		"an untracked name was taken": func(h *home, dir string) { h.write(dir+"/new.txt", "mine\n") },
		"something was staged": func(h *home, dir string) {
			h.write(dir+"/a.txt", "mine\n")
			h.sh(dir, "add", "a.txt")
			h.sh(dir, "show", ":a.txt")
			h.write(dir+"/a.txt", "one\ntwo\nthree\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			r := h.repo("project", "a.txt", "b.txt")
			dir := h.worktree(r, "work")
			h.write(dir+"/a.txt", "theirs\n")
			h.write(dir+"/b.txt", "theirs\n")
			h.write(dir+"/new.txt", "theirs\n")
			d, keep := discard(t, h, r, dir, Selection{All: true})
			change(h, dir)
			before := snapshot(t, dir)
			var edited *EditedError
			if err := r.UndoDiscard(t.Context(), dir, d, keep); !errors.As(err, &edited) || len(edited.Paths) != 1 {
				t.Fatalf("%v", err)
			}
			same(t, "after the refusal", before, snapshot(t, dir))
			h.try(dir, "restore", "--staged", "--worktree", "a.txt")
			os.Remove(dir + "/new.txt")
			must(t, r.UndoDiscard(t.Context(), dir, d, keep))
			if data, _ := os.ReadFile(dir + "/new.txt"); string(data) != "theirs\n" {
				t.Error("it did not come back")
			}
		})
	}
}

func TestWhatIsNotDiscarded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(h *home, dir string)
		sel     Selection
		err     error
	}{
		"nothing is changed":             {func(*home, string) {}, Selection{All: true}, ErrNothing},
		"no such file":                   {func(*home, string) {}, Selection{Paths: []string{"nope"}}, ErrNoChange},
		"an ignored file":                {func(h *home, dir string) { h.write(dir+"/x.log", "x") }, Selection{Paths: []string{"x.log"}}, ErrNoChange},
		"a path that leads out":          {func(*home, string) {}, Selection{Paths: []string{"../project/a.txt"}}, ErrBadPath},
		"only a repository inside":       {func(h *home, dir string) { h.sh(dir, "init", "-q", "inner"); h.write(dir+"/inner/x", "x") }, Selection{All: true}, ErrNothing},
		"a FIFO in a file's place":       {func(h *home, dir string) { os.Remove(dir + "/a.txt"); syscall.Mkfifo(dir+"/a.txt", 0o600) }, Selection{All: true}, ErrUnkeepable},
		"a file with conflicts":          {leftConflicts, Selection{All: true}, ErrUnfinished},
		"a file that is far too long":    {func(h *home, dir string) { os.Truncate(dir+"/a.txt", 2<<30) }, Selection{All: true}, ErrUnkeepable},
		"ignored files where a file was": {func(h *home, dir string) { os.Remove(dir + "/a.txt"); h.write(dir+"/a.txt/x.log", "x") }, Selection{All: true}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			r := h.repo("project", "a.txt", "b.txt")
			h.write(r.Root+"/.gitignore", "*.log\n")
			h.sh(r.Root, "add", ".")
			h.sh(r.Root, "commit", "-qm", "ignore")
			dir := h.worktree(r, "work")
			c.prepare(h, dir)
			status := h.sh(dir, "status", "--porcelain", "-uall")
			_, err := r.PlanDiscard(t.Context(), DiscardOptions{Dir: dir, ID: "t-1", Selection: c.sel, Keep: t.TempDir()})
			var blocked *BlockedError
			if c.err == nil && !errors.As(err, &blocked) {
				t.Errorf("%v", err)
			}
			if c.err != nil {
				wantErr(t, err, c.err)
			}
			if got := h.sh(dir, "status", "--porcelain", "-uall"); got != status {
				t.Errorf("status %q, want %q", got, status)
			}
		})
	}
}

// A link that the checkout has in a directory's place is removed, and what it leads to is not looked at.
func TestADiscardFollowsNoLink(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("project", "a.txt", "sub/x.txt")
	dir := h.worktree(r, "work")
	outside := h.path("outside")
	h.write(outside+"/x.txt", "outside\n")
	must(t, os.RemoveAll(dir+"/sub"))
	must(t, os.Symlink(outside, dir+"/sub"))
	d, keep := discard(t, h, r, dir, Selection{Paths: []string{"sub/x.txt"}})
	if data, err := os.ReadFile(outside + "/x.txt"); err != nil || string(data) != "outside\n" {
		t.Errorf("outside: %q %v", data, err)
	}
	if info, err := os.Lstat(dir + "/sub"); err != nil || !info.IsDir() {
		t.Errorf("sub: %v %v", info, err)
	}
	must(t, r.UndoDiscard(t.Context(), dir, d, keep))
	if to, err := os.Readlink(dir + "/sub"); err != nil || to != outside {
		t.Errorf("sub: %q %v", to, err)
	}
	if data, err := os.ReadFile(outside + "/x.txt"); err != nil || string(data) != "outside\n" {
		t.Errorf("outside: %q %v", data, err)
	}
}

// A discard that ends at any step can be taken back, and so can its undoing.
func TestADiscardThatEndsInTheMiddleCanBeUndone(t *testing.T) {
	type killed struct{}
	steps := func(t *testing.T, stop int, undo bool) (n int) {
		h := newHome(t)
		r := h.repo("project", "a.txt", "b.txt", "gone.txt")
		dir := h.worktree(r, "work")
		h.write(dir+"/a.txt", "staged\n")
		h.sh(dir, "add", "a.txt")
		h.write(dir+"/a.txt", "unstaged\n")
		h.write(dir+"/new/x.txt", "untracked\n")
		must(t, os.Remove(dir+"/gone.txt"))
		before, status := snapshot(t, dir), h.sh(dir, "status", "--porcelain", "-uall")
		keep := t.TempDir()
		p, err := r.PlanDiscard(t.Context(), DiscardOptions{Dir: dir, ID: "t-1", Selection: Selection{All: true}, Keep: keep})
		must(t, err)
		d := p.Discarded
		landStep = func(string) {
			if n++; n == stop {
				panic(killed{})
			}
		}
		func() {
			defer func() {
				landStep = nil
				if e := recover(); e != nil && e != (killed{}) {
					panic(e)
				}
			}()
			if undo {
				landStep, n = nil, 0
				must(t, p.Apply(t.Context()))
				landStep = func(string) {
					if n++; n == stop {
						panic(killed{})
					}
				}
				must(t, r.UndoDiscard(t.Context(), dir, d, keep))
			} else {
				must(t, p.Apply(t.Context()))
			}
		}()
		must(t, r.UndoDiscard(t.Context(), dir, d, keep))
		same(t, "after undoing", before, snapshot(t, dir))
		if got := h.sh(dir, "status", "--porcelain", "-uall"); got != status {
			t.Errorf("status\n%s\nwant\n%s", got, status)
		}
		if left, _ := filepath.Glob(h.sh(dir, "rev-parse", "--absolute-git-dir") + "/index.*"); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
		return n
	}
	for _, undo := range []bool{false, true} {
		whole := steps(t, 0, undo)
		if whole < 4 {
			t.Fatalf("only %d steps", whole)
		}
		for stop := 1; stop <= whole; stop++ {
			steps(t, stop, undo)
		}
	}
}

func TestADiscardAfterWhichAFileChangedIsNotMade(t *testing.T) {
	h := newHome(t)
	r := h.repo("project", "a.txt", "b.txt")
	dir := h.worktree(r, "work")
	h.write(dir+"/a.txt", "x\n")
	h.write(dir+"/b.txt", "x\n")
	h.sh(dir, "add", "a.txt")
	keep := t.TempDir()
	p, err := r.PlanDiscard(t.Context(), DiscardOptions{Dir: dir, ID: "t-1", Selection: Selection{All: true}, Keep: keep})
	must(t, err)
	h.write(dir+"/b.txt", "the agent was quicker\n")
	before := snapshot(t, dir)
	wantErr(t, p.Apply(t.Context()), ErrBusy)
	same(t, "after the refusal", before, snapshot(t, dir))
	if got := h.sh(r.Root, "for-each-ref", "refs/termic/t-1"); got != "" {
		t.Errorf("refs left: %s", got)
	}
	if !strings.HasPrefix(h.sh(dir, "status", "--porcelain"), "M") {
		t.Error("what was staged is not staged any more")
	}
}
