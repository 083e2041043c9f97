package audit

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"termic/registry"
)

// always accepts what takes power away in these tests.
func always(e registry.Event) bool { return e.Verb == "control_stop" }

func stop(n int) registry.Event {
	e := decided(n)
	e.Verb = "control_stop"
	return e
}

func TestTheReserveIsKeptForWhatTakesPowerAway(t *testing.T) {
	mnt := t.TempDir()
	if !mountSmall(t, mnt) {
		return // TestWhereNoMoreCanBeReserved tests the same rules without a file system
	}
	dir := filepath.Join(mnt, "audit")
	opts := Options{Reserve: 16 << 10, Always: always}
	l := opened(t, dir, opts)
	record(t, l, decided(0))
	fill := filepath.Join(mnt, "fill")
	fillUp(t, fill)

	n, err := 1, error(nil)
	for ; err == nil && n < 10_000; n++ {
		err = l.Record(t.Context(), decided(n))
	}
	if !errors.Is(err, ErrNoSpace) {
		t.Fatalf("record %d: %v, want ErrNoSpace", n, err)
	}
	for i := range 3 {
		if err := l.Record(t.Context(), read(i)); !errors.Is(err, ErrNoSpace) {
			t.Errorf("a read on a full disk: %v, want ErrNoSpace", err)
		}
		record(t, l, stop(n), finished(n))
	}
	whole(t, dir)

	shut(t, l) // what was reserved stays with the file
	l = opened(t, dir, opts)
	record(t, l, stop(n))
	err = nil // the reserve is not endless, and its end is an error like any other
	for i := 0; err == nil && i < 1000; i++ {
		err = l.Record(t.Context(), stop(n))
	}
	if !errors.Is(err, ErrNoSpace) {
		t.Errorf("behind the reserve: %v, want ErrNoSpace", err)
	}
	whole(t, dir)

	remove(t, fill)
	record(t, l, decided(n), read(n))
	fillUp(t, fill)
	r := whole(t, dir)
	if kinds(r.Noted) != "full" {
		t.Errorf("notes %s, want one that tells why calls are missing", kinds(r.Noted))
	}
}

func fillUp(t *testing.T, p string) {
	t.Helper()
	f, err := os.Create(p)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}

func TestARotationThatHasNoSpaceDoesNotStopWhatTakesPowerAway(t *testing.T) {
	mnt := t.TempDir()
	if !mountSmall(t, mnt) {
		return // as above
	}
	dir := filepath.Join(mnt, "audit")
	l := opened(t, dir, Options{MaxFile: 4000, Reserve: 16 << 10, Always: always, Keep: 1000})
	fillUp(t, filepath.Join(mnt, "fill"))
	n, err := 0, error(nil)
	for ; err == nil && n < 1000; n++ {
		err = l.Record(t.Context(), decided(n))
	}
	if !errors.Is(err, ErrNoSpace) {
		t.Fatalf("record %d: %v, want ErrNoSpace", n, err)
	}
	record(t, l, stop(n), stop(n+1))
	if r := whole(t, dir); r.Files != 1 {
		t.Errorf("report %+v", r)
	}
	remove(t, filepath.Join(mnt, "fill"))
	record(t, l, decided(n))
	if r := whole(t, dir); r.Files != 2 {
		t.Errorf("report %+v", r)
	}
}

func TestWhereNoMoreCanBeReserved(t *testing.T) {
	rows := []struct {
		name     string
		err      error
		ordinary bool
	}{
		{"a full disk refuses ordinary events", syscall.ENOSPC, false},
		{"a quota that is used up refuses ordinary events", syscall.EDQUOT, false},
		{"a file system that cannot reserve refuses nothing", errNoAlloc, true},
	}
	for _, tt := range rows {
		t.Run(tt.name, func(t *testing.T) {
			dir := logDir(t)
			l := opened(t, dir, Options{Always: always})
			l.reserved = 0
			l.alloc = func(*os.File, int64, int64) error { return tt.err }
			for range 3 {
				err := l.Record(context.Background(), decided(1))
				if tt.ordinary != (err == nil) || !tt.ordinary && !errors.Is(err, ErrNoSpace) {
					t.Errorf("an ordinary event: %v", err)
				}
			}
			record(t, l, stop(2), finished(3))
			l.alloc = allocate
			record(t, l, decided(4))
			r := whole(t, dir)
			if full := kinds(r.Noted) == "full"; full == tt.ordinary {
				t.Errorf("notes %q", kinds(r.Noted))
			}
			shut(t, l)
		})
	}
}

func TestAReserveIsAskedForBeforeItIsTouched(t *testing.T) {
	dir := logDir(t)
	l := opened(t, dir, Options{Reserve: 50_000})
	least := int64(1 << 40)
	for n := range 400 {
		record(t, l, read(n))
		least = min(least, l.reserved-l.size)
	}
	if least < 50_000 {
		t.Errorf("only %d bytes were left behind the end", least)
	}
	if fi, err := os.Stat(files(t, dir)[0]); err != nil || fi.Size() != l.size {
		t.Errorf("file has %d bytes, %v; want %d: the reserve is no content", fi.Size(), err, l.size)
	}
}
