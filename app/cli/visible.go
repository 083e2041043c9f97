package cli

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// acts tells whether a terminal does something with r besides showing it: C0 and C1 controls, DEL, and the
// characters that turn the direction of text around, with which a line can be made to look like another
// (CVE-2021-42574).
func acts(r rune) bool {
	return r < 0x20 || r >= 0x7f && r <= 0x9f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// visible returns text with every character that acts, and every byte that is no UTF-8, written as an escape.
// Line breaks and tabs stay where lines are kept, and are spaces elsewhere.
func visible(text string, lines bool) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return acts(r) || r == utf8.RuneError }) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == '\n' || r == '\t':
			if !lines {
				r = ' '
			}
			b.WriteRune(r)
		case acts(r) && r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case acts(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// escapeJSON writes characters that act as JSON escapes. In valid JSON they stand in strings only, but for the
// line breaks and spaces between.
func escapeJSON(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return acts(r) && r >= 0x20 }) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if acts(r) && r >= 0x20 {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
