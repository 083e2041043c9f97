package tab

import (
	"strings"
	"unicode/utf8"
)

const (
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// Clean returns text without everything that a terminal program could take for a key: C0 controls but tab
// and newline, DEL, C1 controls, and bytes that are no UTF-8. A carriage return before a newline goes with
// the rest of them, so Windows line ends become plain ones.
//
// Nothing that Clean returns holds an escape character, so no removal can put the end of a bracketed paste
// together out of pieces, however it is nested.
func Clean(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1: // a byte that is no UTF-8
		case r == '\t', r == '\n':
			b.WriteRune(r)
		case r < 0x20, r == 0x7f, r >= 0x80 && r <= 0x9f:
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// Blank tells whether nothing is left of a text that could be sent.
func Blank(text string) bool { return strings.TrimSpace(Clean(text)) == "" }

// frame returns clean text as it goes to the terminal: bracketed, so that the program takes it for one
// paste, or bare where the program has not asked for brackets and would show them.
func frame(clean string, bracketed bool) string {
	if !bracketed {
		return clean
	}
	return pasteStart + clean + pasteEnd
}
