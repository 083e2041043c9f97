package screen

import (
	"slices"
	"strings"
	"testing"
)

// TestLinesSinceAMark: what a terminal that only writes shows after a mark is what was written from the mark's line on.
func TestLinesSinceAMark(t *testing.T) {
	for name, row := range map[string]struct {
		before, after string
		drawn         bool // the mark is of a program that draws
		want          []string
		missed        bool
	}{
		"nothing was there":            {"", "a\r\nb", false, []string{"a", "b"}, false},
		"the line was not finished":    {"a\r\n$ ", "ls\r\nb\r\n$ ", false, []string{"$ ls", "b", "$"}, false},
		"nothing came":                 {"a\r\nb\r\n", "", false, nil, false},
		"from the scrollback":          {"1\r\n2\r\n3\r\n4\r\n5\r\n", "6\r\n7\r\n8\r\n9\r\n10\r\n11", false, []string{"6", "7", "8", "9", "10", "11"}, false},
		"a line that wrapped":          {"1\r\n2\r\n3\r\n4\r\nabcdefghijklmno", "p\r\nq", false, []string{"abcdefghijklmnop", "q"}, false},
		"more than is kept":            {"a\r\n", strings.Repeat("x\r\n", 30) + "y", false, append(slices.Repeat([]string{"x"}, 19), "y"), true},
		"the screen was erased":        {"1\r\n2\r\n3", "\x1b[H\x1b[2Jnew", false, []string{"new"}, false},
		"it was erased from the top":   {"1\r\n2\r\n3", "\x1b[H\x1b[Jnew", false, []string{"new"}, false},
		"and the scrollback with it":   {"1\r\n2\r\n3\r\n4\r\n5\r\n6", "\x1b[H\x1b[2J\x1b[3Jnew", false, []string{"new"}, false},
		"the terminal was reset":       {"1\r\n2\r\n3\r\n4\r\n5\r\n6", "\x1bcnew", false, []string{"new"}, false},
		"a program drew over it":       {"1\r\n2\r\n3", "\x1b[Hone", true, []string{"one", "2", "3"}, false},
		"it left the screen meanwhile": {"1\r\n2\r\n3\r\n4\r\n5", "\r\n6", true, []string{"2", "3", "4", "5", "6"}, false},
		"on the alternate screen":      {"a\r\nb", "\x1b[?1049h\x1b[Hover", false, []string{"b", "over"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := New(Options{Cols: 10, Rows: 4, Scrollback: 16})
			write(s, []byte(row.before))
			mark := s.Numbered().Now
			write(s, []byte(row.after))
			lines, missed := s.Numbered().Since(mark, row.drawn)
			var got []string
			for _, line := range lines {
				got = append(got, line.Plain)
			}
			if !slices.Equal(got, row.want) || missed != row.missed {
				t.Errorf("%q, missed %t; want %q, %t", got, missed, row.want, row.missed)
			}
		})
	}
}

// FuzzNumbered: a number never goes back, is never beyond what there is, and stays with its line when only lines are written.
func FuzzNumbered(f *testing.F) {
	f.Add([]byte("a\r\nb\r\n\x1b[2Jc\x1bcd"), uint8(3))
	f.Add([]byte("abcdefghijklmnopqrstuvw\r\n漢字漢字漢字\x1b[3J\x1b[?1049hx"), uint8(1))
	f.Fuzz(func(t *testing.T, in []byte, limit uint8) {
		s := New(Options{Cols: 7, Rows: 3, Scrollback: int(limit%20) - 1})
		last := s.Numbered()
		for piece := range slices.Chunk(in, 5) {
			write(s, piece)
			n := s.Numbered()
			if n.First < last.First || n.Now.Drawn < last.Now.Drawn {
				t.Fatalf("after %q the first is %d and was %d, the screen's %d and was %d", piece, n.First, last.First, n.Now.Drawn, last.Now.Drawn)
			}
			if now := n.Now; now.Drawn < n.First || now.Written < now.Drawn || now.Written >= now.Drawn+3 {
				t.Fatalf("first %d, now %+v", n.First, now)
			}
			last = n
		}
		write(s, []byte("\x1bc\x1b[?1049l"))
		mark := s.Numbered().Now
		write(s, []byte("x\r\ny"))
		if lines, _ := s.Numbered().Since(mark, false); len(lines) != 2 || lines[0].Plain != "x" || lines[1].Plain != "y" {
			t.Fatalf("%q", lines)
		}
	})
}
