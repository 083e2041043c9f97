package screen

// Mouse is which mouse events the program asked for.
type Mouse uint8

const (
	MouseOff    Mouse = iota
	MousePress        // 9, X10: presses only
	MouseButton       // 1000: presses and releases
	MouseDrag         // 1002: and movement while a button is down
	MouseMotion       // 1003: and all movement
)

// MouseEncoding is how mouse events are written.
type MouseEncoding uint8

const (
	MouseBytes  MouseEncoding = iota // three bytes
	MouseUTF8                        // 1005
	MouseSGR                         // 1006
	MouseURXVT                       // 1015
	MousePixels                      // 1016: SGR in pixels
)

// Modes are what the program has switched on and off. A new screen has Autowrap and CursorVisible.
type Modes struct {
	BracketedPaste bool // 2004
	AltScreen      bool // 47, 1047, 1049
	AppCursorKeys  bool // 1
	AppKeypad      bool // ESC =, 66
	Mouse          Mouse
	MouseEncoding  MouseEncoding
	FocusEvents    bool // 1004
	Sync           bool // 2026: an update is going on, what is on the screen is half of it
	CursorVisible  bool // 25
	CursorBlink    bool // 12
	Autowrap       bool // 7
	Origin         bool // 6: rows count from the top of the scroll region
	Insert         bool // 4
	NewLine        bool // 20: a line feed returns the carriage
}

func (s *Screen) ansiMode(mode int, on bool) {
	switch mode {
	case 4:
		s.modes.Insert = on
	case 20:
		s.modes.NewLine = on
	}
}

func (s *Screen) privateMode(mode int, on bool) {
	m := &s.modes
	if flag := m.private(mode); flag != nil {
		*flag = on
	}
	switch mode {
	case 6:
		s.moveTo(0, 0)
	case 9:
		m.Mouse = onOff(on, MousePress)
	case 1000:
		m.Mouse = onOff(on, MouseButton)
	case 1002:
		m.Mouse = onOff(on, MouseDrag)
	case 1003:
		m.Mouse = onOff(on, MouseMotion)
	case 1005:
		m.MouseEncoding = onOff(on, MouseUTF8)
	case 1006:
		m.MouseEncoding = onOff(on, MouseSGR)
	case 1015:
		m.MouseEncoding = onOff(on, MouseURXVT)
	case 1016:
		m.MouseEncoding = onOff(on, MousePixels)
	case 47, 1047:
		s.switchScreen(on)
	case 1048:
		s.saveOrRestore(on)
	case 1049:
		if on {
			s.save()
		}
		s.switchScreen(on)
		if !on {
			s.restore()
		}
	}
}

func onOff[T ~uint8](on bool, v T) T {
	if on {
		return v
	}
	return 0
}

// private returns the flag of a private mode that is nothing but a flag.
func (m *Modes) private(mode int) *bool {
	switch mode {
	case 1:
		return &m.AppCursorKeys
	case 6:
		return &m.Origin
	case 7:
		return &m.Autowrap
	case 12:
		return &m.CursorBlink
	case 25:
		return &m.CursorVisible
	case 66:
		return &m.AppKeypad
	case 1004:
		return &m.FocusEvents
	case 2004:
		return &m.BracketedPaste
	case 2026:
		return &m.Sync
	}
	return nil
}

func (s *Screen) saveOrRestore(save bool) {
	if save {
		s.save()
	} else {
		s.restore()
	}
}

// switchScreen shows the alternate screen, empty, or the main one as it was. The cursor stays where it is.
func (s *Screen) switchScreen(alt bool) {
	if alt == s.modes.AltScreen {
		return
	}
	s.modes.AltScreen = alt
	if !alt {
		s.alt = buffer{}
		s.buf = &s.main
	} else {
		s.alt = newBuffer(s.cols, s.rows)
		for y := range s.alt.rows {
			fill(s.alt.rows[y].cells, s.blank())
		}
		s.buf = &s.alt
	}
	s.restrictRow()
}

// softReset is DECSTR.
func (s *Screen) softReset() {
	m := &s.modes
	m.CursorVisible, m.Autowrap = true, true
	m.Insert, m.Origin, m.AppCursorKeys, m.AppKeypad = false, false, false, false
	m.BracketedPaste, m.FocusEvents, m.Sync = false, false, false
	s.buf.top, s.buf.bottom = 0, s.rows-1
	s.pen, s.link, s.under = style{}, "", 0
	s.sets = charsets{}
	s.buf.saved = savedCursor{}
}
