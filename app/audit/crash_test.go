package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"termic/registry"
)

// childRecordLoop records from four goroutines and tells each decision that is on disk, until it is killed.
func childRecordLoop(dir string) error {
	l, err := Open(dir, Options{MaxFile: 20_000, Keep: 1000})
	if err != nil {
		return err
	}
	failed := make(chan error)
	base := int(l.last.seq) * 1000
	for c := range 4 {
		go func() {
			for n := base + c; ; n += 4 {
				if err := l.Record(context.Background(), decided(n)); err != nil {
					failed <- err
				}
				fmt.Println("recorded", n)
				if err := l.Record(context.Background(), finished(n)); err != nil {
					failed <- err
				}
			}
		}()
	}
	return <-failed
}

func TestWhatWasRecordedSurvivesAKill(t *testing.T) {
	dir := logDir(t)
	var told []string
	for round := range 8 {
		cmd, out := startChild(t, "record in a loop", dir)
		for more := 1 + rand.IntN(60); more > 0 && out.Scan(); more-- {
			told = append(told, strings.TrimPrefix(out.Text(), "recorded "))
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for out.Scan() {
			if n := strings.TrimPrefix(out.Text(), "recorded "); isNumber(n) {
				told = append(told, n)
			}
		}
		_ = cmd.Wait()
		l := opened(t, dir, Options{MaxFile: 20_000, Keep: 1000})
		have := map[string]bool{}
		for _, e := range all(t, l) {
			if e.Event != nil && e.Event.Phase == registry.Decided {
				have[strings.TrimPrefix(string(e.Event.Request), "r-")] = true
			}
		}
		for _, n := range told {
			if !have[n] {
				t.Fatalf("round %d: decision %s was told as recorded and is not there", round, n)
			}
		}
		shut(t, l)
		whole(t, dir)
	}
	t.Logf("%d decisions in %d files", len(told), len(files(t, dir)))
}

// isNumber guards against a line that the kill cut short.
func isNumber(s string) bool { _, err := strconv.Atoi(s); return err == nil && len(s) > 3 }

func TestATornLastLineIsPutAsideAndNoted(t *testing.T) {
	half := []byte(`{"seq":3,"prev":"00`)
	for _, tt := range []struct {
		name string
		tail []byte
		torn bool
	}{
		{"nothing", nil, false},
		{"half a line", half, true},
		{"zeros, as a power cut leaves them", make([]byte, 5000), true},
		{"one byte", []byte("{"), true},
		{"more than a line may have", bytes.Repeat([]byte("x"), 3*maxLine), true},
	} {
		t.Run("behind the last line: "+tt.name, func(t *testing.T) {
			dir := logDir(t)
			l := opened(t, dir, Options{})
			record(t, l, decided(1), decided(2))
			shut(t, l)
			p := files(t, dir)[0]
			put(t, p, append(lines(t, p), tt.tail)...)
			if r := verified(t, dir); !r.OK() || r.Torn != tt.torn {
				t.Errorf("before Open: torn %v, problems %v", r.Torn, r.Problems)
			}
			l = opened(t, dir, Options{})
			record(t, l, decided(3))
			r := whole(t, dir)
			side, _ := filepath.Glob(filepath.Join(dir, "torn-*"))
			if !tt.torn {
				if len(r.Noted) != 0 || len(side) != 0 {
					t.Errorf("notes %v, side files %q", r.Noted, side)
				}
				return
			}
			if kinds(r.Noted) != "torn" || len(side) != 1 || r.Noted[0].File != filepath.Base(side[0]) {
				t.Fatalf("notes %v, side files %q", r.Noted, side)
			}
			if b, err := os.ReadFile(side[0]); err != nil || !bytes.Equal(b, tt.tail) {
				t.Errorf("side file holds %.40q, %v", b, err)
			}
			if got := requests(all(t, l)); got != "1 2 3" {
				t.Errorf("events %s", got)
			}
		})
	}
}

func TestTwoTornEndsOfOneFileAreBothKept(t *testing.T) {
	dir := logDir(t)
	for i := range 3 {
		l := opened(t, dir, Options{})
		record(t, l, decided(i))
		shut(t, l)
		p := files(t, dir)[0]
		put(t, p, append(lines(t, p), []byte(fmt.Sprint("torn ", i)))...)
	}
	shut(t, opened(t, dir, Options{}))
	side, _ := filepath.Glob(filepath.Join(dir, "torn-*"))
	if len(side) != 3 {
		t.Fatalf("side files %q", side)
	}
	for i, p := range side {
		if b, err := os.ReadFile(p); err != nil || string(b) != fmt.Sprint("torn ", i) {
			t.Errorf("%s holds %q, %v", p, b, err)
		}
	}
	whole(t, dir)
}

// childFileLimit lets this process write no file beyond 8 KiB: a full disk that needs no rights to arrange.
func childFileLimit(dir string) error {
	l, err := Open(dir, Options{})
	if err != nil {
		return err
	}
	old := syscall.Rlimit{}
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	limit := syscall.Rlimit{Cur: 8 << 10, Max: old.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	n := 0
	for ; err == nil && n < 100; n++ {
		err = l.Record(context.Background(), decided(n))
	}
	if !errors.Is(err, ErrNoSpace) {
		return fmt.Errorf("record %d: %w, want ErrNoSpace", n, err)
	}
	if err := l.Record(context.Background(), read(n)); !errors.Is(err, ErrNoSpace) {
		return fmt.Errorf("record of a read: %w, want ErrNoSpace", err)
	}
	if r, err := Verify(dir); err != nil || !r.OK() || r.Torn || r.Entries != n-1 {
		return fmt.Errorf("while full: %+v, %w", r, err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	if err := l.Record(context.Background(), decided(n)); err != nil {
		return fmt.Errorf("with space again: %w", err)
	}
	if err := l.Close(); err != nil {
		return err
	}
	if r, err := Verify(dir); err != nil || !r.OK() || r.Entries != n {
		return fmt.Errorf("afterwards: %+v, %w", r, err)
	}
	return nil
}

func TestAFullDiskRefusesAndLeavesTheLogWhole(t *testing.T) {
	if out, err := child(t, "small file limit", logDir(t)).CombinedOutput(); err != nil {
		t.Fatalf("child: %v\n%s", err, out)
	}
}
