package screen

import "unicode/utf8"

// Resize gives the screen another size, within the bounds of Options. The text of the main screen is laid out anew, so that
// none is lost; rows that do not fit go into the history, and come back from it when there is room. The alternate screen is
// cut or padded: the program that has it draws it again.
func (s *Screen) Resize(cols, rows int) {
	cols, rows = clamp(cols, minCols, maxCols), clamp(rows, minRows, maxRows)
	if cols == s.cols && rows == s.rows {
		return
	}
	onMain := s.buf == &s.main
	at := &position{x: s.x, y: s.y}
	if !onMain {
		at = &position{x: s.main.saved.x, y: s.main.saved.y}
	}
	s.history.budget = historyBudget(s.history.limit, cols)
	s.reflow(cols, rows, at)
	s.cols, s.rows = cols, rows
	s.tabs = defaultTabs(s.tabs, cols)
	if onMain {
		s.x, s.y = at.x, at.y
	} else {
		s.main.saved.x, s.main.saved.y = at.x, at.y
		s.y += s.alt.resize(cols, rows, s.y)
	}
	for _, b := range []*buffer{&s.main, &s.alt} {
		b.top, b.bottom = 0, rows-1
		b.saved.x, b.saved.y = min(b.saved.x, cols-1), min(b.saved.y, rows-1)
	}
	s.x, s.y = clamp(s.x, 0, cols), clamp(s.y, 0, rows-1)
	s.joinable = false
}

// resize cuts and pads the rows; rows are taken away below the cursor first, and the number of rows that the text moved is
// returned.
func (b *buffer) resize(cols, rows, y int) (moved int) {
	old := b.rows
	if len(old) == 0 {
		return 0
	}
	if y >= rows {
		moved = rows - 1 - y
		old = old[-moved:]
	}
	next := newBuffer(cols, rows)
	for i := range min(len(old), rows) {
		copy(next.rows[i].cells, old[i].cells)
		next.rows[i].mend(cols, cell{})
		next.rows[i].cont = old[i].cont && i > 0 && cols == len(old[i].cells)
	}
	b.rows = next.rows
	return moved
}

// position of the cursor in a grid, moved along with the text.
type position struct{ x, y int }

// line is text without a width.
type line struct {
	cells []cell
	cont  bool // begins in the middle: what was before it has left the history
}

// reflow lays the main screen out in another size.
func (s *Screen) reflow(cols, rows int, at *position) {
	f := &flow{screen: s, cols: cols, cursor: at}
	f.takeBack()
	f.takeScreen()
	laid := f.layout()
	for len(laid) < rows && s.history.count > 0 { // the history comes back into the room
		g := &flow{screen: s, cols: cols, cursor: &position{x: -1}}
		g.popLine()
		more := g.layout()
		at.y += len(more)
		laid = append(more, laid...)
	}
	// What does not fit goes into the history, with the cursor's row if need be: the program draws it again.
	above := max(0, len(laid)-rows)
	for i := range above {
		s.remember(&laid[i])
	}
	next := newBuffer(cols, rows)
	copy(next.rows, laid[above:])
	if s.history.count == 0 {
		next.rows[0].cont = false
	}
	at.y = max(at.y-above, 0)
	next.saved = s.main.saved
	s.main = next
}

// flow collects the lines of the main screen and lays them out.
type flow struct {
	screen *Screen
	cols   int
	lines  []line
	cursor *position // of the old grid; layout makes it one of the new

	curLine, curCell int // where in lines the cursor is; no line is -1
}

// takeBack takes the beginning of the first line back from the history, if the line began there.
func (f *flow) takeBack() {
	s := f.screen
	main := &s.main
	if main.rows[0].cont && s.history.count > 0 {
		f.popLine()
	}
}

// popLine takes the last line from the history.
func (f *flow) popLine() {
	h := &f.screen.history
	first := h.count - 1
	for h.continues(first) {
		first--
	}
	var l line
	l.cont = h.at(first).flags&rowCont != 0
	for i := first; i < h.count; i++ {
		if i > first && h.at(i-1).flags&rowFull == 0 {
			l.trimGap()
		}
		l.cells = f.screen.unpackCells(l.cells, h.bytes(i))
	}
	for h.count > first {
		h.dropNewest()
	}
	f.lines = append(f.lines, l)
	f.curLine = -1
}

// trimGap removes the empty cell at the end into which a wide character did not fit.
func (l *line) trimGap() {
	if n := len(l.cells); n > 0 && l.cells[n-1].empty() {
		l.cells = l.cells[:n-1]
	}
}

// unpackCells appends the cells of a packed row.
func (s *Screen) unpackCells(dst []cell, data []byte) []cell {
	unpack(data, func(g glyph) {
		c := cell{style: g.style}
		if first, n := utf8.DecodeRune(g.text); n == len(g.text) {
			c.ch = uint32(first)
			if n == 0 {
				c.ch = 0
			}
		} else if ch, ok := s.cluster(g.text); ok {
			c.ch = ch
		} else {
			c.ch = uint32(first)
		}
		if g.wide {
			c.attr |= wide
			dst = append(dst, c)
			c = cell{style: c.style}
			c.attr = c.attr&^wide | spacer
		}
		dst = append(dst, c)
	})
	return dst
}

// takeScreen takes the rows of the screen, down to the last that holds something or the cursor.
func (f *flow) takeScreen() {
	s := f.screen
	rows := s.main.rows
	last := len(rows) - 1
	for last > f.cursor.y && rows[last].blank() {
		last--
	}
	joined := len(f.lines) > 0
	for y := 0; y <= last; y++ {
		r := &rows[y]
		goesOn := y == 0 && joined || y > 0 && r.cont
		if !goesOn {
			f.lines = append(f.lines, line{cont: r.cont && y == 0})
		} else if y > 0 {
			f.lines[len(f.lines)-1].trimGapOf(rows[y-1].cells)
		}
		l := &f.lines[len(f.lines)-1]
		if y == f.cursor.y {
			f.curLine, f.curCell = len(f.lines)-1, len(l.cells)+f.cursor.x
		}
		l.cells = append(l.cells, r.cells...)
	}
	for i := range f.lines {
		f.lines[i].trim()
	}
}

func (l *line) trimGapOf(before []cell) {
	if before[len(before)-1].empty() {
		l.trimGap()
	}
}

// trim drops the empty end of a line.
func (l *line) trim() {
	n := len(l.cells)
	for n > 0 && l.cells[n-1] == (cell{}) {
		n--
	}
	l.cells = l.cells[:n]
}

func (r *row) blank() bool {
	if r.cont {
		return false
	}
	for i := range r.cells {
		if r.cells[i] != (cell{}) {
			return false
		}
	}
	return true
}

// layout breaks the lines into rows of the new width.
func (f *flow) layout() []row {
	var out []row
	for n := range f.lines {
		out = f.layoutLine(out, n)
	}
	return out
}

func (f *flow) layoutLine(out []row, n int) []row {
	l := &f.lines[n]
	cells := l.cells
	cont := l.cont
	for i := 0; ; cont = true {
		r := row{cells: make([]cell, f.cols), cont: cont}
		end := min(i+f.cols, len(cells))
		if end < len(cells) && cells[end].attr&spacer != 0 && cells[end-1].attr&wide != 0 {
			end--
		}
		last := end >= len(cells)
		if !last { // what is not text cannot wrap
			cells[end-1].ink()
			cells[end].ink()
		}
		copy(r.cells, cells[i:end])
		if n == f.curLine && f.curCell >= i && (f.curCell < end || last) {
			f.cursor.x, f.cursor.y = min(f.curCell-i, f.cols), len(out)
			f.curLine = -1
		}
		out = append(out, r)
		if last {
			return out
		}
		i = end
	}
}
