package screen

import (
	"slices"
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	for name, row := range map[string]struct {
		in   string
		n    int
		want []Line
	}{
		"nothing":           {"", 9, nil},
		"plain":             {"a\r\n\r\nb  \r\n", 9, []Line{{"a", "a"}, {"", ""}, {"b", "b  "}}},
		"styled":            {"a\x1b[1;31mb\x1b[mc", 9, []Line{{"abc", "a\x1b[0;1;31mb\x1b[0mc"}}},
		"ends plainly":      {"\x1b[7minverse\x1b[m", 9, []Line{{"inverse", "\x1b[0;7minverse\x1b[0m"}}},
		"a gap":             {"\x1b[31ma\x1b[3Cb", 9, []Line{{"a   b", "\x1b[0;31ma\x1b[0m   \x1b[0;31mb\x1b[0m"}}},
		"wrapped":           {"abcdefghijklmno", 9, []Line{{"abcdefghijklmno", "abcdefghijklmno"}}},
		"wide":              {"漢字e\u0301", 9, []Line{{"漢字e\u0301", "漢字e\u0301"}}},
		"from the history":  {"1\r\n2\r\n3\r\n4\r\n5\r\n6", 9, []Line{{"1", "1"}, {"2", "2"}, {"3", "3"}, {"4", "4"}, {"5", "5"}, {"6", "6"}}},
		"the last":          {"1\r\n2\r\n3\r\n4\r\n5\r\n6", 2, []Line{{"5", "5"}, {"6", "6"}}},
		"none":              {"1", 0, nil},
		"both screens":      {"main\r\n\x1b[?1049h\x1b[Halternate", 9, []Line{{"main", "main"}, {"alternate", "alternate"}}},
		"no link":           {"\x1b]8;;http://a.example\x1b\\x\x1b]8;;\x1b\\", 9, []Line{{"x", "x"}}},
		"no control at all": {"a\x1b]0;title\ab\x1b[?2004h\x1b[5nc", 9, []Line{{"abc", "abc"}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := New(Options{Cols: 10, Rows: 4})
			write(s, []byte(row.in))
			if got := s.Lines(row.n); !slices.Equal(got, row.want) {
				t.Errorf("%q, want %q", got, row.want)
			}
		})
	}
}

// TestLinesOfSessions: the lines of every recording are its text, and a terminal that is fed with them shows the same.
func TestLinesOfSessions(t *testing.T) {
	for _, name := range sessionNames(t) {
		recorded := loadSession(t, name)
		s := New(Options{Cols: recorded.Width, Rows: recorded.Height})
		for _, e := range recorded.events {
			if e.kind == "o" {
				write(s, []byte(e.text))
			}
		}
		copied := New(Options{Cols: 1000, Rows: 3})
		var plain []string
		for _, line := range s.Lines(1 << 20) {
			plain = append(plain, line.Plain)
			write(copied, []byte(line.Styled+"\r\n"))
		}
		want := s.Text(TextOptions{Scrollback: true})
		if got := strings.Join(plain, "\n"); got != want && !s.modes.AltScreen {
			t.Errorf("%s: text\n%.400q\nwant\n%.400q", name, got, want)
		}
		if got := copied.Text(TextOptions{Scrollback: true}); got != strings.Join(plain, "\n") {
			t.Errorf("%s: copied\n%.400q", name, got)
		}
	}
}
