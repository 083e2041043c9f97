package screen

// restrict brings the cursor into the grid, and into the scroll region when that is the origin. A full row is not full any
// more.
func (s *Screen) restrict() {
	s.x = clamp(s.x, 0, s.cols-1)
	s.restrictRow()
}

func (s *Screen) restrictRow() {
	if s.modes.Origin {
		s.y = clamp(s.y, s.buf.top, s.buf.bottom)
	} else {
		s.y = clamp(s.y, 0, s.rows-1)
	}
}

// moveTo sets the cursor, from the origin.
func (s *Screen) moveTo(x, y int) {
	if s.modes.Origin {
		y += s.buf.top
	}
	s.x, s.y = x, y
	s.restrict()
}

// column sets the column alone.
func (s *Screen) column(x int) {
	s.x = x
	s.restrict()
}

// moveBy moves the cursor right.
func (s *Screen) moveBy(dx int) {
	s.restrict()
	s.column(s.x + dx)
}

// cursorUp stops at the top of the region, unless the cursor is above it.
func (s *Screen) cursorUp(n int) {
	s.restrict()
	low := 0
	if s.y >= s.buf.top {
		low = s.buf.top
	}
	s.y = max(s.y-n, low)
}

// cursorDown stops at the bottom of the region, unless the cursor is below it.
func (s *Screen) cursorDown(n int) {
	s.restrict()
	high := s.rows - 1
	if s.y <= s.buf.bottom {
		high = s.buf.bottom
	}
	s.y = min(s.y+n, high)
}
