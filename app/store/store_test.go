package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestOpenCreatesTheDirectoryForItsOwnerOnly(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	dir := filepath.Join(t.TempDir(), "a", "b", "data")
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	sub, err := s.Subdir("tasks", "x1")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{filepath.Dir(dir), dir, filepath.Dir(sub), sub} {
		if fi, err := os.Stat(p); err != nil || fi.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v; want 0700", p, fi, err)
		}
	}
	if again, err := s.Subdir("tasks", "x1"); err != nil || again != sub {
		t.Errorf("Subdir again = %q, %v", again, err)
	}
}

func TestOpenRefusesADirectoryThatOthersCanReach(t *testing.T) {
	rows := []struct {
		name   string
		make   func(dir string) error
		remedy string // in the refusal; empty where Open succeeds
	}{
		{"0700", func(d string) error { return os.Mkdir(d, 0o700) }, ""},
		{"0755 is narrowed", func(d string) error { return mkdirMode(d, 0o755) }, ""},
		{"group may write", func(d string) error { return mkdirMode(d, 0o770) }, "chmod 700"},
		{"others may write", func(d string) error { return mkdirMode(d, 0o702) }, "chmod 700"},
		{"others may write, sticky", func(d string) error { return mkdirMode(d, 0o777|fs.ModeSticky) }, "chmod 700"},
		{"a link to a good directory", func(d string) error {
			return errors.Join(os.Mkdir(d+".real", 0o700), os.Symlink(d+".real", d))
		}, "directory itself"},
		{"a good directory behind a link", func(d string) error {
			parent := filepath.Dir(d)
			return errors.Join(os.MkdirAll(parent+".real/data", 0o700), os.Remove(parent), os.Symlink(parent+".real", parent))
		}, ""},
	}
	for _, tt := range rows {
		t.Run(tt.name, func(t *testing.T) {
			parent := filepath.Join(t.TempDir(), "p")
			dir := filepath.Join(parent, "data")
			if err := errors.Join(os.Mkdir(parent, 0o700), tt.make(dir)); err != nil {
				t.Fatal(err)
			}
			s, err := Open(dir)
			_, atErr := At(dir)
			if tt.remedy == "" {
				if err != nil || atErr != nil {
					t.Fatal(err, atErr)
				}
				if fi, err := os.Stat(dir); err != nil || fi.Mode().Perm() != 0o700 {
					t.Errorf("mode %v, %v", fi.Mode(), err)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				return
			}
			for what, err := range map[string]error{"Open": err, "At": atErr} {
				var unsafe *UnsafeError
				if !errors.Is(err, ErrUnsafe) || !errors.As(err, &unsafe) || !strings.Contains(err.Error(), tt.remedy) {
					t.Errorf("%s: %v; want ErrUnsafe with %q", what, err, tt.remedy)
				}
			}
			if _, err := os.Stat(filepath.Join(dir, nameLock)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a lock was made in a refused directory: %v", err)
			}
		})
	}
}

func mkdirMode(d string, m fs.FileMode) error { return errors.Join(os.Mkdir(d, 0o700), os.Chmod(d, m)) }

// childOpen becomes an ordinary user and says how Open and At fare.
func childOpen(dir string) error {
	if err := dropRoot(); err != nil {
		return err
	}
	_, atErr := At(dir)
	s, err := Open(dir)
	fmt.Println(errors.Is(err, ErrUnsafe), errors.Is(atErr, ErrUnsafe), err)
	if err == nil {
		return s.Close()
	}
	return nil
}

func TestOpenRefusesAnotherUsersDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	giveAway(t, dir)
	say := func(dir string) string {
		_, out := startChild(t, "open", dir)
		out.Scan()
		return out.Text()
	}
	if got := say(dir); got != "false false <nil>" {
		t.Fatalf("own directory: %s", got)
	}
	// Root's child is nobody, so a directory of root is foreign. A normal user owns none but root's, and "/" is one.
	foreign := "/"
	if os.Geteuid() == 0 {
		if err := errors.Join(os.Chown(dir, 0, 0), os.Chmod(dir, 0o755)); err != nil {
			t.Fatal(err)
		}
		foreign = dir
		if _, err := At(dir); err != nil {
			t.Fatalf("root's own directory: %v", err)
		}
	}
	if got := say(foreign); !strings.HasPrefix(got, "true true ") || !strings.Contains(got, "another user") {
		t.Errorf("foreign directory: %s", got)
	}
}

func TestOpenRefusesWhatIsNoDirectory(t *testing.T) {
	p := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(p, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(p); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("Open of a file: %v", err)
	}
	if got := content(t, p); got != "mine" {
		t.Errorf("file is %q", got)
	}
	for _, dir := range []string{"", "data", "./data"} {
		_, atErr := At(dir)
		if _, err := Open(dir); !errors.Is(err, ErrRelative) || !errors.Is(atErr, ErrRelative) {
			t.Errorf("Open(%q): %v, %v; want ErrRelative", dir, err, atErr)
		}
	}
	missing := filepath.Join(t.TempDir(), "missing")
	if _, err := At(missing); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("At a missing directory: %v", err)
	}
	if _, err := os.Stat(missing); !errors.Is(err, fs.ErrNotExist) {
		t.Error("At created the directory")
	}
}

// childHoldLock opens the store, says so, and waits for the end of its input.
func childHoldLock(dir string) error {
	s, err := Open(dir)
	if err != nil {
		return err
	}
	fmt.Println("locked")
	_, _ = os.Stdin.Read(make([]byte, 1))
	return s.Close()
}

func TestASecondInstanceIsRefusedUntilTheFirstIsGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	cmd, out := startChild(t, "hold the lock", dir)
	if !out.Scan() {
		t.Fatal("child did not open")
	}
	_, err := Open(dir)
	var locked *LockedError
	if !errors.Is(err, ErrLocked) || !errors.As(err, &locked) || locked.Pid != cmd.Process.Pid || locked.Dir != dir {
		t.Fatalf("Open: %v (%+v); want ErrLocked by %d", err, locked, cmd.Process.Pid)
	}
	if _, err := At(dir); err != nil {
		t.Errorf("At while another instance runs: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	s, err := Open(dir)
	if err != nil {
		t.Fatalf("after SIGKILL of the first: %v", err)
	}
	if _, err := Open(dir); !errors.As(err, &locked) || locked.Pid != os.Getpid() {
		t.Errorf("second Open in one process: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(dir); err != nil {
		t.Fatalf("after Close: %v", err)
	}
	s.Close()
}

// A child of an instance that was killed holds the lock for a moment: until it calls exec. Here it is another open file.
func TestTheLockOfADeadInstanceIsWaitedFor(t *testing.T) {
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		pid     int
		release bool
	}{
		"dead, and let go soon":        {ended.Process.Pid, true},
		"dead, and never let go":       {ended.Process.Pid, false},
		"alive: nothing to wait for":   {os.Getpid(), false},
		"unknown: nothing to wait for": {0, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			held, err := os.OpenFile(filepath.Join(dir, nameLock), os.O_RDWR|os.O_CREATE, 0o600)
			if err == nil {
				_, err = fmt.Fprintf(held, "%d\n", c.pid)
			}
			if err == nil {
				err = syscall.Flock(int(held.Fd()), syscall.LOCK_EX)
			}
			if err != nil {
				t.Fatal(err)
			}
			defer held.Close()
			if c.release {
				time.AfterFunc(50*time.Millisecond, func() { held.Close() })
			} else {
				was := orphanPatience
				orphanPatience = 20 * time.Millisecond
				defer func() { orphanPatience = was }()
			}
			s, err := Open(dir)
			if c.release != (err == nil) || err != nil && !errors.Is(err, ErrLocked) {
				t.Fatalf("Open: %v", err)
			}
			if s != nil {
				s.Close()
			}
		})
	}
}

func TestALockThatIsNoFileIsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if err := errors.Join(os.Mkdir(dir, 0o700), syscall.Mkfifo(filepath.Join(dir, nameLock), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); !errors.Is(err, ErrCorrupt) {
		t.Errorf("Open: %v, want ErrCorrupt", err)
	}
}

func TestOpenRemovesOurTemporaryFilesAndNothingElse(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	ours := []string{".settings.json1", ".settings.json.v1.bak9223372036854775807", ".cli-token42", ".mcp-port7", ".a.token8"}
	theirs := []string{".settings.json", ".bashrc", ".x123", ".Xauthority1", "settings.json1", ".token", ".a.json12345678901234567890"}
	for _, n := range append(slices.Clone(ours), theirs...) {
		if err := os.WriteFile(filepath.Join(dir, n), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, ".d.json1"), 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	want := append(theirs, ".d.json1")
	slices.Sort(want)
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Errorf("directory holds %q, want %q", got, want)
	}
}

func TestPathTakesOneNameAnElement(t *testing.T) {
	s := openTemp(t)
	if p, err := s.Path("checkouts", "t_4F-x.1"); err != nil || p != s.Dir()+"/checkouts/t_4F-x.1" {
		t.Errorf("Path = %q, %v", p, err)
	}
	for _, bad := range [][]string{{}, {""}, {"."}, {".."}, {"a", ".."}, {"a/b"}, {"/etc"}, {"a\x00"}, {"a b"}, {"-rf"}, {".git"}, {"a\n"}, {strings.Repeat("a", 129)}} {
		if p, err := s.Path(bad...); !errors.Is(err, ErrName) {
			t.Errorf("Path(%q) = %q, %v; want ErrName", bad, p, err)
		}
		if p, err := s.Subdir(bad...); !errors.Is(err, ErrName) {
			t.Errorf("Subdir(%q) = %q, %v; want ErrName", bad, p, err)
		}
	}
	want := []string{"/ctl.sock", "/cli-token", "/mcp-token", "/mcp-port"}
	for i, got := range []string{s.Socket(), s.CLIToken(), s.MCPToken(), s.MCPPort()} {
		if got != s.Dir()+want[i] {
			t.Errorf("got %q, want %q", got, want[i])
		}
	}
}

func TestSubdirDoesNotLeaveTheDataDirectory(t *testing.T) {
	s := openTemp(t)
	out := t.TempDir()
	if err := os.Symlink(out, filepath.Join(s.Dir(), "tasks")); err != nil {
		t.Fatal(err)
	}
	if p, err := s.Subdir("tasks", "x"); err == nil {
		t.Errorf("Subdir = %q through a link that leads out", p)
	}
	c := DefineCollection[int]("tasks", 1)
	f, err := c.File("x")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Save(s, 1); err == nil {
		t.Error("Save wrote through a link that leads out")
	}
	if n := names(t, out); len(n) != 0 {
		t.Errorf("outside holds %q", n)
	}
}
