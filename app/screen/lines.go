package screen

import "strings"

// Line is one line of text, however many rows it took.
type Line struct {
	Plain  string // without blanks at its end
	Styled string // the same with SGR sequences, and nothing else that a terminal acts on; it ends in the terminal's own style
}

// Lines returns the last n lines of the main screen with its scrollback and, below it, of the alternate screen while a program has
// it. Blank lines at the end of either are left out. Links are not kept.
func (s *Screen) Lines(n int) []Line {
	w := liner{screen: s}
	w.main()
	if s.modes.AltScreen {
		w.grid(&s.alt)
		w.end()
	}
	return w.lines[max(0, len(w.lines)-max(n, 0)):]
}

// liner collects lines.
type liner struct {
	screen *Screen
	lines  []Line
	plain  strings.Builder
	line   strings.Builder // with styles
	pen    style
	open   bool
	gap    int // cells of no text that nothing has followed yet
}

// main collects the scrollback and the main screen.
func (w *liner) main() {
	h := &w.screen.history
	for i := range h.count {
		w.begin(h.continues(i))
		unpack(h.bytes(i), w.glyph)
	}
	w.grid(&w.screen.main)
	w.end()
}

func (w *liner) grid(b *buffer) {
	s := w.screen
	for y := range b.rows {
		w.begin(b.rows[y].cont && (y > 0 || b == &s.main))
		s.glyphs(b.rows[y].cells, w.glyph)
	}
}

// begin begins a row.
func (w *liner) begin(continues bool) {
	if !continues {
		w.flush()
	}
	w.open = true
}

func (w *liner) glyph(g glyph) {
	g.style.extra, g.style.attr = 0, g.style.attr&^guarded
	if len(g.text) == 0 && g.style == (style{}) {
		w.gap++
		return
	}
	w.style(style{}, w.gap > 0)
	for ; w.gap > 0; w.gap-- {
		w.put(" ")
	}
	w.style(g.style, true)
	if len(g.text) == 0 {
		w.put(" ")
	} else {
		w.put(string(g.text))
	}
}

func (w *liner) put(text string) {
	w.plain.WriteString(text)
	w.line.WriteString(text)
}

func (w *liner) style(st style, needed bool) {
	if needed && st != w.pen {
		w.line.WriteString(w.screen.sgrOf(st))
		w.pen = st
	}
}

// flush ends a line.
func (w *liner) flush() {
	if !w.open {
		return
	}
	w.style(style{}, w.pen != (style{}))
	w.lines = append(w.lines, Line{Plain: strings.TrimRight(w.plain.String(), " "), Styled: w.line.String()})
	w.plain.Reset()
	w.line.Reset()
	w.open, w.gap = false, 0
}

// end ends the last line and drops blank ones at the end.
func (w *liner) end() {
	w.flush()
	for n := len(w.lines); n > 0 && w.lines[n-1].Plain == ""; n = len(w.lines) {
		w.lines = w.lines[:n-1]
	}
}
