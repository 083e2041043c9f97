package screen

// row of the grid.
type row struct {
	cells []cell
	cont  bool // continues the row above: the text wrapped, and nothing has been erased at the place where it did
}

// buffer is one of the two grids with what belongs to it alone.
type buffer struct {
	rows        []row
	top, bottom int // scroll region, both inclusive
	saved       savedCursor

	moved []row // scratch of up and down
}

// savedCursor is what DECSC keeps.
type savedCursor struct {
	x, y  int
	pen   style
	link  string
	under color
	sets  charsets
}

func newBuffer(cols, rows int) buffer {
	b := buffer{rows: make([]row, rows), bottom: rows - 1}
	cells := make([]cell, cols*rows)
	for i := range b.rows {
		b.rows[i].cells = cells[i*cols : (i+1)*cols : (i+1)*cols]
	}
	return b
}

func fill(cells []cell, with cell) {
	if with == (cell{}) {
		clear(cells)
		return
	}
	for i := range cells {
		cells[i] = with
	}
}

// mend makes blank the half of a wide character whose other half is gone, on both sides of the border before column x. It tells
// whether there was one.
func (r *row) mend(x int, blank cell) bool {
	lead := x > 0 && r.cells[x-1].attr&wide != 0
	rest := x < len(r.cells) && r.cells[x].attr&spacer != 0
	switch {
	case lead == rest:
		return false
	case lead:
		r.cells[x-1] = blank
	default:
		r.cells[x] = blank
	}
	return true
}

// split empties a wide character that lies across the border before column x.
func (r *row) split(x int, blank cell) {
	if x > 0 && x < len(r.cells) && r.cells[x].attr&spacer != 0 {
		r.cells[x-1], r.cells[x] = blank, blank
	}
}

// up moves the rows of a region n up; blank ones come in below. The rows that leave are lost.
func (b *buffer) up(top, bottom, n int, blank cell) {
	n = min(n, bottom-top+1)
	b.moved = append(b.moved[:0], b.rows[top:top+n]...)
	copy(b.rows[top:], b.rows[top+n:bottom+1])
	b.renew(bottom+1-n, blank)
	b.cut(top)
	b.cut(bottom + 1)
}

// down moves the rows of a region n down; blank ones come in above.
func (b *buffer) down(top, bottom, n int, blank cell) {
	n = min(n, bottom-top+1)
	b.moved = append(b.moved[:0], b.rows[bottom+1-n:bottom+1]...)
	copy(b.rows[top+n:bottom+1], b.rows[top:])
	b.renew(top, blank)
	b.cut(top + n)
	b.cut(bottom + 1)
}

// renew puts the rows that were moved out back in as blank ones.
func (b *buffer) renew(y int, blank cell) {
	for i := range b.moved {
		fill(b.moved[i].cells, blank)
		b.moved[i].cont = false
	}
	copy(b.rows[y:], b.moved)
}

// cut ends the text that ran on into row y: the row above is another one now.
func (b *buffer) cut(y int) {
	if y < len(b.rows) {
		b.rows[y].cont = false
	}
}

// settle takes the mark of a continued row from row y and the one below it where text is missing at the border. It is
// called after cells of row y were emptied.
func (s *Screen) settle(y int) {
	rows := s.buf.rows
	for end := min(y+1, len(rows)-1); y <= end; y++ {
		if rows[y].cont && !follows(s.endingOf(s.buf, y), rows[y].cells) {
			rows[y].cont = false
		}
	}
}

// endingOf tells how the row above row y of a grid ends; for the first of the main screen it is the last of the history.
func (s *Screen) endingOf(b *buffer, y int) byte {
	switch {
	case y > 0:
		return ending(b.rows[y-1].cells)
	case b == &s.main:
		return s.history.ending()
	}
	return 0
}

// scroll moves the region up by one row. The row that leaves a region at the top of the main screen goes into the history.
func (s *Screen) scroll(cont bool) {
	b := s.buf
	keep := b.top == 0 && b == &s.main
	runsOn := false
	if keep {
		s.remember(&b.rows[0])
		runsOn = b.top < b.bottom && b.rows[1].cont && s.history.limit > 0
	}
	b.up(b.top, b.bottom, 1, s.blank())
	if keep && b.top < b.bottom {
		b.rows[0].cont = runsOn
	}
	b.rows[b.bottom].cont = cont && (b.top < b.bottom || keep && s.history.limit > 0)
}

// index moves the cursor down a row and scrolls at the bottom of the region.
func (s *Screen) index() {
	switch {
	case s.y == s.buf.bottom:
		s.scroll(false)
	case s.y < s.rows-1:
		s.y++
		s.buf.rows[s.y].cont = false
	}
}

// wrap begins the next row because the text goes on there.
func (s *Screen) wrap() {
	if s.x >= s.cols {
		s.buf.rows[s.y].cells[s.cols-1].ink() // it may have been erased since: the text still goes on
	}
	s.x = 0
	switch {
	case s.y == s.buf.bottom:
		s.scroll(true)
	case s.y < s.rows-1:
		s.y++
		s.buf.rows[s.y].cont = true
	}
}

// reverseIndex moves the cursor up a row and scrolls at the top of the region.
func (s *Screen) reverseIndex() {
	s.restrict()
	if s.y == s.buf.top {
		s.buf.down(s.buf.top, s.buf.bottom, 1, s.blank())
	} else if s.y > 0 {
		s.y--
	}
}
