package git

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// deepFile makes a file at a path of more than 4096 bytes in dir, and returns the name of its topmost directory.
func deepFile(t *testing.T, dir string) string {
	t.Helper()
	part := strings.Repeat("d", 200)
	root, err := os.OpenRoot(dir)
	must(t, err)
	for range 25 {
		must(t, root.Mkdir(part, 0o755))
		next, err := root.OpenRoot(part)
		root.Close()
		must(t, err)
		root = next
	}
	defer root.Close()
	must(t, root.WriteFile("file", []byte("deep\n"), 0o644))
	return part
}

// A path that is longer than the system takes stops an archive before anything is done, and is named; one that git ignores goes
// with the checkout.
func TestAPathThatIsTooLongIsNamed(t *testing.T) {
	h := newHome(t)
	r := h.repo("project", "a.txt")
	dir := h.worktree(r, "work")
	top := deepFile(t, dir)
	h.write(dir+"/mine.txt", "mine\n")
	base := h.oid(dir, "HEAD")
	_, err := r.Archive(t.Context(), ArchiveOptions{Dir: dir, ID: "t-1", Store: h.path("store")})
	var deep *TooDeepError
	if !errors.As(err, &deep) || deep.Below != top {
		t.Fatalf("archive: %v", err)
	}
	p, err := r.Preflight(t.Context(), PreflightOptions{Dir: dir, Branch: "work", Base: base})
	if err != nil || p.TooDeep != top {
		t.Errorf("preflight: below %q, %v", p.TooDeep, err)
	}
	h.write(dir+"/.gitignore", top+"/\n")
	p, err = r.Preflight(t.Context(), PreflightOptions{Dir: dir, Branch: "work", Base: base})
	if err != nil || p.TooDeep != "" || !p.IgnoredMore {
		t.Errorf("preflight of an ignored one: %+v, %v", p, err)
	}
	a, err := r.Archive(t.Context(), ArchiveOptions{Dir: dir, ID: "t-1", Store: h.path("store")})
	must(t, err)
	must(t, r.RemoveArchived(t.Context(), a))
	if exists(dir) {
		t.Error("the checkout is there")
	}
}
