package screen

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestResize(t *testing.T) {
	for name, row := range map[string]struct {
		in         string
		cols, rows int
		text, all  string
		x, y       int
	}{
		"narrower wraps":                        {"abcdefgh", 4, 4, "abcdefgh", "abcdefgh", 4, 1},
		"wider unwraps":                         {"abcdefghijklm", 20, 4, "abcdefghijklm", "abcdefghijklm", 13, 0},
		"lower keeps the top in the scrollback": {"1\r\n2\r\n3\r\n4", 10, 2, "3\n4", "1\n2\n3\n4", 1, 1},
		"lower takes blank rows first":          {"1\r\n2", 10, 2, "1\n2", "1\n2", 1, 1},
		"higher brings the scrollback back":     {"1\r\n2\r\n3\r\n4\r\n5\r\n6", 10, 6, "1\n2\n3\n4\n5\n6", "1\n2\n3\n4\n5\n6", 1, 5},
		"a line across the scrollback's end":    {"abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJ", 12, 4, "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJ", "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJ", 10, 3},
		"wide characters at the new edge":       {"漢字かな", 3, 8, "漢字かな", "漢字かな", 2, 3},
		"rows below the cursor stay":            {"1\r\n2\r\n3\r\n4\x1b[H", 10, 2, "3\n4", "1\n2\n3\n4", 0, 0},
		"the smallest":                          {"ab\r\ncd", 1, 0, "cd", "ab\ncd", 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := New(Options{Cols: 10, Rows: 4})
			write(s, []byte(row.in))
			s.Resize(row.cols, row.rows)
			checkGrid(t, s)
			if got := s.Text(TextOptions{}); got != row.text {
				t.Errorf("text %q, want %q", got, row.text)
			}
			if got := s.Text(TextOptions{Scrollback: true}); got != row.all {
				t.Errorf("with scrollback %q, want %q", got, row.all)
			}
			if s.x != row.x || s.y != row.y {
				t.Errorf("cursor %d,%d, want %d,%d", s.x, s.y, row.x, row.y)
			}
		})
	}
}

func TestResizeLosesNoText(t *testing.T) {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "%d %s 漢字%s\r\n", i, strings.Repeat("word ", i%9), strings.Repeat("é", i%5))
	}
	s := New(Options{Cols: 30, Rows: 10})
	write(s, []byte(b.String()))
	want := s.Text(TextOptions{Scrollback: true})
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		cols, rows := 2+r.IntN(100), 1+r.IntN(60)
		s.Resize(cols, rows)
		checkGrid(t, s)
		if got := s.Text(TextOptions{Scrollback: true}); got != want {
			t.Fatalf("at %dx%d:\n got %q\nwant %q", cols, rows, got, want)
		}
	}
}

func TestResizeOfTheAlternateScreen(t *testing.T) {
	s := New(Options{Cols: 10, Rows: 4})
	write(s, []byte("m1\r\nm2\r\nm3\r\nm4\x1b[?1049h\x1b[Habcdefghij\r\n漢字漢字漢\r\n3\r\n4"))
	s.Resize(5, 3)
	checkGrid(t, s)
	if got, want := s.Text(TextOptions{}), "漢字\n3\n4"; got != want {
		t.Errorf("alternate %q, want %q", got, want)
	}
	write(s, []byte("\x1b[?1049l"))
	if got, want := s.Text(TextOptions{Scrollback: true}), "m1\nm2\nm3\nm4"; got != want {
		t.Errorf("main %q, want %q", got, want)
	}
}

func TestSizeBounds(t *testing.T) {
	s := New(Options{Cols: 1 << 30, Rows: -5})
	if cols, rows := s.Size(); cols != maxCols || rows != minRows {
		t.Errorf("%dx%d", cols, rows)
	}
	s.Resize(-1, 1<<30)
	if cols, rows := s.Size(); cols != minCols || rows != maxRows {
		t.Errorf("%dx%d", cols, rows)
	}
}
