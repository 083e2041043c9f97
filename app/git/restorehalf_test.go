package git

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// What an interrupted restore wrote goes only when nothing is lost with it.
func TestHalfARestoreIsRemovedOnlyWhenTheArchiveHasAllOfIt(t *testing.T) {
	h := newHome(t)
	r := h.repo("project", "a.txt", "b.txt", "d/c.txt")
	dir := h.worktree(r, "work")
	h.write(dir+"/a.txt", "changed and longer than it was\n")
	h.write(dir+"/n/new.txt", "untracked\n")
	h.write(dir+"/large.bin", strings.Repeat("x", bigFile+block))
	must(t, os.Symlink("a.txt", dir+"/link"))
	must(t, unix.Mkfifo(dir+"/fifo", 0o600))
	h.repo("tasks/work/inner", "in.txt")
	a, err := r.Archive(t.Context(), ArchiveOptions{Dir: dir, ID: "t-1", Store: h.path("store")})
	must(t, err)
	must(t, r.RemoveArchived(t.Context(), a))
	for name, c := range map[string]struct {
		do   func(dir string)
		goes bool
	}{
		"all of it":                  {func(string) {}, true},
		"the commit's file":          {func(dir string) { h.write(dir+"/a.txt", "one\ntwo\nthree\n") }, true},
		"files that are not there":   {func(dir string) { must(t, os.RemoveAll(dir+"/n")); must(t, os.Remove(dir+"/link")) }, true},
		"the beginning of a file":    {func(dir string) { must(t, os.Truncate(dir+"/a.txt", 9)) }, true},
		"an empty file":              {func(dir string) { must(t, os.Truncate(dir+"/n/new.txt", 0)) }, true},
		"a copy that was begun":      {func(dir string) { zeros(t, dir+"/large.bin", block) }, true},
		"an empty directory":         {func(dir string) { must(t, os.MkdirAll(dir+"/e/f", 0o700)) }, true},
		"a file of somebody's":       {func(dir string) { h.write(dir+"/mine.txt", "") }, false},
		"a change of somebody's":     {func(dir string) { h.write(dir+"/a.txt", "mine\n") }, false},
		"a change of a large file":   {func(dir string) { h.write(dir+"/large.bin", "y") }, false},
		"more in a file":             {func(dir string) { h.write(dir+"/n/new.txt", "untracked\nmore\n") }, false},
		"a link of somebody's":       {func(dir string) { must(t, os.Remove(dir+"/link")); must(t, os.Symlink("b.txt", dir+"/link")) }, false},
		"a link for a file":          {func(dir string) { must(t, os.Remove(dir+"/b.txt")); must(t, os.Symlink("a.txt", dir+"/b.txt")) }, false},
		"a FIFO of somebody's":       {func(dir string) { must(t, unix.Mkfifo(dir+"/mine", 0o600)) }, false},
		"a file in a repository":     {func(dir string) { h.write(dir+"/inner/mine.txt", "mine\n") }, false},
		"a commit in a repository":   {func(dir string) { h.sh(dir+"/inner", "commit", "-q", "--allow-empty", "-m", "mine") }, false},
		"a .git file of somebody's":  {func(dir string) { h.write(dir+"/.git", "gitdir: /somewhere\n") }, false},
		"a .git file that was begun": {func(dir string) { h.write(dir+"/.git", "") }, true},
	} {
		t.Run(name, func(t *testing.T) {
			if !exists(dir) {
				must(t, r.Restore(t.Context(), RestoreOptions{Archived: a, Dir: dir, Reason: "x"}))
			}
			aside := h.path("aside", strings.ReplaceAll(name, " ", "-"))
			must(t, os.MkdirAll(filepath.Dir(aside), 0o700))
			if out, err := exec.Command("cp", "-a", dir, aside).CombinedOutput(); err != nil {
				t.Fatalf("copy: %v %s", err, out)
			}
			c.do(aside)
			before := snapshot(t, aside)
			goes, err := r.RemoveHalfRestored(t.Context(), a, aside)
			if err != nil || goes != c.goes || exists(aside) == c.goes {
				t.Fatalf("removed: %v, want %v (%v)", goes, c.goes, err)
			}
			if !goes {
				same(t, "what stays", before, snapshot(t, aside))
			}
		})
	}
}

// zeros makes the end of a file zeros, from a place on.
func zeros(t *testing.T, path string, from int64) {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	must(t, os.Truncate(path, from))
	must(t, os.Truncate(path, info.Size()))
}
