package screen

import "strings"

// CursorLine is the row that the cursor is on, cut at the cursor: what a program's input box shows.
type CursorLine struct {
	Row    int
	Before string // text left of the cursor, with its blanks
	// Text is what stands from the cursor on, blanks left out, in a style that text has; Hint what stands there faint or grey, as
	// placeholders do. A cursor that the program draws itself (one inverse cell) counts as neither when it is blank.
	Text, Hint string
	Above      string // text of the row above, without blanks at its end
}

// CursorLine returns the row of the cursor of the screen that shows.
func (s *Screen) CursorLine() CursorLine {
	line := CursorLine{Row: s.y}
	if s.y > 0 {
		line.Above = strings.TrimRight(s.rowText(s.y-1), " ")
	}
	cells := s.buf.rows[s.y].cells
	before := make([]byte, 0, s.x)
	for i := 0; i < min(s.x, len(cells)); i++ {
		switch c := &cells[i]; {
		case c.attr&spacer != 0:
		case c.ch == 0:
			before = append(before, ' ')
		default:
			before = s.appendCell(before, c)
		}
	}
	line.Before = string(before)
	drawn := ""
	for i := s.x; i < len(cells); i++ {
		c := &cells[i]
		if c.ch == 0 || c.attr&spacer != 0 {
			continue
		}
		text := strings.TrimSpace(string(s.appendCell(nil, c)))
		switch {
		case text == "":
		case i == s.x && c.attr&inverse != 0:
			drawn = text
		case c.hint():
			line.Hint += text
		default:
			line.Text += text
		}
	}
	if line.Hint != "" && line.Text == "" { // the cursor stands on the first letter of a placeholder
		line.Hint = drawn + line.Hint
	} else {
		line.Text = drawn + line.Text
	}
	return line
}

// Bounds of what counts as grey. Seen as placeholders: faint (Claude Code 2.1.332, Codex 0.171.0), #afafaf (Gemini CLI 0.61.0),
// #808080 (opencode 1.18.33). Text that a person typed was brighter, or in the terminal's own colour, in all four.
const (
	greySpread = 16   // between the strongest and the weakest of its three parts
	greyLow    = 0x50 // below it is text on a light background
	greyHigh   = 0xc0
)

// hint tells whether a cell is drawn as placeholders are.
func (c *cell) hint() bool {
	if c.attr&faint != 0 {
		return true
	}
	value := int(c.fg & 0xffffff)
	switch c.fg &^ 0xffffff {
	case indexed:
		return value == 8 || value >= 240 && value <= 250 // bright black, and #585858 to #bcbcbc of the palette's ramp
	case truecolor:
		r, g, b := value>>16, value>>8&0xff, value&0xff
		high, low := max(r, g, b), min(r, g, b)
		return high-low <= greySpread && low >= greyLow && high <= greyHigh
	}
	return false
}
