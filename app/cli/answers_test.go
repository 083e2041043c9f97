package cli

import (
	"bytes"
	"testing"
)

func TestATerminalsAnswersAreNotTyped(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"words":                          {"ls -l\r", "ls -l\r"},
		"arrows":                         {"\x1b[A\x1bOB", "\x1b[A\x1bOB"},
		"escape alone":                   {"\x1b", "\x1b"},
		"alt with a bracket":             {"\x1b]", "\x1b]"},
		"a mouse report":                 {"\x1b[<0;10;5M", "\x1b[<0;10;5M"},
		"focus":                          {"\x1b[I", "\x1b[I"},
		"a paste":                        {"\x1b[200~12;3R\x1b[201~", "\x1b[200~12;3R\x1b[201~"},
		"a key of the keyboard protocol": {"\x1b[97;5u", "\x1b[97;5u"},
		"F3":                             {"\x1bOR", "\x1bOR"},
		"F3 with ctrl":                   {"\x1b[1;5R", "\x1b[1;5R"},
		"the cursor's position":          {"a\x1b[12;40Rb", "ab"},
		"device attributes":              {"\x1b[?62;22c", ""},
		"secondary device attributes":    {"\x1b[>41;354;0c", ""},
		"a mode report":                  {"\x1b[?2026;2$y", ""},
		"status":                         {"\x1b[0n", ""},
		"the background's colour":        {"\x1b]11;rgb:0000/0000/0000\x1b\\", ""},
		"the version":                    {"\x1bP>|xterm(379)\x1b\\x", "x"},
		"keyboard flags":                 {"\x1b[?0u", ""},
		"two in a row":                   {"\x1b[?62c\x1b[5;5R", ""},
	} {
		if got := withoutAnswers([]byte(c.in)); string(got) != c.want {
			t.Errorf("%s: %q becomes %q, want %q", name, c.in, got, c.want)
		}
	}
}

func FuzzWithoutAnswers(f *testing.F) {
	f.Add([]byte("a\x1b[12;40Rb"))
	f.Add([]byte("\x1b]11;x\x07"))
	f.Fuzz(func(t *testing.T, typed []byte) {
		got := withoutAnswers(bytes.Clone(typed))
		if len(got) > len(typed) {
			t.Errorf("%q grew to %q", typed, got)
		}
		if !bytes.ContainsRune(typed, 0x1b) && !bytes.Equal(got, typed) {
			t.Errorf("%q, which holds no escape, became %q", typed, got)
		}
	})
}
