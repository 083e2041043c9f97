package clients

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func write(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, path string) File {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func TestAFileIsReplacedWithABackupBesideIt(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "c.toml")
	write(t, path, "old", 0o640)
	done, err := open(t, path).Replace([]byte("new"), noon)
	if err != nil {
		t.Fatal(err)
	}
	if want := path + ".termic-20261129-120000.bak"; done.Backup != want {
		t.Errorf("backup %s, want %s", done.Backup, want)
	}
	for name, text := range map[string]string{path: "new", done.Backup: "old"} {
		data, err := os.ReadFile(name)
		info, statErr := os.Stat(name)
		if err != nil || statErr != nil || string(data) != text || info.Mode().Perm() != 0o640 {
			t.Errorf("%s: %q, %v, %v", name, data, info.Mode(), errors.Join(err, statErr))
		}
	}
	second, err := open(t, path).Replace([]byte("newer"), noon)
	if err != nil || second.Backup == done.Backup {
		t.Errorf("a backup was overwritten: %s, %v", second.Backup, err)
	}
	if got := names(t, dir); len(got) != 3 {
		t.Errorf("something is left: %v", got)
	}
	if kept := Tidy([]string{done.Backup, second.Backup}, func(data []byte) bool { return string(data) == "old" }); len(kept) != 1 || kept[0] != second.Backup {
		t.Errorf("kept %v", kept)
	}
	if got := names(t, dir); len(got) != 2 {
		t.Errorf("the backup with nothing of its own is still there: %v", got)
	}
}

func TestALinkedDotfileIsEditedWhereItLeads(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "dotfiles", "codex"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "dotfiles", "codex", "config.toml"), "old", 0o644)
	for from, to := range map[string]string{"home": "dotfiles/codex", "dotfiles/codex/link.toml": "../codex/config.toml", "direct.toml": "dotfiles/codex/config.toml"} {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	for i, name := range []string{"direct.toml", "home/link.toml"} {
		f := open(t, filepath.Join(dir, name))
		if _, err := f.Replace([]byte{byte('a' + i)}, noon); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is no link any more: %v", name, err)
		}
		if data, err := os.ReadFile(filepath.Join(dir, "dotfiles", "codex", "config.toml")); err != nil || string(data) != string(rune('a'+i)) {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
}

func TestALinkToNothingIsFilledWhereItLeads(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink("made/later.json", link); err != nil {
		t.Fatal(err)
	}
	f := open(t, link)
	if f.Exists {
		t.Fatal("it exists")
	}
	done, err := f.Replace([]byte("x"), noon)
	if err != nil || len(done.Dirs) != 1 {
		t.Fatalf("%v, %v", done, err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "made", "later.json")); err != nil || string(data) != "x" {
		t.Errorf("%q, %v", data, err)
	}
	if err := open(t, link).Remove(done.Dirs); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("left: %v", got)
	}
}

func TestALoopOfLinksIsRefused(t *testing.T) {
	dir := t.TempDir()
	a := filepath.Join(dir, "a")
	if err := os.Symlink("a", a); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(a); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("%v", err)
	}
}

func TestAChangeByAnotherProgramIsSeenAtTheLastMoment(t *testing.T) {
	for name, meddle := range map[string]func(path string) error{
		"other content":      func(path string) error { return os.WriteFile(path, []byte("theirs"), 0o600) },
		"another mode":       func(path string) error { return os.Chmod(path, 0o644) },
		"gone":               os.Remove,
		"a link to another":  func(path string) error { return errors.Join(os.Rename(path, path+"2"), os.Symlink("c2", path)) },
		"nothing (the twin)": nil,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "c")
			write(t, path, "old", 0o600)
			f := open(t, path)
			f.beforeRename = func() {
				if meddle != nil {
					if err := meddle(path); err != nil {
						t.Error(err)
					}
				}
			}
			_, err := f.Replace([]byte("ours"), noon)
			if meddle == nil {
				if err != nil {
					t.Errorf("the twin: %v", err)
				}
				return
			}
			if !errors.Is(err, ErrChanged) {
				t.Errorf("%v", err)
			}
			if data, err := os.ReadFile(path); err == nil && string(data) == "ours" {
				t.Error("their change is lost")
			}
			for _, left := range names(t, dir) {
				if strings.Contains(left, "termic") {
					t.Errorf("left behind: %s", left)
				}
			}
		})
	}
}

func TestAFileThatAppearsMeanwhileIsNotOverwritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "c")
	f := open(t, path)
	f.beforeRename = func() { write(t, path, "theirs", 0o600) }
	if _, err := f.Replace([]byte("ours"), noon); !errors.Is(err, ErrChanged) {
		t.Errorf("%v", err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "theirs" {
		t.Errorf("%q, %v", data, err)
	}
}

func TestWhatCannotBeReplacedAsItIsIsRefused(t *testing.T) {
	dir := t.TempDir()
	linked := filepath.Join(dir, "linked")
	write(t, linked, "x", 0o600)
	if err := os.Link(linked, linked+"2"); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, linked).Replace([]byte("y"), noon); !errors.Is(err, ErrUnsafe) {
		t.Errorf("a file with two names: %v", err)
	}
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(dir, "large")
	if err := os.WriteFile(large, bytes.Repeat([]byte(" "), maxFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{fifo, dir, large} {
		if _, err := Open(path); !errors.Is(err, ErrUnsafe) {
			t.Errorf("%s: %v", path, err)
		}
	}
	within := filepath.Join(dir, "within")
	write(t, within, strings.Repeat(" ", 100), 0o600)
	if _, err := Open(within); err != nil {
		t.Errorf("the twin: %v", err)
	}
}

func TestTheOwnerStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c")
	write(t, path, "old", 0o600)
	if os.Geteuid() == 0 { // as root there are others to keep; else it is our own
		if err := os.Chown(path, 4711, 4712); err != nil {
			t.Fatal(err)
		}
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	done, err := open(t, path).Replace([]byte("new"), noon)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, done.Backup} {
		after, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		was, is := before.Sys().(*syscall.Stat_t), after.Sys().(*syscall.Stat_t)
		if was.Uid != is.Uid || was.Gid != is.Gid {
			t.Errorf("%s belongs to %d:%d, was %d:%d", name, is.Uid, is.Gid, was.Uid, was.Gid)
		}
	}
}

func TestRemovingTakesWhatWasMadeAndNothingElse(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "b", "c")
	done, err := open(t, path).Replace([]byte("x"), noon)
	if err != nil || len(done.Dirs) != 2 || done.Backup != "" {
		t.Fatalf("%+v, %v", done, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	write(t, filepath.Join(dir, "a", "theirs"), "", 0o600)
	if err := open(t, path).Remove(done.Dirs); err != nil {
		t.Fatal(err)
	}
	if got := names(t, filepath.Join(dir, "a")); len(got) != 1 || got[0] != "theirs" {
		t.Errorf("left: %v", got)
	}
}

func TestTheClientsLockIsTakenWaitedForAndTakenOver(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.json")
	write(t, file, "{}", 0o600)
	unlock, err := Lock(context.Background(), file)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file + ".lock"); err != nil || !info.IsDir() {
		t.Fatalf("no lock: %v", err)
	}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Lock(over, file); !errors.Is(err, ErrLocked) {
		t.Errorf("locked twice: %v", err)
	}
	waited := make(chan error, 1)
	go func() {
		again, err := Lock(context.Background(), file)
		if err == nil {
			err = again()
		}
		waited <- err
	}()
	if err := unlock(); err != nil {
		t.Error(err)
	}
	if err := <-waited; err != nil {
		t.Errorf("after it was given up: %v", err)
	}
	if err := os.Mkdir(file+".lock", 0o700); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-lockStale - time.Second)
	if err := os.Chtimes(file+".lock", old, old); err != nil {
		t.Fatal(err)
	}
	unlock, err = Lock(over, file)
	if err != nil {
		t.Fatalf("a dead client's lock: %v", err)
	}
	if err := unlock(); err != nil {
		t.Error(err)
	}
}
