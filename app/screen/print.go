package screen

import "unicode/utf8"

// printASCII prints a run of printable ASCII. It is where most of the output of most programs goes.
func (s *Screen) printASCII(b []byte) {
	if s.sets.table() != 0 || s.modes.Insert {
		for _, c := range b {
			s.put(uint32(s.sets.translate(c)), 1)
		}
		return
	}
	for len(b) > 0 {
		if s.x >= s.cols {
			if s.modes.Autowrap {
				s.wrap()
			} else {
				s.x = s.cols - 1
				b = b[len(b)-1:] // each character overwrites the one before
			}
		}
		n := min(len(b), s.cols-s.x)
		r := &s.buf.rows[s.y]
		cells := r.cells[s.x : s.x+n]
		for i, c := range b[:n] {
			cells[i] = cell{ch: uint32(c), style: s.pen}
		}
		broken := r.mend(s.x, s.blank())
		s.x += n
		if r.mend(s.x, s.blank()) || broken {
			s.settle(s.y)
		}
		b = b[n:]
	}
	s.joinable = true
}

// print prints a rune beyond ASCII.
func (s *Screen) print(r rune) {
	if r == 0xfeff {
		return // a byte order mark shows in no terminal
	}
	if s.joinable && r >= 0x300 && s.join(r) {
		return
	}
	w := runeWidth(r)
	if w == 0 {
		return // a mark with nothing before it
	}
	s.put(uint32(r), w)
}

// put writes a character of w cells at the cursor.
func (s *Screen) put(ch uint32, w int) {
	if s.x+w > s.cols {
		if !s.modes.Autowrap {
			s.x = s.cols - 1
			if w > 1 {
				s.joinable = false
				return
			}
		} else {
			s.leave(s.x)
			s.wrap()
		}
	}
	s.place(ch, w, s.pen)
	s.joinable = true
}

// leave empties the end of a row, from x, that a wide character does not fit into.
func (s *Screen) leave(x int) {
	r := &s.buf.rows[s.y]
	fill(r.cells[x:], s.blank())
	r.mend(x, s.blank())
	s.settle(s.y)
}

// place writes a character where there is room for it, and moves the cursor behind it.
func (s *Screen) place(ch uint32, w int, st style) {
	r := &s.buf.rows[s.y]
	if s.modes.Insert {
		r.insert(s.x, w, s.blank())
	}
	st.attr &^= shape
	r.cells[s.x] = cell{ch: ch, style: st}
	broken := s.modes.Insert || s.x == 0 // or the row above is not full
	if w == 2 {
		r.cells[s.x].attr |= wide
		st.attr |= spacer
		r.cells[s.x+1] = cell{style: st}
	}
	broken = r.mend(s.x, s.blank()) || broken
	s.x += w
	if r.mend(s.x, s.blank()) || broken {
		s.settle(s.y)
	}
}

// join adds a rune to the character before the cursor, if it belongs to it.
func (s *Screen) join(r rune) bool {
	lead := s.lead()
	c := &s.buf.rows[s.y].cells[lead]
	text := s.appendCell(s.scratch[:0], c)
	s.scratch = text
	if len(text) == 0 || !joins(text, r) {
		return false
	}
	text = utf8.AppendRune(text, r)
	s.scratch = text
	if len(text) > maxCluster {
		return true
	}
	grows := c.attr&wide == 0 && !mark(r) && clusterWidth(text) == 2
	if grows && lead == s.cols-1 && !s.modes.Autowrap {
		return true // no room: the character stays as it was
	}
	ch, ok := s.cluster(text)
	switch {
	case !ok:
	case !grows:
		c.ch = ch
	default:
		s.widen(lead, ch)
	}
	return true
}

// widen makes the character at lead, just printed, a wide one. At the end of a row it moves to the next.
func (s *Screen) widen(lead int, ch uint32) {
	st := s.buf.rows[s.y].cells[lead].style
	insert := s.modes.Insert
	switch {
	case lead == s.cols-1:
		s.leave(lead)
		s.x = lead
		s.wrap()
	case insert:
		s.buf.rows[s.y].insert(s.x, 1, s.blank())
		s.modes.Insert = false // the room has been made
		s.x = lead
	default:
		s.x = lead
	}
	s.place(ch, 2, st)
	s.modes.Insert = insert
}

// repeat is REP: the character that was just printed, n times more.
func (s *Screen) repeat(n int) {
	lead := s.lead()
	w := max(s.x-lead, 1)
	ch := s.buf.rows[s.y].cells[lead].ch
	if ch == 0 {
		return
	}
	if full := max(s.cols*s.rows, 4096); n > full { // what fills the screen again and again is left out, the column is kept
		n = full + (n-full)%(s.cols/w)
	}
	for range n {
		s.put(ch, w)
	}
	s.joinable = false
}
