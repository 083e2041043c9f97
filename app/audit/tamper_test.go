package audit

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tampered makes a log of three files that verifies, and returns its directory and files.
func tampered(t *testing.T) (dir string, segs []string) {
	t.Helper()
	dir = logDir(t)
	l := opened(t, dir, Options{MaxFile: 2000, Keep: 100})
	for n := 0; len(files(t, dir)) < 3 || len(lines(t, files(t, dir)[2])) < 3; n++ {
		record(t, l, decided(n))
	}
	shut(t, l)
	whole(t, dir) // the untouched twin
	return dir, files(t, dir)
}

// reseal returns the line of an entry after change, with a hash that fits.
func reseal(t *testing.T, line []byte, change func(*Entry)) []byte {
	t.Helper()
	var e Entry
	if err := json.Unmarshal(line, &e); err != nil {
		t.Fatal(err)
	}
	change(&e)
	out, _, err := seal(nil, e)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func deny(e *Entry) { e.Event.Allow = false }

func TestTamperingIsFound(t *testing.T) {
	without := func(ls [][]byte, i int) [][]byte { return append(append([][]byte{}, ls[:i]...), ls[i+1:]...) }
	rows := []struct {
		name string
		do   func(t *testing.T, dir string, segs []string)
		want string // in the first problem
	}{
		{"a word is changed", func(t *testing.T, _ string, s []string) {
			ls := lines(t, s[1])
			ls[1] = bytes.Replace(ls[1], []byte(`"allow":true`), []byte(`"allow":null`), 1)
			put(t, s[1], ls...)
		}, "does not match its hash"},
		{"a space is added", func(t *testing.T, _ string, s []string) {
			ls := lines(t, s[1])
			ls[1] = bytes.Replace(ls[1], []byte(`,"event"`), []byte(`, "event"`), 1)
			put(t, s[1], ls...)
		}, "does not match its hash"},
		{"a line is changed and its hash made to fit", func(t *testing.T, _ string, s []string) {
			ls := lines(t, s[1])
			ls[1] = reseal(t, ls[1], deny)
			put(t, s[1], ls...)
		}, "does not cite the hash"},
		{"the last line of a file is changed and its hash made to fit", func(t *testing.T, _ string, s []string) {
			ls := lines(t, s[0])
			ls[len(ls)-1] = reseal(t, ls[len(ls)-1], deny)
			put(t, s[0], ls...)
		}, "does not cite the hash"},
		{"the last line of all is changed and its hash made to fit", func(t *testing.T, _ string, s []string) {
			ls := lines(t, s[2])
			ls[len(ls)-1] = reseal(t, ls[len(ls)-1], deny)
			put(t, s[2], ls...)
		}, "not the entry that the head names"},
		{"a line is deleted", func(t *testing.T, _ string, s []string) { put(t, s[1], without(lines(t, s[1]), 1)...) }, "follows entry"},
		{"the first line is deleted", func(t *testing.T, _ string, s []string) { put(t, s[0], without(lines(t, s[0]), 0)...) }, "not the entry that the file is named after"},
		{"the last line is deleted", func(t *testing.T, _ string, s []string) {
			ls := lines(t, s[2])
			put(t, s[2], ls[:len(ls)-1]...)
		}, "was on disk"},
		{"a line is deleted and the next ones renumbered", func(t *testing.T, _ string, s []string) {
			ls := without(lines(t, s[1]), 1)
			for i := range ls[1:] {
				ls[i+1] = reseal(t, ls[i+1], func(e *Entry) { e.Seq-- })
			}
			put(t, s[1], ls...)
		}, "does not cite the hash"},
		{"two lines are swapped", func(t *testing.T, _ string, s []string) {
			ls := lines(t, s[1])
			ls[1], ls[2] = ls[2], ls[1]
			put(t, s[1], ls...)
		}, "follows entry"},
		{"a line is doubled", func(t *testing.T, _ string, s []string) {
			ls := lines(t, s[1])
			put(t, s[1], append([][]byte{ls[0]}, ls...)...)
		}, "follows entry"},
		{"a line is truncated", func(t *testing.T, _ string, s []string) {
			ls := lines(t, s[1])
			ls[1] = append(bytes.Clone(ls[1][:len(ls[1])/2]), '\n')
			put(t, s[1], ls...)
		}, "read entry"},
		{"a line is replaced by rubbish", func(t *testing.T, _ string, s []string) {
			ls := lines(t, s[1])
			ls[1] = []byte("\x00\x01\n")
			put(t, s[1], ls...)
		}, "read entry"},
		{"a line of a mebibyte is put in", func(t *testing.T, _ string, s []string) {
			ls := lines(t, s[1])
			ls[0] = append(bytes.Repeat([]byte("x"), 1<<20), append([]byte("\n"), ls[0]...)...)
			put(t, s[1], ls...)
		}, "read entry"},
		{"a forged line is put at the end", func(t *testing.T, _ string, s []string) {
			ls := lines(t, s[2])
			put(t, s[2], append(ls, reseal(t, ls[0], deny))...)
		}, "follows entry"},
		{"an older file ends in half a line", func(t *testing.T, _ string, s []string) {
			ls := lines(t, s[0])
			put(t, s[0], append(ls, []byte(`{"seq"`))...)
		}, "half a line"},
		{"the last file loses its last newline", func(t *testing.T, _ string, s []string) {
			b := bytes.Join(lines(t, s[2]), nil)
			put(t, s[2], b[:len(b)-1])
		}, "was on disk"},
		{"the first file is deleted", func(t *testing.T, _ string, s []string) { remove(t, s[0]) }, "does not say that it dropped them"},
		{"a file in the middle is deleted", func(t *testing.T, _ string, s []string) { remove(t, s[1]) }, "follows entry"},
		{"the last file is deleted", func(t *testing.T, _ string, s []string) { remove(t, s[2]) }, "was on disk"},
		{"all files are deleted", func(t *testing.T, _ string, s []string) { remove(t, s...) }, "was on disk"},
		{"a file is emptied", func(t *testing.T, _ string, s []string) { put(t, s[1]) }, "follows entry"},
		{"two files are swapped", func(t *testing.T, _ string, s []string) {
			a, b := lines(t, s[0]), lines(t, s[1])
			put(t, s[0], b...)
			put(t, s[1], a...)
		}, "not the entry that the file is named after"},
		{"everything is made to fit, from a first entry that cites another on", func(t *testing.T, dir string, s []string) {
			remove(t, s[1:]...)
			first := reseal(t, lines(t, s[0])[0], func(e *Entry) { e.Prev = strings.Repeat("a", 64) })
			put(t, s[0], first)
			l, err := unseal(first[:len(first)-1])
			if err != nil {
				t.Fatal(err)
			}
			put(t, filepath.Join(dir, nameHead), formatHead(state{1, l.hash}))
		}, "entries before it are missing"},
		{"the head is deleted", func(t *testing.T, dir string, _ []string) { remove(t, filepath.Join(dir, nameHead)) }, "missing"},
		{"the head is unreadable", func(t *testing.T, dir string, _ []string) { put(t, filepath.Join(dir, nameHead), []byte("x\n")) }, "unreadable"},
		{"the head names another entry", func(t *testing.T, dir string, _ []string) {
			put(t, filepath.Join(dir, nameHead), formatHead(state{verified(t, dir).Last, strings.Repeat("a", 64)}))
		}, "not the entry that the head names"},
	}
	for _, tt := range rows {
		t.Run(tt.name, func(t *testing.T) {
			dir, segs := tampered(t)
			tt.do(t, dir, segs)
			r := verified(t, dir)
			if r.OK() || !strings.Contains(r.Problems[0].String(), tt.want) {
				t.Fatalf("problems %v, want one with %q", r.Problems, tt.want)
			}
			if len(r.Problems) > 6 {
				t.Errorf("one act makes %d problems: %v", len(r.Problems), r.Problems)
			}
			checkGoesOn(t, dir)
		})
	}
}

// checkGoesOn opens a log that was tampered with: it must take new entries, and what was done to it must still be found or noted
// afterwards.
func checkGoesOn(t *testing.T, dir string) {
	t.Helper()
	before := map[string][]byte{}
	for _, p := range files(t, dir) {
		before[p], _ = os.ReadFile(p)
	}
	l := opened(t, dir, Options{Keep: 100})
	record(t, l, decided(1000), decided(1001))
	if got := requests(all(t, l)); !strings.HasSuffix(got, "1000 1001") {
		t.Errorf("events %s", got)
	}
	shut(t, l)
	r := verified(t, dir)
	if r.OK() && len(r.Noted) == 0 {
		t.Error("after a reopen nothing tells of the tampering")
	}
	for p, old := range before {
		now, err := os.ReadFile(p)
		side, _ := filepath.Glob(filepath.Join(dir, "torn-*"))
		if err != nil || !bytes.HasPrefix(now, old) && len(side) == 0 {
			t.Errorf("%s was changed", p)
		}
	}
}

func remove(t *testing.T, paths ...string) {
	t.Helper()
	for _, p := range paths {
		if err := os.Remove(p); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAnOldFileThatIsDroppedByHandIsToldFromOneThatTheLogDropped(t *testing.T) {
	dir := logDir(t)
	l := opened(t, dir, Options{MaxFile: 2000, Keep: 3})
	for n := range 40 {
		record(t, l, decided(n))
	}
	shut(t, l)
	if r := whole(t, dir); r.First == 1 {
		t.Fatal("nothing was dropped")
	}
	remove(t, files(t, dir)[0])
	if r := verified(t, dir); r.OK() || !strings.Contains(r.Problems[0].What, "does not say that it dropped them") {
		t.Errorf("problems %v", r.Problems)
	}
}

func TestEveryChangedByteIsFound(t *testing.T) {
	dir, segs := tampered(t)
	for _, p := range append(segs[2:], filepath.Join(dir, nameHead)) {
		old, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		for i := range old {
			b := bytes.Clone(old)
			b[i] ^= 1
			put(t, p, b)
			if r := verified(t, dir); r.OK() {
				t.Errorf("%s: a changed byte at %d is not found", filepath.Base(p), i)
			}
		}
		put(t, p, old)
		whole(t, dir)
	}
}

func TestADamagedLastFileIsLeftAsItIsAndGoneOnFromInANewOne(t *testing.T) {
	rubbish := []byte("rubbish\n")
	rows := []struct {
		name   string
		change func(ls [][]byte) [][]byte
		noHead bool
	}{
		{"a line is rubbish", func(ls [][]byte) [][]byte { return [][]byte{ls[0], rubbish, ls[2]} }, false},
		{"the last line is rubbish", func(ls [][]byte) [][]byte { return [][]byte{ls[0], ls[1], rubbish} }, false},
		{"a word is changed", func(ls [][]byte) [][]byte {
			return [][]byte{ls[0], bytes.Replace(ls[1], []byte("true"), []byte("null"), 1), ls[2]}
		}, false},
		{"two lines are swapped", func(ls [][]byte) [][]byte { return [][]byte{ls[1], ls[0], ls[2]} }, false},
		{"a line is rubbish and the end is torn", func(ls [][]byte) [][]byte { return [][]byte{ls[0], rubbish, ls[2], []byte("to")} }, false},
		{"everything is rubbish", func([][]byte) [][]byte { return [][]byte{rubbish, rubbish} }, false},
		{"everything is rubbish and the head is gone", func([][]byte) [][]byte { return [][]byte{rubbish, rubbish} }, true},
	}
	for _, tt := range rows {
		t.Run(tt.name, func(t *testing.T) {
			dir := logDir(t)
			l := opened(t, dir, Options{})
			record(t, l, decided(1), decided(2), decided(3))
			shut(t, l)
			p := files(t, dir)[0]
			put(t, p, tt.change(lines(t, p))...)
			if tt.noHead {
				remove(t, filepath.Join(dir, nameHead))
			}
			before, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			l = opened(t, dir, Options{})
			record(t, l, decided(4))
			shut(t, l)
			record(t, opened(t, dir, Options{}), decided(5))
			if now, err := os.ReadFile(p); err != nil || !bytes.Equal(now, before) {
				t.Errorf("the damaged file was changed: %v", err)
			}
			if side, _ := filepath.Glob(filepath.Join(dir, "torn-*")); len(side) != 0 {
				t.Errorf("side files %q", side)
			}
			r := verified(t, dir)
			if r.OK() || r.Files != 2 || !strings.HasPrefix(kinds(r.Noted), "damaged") {
				t.Errorf("report %+v", r)
			}
			for _, p := range r.Problems {
				if p.File != filepath.Base(files(t, dir)[0]) && p.Line != 1 {
					t.Errorf("a problem behind the damage: %v", p)
				}
			}
		})
	}
}

func TestDamageThatIsRotatedAwayIsNoProblemAnyMore(t *testing.T) {
	dir := logDir(t)
	opts := Options{MaxFile: 2000, Keep: 3}
	l := opened(t, dir, opts)
	for n := 0; len(files(t, dir)) < 3; n++ {
		record(t, l, decided(n))
	}
	first := files(t, dir)[0]
	ls := lines(t, first)
	ls[len(ls)-1] = []byte("rubbish\n")
	put(t, first, ls...)
	if r := verified(t, dir); r.OK() {
		t.Fatal("damage is not found")
	}
	for n := 0; files(t, dir)[0] == first; n++ {
		record(t, l, decided(n))
	}
	whole(t, dir)
}
