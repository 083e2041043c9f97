package screen

// csi carries out a control sequence.
func (s *Screen) csi(final byte) {
	joinable := s.joinable
	s.joinable = false
	p := &s.parser
	switch {
	case p.prefix == 0 && p.inter == 0:
		if final == 'b' {
			if joinable {
				s.repeat(p.count(0))
			}
			return
		}
		s.csiPlain(final)
	case p.prefix == '?' && p.inter == 0:
		s.csiPrivate(final)
	case p.prefix == '>' && p.inter == 0:
		switch final {
		case 'c':
			s.secondaryAttributes()
		case 'q':
			s.identify()
		}
	case p.prefix == 0 && p.inter == ' ':
		switch final {
		case 'q':
			s.shape = clamp(p.arg(0, 0), 0, 6)
		case '@':
			s.shiftColumns(0, -p.count(0))
		case 'A':
			s.shiftColumns(0, p.count(0))
		}
	case p.prefix == 0 && p.inter == '\'':
		switch final {
		case '}':
			s.shiftColumns(min(s.x, s.cols-1), p.count(0))
		case '~':
			s.shiftColumns(min(s.x, s.cols-1), -p.count(0))
		}
	case p.prefix == 0 && p.inter == '!' && final == 'p':
		s.softReset()
	case p.prefix == 0 && p.inter == '"' && final == 'q':
		s.guard(p.arg(0, 0))
	case p.inter == '$' && final == 'p':
		s.reportMode()
	}
}

func (s *Screen) csiPlain(final byte) {
	p := &s.parser
	n := p.count(0)
	switch final {
	case 'A':
		s.cursorUp(n)
	case 'B':
		s.cursorDown(n)
	case 'C', 'a':
		s.moveBy(n)
	case 'D':
		s.moveBy(-n)
	case 'E':
		s.cursorDown(n)
		s.x = 0
	case 'F':
		s.cursorUp(n)
		s.x = 0
	case 'G', '`':
		s.column(n - 1)
	case 'H', 'f':
		s.moveTo(p.count(1)-1, n-1)
	case 'd':
		s.moveTo(min(s.x, s.cols-1), n-1)
	case 'e':
		s.restrict()
		s.y += n
		s.restrict()
	case 'I':
		s.tab(n)
	case 'Z':
		s.backTab(n)
	case 'g':
		s.clearTabs(p.arg(0, 0))
	case 'J':
		s.eraseDisplay(p.arg(0, 0), false)
	case 'K':
		s.eraseLine(p.arg(0, 0), false)
	case 'X':
		s.eraseChars(n)
	case '@':
		s.insertChars(n)
	case 'P':
		s.deleteChars(n)
	case 'L':
		s.insertLines(n)
	case 'M':
		s.deleteLines(n)
	case 'S':
		s.buf.up(s.buf.top, s.buf.bottom, n, s.blank())
	case 'T', '^':
		s.scrollDown(n)
	default:
		s.csiState(final)
	}
}

// csiState is the second half of csiPlain: what changes no text.
func (s *Screen) csiState(final byte) {
	p := &s.parser
	switch final {
	case 'm':
		s.sgr()
	case 'h', 'l':
		for i := range p.n {
			s.ansiMode(int(p.vals[i]), final == 'h')
		}
	case 'r':
		s.setRegion(p.count(0), p.arg(1, 0))
	case 's':
		s.save()
	case 'u':
		s.restore()
	case 'c':
		if p.arg(0, 0) == 0 {
			s.answer("\x1b[?62;22c") // VT220 with colours: what claude's query of OSC 7501 waits for
		}
	case 'n':
		s.report(p.arg(0, 0), "")
	case 't':
		s.window(p.arg(0, 0))
	}
}

func (s *Screen) csiPrivate(final byte) {
	p := &s.parser
	switch final {
	case 'h', 'l':
		for i := range p.n {
			if !p.subs[i] {
				s.privateMode(int(p.vals[i]), final == 'h')
			}
		}
	case 'J':
		s.eraseDisplay(p.arg(0, 0), true)
	case 'K':
		s.eraseLine(p.arg(0, 0), true)
	case 'n':
		s.report(p.arg(0, 0), "?")
	}
}

// setRegion is DECSTBM, from and to row counted from 1; 0 is the last row.
func (s *Screen) setRegion(from, to int) {
	if to == 0 || to > s.rows {
		to = s.rows
	}
	if from >= to {
		return
	}
	s.buf.top, s.buf.bottom = from-1, to-1
	s.moveTo(0, 0)
}

// scrollDown is SD. Its blank rows have no colour, as in xterm.js. (With five parameters CSI T is a mouse request.)
func (s *Screen) scrollDown(n int) {
	if s.parser.n > 1 {
		return
	}
	s.buf.down(s.buf.top, s.buf.bottom, n, cell{})
}
