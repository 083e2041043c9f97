package git

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// told is a diff's files in one word each: where they differ, and their modes where those say something.
func told(d Diff) string {
	var list []string
	for _, f := range d.Files {
		text := f.Path
		if f.OldPath != "" {
			text = f.OldPath + ">" + text
		}
		text += ":"
		for _, mark := range []struct {
			on     bool
			letter string
		}{{f.Staged, "s"}, {f.Unstaged, "u"}, {f.Untracked, "n"}, {f.Conflicted, "c"}, {f.Submodule(), "m"}, {f.Binary, "b"}} {
			if mark.on {
				text += mark.letter
			}
		}
		if f.OldMode != f.NewMode && f.OldMode != modeNone && f.NewMode != modeNone {
			text += f.OldMode + "-" + f.NewMode
		}
		list = append(list, text)
	}
	return strings.Join(list, " ")
}

func TestADiffSaysWhereAFileDiffers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare               func(h *home, dir string)
		all, staged, unstaged string
	}{
		"nothing": {prepare: func(*home, string) {}},
		"in every place": {
			prepare: func(h *home, dir string) {
				h.write(dir+"/a.txt", "committed\n")
				h.sh(dir, "commit", "-qam", "x")
				h.write(dir+"/b.txt", "staged\n")
				h.sh(dir, "add", "b.txt")
				h.write(dir+"/b.txt", "staged, and changed again\n")
				h.write(dir+"/c.txt", "staged\n")
				h.sh(dir, "add", "c.txt")
				h.write(dir+"/d.txt", "unstaged\n")
				h.write(dir+"/new.txt", "untracked\n")
			},
			all: "a.txt: b.txt:su c.txt:s d.txt:u new.txt:n", staged: "b.txt:su c.txt:s", unstaged: "b.txt:su d.txt:u new.txt:n",
		},
		"staged and taken back in the file": {
			prepare: func(h *home, dir string) {
				h.write(dir+"/a.txt", "x\n")
				h.sh(dir, "add", "a.txt")
				h.write(dir+"/a.txt", "one\ntwo\nthree\n")
			},
			all: "", staged: "a.txt:su", unstaged: "a.txt:su",
		},
		"only touched": {prepare: func(h *home, dir string) {
			h.write(dir+"/b.txt", "committed\n")
			h.sh(dir, "commit", "-qam", "x")
			h.write(dir+"/b.txt", "committed\n")
			h.write(dir+"/a.txt", "one\ntwo\nthree\n")
		}, all: "b.txt:"},
		"a rename, staged": {prepare: func(h *home, dir string) { h.sh(dir, "mv", "a.txt", "z.txt") }, all: "a.txt>z.txt:s", staged: "a.txt>z.txt:s"},
		"modes, a link and a binary": {
			prepare: func(h *home, dir string) {
				os.Chmod(dir+"/a.txt", 0o755)
				os.Remove(dir + "/b.txt")
				os.Symlink("/etc/passwd", dir+"/b.txt")
				h.write(dir+"/x.bin", "\x00")
				h.sh(dir, "add", "x.bin")
			},
			all: "a.txt:u100644-100755 b.txt:u100644-120000 x.bin:sb", staged: "x.bin:sb", unstaged: "a.txt:u100644-100755 b.txt:u100644-120000",
		},
		"a conflict": {prepare: leftConflicts, all: "a.txt:uc", staged: "", unstaged: "a.txt:uc"},
		"the commit of a submodule, staged": {
			prepare: func(h *home, dir string) {
				h.sh(dir, "update-index", "--add", "--cacheinfo", "160000,"+h.sh(dir, "rev-parse", "HEAD")+",sub")
				os.Mkdir(dir+"/sub", 0o755)
			},
			all: "sub:sm", staged: "sub:sm",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			r := h.repo("project", "a.txt", "b.txt", "c.txt", "d.txt")
			dir := h.worktree(r, "work")
			base := h.oid(r.Root, "HEAD")
			c.prepare(h, dir)
			status := h.sh(dir, "status", "--porcelain=v2", "-uall", "--ignore-submodules=all")
			for part, want := range map[Part]string{"": c.all, PartStaged: c.staged, PartUnstaged: c.unstaged} {
				d, err := r.Diff(t.Context(), dir, base, DiffOptions{Part: part})
				must(t, err)
				if got := told(d); got != want {
					t.Errorf("part %q: %s\nwant %s", part, got, want)
				}
				if d.Count != len(d.Files) || (d.Patch == "") != (want == "") {
					t.Errorf("part %q: %d files counted, patch %q", part, d.Count, d.Patch)
				}
			}
			if got := h.sh(dir, "status", "--porcelain=v2", "-uall", "--ignore-submodules=all"); got != status {
				t.Errorf("status %s\nwant %s", got, status)
			}
		})
	}
}

func TestADiffAgainstTheTip(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("project", "a.txt", "b.txt", "c.txt")
	dir := h.worktree(r, "work")
	base := h.oid(r.Root, "HEAD")
	h.write(dir+"/a.txt", "of the task\n")
	h.sh(dir, "commit", "-qam", "task")
	h.write(dir+"/new.txt", "of the task\n")
	against := func() string {
		t.Helper()
		d, err := r.Diff(t.Context(), dir, base, DiffOptions{Tip: h.oid(r.Root, "main")})
		must(t, err)
		return told(d)
	}
	if got := against(); got != "a.txt: new.txt:n" {
		t.Errorf("the base branch where it was: %s", got)
	}
	h.write(r.Root+"/b.txt", "of the base branch\n")
	h.sh(r.Root, "commit", "-qam", "base")
	if got := against(); got != "a.txt: new.txt:n" {
		t.Errorf("work of the base branch is shown as taken back: %s", got)
	}
	// The task takes the base branch in: only the base at creation shows that.
	h.sh(dir, "merge", "-q", "main", "-m", "merge")
	if got := against(); got != "a.txt: new.txt:n" {
		t.Errorf("merged work of the base branch is shown: %s", got)
	}
	d, err := r.Diff(t.Context(), dir, base, DiffOptions{})
	must(t, err)
	if got := told(d); got != "a.txt: b.txt: new.txt:n" {
		t.Errorf("against the base at creation: %s", got)
	}
	// What landed and was committed is not shown again, however it got there.
	h.write(r.Root+"/a.txt", "of the task\n")
	h.sh(r.Root, "commit", "-qam", "landed")
	if got := against(); got != "new.txt:n" {
		t.Errorf("what landed is shown: %s", got)
	}
	h.write(dir+"/a.txt", "of the task, again\n")
	d, err = r.Diff(t.Context(), dir, base, DiffOptions{Tip: h.oid(r.Root, "main")})
	must(t, err)
	if got := told(d); got != "a.txt:u new.txt:n" {
		t.Errorf("changed after it landed: %s", got)
	}
	h.sh(r.Root, "switch", "-q", "--orphan", "other")
	h.sh(r.Root, "commit", "-q", "--allow-empty", "-m", "unrelated")
	_, err = r.Diff(t.Context(), dir, base, DiffOptions{Tip: h.oid(r.Root, "other")})
	wantErr(t, err, ErrUnrelated)
}

func TestTheDiffOfACommit(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("project", "a.txt", "b.txt")
	h.write(r.Root+"/caf\xe9.txt", "one\r\ntwo\r\n")
	h.write(r.Root+"/a.txt", "one\nTWO\nthree\n")
	h.sh(r.Root, "add", ".")
	h.sh(r.Root, "commit", "-qm", "second")
	d, err := r.DiffCommit(t.Context(), h.oid(r.Root, "HEAD"), DiffOptions{})
	must(t, err)
	if got := told(d); got != "a.txt: caf\xe9.txt:" || d.From != h.oid(r.Root, "HEAD^") || d.Added != 3 || d.Removed != 1 {
		t.Errorf("%s %+v", got, d)
	}
	if !strings.Contains(d.Patch, "+TWO\n") || !strings.Contains(d.Patch, "+one\r\n") || !strings.Contains(d.Patch, `b/caf\xE9.txt`) {
		t.Errorf("%q", d.Patch)
	}
	d, err = r.DiffCommit(t.Context(), h.oid(r.Root, "HEAD^"), DiffOptions{Path: "a.txt"})
	must(t, err)
	if got := told(d); got != "a.txt:" { // the first commit: against nothing
		t.Errorf("%s", got)
	}
	_, err = r.DiffCommit(t.Context(), h.oid(r.Root, "HEAD^{tree}"), DiffOptions{})
	if err == nil {
		t.Error("a tree was taken for a commit")
	}
	_, err = r.DiffCommit(t.Context(), "--output=x", DiffOptions{})
	wantErr(t, err, ErrBadRef)
}

// A diff asks git as often for many files as for few, so that its time grows with what git does and with nothing of ours.
func TestADiffAsksGitAsOftenForManyFilesAsForFew(t *testing.T) {
	h := newHome(t)
	r := h.repo("project", "a.txt")
	dir := h.worktree(r, "work")
	base := h.oid(r.Root, "HEAD")
	calls := h.path("calls")
	counted := r.with(h.fakeGit(`echo "$@" >> '` + calls + `'; exec "$GIT" "$@"`))
	ask := func(o DiffOptions) (Diff, int) {
		t.Helper()
		os.Remove(calls)
		d, err := counted.Diff(t.Context(), dir, base, o)
		must(t, err)
		data, err := os.ReadFile(calls)
		must(t, err)
		return d, strings.Count(string(data), "\n")
	}
	h.write(dir+"/n0/f0", "0\n")
	_, few := ask(DiffOptions{})
	_, fewTip := ask(DiffOptions{Tip: base})
	for i := range 3000 {
		name := filepath.Join(dir, fmt.Sprintf("n%d", i%50), fmt.Sprintf("f%d", i))
		if i < 50 {
			must(t, os.MkdirAll(filepath.Dir(name), 0o755))
		}
		must(t, os.WriteFile(name, fmt.Append(nil, i, "\n"), 0o644))
	}
	d, many := ask(DiffOptions{})
	_, manyTip := ask(DiffOptions{Tip: base})
	if few != many || fewTip != manyTip || d.Count != 3000 || d.Added != 3000 {
		t.Errorf("%d and %d calls for one file, %d and %d for %d", few, fewTip, many, manyTip, d.Count)
	}
}
