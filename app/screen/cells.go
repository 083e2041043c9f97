package screen

// Color of text or its background.
type Color struct {
	// Kind says what Value is.
	Kind  ColorKind
	Value uint32
}

// ColorKind is how a colour was named.
type ColorKind uint8

const (
	DefaultColor ColorKind = iota // the terminal's own; Value is 0
	PaletteColor                  // Value is an index into the palette, 0 to 255
	RGBColor                      // Value is 0xRRGGBB
)

// Style is how a cell looks.
type Style struct {
	Foreground, Background                                              Color
	Bold, Faint, Italic, Blink, Inverse, Invisible, Strikeout, Overline bool
	Underline                                                           uint8  // 0 none, 1 single, 2 double, 3 curly, 4 dotted, 5 dashed
	Link                                                                string // URI of the hyperlink, whose scheme is a safe one
}

// Cell is one position of the screen.
type Cell struct {
	Text  string // a character with its marks; "" where nothing was written and in the second cell of a wide one
	Wide  bool   // the character takes this cell and the next
	Style Style
}

// Cells returns the cells of one row of the screen that shows, from 0; nil outside of it. What a person can tell apart only by
// looks (a placeholder in an empty box from a draft) can be told apart by them.
func (s *Screen) Cells(y int) []Cell {
	if y < 0 || y >= s.rows {
		return nil
	}
	out := make([]Cell, s.cols)
	for x := range out {
		c := &s.buf.rows[y].cells[x]
		out[x] = Cell{Text: string(s.appendCell(nil, c)), Wide: c.attr&wide != 0, Style: s.styleOf(c.look())}
	}
	return out
}

func (s *Screen) styleOf(st style) Style {
	return Style{
		Foreground: colorOf(st.fg), Background: colorOf(st.bg),
		Bold: st.attr&bold != 0, Faint: st.attr&faint != 0, Italic: st.attr&italic != 0, Blink: st.attr&blink != 0,
		Inverse: st.attr&inverse != 0, Invisible: st.attr&invisible != 0, Strikeout: st.attr&strike != 0, Overline: st.attr&overline != 0,
		Underline: uint8(st.attr & underMask >> underShift),
		Link:      uriOf(s.extras.of(st.extra).link),
	}
}

func colorOf(c color) Color {
	switch {
	case c&truecolor != 0:
		return Color{RGBColor, uint32(c & 0xffffff)}
	case c&indexed != 0:
		return Color{PaletteColor, uint32(c & 0xff)}
	}
	return Color{}
}
