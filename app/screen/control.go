package screen

// charsets are the four designated character sets and the one in use. 0 is ASCII.
type charsets struct {
	g     [4]byte
	level uint8
}

const (
	lineDrawing = '0' // DEC Special Graphics
	british     = 'A'
)

func (c *charsets) table() byte { return c.g[c.level] }

// drawing maps 0x5f to 0x7e in the DEC Special Graphics set (VT220 Programmer Reference, table 2-4).
var drawing = [...]rune{
	' ', '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼',
	'⎺', '⎻', '─', '⎼', '⎽', '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
}

// translate returns what an ASCII byte stands for.
func (c *charsets) translate(b byte) rune {
	switch table := c.table(); {
	case table == lineDrawing && b >= 0x5f && int(b)-0x5f < len(drawing):
		return drawing[b-0x5f]
	case table == british && b == '#':
		return '£'
	}
	return rune(b)
}

// designate assigns a set to one of G0 to G3. Sets that we do not know are ASCII.
func (c *charsets) designate(g int, set byte) {
	if set != lineDrawing && set != british {
		set = 0
	}
	c.g[g] = set
}

// execute handles a C0 control character.
func (s *Screen) execute(b byte) {
	s.joinable = false
	switch b {
	case 0x07:
		if s.events.Bell != nil {
			s.events.Bell()
		}
	case '\b':
		s.restrict()
		if s.x > 0 {
			s.x--
		}
	case '\t':
		s.tab(1)
	case '\n', '\v', '\f':
		s.lineFeed()
	case '\r':
		s.x = 0
	case 0x0e:
		s.sets.level = 1
	case 0x0f:
		s.sets.level = 0
	}
}

// lineFeed goes to the next row. A full row does not make the next character wrap any more.
func (s *Screen) lineFeed() {
	if s.modes.NewLine {
		s.x = 0
	}
	s.index()
	s.x = min(s.x, s.cols-1)
}

// esc handles an escape sequence that is no beginning of another.
func (s *Screen) esc(final byte) {
	s.joinable = false
	switch s.parser.inter {
	case 0:
		s.escPlain(final)
	case '#':
		if final == '8' {
			s.align()
		}
	case '%': // selects UTF-8 or its end; we stay with UTF-8, as xterm.js does
		if final == '@' || final == 'G' {
			s.sets = charsets{}
		}
	case '(':
		s.sets.designate(0, final)
	case ')', '-':
		s.sets.designate(1, final)
	case '*', '.':
		s.sets.designate(2, final)
	case '+', '/':
		s.sets.designate(3, final)
	}
}

func (s *Screen) escPlain(final byte) {
	switch final {
	case '7':
		s.save()
	case '8':
		s.restore()
	case 'D':
		s.restrict()
		s.index()
	case 'E':
		s.x = 0
		s.index()
	case 'H':
		s.setTab()
	case 'M':
		s.reverseIndex()
	case '=':
		s.modes.AppKeypad = true
	case '>':
		s.modes.AppKeypad = false
	case 'c':
		s.reset()
	case 'n':
		s.sets.level = 2
	case 'o':
		s.sets.level = 3
	}
}

// align is DECALN: a screen full of E, in the colours of the pen, but not underlined.
func (s *Screen) align() {
	st := s.pen
	st.attr &^= underMask
	st.extra = 0
	for y := range s.buf.rows {
		fill(s.buf.rows[y].cells, cell{ch: 'E', style: st})
		s.buf.rows[y].cont = false
	}
	s.moveTo(0, 0)
}

// save is DECSC.
func (s *Screen) save() {
	s.buf.saved = savedCursor{x: min(s.x, s.cols-1), y: s.y, pen: s.pen, link: s.link, under: s.under, sets: s.sets}
}

// restore is DECRC.
func (s *Screen) restore() {
	v := &s.buf.saved
	s.x, s.y = v.x, v.y
	s.pen, s.link, s.under, s.sets = v.pen, v.link, v.under, v.sets
	s.restrict()
}

const tabWidth = 8

// defaultTabs extends tab stops to a number of columns.
func defaultTabs(old []bool, cols int) []bool {
	tabs := make([]bool, cols)
	for x := copy(tabs, old); x < cols; x++ {
		tabs[x] = x%tabWidth == 0
	}
	return tabs
}

// tab goes n tab stops on; the last column is one. A full row stays full.
func (s *Screen) tab(n int) {
	if s.x >= s.cols {
		return
	}
	for ; n > 0 && s.x < s.cols-1; n-- {
		s.x++
		for s.x < s.cols-1 && !s.tabs[s.x] {
			s.x++
		}
	}
}

// backTab goes n tab stops back.
func (s *Screen) backTab(n int) {
	if s.x >= s.cols {
		return
	}
	for ; n > 0 && s.x > 0; n-- {
		s.x--
		for s.x > 0 && !s.tabs[s.x] {
			s.x--
		}
	}
}

func (s *Screen) setTab() {
	if s.x < s.cols {
		s.tabs[s.x] = true
	}
}

func (s *Screen) clearTabs(which int) {
	switch {
	case which == 0 && s.x < s.cols:
		s.tabs[s.x] = false
	case which == 3:
		clear(s.tabs)
	}
}
