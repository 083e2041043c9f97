package git

import (
	"os"
	"strings"
	"testing"
)

func TestAChangedWorktreeIsSeenAndRemoved(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("my project", "a.txt", "dir/b.txt")
	dir := h.worktree(r, "x")
	s, err := r.Status(t.Context(), dir)
	if err != nil || !s.Clean() || s.Branch != "x" {
		t.Fatalf("new worktree: %+v %v", s, err)
	}
	base := s.Head
	h.write(dir+"/a.txt", "one\nTWO\nthree\n")
	h.write(dir+"/new.txt", "hello\n")
	os.Remove(dir + "/dir/b.txt")
	s, err = r.Status(t.Context(), dir)
	if err != nil || s.Unstaged != 2 || s.Untracked != 1 || len(s.Files) != 3 {
		t.Errorf("changed worktree: %+v %v", s, err)
	}
	h.sh(dir, "commit", "-aqm", "second")
	d, err := r.Diff(t.Context(), dir, base, DiffOptions{})
	if err != nil || len(d.Files) != 3 || !strings.Contains(d.Patch, "+hello\n") || !strings.Contains(d.Patch, "+TWO\n") {
		t.Errorf("diff: %+v %v", d, err)
	}
	c, err := r.Ahead(t.Context(), dir, base)
	if err != nil || len(c) != 1 || c[0].Subject != "second" || c[0].Author != "A Person" {
		t.Errorf("ahead: %+v %v", c, err)
	}
	if err := r.RemoveWorktree(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	w, err := r.Worktrees(t.Context())
	if err != nil || len(w) != 1 || exists(dir) {
		t.Errorf("after removal: %+v %v", w, err)
	}
}
