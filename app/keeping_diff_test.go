package app

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestADiffMarksEachFileThatItDoesNotShow(t *testing.T) {
	r := newRig(t)
	path := r.task("fix", "shell", "")["path"].(string)
	if err := os.WriteFile(filepath.Join(path, "plain"), []byte("text\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, "big"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(path, "big"), 11<<20); err != nil {
		t.Fatal(err)
	}
	runGit(t, "init", "-q", filepath.Join(path, "inner"))
	if err := os.Remove(filepath.Join(path, "README")); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(path, "README"), 0o600); err != nil {
		t.Fatal(err)
	}
	marks := map[string]map[string]any{}
	for _, f := range r.must("task_diff", `{"task":"fix"}`)["files"].([]any) {
		f := f.(map[string]any)
		marks[f["path"].(string)] = f
	}
	for _, c := range []struct{ path, mark string }{{"big", "large"}, {"inner/", "nested"}, {"README", "unread"}} {
		if marks[c.path][c.mark] != true {
			t.Errorf("%s is not marked as %s: %v", c.path, c.mark, marks)
		}
	}
	for _, mark := range []string{"large", "nested", "unread"} {
		if plain, listed := marks["plain"]; !listed || plain[mark] != false {
			t.Errorf("what is shown is marked as %s: %v", mark, marks)
		}
	}
}
