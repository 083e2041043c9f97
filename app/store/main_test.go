package store

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// childEnv names the part that a child process of the test binary plays. Limits, uids and locks are per process, and a process
// that was killed cannot be asked, so those tests run in children.
const childEnv = "TERMIC_STORE_TEST_CHILD"

var children = map[string]func(dir string) error{
	"save in a loop":    childSaveLoop,
	"hold the lock":     childHoldLock,
	"small file limit":  childFileLimit,
	"cannot write":      childCannotWrite,
	"corrupt and fixed": childCorruptFixed,
	"open":              childOpen,
}

func TestMain(m *testing.M) {
	if name := os.Getenv(childEnv); name != "" {
		if err := children[name](os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child prepares a child process that ends with the test at the latest.
func child(t *testing.T, name, dir string) *exec.Cmd {
	t.Helper()
	if children[name] == nil {
		t.Fatalf("no child %q", name)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, dir)
	cmd.Env = append(os.Environ(), childEnv+"="+name,
		"GORACE=atexit_sleep_ms=0") // the race detector else makes every child sleep for a second as it ends
	return cmd
}

// runChild runs a child to its end; it fails the test when the child does.
func runChild(t *testing.T, name, dir string) {
	t.Helper()
	if out, err := child(t, name, dir).CombinedOutput(); err != nil {
		t.Fatalf("child %q: %v\n%s", name, err, out)
	}
}

// startChild starts a child and returns a scanner of its lines.
func startChild(t *testing.T, name, dir string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := child(t, name, dir)
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, bufio.NewScanner(out)
}

// openTemp opens a store in a new directory, closed with the test.
func openTemp(t testing.TB) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "data"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// names returns the names in a directory, without the lock.
func names(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		if e.Name() != nameLock {
			out = append(out, e.Name())
		}
	}
	return out
}

// dropRoot makes this process an ordinary user, for whom mode bits count. A normal user stays who it is.
func dropRoot() error {
	if os.Geteuid() != 0 {
		return nil
	}
	if err := syscall.Setgroups(nil); err != nil {
		return err
	}
	if err := syscall.Setgid(nobody); err != nil {
		return err
	}
	return syscall.Setuid(nobody)
}

// nobody is any uid that is not root's; it needs no entry in the user database.
const nobody = 65534

// giveAway makes nobody the owner of dir and what is in it when the test runs as root, and opens the way to it.
func giveAway(t *testing.T, dir string) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	err := filepath.WalkDir(dir, func(p string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(p, nobody, nobody)
	})
	if err != nil {
		t.Fatal(err)
	}
	for p := filepath.Dir(dir); p != "/" && strings.HasPrefix(p, os.TempDir()); p = filepath.Dir(p) {
		if fi, err := os.Stat(p); err == nil && fi.Mode().Perm()&0o011 != 0o011 {
			if err := os.Chmod(p, fi.Mode().Perm()|0o011); err != nil {
				t.Fatal(err)
			}
		}
	}
}
