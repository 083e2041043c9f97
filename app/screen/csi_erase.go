package screen

// erase empties cells of a row; selective spares those that DECSCA guards.
func (s *Screen) erase(y, from, to int, selective bool) {
	r := &s.buf.rows[y]
	from, to = min(from, s.cols), min(to, s.cols)
	if from >= to {
		return
	}
	if !selective {
		fill(r.cells[from:to], s.blank())
	} else {
		for x := from; x < to; x++ {
			if r.cells[x].attr&guarded == 0 {
				r.cells[x] = s.blank()
			}
		}
	}
	r.mend(from, s.blank())
	r.mend(to, s.blank())
	if selective { // guarded and other cells may alternate
		for x := from + 1; x < to; x++ {
			r.mend(x, s.blank())
		}
	}
	s.settle(y)
}

// eraseRow empties a row, which then continues none.
func (s *Screen) eraseRow(y int, selective bool) {
	s.erase(y, 0, s.cols, selective)
	s.buf.rows[y].cont = false
}

// eraseDisplay is ED and DECSED.
func (s *Screen) eraseDisplay(which int, selective bool) {
	s.restrictRow()
	switch which {
	case 0:
		if s.x == 0 && s.y == 0 && s.buf == &s.main {
			s.erased++
		}
		s.eraseLine(0, selective)
		for y := s.y + 1; y < s.rows; y++ {
			s.eraseRow(y, selective)
		}
	case 1:
		s.erase(s.y, 0, s.x+1, selective)
		s.buf.rows[s.y].cont = false
		if s.x+1 >= s.cols {
			s.buf.cut(s.y + 1)
		}
		for y := range s.y {
			s.eraseRow(y, selective)
		}
	case 2:
		for y := range s.rows {
			s.eraseRow(y, selective)
		}
		if s.buf == &s.main {
			s.erased++
		}
	case 3:
		if s.buf == &s.main {
			s.history.clear()
			s.main.rows[0].cont = false
		}
	}
}

// eraseLine is EL and DECSEL. With a full row nothing is right of the cursor, as in xterm.js.
func (s *Screen) eraseLine(which int, selective bool) {
	s.restrictRow()
	switch which {
	case 0:
		s.erase(s.y, s.x, s.cols, selective)
		if s.x == 0 {
			s.buf.cut(s.y)
		}
	case 1:
		s.erase(s.y, 0, s.x+1, selective)
	case 2:
		s.eraseRow(s.y, selective)
	}
}

// eraseChars is ECH.
func (s *Screen) eraseChars(n int) {
	s.restrict()
	s.erase(s.y, s.x, s.x+n, false)
}

// insert moves the cells from x on n to the right; those that leave are lost.
func (r *row) insert(x, n int, blank cell) {
	n = min(n, len(r.cells)-x)
	r.split(x, blank)
	r.split(len(r.cells)-n, blank)
	copy(r.cells[x+n:], r.cells[x:])
	fill(r.cells[x:x+n], blank)
}

// remove takes n cells out at x; blank ones come in at the end.
func (r *row) remove(x, n int, blank cell) {
	n = min(n, len(r.cells)-x)
	r.split(x, blank)
	r.split(x+n, blank)
	copy(r.cells[x:], r.cells[x+n:])
	fill(r.cells[len(r.cells)-n:], blank)
}

// insertChars is ICH.
func (s *Screen) insertChars(n int) {
	s.restrict()
	s.buf.rows[s.y].insert(s.x, n, s.blank())
	s.settle(s.y)
}

// deleteChars is DCH.
func (s *Screen) deleteChars(n int) {
	s.restrict()
	s.buf.rows[s.y].remove(s.x, n, s.blank())
	s.settle(s.y)
}

func (s *Screen) outsideRegion() bool { return s.y < s.buf.top || s.y > s.buf.bottom }

// insertLines is IL.
func (s *Screen) insertLines(n int) {
	s.restrict()
	if s.outsideRegion() {
		return
	}
	s.buf.down(s.y, s.buf.bottom, n, s.blank())
	s.x = 0
}

// deleteLines is DL.
func (s *Screen) deleteLines(n int) {
	s.restrict()
	if s.outsideRegion() {
		return
	}
	s.buf.up(s.y, s.buf.bottom, n, s.blank())
	s.x = 0
}

// shiftColumns moves the cells of every row of the region, from column x on, n to the right (SR, DECIC) or to the left (SL,
// DECDC).
func (s *Screen) shiftColumns(x, n int) {
	if s.outsideRegion() {
		return
	}
	for y := s.buf.top; y <= s.buf.bottom; y++ {
		r := &s.buf.rows[y]
		if n > 0 {
			r.insert(x, n, s.blank())
		} else {
			r.remove(x, -n, s.blank())
		}
		r.cont = false
	}
	s.settle(s.buf.bottom)
}
