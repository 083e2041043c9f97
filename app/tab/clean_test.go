package tab

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCleanDropsWhatCouldBeAKey(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"plain text stays":                      {"fix the test", "fix the test"},
		"tab and newline stay":                  {"a\tb\nc", "a\tb\nc"},
		"windows line ends become plain":        {"a\r\nb", "a\nb"},
		"a carriage return goes":                {"a\rb", "ab"},
		"the end of a paste loses its escape":   {"a\x1b[201~\recho pwned\r", "a[201~echo pwned"},
		"a nested end cannot be put together":   {"\x1b\x1b[201~[201~", "[201~[201~"},
		"eight-bit controls go":                 {"a\u009b201~b", "a201~b"},
		"interrupt, end of file and suspend go": {"\x03\x04\x1a", ""},
		"delete goes":                           {"a\x7fb", "ab"},
		"what is no UTF-8 goes":                 {"a\xff\xfeb", "ab"},
		"a raw C1 byte goes":                    {"a\x9bb", "ab"},
		"other writing stays":                   {"日本語 — ❤️ e\u0301", "日本語 — ❤️ e\u0301"},
		"the replacement character stays":       {"a\ufffdb", "a\ufffdb"},
	} {
		if got := Clean(c.in); got != c.want {
			t.Errorf("%s: Clean(%q) = %q, want %q", name, c.in, got, c.want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\x1b[201~\rb")
	f.Add("\x1b\x1b[201~[201~")
	f.Fuzz(func(t *testing.T, text string) {
		got := Clean(text)
		if !utf8.ValidString(got) {
			t.Errorf("Clean(%q) = %q is no UTF-8", text, got)
		}
		if strings.ContainsAny(got, "\x1b\r\x03\x04\x7f") || strings.ContainsRune(got, 0x9b) {
			t.Errorf("Clean(%q) = %q holds a key", text, got)
		}
		if again := Clean(got); again != got {
			t.Errorf("Clean is not idempotent: %q, then %q", got, again)
		}
		if framed := frame(got, true); strings.Count(framed, pasteEnd) != 1 || !strings.HasSuffix(framed, pasteEnd) {
			t.Errorf("frame(%q) can be left early", got)
		}
	})
}
