package screen

import (
	"fmt"
	"testing"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
)

// TestPlain compares the short cut with the library: none of its characters joins another of them.
func TestPlain(t *testing.T) {
	partners := []rune{'a', 0xe9, 0x391, 0x416, 0x2014, 0x2500, 0x2733, 0x3042, 0x4e00, 0xff21}
	first := func(text string) int {
		it := graphemes.FromString(text)
		it.Next()
		return len(it.Value())
	}
	n := 0
	for r := rune(0x300); r < 0x11000; r++ {
		if !plain(r) || !utf8.ValidRune(r) {
			continue
		}
		n++
		if runeWidth(r) == 0 {
			t.Errorf("U+%04X has no width", r)
		}
		for _, p := range partners {
			if first(string(p)+string(r)) != len(string(p)) {
				t.Errorf("U+%04X joins U+%04X", r, p)
			}
			if first(string(r)+string(p)) != len(string(r)) {
				t.Errorf("U+%04X is joined by U+%04X", r, p)
			}
		}
	}
	if n < 20_000 {
		t.Errorf("only %d characters looked at", n)
	}
	for r := rune(0x300); r < 0x2100; r++ {
		if mark(r) && (first("a"+string(r)) != 1+len(string(r)) || clusterWidth([]byte("a"+string(r))) != 1) {
			t.Errorf("U+%04X is no mark", r)
		}
	}
}

func TestClusters(t *testing.T) {
	for name, row := range map[string]struct {
		in    string
		cells []string // text of each cell; a wide one is followed by ""
	}{
		"accents":                          {"e\u0301a\u0308", []string{"e\u0301", "a\u0308"}},
		"a flag":                           {"🇩🇪x", []string{"🇩🇪", "", "x"}},
		"two flags":                        {"🇩🇪🇫🇷", []string{"🇩🇪", "", "🇫🇷", ""}},
		"a family":                         {"👩‍👩‍👧‍👦x", []string{"👩‍👩‍👧‍👦", "", "x"}},
		"a skin tone":                      {"👍🏽x", []string{"👍🏽", "", "x"}},
		"a selector widens":                {"❤️x", []string{"❤️", "", "x"}},
		"ideographs stay apart":            {"漢字", []string{"漢", "", "字", ""}},
		"Hangul from its parts":            {"\u1112\u1161\u11ab", []string{"\u1112\u1161\u11ab", ""}},
		"a mark with nothing before it":    {"\u0301x", []string{"x"}},
		"a mark after a movement":          {"e\x1b[1C\x1b[1D\u0301x", []string{"e", "x"}},
		"a zero width space stays with it": {"a\u200bb", []string{"a\u200b", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := New(Options{Cols: 12, Rows: 2})
			write(s, []byte(row.in))
			for x, want := range row.cells {
				if got := string(s.appendCell(nil, &s.main.rows[0].cells[x])); got != want {
					t.Errorf("cell %d: %q, want %q", x, got, want)
				}
			}
			if s.x != len(row.cells) {
				t.Errorf("cursor at %d, want %d", s.x, len(row.cells))
			}
		})
	}
}

// A selector that makes the last character of a row wide takes it to the next row.
func TestSelectorAtTheEdge(t *testing.T) {
	s := New(Options{Cols: 4, Rows: 3})
	write(s, []byte("abc❤\ufe0fx"))
	if s.Row(0) != "abc" || s.Row(1) != "❤️x" {
		t.Errorf("%q, %q", s.Row(0), s.Row(1))
	}
	if got := s.Text(TextOptions{}); got != "abc❤️x" {
		t.Errorf("text %q", got)
	}
	s = New(Options{Cols: 4, Rows: 3})
	write(s, []byte("\x1b[?7labc❤\ufe0f"))
	if s.Row(0) != "abc❤" {
		t.Errorf("without autowrap %q", s.Row(0))
	}
}

func TestClustersAreBounded(t *testing.T) {
	s := New(Options{Cols: 20, Rows: 3, Scrollback: 10})
	for i := range 20_000 {
		write(s, fmt.Appendf(nil, "e%c%c", 0x300+i%0x70, 0x300+i/0x70%0x70))
	}
	if n := len(s.clusters.texts); n > minSweep+1 {
		t.Errorf("%d texts are held for 60 cells", n)
	}
	checkGrid(t, s)
	long := "e"
	for range 100 {
		long += "\u0301"
	}
	s = New(Options{})
	write(s, []byte(long+"x"))
	if got := s.Row(0); len(got) > maxCluster+1 || s.x != 2 {
		t.Errorf("%d bytes in %d cells", len(got), s.x)
	}
}
