package osc

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// taken filters text in pieces of n bytes; 0 is one piece.
func taken(text string, n int) (rest string, payloads []string) {
	taker := NewTaker("7717", 64, func(p []byte) { payloads = append(payloads, string(p)) })
	var out []byte
	if n == 0 {
		n = len(text) + 1
	}
	for piece := range slices.Chunk([]byte(text), n) {
		out = append(out, taker.Filter(piece)...)
	}
	return string(append(out, taker.Rest()...)), payloads
}

func TestTaker(t *testing.T) {
	long := strings.Repeat("x", 64-len("\x1b]7717;\x1b\\"))
	for name, row := range map[string]struct {
		in, want string
		payloads []string
	}{
		"text passes":                             {"hello\r\nwörld 漢字", "hello\r\nwörld 漢字", nil},
		"other sequences pass":                    {"\x1b[31m\x1b]0;t\a\x1b]7501;state=idle\x1b\\", "\x1b[31m\x1b]0;t\a\x1b]7501;state=idle\x1b\\", nil},
		"a command is taken":                      {"a\x1b]7717;n;YWJj\x1b\\b", "ab", []string{"n;YWJj"}},
		"two, one behind the other":               {"\x1b]7717;a\x1b\\\x1b]7717;b\x1b\\c", "c", []string{"a", "b"}},
		"one inside of a sequence":                {"\x1b[3\x1b]7717;a\x1b\\1mred", "\x1b[31mred", []string{"a"}},
		"one inside of a title":                   {"\x1b]0;ti\x1b]7717;a\x1b\\tle\a", "\x1b]0;title\a", []string{"a"}},
		"one between an escape and the rest":      {"\x1b\x1b]7717;a\x1b\\[1m", "\x1b[1m", []string{"a"}},
		"one inside of a character":               {"\xe6\x1b]7717;a\x1b\\\xbc\xa2", "漢", []string{"a"}},
		"an empty one":                            {"a\x1b]7717;\x1b\\b", "ab", []string{""}},
		"the longest":                             {"a\x1b]7717;" + long + "\x1b\\b", "ab", []string{long}},
		"a longer one passes":                     {"a\x1b]7717;" + long + "x\x1b\\b", "a\x1b]7717;" + long + "x\x1b\\b", nil},
		"BEL does not end one":                    {"a\x1b]7717;n\ab", "a\x1b]7717;n\ab", nil},
		"CAN ends it, and it passes":              {"a\x1b]7717;n\x18b", "a\x1b]7717;n\x18b", nil},
		"SUB ends it, and it passes":              {"a\x1b]7717;n\x1ab", "a\x1b]7717;n\x1ab", nil},
		"another escape ends it, and it passes":   {"a\x1b]7717;n\x1b[31mb", "a\x1b]7717;n\x1b[31mb", nil},
		"a new one ends it, and is taken":         {"a\x1b]7717;n\x1b]7717;m\x1b\\b", "a\x1b]7717;nb", []string{"m"}},
		"raw text in it is none":                  {"a\x1b]7717;n {\"a\":1}\x1b\\b", "a\x1b]7717;n {\"a\":1}\x1b\\b", nil},
		"another number passes":                   {"\x1b]77170;a\x1b\\\x1b]771;a\x1b\\", "\x1b]77170;a\x1b\\\x1b]771;a\x1b\\", nil},
		"the beginning of one is given back":      {"a\x1b]77", "a\x1b]77", nil},
		"one without an end is given back":        {"a\x1b]7717;abc", "a\x1b]7717;abc", nil},
		"one with half an end is given back":      {"a\x1b]7717;abc\x1b", "a\x1b]7717;abc\x1b", nil},
		"an escape at the end is given back":      {"a\x1b", "a\x1b", nil},
		"an 8-bit introducer is not ours, passes": {"\u009d7717;a\u009c", "\u009d7717;a\u009c", nil},
	} {
		t.Run(name, func(t *testing.T) {
			for n := range 12 {
				rest, payloads := taken(row.in, n)
				if rest != row.want || !slices.Equal(payloads, row.payloads) {
					t.Errorf("in pieces of %d: %q and %q, want %q and %q", n, rest, payloads, row.want, row.payloads)
				}
			}
		})
	}
}

// FuzzTaker: pieces do not matter, nothing is held beyond the bound, and a command written anywhere into a stream of none leaves
// that stream as it was.
func FuzzTaker(f *testing.F) {
	f.Add([]byte("a\x1b[31mb\x1b]0;t\a"), uint8(3), uint8(2))
	f.Add([]byte("a\x1b]7717;n\x1b\\b\x1b]7717;"), uint8(1), uint8(9))
	f.Fuzz(func(t *testing.T, in []byte, piece, at uint8) {
		whole, payloads := taken(string(in), 0)
		taker := NewTaker("7717", 64, func([]byte) {})
		var got []byte
		for p := range slices.Chunk(in, 1+int(piece)%7) {
			got = append(got, taker.Filter(p)...)
			if len(taker.held) > 64 {
				t.Fatalf("%d bytes are held", len(taker.held))
			}
		}
		if got = append(got, taker.Rest()...); string(got) != whole {
			t.Fatalf("in pieces %q, whole %q", got, whole)
		}
		if bytes.Contains(in, []byte("\x1b")) && (len(payloads) > 0 || bytes.Contains(in, []byte("7717"))) {
			return // the insertion could complete or break what is there
		}
		where := min(int(at), len(in))
		with := string(in[:where]) + "\x1b]7717;nonce;YWJj\x1b\\" + string(in[where:])
		if rest, payloads := taken(with, int(piece)%5); rest != string(in) || len(payloads) != 1 {
			t.Fatalf("%q without the command is %q", with, rest)
		}
	})
}
