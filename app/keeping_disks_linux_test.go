package app

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"termic/registry/refusal"
)

// anotherDisk returns an empty directory on another file system than dir is on.
func anotherDisk(t *testing.T, dir string) string {
	t.Helper()
	device := func(path string) uint64 {
		var st syscall.Stat_t
		if err := syscall.Stat(path, &st); err != nil {
			t.Skipf("needs a second file system, and %s: %v", path, err)
		}
		return st.Dev
	}
	for _, other := range []string{"/dev/shm", "/var/tmp", "/tmp"} {
		if device(other) == device(dir) {
			continue
		}
		made, err := os.MkdirTemp(other, "termic-test-")
		if err != nil {
			continue
		}
		t.Cleanup(func() { os.RemoveAll(made) })
		return made
	}
	t.Skip("needs a second file system; /dev/shm, /var/tmp and /tmp are on that of the test's directory, or cannot be written")
	return ""
}

// The data directory, with the checkouts, is on one file system and the repository on another: a task is made, archived, restored,
// landed and taken back as anywhere.
func TestATaskLivesOnTwoFileSystems(t *testing.T) {
	r := newRigIn(t, filepath.Join(anotherDisk(t, t.TempDir()), "data"))
	if err := os.WriteFile(filepath.Join(r.repo, "run.sh"), []byte("echo one\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	runGit(t, "-C", r.repo, "add", "run.sh")
	runGit(t, "-C", r.repo, "commit", "-qm", "third")
	made := r.task("fix", "shell", "")
	path := made["path"].(string)
	r.put(made, "README", "changed\n")
	r.put(made, "new/file.txt", "untracked\n")
	if err := os.Remove(filepath.Join(path, "run.sh")); err != nil {
		t.Fatal(err)
	}
	large := make([]byte, 11<<20) // kept beside the pack
	large[5] = 1
	r.put(made, "large.bin", string(large))
	r.must("task_archive", `{"task":"fix"}`)
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Fatalf("archived, and its checkout is there (%v)", err)
	}
	r.must("task_restore", `{"task":"fix"}`)
	for name, want := range map[string]string{"README": "changed\n", "new/file.txt": "untracked\n", "large.bin": string(large)} {
		if got, err := os.ReadFile(filepath.Join(path, name)); err != nil || string(got) != want {
			t.Errorf("restored: %s has %d bytes, want %d (%v)", name, len(got), len(want), err)
		}
	}
	r.must("task_apply", `{"task":"fix"}`)
	r.has("README", "changed\n")
	r.has("new/file.txt", "untracked\n")
	r.has("run.sh", "")
	if got := runGit(t, "-C", r.repo, "status", "--porcelain", "-uall"); got != "M README\n D run.sh\n?? large.bin\n?? new/file.txt" {
		t.Errorf("landed: status %q", got)
	}
	r.put(map[string]any{"path": r.repo}, "README", "mine since\n")
	r.refused(refusal.Conflict, "task_apply", `{"task":"fix","undo":true}`)
	r.has("README", "mine since\n")
	r.put(map[string]any{"path": r.repo}, "README", "changed\n")
	r.must("task_apply", `{"task":"fix","undo":true}`)
	r.has("README", "demo\n")
	r.has("run.sh", "echo one\n")
	if got := runGit(t, "-C", r.repo, "status", "--porcelain", "-uall"); got != "" {
		t.Errorf("taken back: status %q", got)
	}
	r.must("task_discard", `{"task":"fix","all":true}`)
	if got, err := os.ReadFile(filepath.Join(path, "README")); err != nil || string(got) != "demo\n" {
		t.Errorf("discarded: %q (%v)", got, err)
	}
	r.must("task_discard", `{"task":"fix","undo":true}`)
	if got, err := os.ReadFile(filepath.Join(path, "large.bin")); err != nil || string(got) != string(large) {
		t.Errorf("brought back: %d bytes (%v)", len(got), err)
	}
}
