package git

import (
	"slices"
	"testing"
)

func TestAnArchiveSaysHowFarItHasCome(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("p")
	dir := h.worktree(r, "task")
	h.write(dir+"/new.txt", "new\n")
	var said []string
	o := ArchiveOptions{Dir: dir, ID: "t1", Store: h.path("store"), Progress: func(text string) { said = append(said, text) }}
	if _, err := r.Archive(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if want := []string{"keeping commits", "reading the files", "packing", "reading back what was kept"}; !slices.Equal(said, want) {
		t.Errorf("said %q, want %q", said, want)
	}
}
