package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestGeneratedFilesAreUpToDate(t *testing.T) {
	if err := doMain(root, false); err != nil {
		t.Error(err)
	}
}

func TestAChangedFileIsNamedWithTheFix(t *testing.T) {
	dir := t.TempDir()
	if err := doMain(dir, true); err != nil {
		t.Fatal(err)
	}
	if err := doMain(dir, false); err != nil {
		t.Fatalf("what was just written differs: %v", err)
	}
	path := filepath.Join(dir, "docs", "verbs.md")
	if err := os.WriteFile(path, []byte("edited by hand\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := doMain(dir, false)
	if err == nil {
		t.Fatal("an edited file passes")
	}
	if text := err.Error(); !strings.Contains(text, "docs/verbs.md is out of date; run: go generate ./registry/...") || strings.Contains(text, "verbs.json") {
		t.Errorf("error %q does not name the one file and the fix", text)
	}
}
