package git

import (
	"errors"
	"slices"
	"testing"
)

// Whoever is refused because of a filter learns which one it is, and which file says so.
func TestAFilterThatIsInTheWayIsNamedWithItsFile(t *testing.T) {
	h := newHome(t)
	r := h.repo("project", "a.txt")
	dir := h.worktree(r, "work")
	h.write(dir+"/.gitattributes", "# filter=nearer\n[attr]big filter=lfs -text\n*.bin big\n*.evil filter=top\n")
	h.write(dir+"/sub/deep/.gitattributes", "*.evil filter=nearer\n*.free -filter\n")
	h.write(h.sh(dir, "rev-parse", "--path-format=absolute", "--git-path", "info/attributes"), "outside.* filter=mine\n")
	for _, name := range []string{"x.evil", "sub/deep/x.evil", "x.bin", "outside.txt", "sub/deep/x.free"} {
		h.write(dir+"/"+name, "x\n")
	}
	_, err := r.Stage(t.Context(), dir, Selection{All: true})
	var filtered *FilteredError
	if !errors.As(err, &filtered) {
		t.Fatalf("error %v", err)
	}
	for _, want := range []Filtered{
		{"x.evil", "top", ".gitattributes"}, {"sub/deep/x.evil", "nearer", "sub/deep/.gitattributes"}, {"x.bin", "lfs", ".gitattributes"}, {"outside.txt", "mine", ""},
	} {
		if !slices.Contains(filtered.Files, want) {
			t.Errorf("%+v is not among %+v", want, filtered.Files)
		}
	}
	if len(filtered.Files) != 4 {
		t.Errorf("%d files", len(filtered.Files))
	}
	if _, err := r.Stage(t.Context(), dir, Selection{Paths: []string{"sub/deep/x.free", ".gitattributes"}}); err != nil {
		t.Errorf("without a filter: %v", err)
	}
}
