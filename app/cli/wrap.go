package cli

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// widthOf returns how many cells of a terminal text takes.
func widthOf(text string) int { return displaywidth.String(text) }

// wrap breaks text into lines of at most width cells, between words, and inside a word only where it is longer
// than a line: after a slash if there is one, since such words are paths.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.SplitSeq(text, " ") {
		switch {
		case line == "":
			line = word
		case widthOf(line)+1+widthOf(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
		for widthOf(line) > width {
			at := breakAt(line, width)
			lines = append(lines, line[:at])
			line = line[at:]
		}
	}
	return append(lines, line)
}

// breakAt returns where to break a word that is longer than width cells: at least one character from its
// start, and no more than fit.
func breakAt(word string, width int) int {
	at, used, slash := 0, 0, 0
	graphemes := displaywidth.StringGraphemes(word)
	for graphemes.Next() {
		used += graphemes.Width()
		if used > width && at > 0 {
			break
		}
		at += len(graphemes.Value())
		if graphemes.Value() == "/" && at < len(word) {
			slash = at
		}
	}
	if slash > 0 {
		return slash
	}
	return at
}
