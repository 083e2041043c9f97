package audit

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// FuzzOpen puts any bytes in the place of the log's last file. Opening must not lose one of them, must go on with the chain, and
// Verify must find them unless they are exactly what was there, or that with something torn behind it.
func FuzzOpen(f *testing.F) {
	seed := f.TempDir()
	l := opened(f, seed, Options{})
	record(f, l, decided(1), read(2), finished(3))
	shut(f, l)
	good := bytes.Join(lines(f, files(f, seed)[0]), nil)
	for _, b := range [][]byte{good, good[:len(good)-1], append(bytes.Clone(good), "half"...), nil, []byte("\n"), []byte("{}\n"), bytes.Repeat([]byte("x"), 2*maxLine)} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		l := opened(t, dir, Options{})
		record(t, l, decided(1), read(2), finished(3))
		shut(t, l)
		p := files(t, dir)[0]
		before := bytes.Join(lines(t, p), nil)
		put(t, p, text)
		tail, unchanged := bytes.CutPrefix(text, before)
		unchanged = unchanged && !bytes.ContainsRune(tail, '\n')
		if r := verified(t, dir); r.OK() != unchanged {
			t.Fatalf("problems %v for %q", r.Problems, text)
		}
		l = opened(t, dir, Options{})
		record(t, l, decided(4))
		if got := all(t, l); len(got) == 0 || got[len(got)-1].Event == nil || got[len(got)-1].Event.Request != "r-4" {
			t.Fatalf("entries %+v", got)
		}
		shut(t, l)
		if r := verified(t, dir); !unchanged && r.OK() && len(r.Noted) == 0 {
			t.Fatal("nothing tells of the change any more")
		}
		now, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		if side, _ := filepath.Glob(filepath.Join(dir, "torn-*")); len(side) == 1 {
			cut, err := os.ReadFile(side[0])
			if err != nil || !bytes.HasSuffix(text, cut) {
				t.Fatalf("side file %q, %v", cut, err)
			}
			text = text[:len(text)-len(cut)]
		}
		if !bytes.HasPrefix(now, text) {
			t.Fatalf("of %q only %q is left", text, now)
		}
	})
}
