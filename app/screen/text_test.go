package screen

import (
	"fmt"
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	for name, row := range map[string]struct {
		in   string
		o    TextOptions
		want string
	}{
		"nothing":                             {"", TextOptions{}, ""},
		"blanks at the ends of lines go":      {"a  \r\nb \x1b[44m \x1b[m\r\n", TextOptions{}, "a\nb"},
		"blank lines between stay":            {"a\r\n\r\nb", TextOptions{}, "a\n\nb"},
		"blank lines above stay":              {"\r\n\r\nb", TextOptions{}, "\n\nb"},
		"what was passed over is blank":       {"a\x1b[3Cb", TextOptions{}, "a   b"},
		"a wrapped line is one":               {"12345678901234567890123", TextOptions{}, "12345678901234567890123"},
		"blanks at a wrap stay":               {"123456789 x", TextOptions{}, "123456789 x"},
		"the gap before a wide character":     {"123456789漢", TextOptions{}, "123456789漢"},
		"a line feed ends a full line":        {"1234567890\r\nx", TextOptions{}, "1234567890\nx"},
		"an erased wrap is none":              {"1234567890x\x1b[A\x1b[2K", TextOptions{}, "\nx"},
		"only the screen":                     {"1\r\n2\r\n3\r\n4\r\n5", TextOptions{}, "2\n3\n4\n5"},
		"with scrollback":                     {"1\r\n2\r\n3\r\n4\r\n5", TextOptions{Scrollback: true}, "1\n2\n3\n4\n5"},
		"the last two lines":                  {"1\r\n2\r\n3\r\n4\r\n5\r\n", TextOptions{Lines: 2, Scrollback: true}, "4\n5"},
		"more lines than there are":           {"1\r\n2", TextOptions{Lines: 9, Scrollback: true}, "1\n2"},
		"a line that began in the scrollback": {"abcdefghijklmnopqrstuvwxyz\r\n1\r\n2", TextOptions{Lines: 3, Scrollback: true}, "abcdefghijklmnopqrstuvwxyz\n1\n2"},
		"the part of it that shows":           {"abcdefghijklmnopqrstuvwxyz\r\n1\r\n2", TextOptions{}, "klmnopqrstuvwxyz\n1\n2"},
		"cleared scrollback":                  {"1\r\n2\r\n3\r\n4\r\n5\x1b[3J", TextOptions{Scrollback: true}, "2\n3\n4\n5"},
	} {
		t.Run(name, func(t *testing.T) {
			s := New(Options{Cols: 10, Rows: 4})
			write(s, []byte(row.in))
			if got := s.Text(row.o); got != row.want {
				t.Errorf("%q, want %q", got, row.want)
			}
		})
	}
}

func TestScrollbackKeepsItsLimit(t *testing.T) {
	for _, limit := range []int{1, 2, 7, 300} {
		s := New(Options{Cols: 10, Rows: 2, Scrollback: limit})
		for i := range 1000 {
			write(s, fmt.Appendf(nil, "line %d\r\n", i))
		}
		lines := strings.Split(s.Text(TextOptions{Scrollback: true}), "\n")
		if want := limit + 1; len(lines) != want { // the last row of the screen is empty
			t.Errorf("limit %d: %d lines, want %d", limit, len(lines), want)
		}
		if want := fmt.Sprintf("line %d", 1000-limit-1); lines[0] != want {
			t.Errorf("limit %d: first line %q, want %q", limit, lines[0], want)
		}
	}
	s := New(Options{Cols: 10, Rows: 2, Scrollback: -1})
	write(s, []byte("1\r\n2\r\n3"))
	if got := s.Text(TextOptions{Scrollback: true}); got != "2\n3" {
		t.Errorf("without scrollback: %q", got)
	}
}

// Public report: a read loop that decodes each chunk by itself shows U+FFFD where a character is split.
func TestSplitCharacters(t *testing.T) {
	text := "cleanup — é漢 👩‍👩‍👧 end"
	for size := 1; size < 6; size++ {
		s := New(Options{})
		for rest := []byte(text); len(rest) > 0; {
			n := min(size, len(rest))
			write(s, rest[:n])
			rest = rest[n:]
		}
		if got := s.Text(TextOptions{}); got != text {
			t.Errorf("in pieces of %d: %q", size, got)
		}
	}
	block := []byte(strings.Repeat("x", 32<<10-1) + "—") // at the border of a read buffer
	s := New(Options{Cols: 1000})
	write(s, block[:32<<10])
	write(s, block[32<<10:])
	if got := s.Text(TextOptions{Scrollback: true}); got != string(block) {
		t.Errorf("at 32 KiB: ends with %q", got[len(got)-8:])
	}
}

func TestBytesThatAreNoText(t *testing.T) {
	for name, row := range map[string]struct{ in, want string }{
		"stray continuation":                {"a\x80\xbfb", "ab"},
		"impossible bytes":                  {"a\xff\xfe\xc0\xafb", "ab"},
		"a surrogate":                       {"a\xed\xa0\x80b", "ab"},
		"cut off by ASCII":                  {"a\xe6\xbcb", "ab"},
		"cut off by a sequence":             {"a\xe6\xbc\x1b[1mb", "ab"},
		"cut off by another character":      {"a\xe6\xbc漢b", "a漢b"},
		"a replacement character is itself": {"a\ufffdb", "a\ufffdb"},
		"NUL and DEL":                       {"a\x00\x7fb", "ab"},
		"a byte order mark":                 {"\ufeffab", "ab"},
	} {
		t.Run(name, func(t *testing.T) {
			s, pieces := New(Options{}), New(Options{})
			write(s, []byte(row.in))
			for i := range len(row.in) {
				write(pieces, []byte{row.in[i]})
			}
			if got := s.Text(TextOptions{}); got != row.want {
				t.Errorf("%q, want %q", got, row.want)
			}
			if got := pieces.Text(TextOptions{}); got != row.want {
				t.Errorf("byte by byte %q, want %q", got, row.want)
			}
		})
	}
}
