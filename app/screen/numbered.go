package screen

// Moment is one in what a terminal has shown. Lines are counted from the first that it ever had, and keep their numbers when they
// leave the screen and the scrollback.
type Moment struct {
	// Drawn is the number of the first line that a program could still draw over: the first one on the screen. Written is that
	// of the cursor's line, where what is only written went on; it is Drawn while a program had the alternate screen.
	Drawn, Written uint64
	// Erased counts how often the whole screen was erased: then what was only written went on at its top.
	Erased uint64
}

// Numbered are the lines that a terminal holds.
type Numbered struct {
	Lines []Line // of the main screen and its scrollback, without blank ones at the end
	First uint64 // number of Lines[0]
	Now   Moment
	// Over are the lines of the alternate screen, while a program has it. They have no numbers: it draws them anew all the time.
	Over []Line
}

// Numbered returns all lines.
func (s *Screen) Numbered() Numbered {
	w := liner{screen: s}
	w.main()
	n := Numbered{Lines: w.lines, First: s.history.gone, Now: Moment{Drawn: s.history.gone + s.history.lines(), Erased: s.erased}}
	if s.history.count > 0 && s.main.rows[0].cont {
		n.Now.Drawn--
	}
	n.Now.Written = n.Now.Drawn
	if s.modes.AltScreen {
		over := liner{screen: s}
		over.grid(&s.alt)
		over.end()
		n.Over = over.lines
		return n
	}
	for y := 1; y <= s.y; y++ {
		if !s.main.rows[y].cont {
			n.Now.Written++
		}
	}
	return n
}

// Since returns the lines from that moment on, and whether some of them are gone. drawn tells that the program draws over what is on the
// screen: then all that was on it is among them, since any of it may have changed.
func (n Numbered) Since(from Moment, drawn bool) (lines []Line, missed bool) {
	number := from.Written
	if drawn || from.Erased != n.Now.Erased {
		number = from.Drawn
	}
	if number < n.First {
		return append(n.Lines[:len(n.Lines):len(n.Lines)], n.Over...), true
	}
	at := min(number-n.First, uint64(len(n.Lines)))
	return append(n.Lines[at:len(n.Lines):len(n.Lines)], n.Over...), false
}

// lines returns how many lines are held, one that has lost its beginning among them.
func (h *scrollback) lines() uint64 {
	n := uint64(0)
	for i := range h.count {
		if !h.continues(i) {
			n++
		}
	}
	return n
}
