package store

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

type blob struct {
	N    int    `json:"n"`
	Text string `json:"text"` // N in decimal, again and again: a torn file would mix two
}

var blobFile = Define[blob]("blob", 1)

func makeBlob(n, size int) blob { return blob{n, strings.Repeat(strconv.Itoa(n)+" ", size)} }

func (b blob) whole() bool {
	word := strconv.Itoa(b.N) + " "
	return b.Text != "" && strings.ReplaceAll(b.Text, word, "") == ""
}

// childSaveLoop saves ever new content and tells each success, until it is killed.
func childSaveLoop(dir string) error {
	s, err := Open(dir)
	if err != nil {
		return err
	}
	old, err := blobFile.Load(s)
	if err != nil {
		return err
	}
	if p := s.Problems(); len(p) > 0 {
		return p[0]
	}
	for n := old.N + 1; ; n++ {
		fmt.Println("begin", n)
		if err := blobFile.Save(s, makeBlob(n, 1+rand.IntN(60000))); err != nil {
			return err
		}
		fmt.Println("saved", n)
	}
}

func TestAFileIsWholeWheneverTheProcessIsKilled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	saved := 0
	var temps int
	// A dozen kills, and more where few of them hit a save: on a fast disk a save is short.
	for round := 0; round < 12 || temps < 3 && round < 100; round++ {
		cmd, out := startChild(t, "save in a loop", dir)
		// Let it save a few times, then kill it in the middle of one: somewhere between two lines it prints.
		for lines := 1 + 2*rand.IntN(4); lines > 0 && out.Scan(); lines-- {
			saved = max(saved, savedIn(out.Text()))
		}
		if round%2 == 1 {
			waitForTemp(dir)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		saved = max(saved, drain(out))
		_ = cmd.Wait()
		temps += len(names(t, dir)) - 1

		s, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		b, err := blobFile.Load(s)
		if err != nil || len(s.Problems()) > 0 || (saved > 0 && !b.whole()) {
			t.Fatalf("round %d: blob %d of %d bytes, %v, %v", round, b.N, len(b.Text), err, s.Problems())
		}
		// One more than was told may be there: the child died between rename and print.
		if b.N < saved || b.N > saved+1 {
			t.Fatalf("round %d: blob %d, but %d was reported as saved", round, b.N, saved)
		}
		saved = b.N
		if n := names(t, dir); !slices.Equal(n, []string{"blob.json"}) && saved > 0 {
			t.Fatalf("round %d: after Open the directory holds %q", round, n)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if temps == 0 {
		t.Error("no kill hit a save: the test shows nothing")
	}
	t.Logf("%d saves, %d kills in the middle of one", saved, temps)
}

// waitForTemp returns when a save has its temporary file open, which is when a kill is most telling.
func waitForTemp(dir string) {
	for range 1_000_000 {
		if m, _ := filepath.Glob(filepath.Join(dir, ".blob.json*")); len(m) > 0 {
			return
		}
	}
}

func savedIn(line string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(line, "saved "))
	return n
}

func drain(out *bufio.Scanner) (saved int) {
	for out.Scan() {
		saved = max(saved, savedIn(out.Text()))
	}
	return saved
}

// tryFull checks what a store does when it can take no more, and again when it can. full reports that the large save
// has nowhere to go.
func tryFull(s *Store, small, large blob) error {
	err := blobFile.Save(s, large)
	if !errors.Is(err, ErrNoSpace) {
		return fmt.Errorf("large save: %v, want ErrNoSpace", err)
	}
	if b, err := blobFile.Load(s); err != nil || b != small {
		return fmt.Errorf("after it, Load = blob %d, %v", b.N, err)
	}
	if m, _ := filepath.Glob(filepath.Join(s.Dir(), ".*")); len(m) > 0 {
		return fmt.Errorf("left behind: %q", m)
	}
	if len(s.Problems()) > 0 {
		return s.Problems()[0]
	}
	return nil
}

// childFileLimit lets this process write no file beyond 64 KiB: a full disk that needs no rights to arrange.
func childFileLimit(dir string) error {
	s, err := Open(dir)
	if err != nil {
		return err
	}
	small := makeBlob(7, 100)
	if err := blobFile.Save(s, small); err != nil {
		return err
	}
	limit := syscall.Rlimit{Cur: 64 << 10, Max: 64 << 10}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	if err := tryFull(s, small, makeBlob(8, 64<<10)); err != nil {
		return err
	}
	// The twin: within the limit the same store saves.
	if err := blobFile.Save(s, makeBlob(9, 1000)); err != nil {
		return err
	}
	// Nor may a migration without room for its backup cost the old file, or the save after it.
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 100, Max: limit.Max}); err != nil {
		return err
	}
	old, err := os.ReadFile(filepath.Join(dir, "blob.json"))
	if err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	if s, err = Open(dir); err != nil {
		return err
	}
	next := Define[blob]("blob", 2, func(v jsontext.Value) (jsontext.Value, error) { return v, nil })
	if err := next.Save(s, blob{}); !errors.Is(err, ErrNoSpace) {
		return fmt.Errorf("save over an old version without room for a backup: %v, want ErrNoSpace", err)
	}
	if _, err := next.Load(s); !errors.Is(err, ErrNoSpace) {
		return fmt.Errorf("load of an old version without room for a backup: %v, want ErrNoSpace", err)
	}
	if now, err := os.ReadFile(filepath.Join(dir, "blob.json")); err != nil || !bytes.Equal(now, old) {
		return fmt.Errorf("the old version was changed: %v", err)
	}
	return s.Close()
}

func TestAFullDiskCostsNothingThatWasThere(t *testing.T) {
	runChild(t, "small file limit", filepath.Join(t.TempDir(), "data"))
}

func TestAFullFileSystemCostsNothingThatWasThere(t *testing.T) {
	mnt := t.TempDir()
	if !mountSmall(t, mnt) {
		return // the file size limit above has tested the same code; only the errno differs
	}
	s, err := Open(filepath.Join(mnt, "data"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	small := makeBlob(7, 100)
	if err := errors.Join(blobFile.Save(s, small), s.WriteSecret("mcp-token", "secret")); err != nil {
		t.Fatal(err)
	}
	if err := tryFull(s, small, makeBlob(8, 1<<20)); err != nil {
		t.Error(err)
	}
	// Fill it to the last page, then not even a small save fits, while a secret still goes away (I14).
	fill := filepath.Join(mnt, "fill")
	f, err := os.Create(fill)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	f.Close()
	if err := tryFull(s, small, makeBlob(8, 2000)); err != nil {
		t.Error(err)
	}
	if err := s.WriteSecret("mcp-port", "1"); !errors.Is(err, ErrNoSpace) {
		t.Errorf("WriteSecret: %v, want ErrNoSpace", err)
	}
	if err := s.RemoveSecret("mcp-token"); err != nil {
		t.Errorf("RemoveSecret on a full disk: %v", err)
	}
	if err := os.Remove(fill); err != nil {
		t.Fatal(err)
	}
	if err := blobFile.Save(s, makeBlob(9, 2000)); err != nil {
		t.Errorf("with space again: %v", err)
	}
}

// childCannotWrite takes the right to write from the directory, as an ordinary user.
func childCannotWrite(dir string) error {
	if err := dropRoot(); err != nil {
		return err
	}
	s, err := Open(dir)
	if err != nil {
		return err
	}
	small := makeBlob(7, 100)
	if err := blobFile.Save(s, small); err != nil {
		return err
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		return err
	}
	if err := blobFile.Save(s, makeBlob(8, 100)); !errors.Is(err, ErrReadOnly) {
		return fmt.Errorf("save: %v, want ErrReadOnly", err)
	}
	if _, err := s.Subdir("x"); !errors.Is(err, ErrReadOnly) {
		return fmt.Errorf("Subdir: %v, want ErrReadOnly", err)
	}
	if b, err := blobFile.Load(s); err != nil || b != small {
		return fmt.Errorf("Load = blob %d, %v", b.N, err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return err
	}
	if err := blobFile.Save(s, makeBlob(8, 100)); err != nil {
		return fmt.Errorf("save once it can be written again: %w", err)
	}
	if err := errors.Join(s.Close(), os.Remove(filepath.Join(dir, nameLock)), os.Chmod(dir, 0o500)); err != nil {
		return err
	}
	if _, err := Open(dir); !errors.Is(err, ErrReadOnly) {
		return fmt.Errorf("open: %v, want ErrReadOnly", err)
	}
	if _, err := Open(filepath.Join(dir, "sub")); !errors.Is(err, ErrReadOnly) {
		return fmt.Errorf("open of a directory that cannot be made: %v, want ErrReadOnly", err)
	}
	return os.Chmod(dir, 0o700)
}

func TestAReadOnlyDirectoryCostsNothingThatWasThere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	giveAway(t, dir)
	runChild(t, "cannot write", dir)
}

// childCorruptFixed has a corrupt file that cannot be moved away: it must survive every save, and saving must work
// again once it can be moved.
func childCorruptFixed(dir string) error {
	if err := dropRoot(); err != nil {
		return err
	}
	s, err := Open(dir)
	if err != nil {
		return err
	}
	p := filepath.Join(dir, "blob.json")
	if err := errors.Join(os.WriteFile(p, []byte("broken"), 0o600), os.Chmod(dir, 0o500)); err != nil {
		return err
	}
	for range 3 {
		if b, err := blobFile.Load(s); err != nil || b != (blob{}) {
			return fmt.Errorf("Load = blob %d, %v", b.N, err)
		}
		if err := blobFile.Save(s, makeBlob(1, 1)); !errors.Is(err, ErrNotKept) {
			return fmt.Errorf("save: %v, want ErrNotKept", err)
		}
	}
	problems := s.Problems()
	if len(problems) != 1 || problems[0].Kept != "" || !errors.Is(problems[0], ErrNotKept) || !errors.Is(problems[0], ErrCorrupt) {
		return fmt.Errorf("problems %v, want one that was not kept", problems)
	}
	if b, err := os.ReadFile(p); err != nil || string(b) != "broken" {
		return fmt.Errorf("file is %q, %v", b, err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return err
	}
	if err := blobFile.Save(s, makeBlob(1, 1)); err != nil {
		return err
	}
	problems = s.Problems()
	if len(problems) != 1 || problems[0].Kept == "" {
		return fmt.Errorf("problems %v, want one that was kept", problems)
	}
	if b, err := os.ReadFile(problems[0].Kept); err != nil || string(b) != "broken" {
		return fmt.Errorf("kept %q, %v", b, err)
	}
	// A file of ours that we may not read is set aside like any other that cannot be used.
	if err := os.Chmod(p, 0); err != nil {
		return err
	}
	if b, err := blobFile.Load(s); err != nil || b != (blob{}) || len(s.Problems()) != 2 {
		return fmt.Errorf("unreadable: blob %d, %v, %v", b.N, err, s.Problems())
	}
	return s.Close()
}

func TestACorruptFileThatCannotBeMovedIsNotOverwritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	giveAway(t, dir)
	runChild(t, "corrupt and fixed", dir)
}
