package tab

import (
	"testing"
	"time"
)

func TestWhatThePersonTypedIsADraftUntilItIsSentOrTakenBack(t *testing.T) {
	for name, c := range map[string]struct {
		keys  []string
		draft bool
	}{
		"nothing":                           {nil, false},
		"a letter":                          {[]string{"a"}, true},
		"a line and Enter":                  {[]string{"ab", "\r"}, false},
		"a line and Ctrl-C":                 {[]string{"ab", "\x03"}, false},
		"a line and Ctrl-U":                 {[]string{"ab", "\x15"}, false},
		"all of it erased":                  {[]string{"ab", "\x7f", "\x7f"}, false},
		"one less erased":                   {[]string{"ab", "\x7f"}, true},
		"accents erased":                    {[]string{"é漢", "\x7f\x7f"}, false},
		"erased after the cursor moved":     {[]string{"ab", "\x1b[D", "\x7f", "\x7f"}, true},
		"Ctrl-U after the cursor moved":     {[]string{"ab", "\x1b[D", "\x15"}, true},
		"a line out of the history":         {[]string{"\x1b[A"}, true},
		"a line out of it and Enter":        {[]string{"\x1b[A", "\r"}, false},
		"a completion":                      {[]string{"\t"}, true},
		"a new line in the draft":           {[]string{"a", "\n"}, true},
		"Alt-Enter":                         {[]string{"a", "\x1b\r"}, true},
		"a backslash and Enter":             {[]string{"a\\", "\r"}, true},
		"that, and Enter":                   {[]string{"a\\", "\r", "\r"}, false},
		"a paste":                           {[]string{"\x1b[200~hello\x1b[201~"}, true},
		"a paste with an Enter in it":       {[]string{"\x1b[200~a\rb\r\x1b[201~"}, true},
		"a paste and Enter":                 {[]string{"\x1b[200~a\rb\x1b[201~", "\r"}, false},
		"a paste in pieces":                 {[]string{"\x1b[2", "00~a", "\r", "\x1b[20", "1~"}, true},
		"focus gained and lost":             {[]string{"\x1b[I", "\x1b[O"}, false},
		"the mouse":                         {[]string{"\x1b[<35;12;7M", "\x1b[<0;12;7m", "\x1b[M !!"}, false},
		"what the terminal answers":         {[]string{"\x1b[?62;22c", "\x1b[12;3R", "\x1b]11;rgb:00/00/00\x1b\\", "\x1b]11;rgb:00/00/00\a", "\x1bP>|x\x1b\\"}, false},
		"an answer in pieces":               {[]string{"\x1b]11;rgb:", "00/00/00\x1b\\"}, false},
		"Esc":                               {[]string{"\x1b"}, false},
		"Ctrl-D in an empty box":            {[]string{"\x04"}, false},
		"a key that does something unknown": {[]string{"\x19"}, true},
	} {
		var k keys
		for _, p := range c.keys {
			k.feed([]byte(p), time.Unix(1, 0))
		}
		if k.draft != c.draft {
			t.Errorf("%s: draft %v, want %v (%+v)", name, k.draft, c.draft, k)
		}
	}
}

func FuzzKeys(f *testing.F) {
	f.Add([]byte("a\x1b[200~b\r"), []byte("\x1b[201~\x03"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var k keys
		k.feed(a, time.Unix(1, 0))
		k.feed(b, time.Unix(2, 0))
		if len(k.rest) > maxRest {
			t.Fatalf("%d bytes are kept", len(k.rest))
		}
		k.rest, k.pasting = nil, false
		k.feed([]byte("x"), time.Unix(3, 0))
		if !k.draft {
			t.Fatal("a letter is no draft")
		}
		k.feed([]byte{3}, time.Unix(4, 0))
		if k.draft {
			t.Fatal("Ctrl-C leaves a draft")
		}
	})
}
