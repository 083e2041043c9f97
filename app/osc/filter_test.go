package osc

import (
	"strings"
	"testing"

	"termic/app/screen"
)

func only52(n int) bool { return n == 52 }

// through filters text in one piece.
func through(text, instead string) string {
	f := New(only52, instead)
	return string(append(f.Append(nil, []byte(text)), f.Rest()...))
}

func TestFilter(t *testing.T) {
	for name, row := range map[string]struct{ in, want string }{
		"text passes":                                  {"hello\r\nwörld 漢字", "hello\r\nwörld 漢字"},
		"other commands pass":                          {"\x1b]0;title\ax\x1b]8;;http://a\x1b\\", "\x1b]0;title\ax\x1b]8;;http://a\x1b\\"},
		"a write goes":                                 {"a\x1b]52;c;ZXZpbA==\ab", "ab"},
		"a write ended by ST goes":                     {"a\x1b]52;c;ZXZpbA==\x1b\\b", "ab"},
		"a query goes":                                 {"a\x1b]52;c;?\ab", "ab"},
		"an 8-bit introducer and end":                  {"a\u009d52;c;?\u009cb", "ab"},
		"leading zeros do not hide it":                 {"a\x1b]00052;c;?\ab", "ab"},
		"very many zeros do not hide it":               {"a\x1b]" + strings.Repeat("0", 1000) + "52;c;?\ab", "ab"},
		"an ignored control does not hide it":          {"a\x1b]5\x00\n2\x01;c;?\ab", "ab"},
		"a number that begins alike passes":            {"\x1b]520;c;?\a\x1b]5;x\a\x1b]2;y\a", "\x1b]520;c;?\a\x1b]5;x\a\x1b]2;y\a"},
		"one without text goes":                        {"a\x1b]52\ab", "ab"},
		"CAN aborts it":                                {"a\x1b]52;c;abc\x18b", "ab"},
		"another sequence aborts it":                   {"a\x1b]52;c;abc\x1b[31mb", "a\x1b[31mb"},
		"another command aborts it":                    {"a\x1b]52;c;abc\x1b]0;t\ab", "a\x1b]0;t\ab"},
		"the same again aborts it, and goes":           {"a\x1b]52;c;abc\x1b]52;c;?\ab", "ab"},
		"an escape before it does not hide it":         {"a\x1b\x1b]52;c;?\ab", "a\x1bb"},
		"half a C1 before it does not hide it":         {"a\xc2\x1b]52;c;?\ab", "a\xc2b"},
		"inside of another command it is text":         {"\x1b]0;]52;c;?\ab", "\x1b]0;]52;c;?\ab"},
		"through tmux it goes, and tmux ends":          {"\x1bPtmux;\x1b\x1b]52;c;?\a\x1b\\b", "\x1bPtmux;\x1b\x1b\\b"},
		"a sequence that it was written into is whole": {"\x1b[3\x1b]52;c;x\x1b\\1mred \x1b\x1b]52;\a[mplain", "\x1b[31mred \x1b[mplain"},
		"a command without an end takes the rest":      {"a\x1b]52;c;abc", "a"},
		"the beginning of a command is given back":     {"a\x1b]5", "a\x1b]5"},
		"a lone escape is given back":                  {"a\x1b", "a\x1b"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := through(row.in, ""); got != row.want {
				t.Errorf("%q, want %q", got, row.want)
			}
		})
	}
}

func TestInsteadKeepsTheMeaningOfWhatFollows(t *testing.T) {
	s := screen.New(screen.Options{Cols: 20, Rows: 2})
	_, _ = s.Write([]byte(through("a\x1b[3\x1b]52;c;x\am \x1b\x1b]52;c;x\ax", Nothing)))
	if got := s.Row(0); got != "am x" {
		t.Errorf("shows %q", got)
	}
}

func TestWithoutACutEverythingPasses(t *testing.T) {
	var f Filter
	if got := string(f.Append(nil, []byte("a\x1b]52;c;?\ab\x1b"))); got != "a\x1b]52;c;?\ab\x1b" {
		t.Errorf("%q", got)
	}
}

// FuzzFilter: pieces do not matter, a second pass finds nothing, nothing is held beyond the bound, and a terminal shows the same.
func FuzzFilter(f *testing.F) {
	for _, seed := range []string{"a\x1b]52;c;?\ab", "\u009d0052;x\u009c", "\x1b]5\x002\x1b\\", "\x1b\x1b]52\x1b]52;\x18x", "\xc2\xc2\x9d52;\xc2\x1b\\y"} {
		f.Add([]byte(seed), uint8(3))
	}
	f.Fuzz(func(t *testing.T, in []byte, piece uint8) {
		whole := through(string(in), Nothing)
		pieces := New(only52, Nothing)
		var got []byte
		for rest := in; len(rest) > 0; {
			n := min(len(rest), 1+int(piece)%5)
			got = pieces.Append(got, rest[:n])
			rest = rest[n:]
			if len(pieces.held) > maxHeld {
				t.Fatalf("%d bytes are held", len(pieces.held))
			}
		}
		got = append(got, pieces.Rest()...)
		if string(got) != whole {
			t.Fatalf("in pieces %q, whole %q", got, whole)
		}
		if again := through(whole, Nothing); again != whole {
			t.Fatalf("a second pass changes %q to %q", whole, again)
		}
		plain, filtered := screen.New(screen.Options{Cols: 20, Rows: 5}), screen.New(screen.Options{Cols: 20, Rows: 5})
		_, _ = plain.Write(in)
		_, _ = filtered.Write(got)
		if p, f := plain.Text(screen.TextOptions{}), filtered.Text(screen.TextOptions{}); p != f {
			t.Fatalf("shows %q, without the filter %q", f, p)
		}
	})
}
