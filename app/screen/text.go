package screen

import (
	"strings"
)

// TextOptions say which text is wanted.
type TextOptions struct {
	Lines      int  // the last so many lines; 0 is all
	Scrollback bool // also what has left the screen
}

// Text returns the text of the screen that shows, a newline after each line but the last. Lines that wrapped are one line,
// blanks at their end and blank lines at the end are left out. While a program has the alternate screen that is all there
// is: it has no scrollback, and the program draws it anew all the time.
func (s *Screen) Text(o TextOptions) string {
	var lines []string // the last first
	full := func() bool { return o.Lines > 0 && len(lines) >= o.Lines }
	var parts []string // of one line, the last first
	take := func(text string, continues bool) {
		parts = append(parts, text)
		if continues {
			return
		}
		line := joinBackwards(parts)
		parts = parts[:0]
		if line != "" || len(lines) > 0 {
			lines = append(lines, line)
		}
	}
	b := s.buf
	history := o.Scrollback && b == &s.main
	for y := s.rows - 1; y >= 0 && !full(); y-- {
		take(s.rowText(y), b.rows[y].cont && (y > 0 || history))
	}
	for i := s.history.count - 1; history && i >= 0 && !full(); i-- {
		take(s.history.text(i), s.history.continues(i))
	}
	return joinLines(lines)
}

// Row returns the text of one row of the screen, from 0, without the blanks at its end.
func (s *Screen) Row(y int) string {
	if y < 0 || y >= s.rows {
		return ""
	}
	return strings.TrimRight(s.rowText(y), " ")
}

// rowText returns the text of a grid row up to its last cell that was written.
func (s *Screen) rowText(y int) string {
	cells := s.buf.rows[y].cells
	end := len(cells)
	for end > 0 && cells[end-1].empty() {
		end--
	}
	text := make([]byte, 0, end)
	for i := range end {
		switch c := &cells[i]; {
		case c.attr&spacer != 0:
		case c.ch == 0:
			text = append(text, ' ')
		case c.ch < 0x80:
			text = append(text, byte(c.ch))
		default:
			text = s.appendCell(text, c)
		}
	}
	return string(text)
}

// text returns the text of a packed row up to its last cell that was written.
func (h *scrollback) text(i int) string {
	data := h.bytes(i)
	text := make([]byte, 0, len(data))
	end := 0
	unpack(data, func(g glyph) {
		if len(g.text) == 0 {
			text = append(text, ' ')
			return
		}
		text = append(text, g.text...)
		end = len(text)
	})
	return string(text[:end])
}

func joinBackwards(parts []string) string {
	if len(parts) == 1 {
		return strings.TrimRight(parts[0], " ")
	}
	var b strings.Builder
	for i := len(parts) - 1; i >= 0; i-- {
		b.WriteString(parts[i])
	}
	return strings.TrimRight(b.String(), " ")
}

func joinLines(lines []string) string {
	var b strings.Builder
	for i := len(lines) - 1; i >= 0; i-- {
		b.WriteString(lines[i])
		if i > 0 {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
