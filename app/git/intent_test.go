package git

import (
	"os"
	"path/filepath"
	"testing"
)

// What is only intended to be added has no contents in the index: a discard and its undoing keep it so, whatever it is called, and
// whether its file is there or not.
func TestAnIntentToAddSurvivesADiscardAndItsUndoing(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("project", "a.txt")
	dir := h.worktree(r, "work")
	h.write(dir+"/.gitignore", "*.log\n")
	names := []string{"new.txt", "dir/deep/:(top)x", "*", "x.log", "run.sh", "gone.txt", "-n"}
	for _, name := range names {
		h.write(filepath.Join(dir, name), name+"\n")
	}
	must(t, os.Chmod(dir+"/run.sh", 0o755))
	must(t, os.Symlink("a.txt", dir+"/link"))
	h.sh(dir, append([]string{"--literal-pathspecs", "add", "-N", "-f", "--", "link"}, names...)...)
	must(t, os.Remove(dir+"/gone.txt"))
	h.write(dir+"/empty.txt", "")
	h.sh(dir, "add", "empty.txt") // staged, and as empty: not the same
	before, status, index := snapshot(t, dir), h.sh(dir, "status", "--porcelain=v2", "-uall"), h.sh(dir, "ls-files", "--stage")

	d, keep := discard(t, h, r, dir, Selection{All: true})
	if got := h.sh(dir, "status", "--porcelain", "-uall"); got != "" {
		t.Errorf("status after the discard: %s", got)
	}
	for range 2 {
		must(t, r.UndoDiscard(t.Context(), dir, d, keep))
		same(t, "after undoing", before, snapshot(t, dir))
		if got := h.sh(dir, "status", "--porcelain=v2", "-uall"); got != status {
			t.Errorf("status\n%s\nwant\n%s", got, status)
		}
		if got := h.sh(dir, "ls-files", "--stage"); got != index {
			t.Errorf("index\n%s\nwant\n%s", got, index)
		}
	}
}
