package git

import "testing"

// Archiving looks once while the agent still runs and once more when it has ended, often within a second: the
// same commits, and no conflict.
func TestTheSameCheckoutMayBeArchivedTwice(t *testing.T) {
	h := newHome(t)
	r := h.repo("project", "a.txt")
	dir := h.worktree(r, "w")
	h.write("w/new.txt", "untracked\n")
	for range 3 {
		a, err := r.Archive(t.Context(), ArchiveOptions{Dir: dir, ID: "t1", Store: h.path("store")})
		if err != nil {
			t.Fatal(err)
		}
		if a.Worktree == "" {
			t.Error("nothing was archived")
		}
	}
}
