package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"termic/registry"
)

func TestALineIsReadableAndCanBeCheckedByHand(t *testing.T) {
	dir := logDir(t)
	l := opened(t, dir, Options{})
	record(t, l, decided(1), finished(2))
	shut(t, l)
	got := lines(t, files(t, dir)[0])
	const body = `{"seq":1,"prev":"0000000000000000000000000000000000000000000000000000000000000000","event":{"time":"2026-01-02T03:04:05.000000001Z",` +
		`"phase":"decided","request":"r-1","verb":"task_send","class":"write","way":"mcp","scope":"scoped","caller":"task","allow":true}`
	sum := sha256.Sum256([]byte(body))
	if want := body + `,"hash":"` + hex.EncodeToString(sum[:]) + "\"}\n"; string(got[0]) != want {
		t.Errorf("line is %s want    %s", got[0], want)
	}
	if want := fmt.Sprintf(`{"seq":2,"prev":"%x",`, sum); !strings.HasPrefix(string(got[1]), want) {
		t.Errorf("second line is %s want it to begin with %s", got[1], want)
	}
	for _, p := range append(files(t, dir), filepath.Join(dir, nameHead)) {
		if fi, err := os.Stat(p); err != nil || fi.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, %v; want 0600", p, fi.Mode(), err)
		}
	}
	if fi, err := os.Stat(dir); err != nil || fi.Mode().Perm() != 0o700 {
		t.Errorf("directory: mode %v, %v; want 0700", fi.Mode(), err)
	}
}

func TestTheChainGoesOnAfterAReopen(t *testing.T) {
	dir := logDir(t)
	for i := range 3 {
		l := opened(t, dir, Options{})
		record(t, l, decided(2*i), finished(2*i+1))
		shut(t, l)
	}
	r := whole(t, dir)
	if r.Files != 1 || r.Entries != 6 || r.First != 1 || r.Last != 6 || len(r.Noted) != 0 {
		t.Errorf("report is %+v", r)
	}
	if got := requests(all(t, opened(t, dir, Options{}))); got != "0 1 2 3 4 5" {
		t.Errorf("events %s", got)
	}
}

func TestAnEmptyLogVerifies(t *testing.T) {
	dir := logDir(t)
	shut(t, opened(t, dir, Options{}))
	if r := whole(t, dir); r.Entries != 0 || r.Last != 0 {
		t.Errorf("report is %+v", r)
	}
	if _, err := Verify(dir + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing directory: %v", err)
	}
}

func TestAClosedLogRecordsNothing(t *testing.T) {
	dir := logDir(t)
	l := opened(t, dir, Options{})
	shut(t, l)
	shut(t, l)
	if err := l.Record(t.Context(), decided(1)); !errors.Is(err, ErrClosed) {
		t.Errorf("Record: %v, want ErrClosed", err)
	}
	if _, err := l.Tail(1, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("Tail: %v, want ErrClosed", err)
	}
	if r := whole(t, dir); r.Entries != 0 {
		t.Errorf("report is %+v", r)
	}
}

func TestLongTextIsCutAndBadTextIsEncoded(t *testing.T) {
	dir := logDir(t)
	l := opened(t, dir, Options{})
	e := decided(1)
	e.Caller = strings.Repeat("é", 10_000)
	e.Why = "a\xff\x00\n\u2028" + strings.Repeat("\x01", 10_000)
	record(t, l, e, decided(2))
	whole(t, dir)
	for _, line := range lines(t, files(t, dir)[0]) {
		if len(line) > 4<<10 {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
	if got := requests(all(t, l)); got != "1 2" {
		t.Errorf("events %s", got)
	}
}

func TestTheLogRotatesAndItsChainGoesOnAcrossFiles(t *testing.T) {
	dir := logDir(t)
	l := opened(t, dir, Options{MaxFile: 2000, Keep: 3})
	for i := range 60 {
		record(t, l, decided(i))
		if n := len(files(t, dir)); n > 3 {
			t.Fatalf("%d files, want at most 3", n)
		}
	}
	r := whole(t, dir)
	if r.Files != 3 || r.First == 1 || len(r.Noted) != 0 {
		t.Errorf("report is %+v", r)
	}
	var before link
	for i, p := range files(t, dir) {
		for n, line := range lines(t, p) {
			l, err := unseal(line[:len(line)-1])
			if err != nil {
				t.Fatal(err)
			}
			if (i > 0 || n > 0) && (l.prev != before.hash || l.seq != before.seq+1) {
				t.Errorf("%s:%d does not follow the entry before it", p, n+1)
			}
			before = l
		}
		if fi, err := os.Stat(p); err != nil || fi.Size() < 2000 && i < 2 || fi.Size() > 3500 {
			t.Errorf("%s has %d bytes", p, fi.Size())
		}
	}
	if got := requests(all(t, l)); !strings.HasSuffix(got, " 57 58 59") {
		t.Errorf("events %s", got)
	}
	shut(t, l)
	record(t, opened(t, dir, Options{MaxFile: 2000, Keep: 3}), decided(60))
	whole(t, dir)
}

func TestAFileThatWasStartedBeforeACrashIsGoneOnWith(t *testing.T) {
	dir := logDir(t)
	l := opened(t, dir, Options{})
	record(t, l, decided(1))
	shut(t, l)
	put(t, filepath.Join(dir, segmentName(2)))
	l = opened(t, dir, Options{})
	record(t, l, decided(2))
	if r := whole(t, dir); r.Entries != 2 || r.Files != 2 || len(r.Noted) != 0 {
		t.Errorf("report is %+v", r)
	}
}

func TestAFileThatShouldHaveBeenDroppedBeforeACrashIsDroppedLater(t *testing.T) {
	dir := logDir(t)
	opts := Options{MaxFile: 2000, Keep: 2}
	l := opened(t, dir, opts)
	n := 0
	for len(files(t, dir)) < 2 {
		record(t, l, decided(n))
		n++
	}
	first := files(t, dir)[0]
	kept := lines(t, first)
	for ; len(files(t, dir)) == 2 && files(t, dir)[0] == first; n++ {
		record(t, l, decided(n))
	}
	shut(t, l)
	put(t, first, kept...) // as if the removal had been lost
	whole(t, dir)
	l = opened(t, dir, opts)
	for range 20 {
		record(t, l, decided(n))
		n++
	}
	if got := files(t, dir); len(got) != 2 || got[0] == first {
		t.Errorf("files %q", got)
	}
	whole(t, dir)
}

func TestConcurrentRecordsAndReadsKeepTheChain(t *testing.T) {
	dir := logDir(t)
	l := opened(t, dir, Options{MaxFile: 20_000, Keep: 100})
	const callers, calls = 16, 16
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			for i := range calls {
				n := c*calls + i
				for _, e := range []registry.Event{decided(n), read(n), finished(n)} {
					if err := l.Record(t.Context(), e); err != nil {
						t.Error(err)
					}
				}
				if i%10 == 0 {
					if e, err := l.Tail(5, nil); err != nil || len(e) == 0 {
						t.Errorf("Tail: %d entries, %v", len(e), err)
					}
					if r, err := Verify(dir); err != nil || !r.OK() {
						t.Errorf("Verify beside writers: %v, %v", r.Problems, err)
					}
				}
			}
		})
	}
	wg.Wait()
	if r := whole(t, dir); r.Entries != callers*calls*3 || r.Files < 3 {
		t.Errorf("report is %+v", r)
	}
	shut(t, l)
	whole(t, dir)
}

func TestTailReturnsTheNewestEntriesInOrder(t *testing.T) {
	dir := logDir(t)
	l := opened(t, dir, Options{MaxFile: 1000, Keep: 100})
	for i := range 20 {
		if i%3 == 0 {
			record(t, l, read(i))
		} else {
			record(t, l, decided(i))
		}
	}
	reads := func(e Entry) bool { return e.Event != nil && e.Event.Class == registry.Read }
	for _, tt := range []struct {
		n    int
		keep func(Entry) bool
		want string
	}{
		{0, nil, ""},
		{-1, nil, ""},
		{1, nil, "19"},
		{4, nil, "16 17 18 19"},
		{4, reads, "9 12 15 18"},
		{100, reads, "0 3 6 9 12 15 18"},
		{100, func(Entry) bool { return false }, ""},
	} {
		got, err := l.Tail(tt.n, tt.keep)
		if err != nil || requests(got) != tt.want {
			t.Errorf("Tail(%d) = %s, %v; want %s", tt.n, requests(got), err, tt.want)
		}
	}
	whole(t, dir)
}

func TestTailShowsALineThatItCannotRead(t *testing.T) {
	dir := logDir(t)
	l := opened(t, dir, Options{})
	record(t, l, decided(1), decided(2), decided(3))
	p := files(t, dir)[0]
	ls := lines(t, p)
	put(t, p, ls[0], []byte("rubbish\n"), ls[2])
	got := all(t, l)
	if requests(got) != "1 3" || len(got) != 3 || got[1].Note == nil || got[1].Note.Kind != NoteUnreadable {
		t.Errorf("entries %+v", got)
	}
}
