package screen

import (
	"fmt"
	"strings"
)

// answer sends an answer to the program.
func (s *Screen) answer(text string) {
	if s.reply != nil {
		s.reply([]byte(text))
	}
}

// secondaryAttributes is DA2. Type and level are those of xterm.js: programs choose features by them.
func (s *Screen) secondaryAttributes() {
	if s.parser.arg(0, 0) == 0 {
		s.answer("\x1b[>0;276;0c")
	}
}

// identify is XTVERSION.
func (s *Screen) identify() {
	if s.parser.arg(0, 0) == 0 {
		s.answer("\x1bP>|termic(" + s.version + ")\x1b\\")
	}
}

// report is DSR, prefix "?" for its private form.
func (s *Screen) report(what int, prefix string) {
	switch {
	case what == 5 && prefix == "":
		s.answer("\x1b[0n")
	case what == 6:
		c := s.Cursor()
		if s.modes.Origin {
			c.Row -= s.buf.top
		}
		s.answer(fmt.Sprintf("\x1b[%s%d;%dR", prefix, c.Row+1, c.Col+1))
	}
}

// Values of DECRPM.
const (
	modeUnknown = iota
	modeSet
	modeReset
	modeAlwaysSet
)

// reportMode is DECRQM.
func (s *Screen) reportMode() {
	mode := s.parser.arg(0, 0)
	switch s.parser.prefix {
	case '?':
		s.answer(fmt.Sprintf("\x1b[?%d;%d$y", mode, s.privateState(mode)))
	case 0:
		s.answer(fmt.Sprintf("\x1b[%d;%d$y", mode, s.ansiState(mode)))
	}
}

func state01(on bool) int {
	if on {
		return modeSet
	}
	return modeReset
}

func (s *Screen) ansiState(mode int) int {
	switch mode {
	case 4:
		return state01(s.modes.Insert)
	case 20:
		return state01(s.modes.NewLine)
	}
	return modeUnknown
}

func (s *Screen) privateState(mode int) int {
	m := &s.modes
	if flag := m.private(mode); flag != nil {
		return state01(*flag)
	}
	switch mode {
	case 9:
		return state01(m.Mouse == MousePress)
	case 1000:
		return state01(m.Mouse == MouseButton)
	case 1002:
		return state01(m.Mouse == MouseDrag)
	case 1003:
		return state01(m.Mouse == MouseMotion)
	case 1005:
		return state01(m.MouseEncoding == MouseUTF8)
	case 1006:
		return state01(m.MouseEncoding == MouseSGR)
	case 1015:
		return state01(m.MouseEncoding == MouseURXVT)
	case 1016:
		return state01(m.MouseEncoding == MousePixels)
	case 47, 1047, 1049:
		return state01(m.AltScreen)
	case 1048:
		return modeSet
	case 2027: // grapheme clusters are one character here, always
		return modeAlwaysSet
	}
	return modeUnknown
}

// window is XTWINOPS: sizes in characters, and the title stack. The title itself is never reported: it would be typed into
// the program.
func (s *Screen) window(op int) {
	switch op {
	case 18:
		s.answer(fmt.Sprintf("\x1b[8;%d;%dt", s.rows, s.cols))
	case 19:
		s.answer(fmt.Sprintf("\x1b[9;%d;%dt", s.rows, s.cols))
	case 22:
		if which := s.parser.arg(1, 0); which == 0 || which == 2 {
			s.pushTitle()
		}
	case 23:
		if which := s.parser.arg(1, 0); which == 0 || which == 2 {
			s.popTitle()
		}
	}
}

// reportColor answers OSC 10 and 11 with the colour that was given to us.
func (s *Screen) reportColor(number int, text string, rgb *uint32) {
	if text != "?" || rgb == nil {
		return
	}
	r, g, b := *rgb>>16&0xff, *rgb>>8&0xff, *rgb&0xff
	s.answer(fmt.Sprintf("\x1b]%d;rgb:%02x%02x/%02x%02x/%02x%02x\x1b\\", number, r, r, g, g, b, b))
}

// dcs carries out a device control string. Only DECRQSS is known; graphics are read and forgotten.
func (s *Screen) dcs(data []byte) {
	p := &s.parser
	if p.prefix != 0 || p.inter != '$' || p.final != 'q' {
		return
	}
	switch what := string(data); what {
	case "m":
		s.answer("\x1bP1$r" + strings.TrimPrefix(strings.TrimSuffix(s.sgrOf(s.pen), "m"), "\x1b[") + "m\x1b\\")
	case "r":
		s.answer(fmt.Sprintf("\x1bP1$r%d;%dr\x1b\\", s.buf.top+1, s.buf.bottom+1))
	case " q":
		s.answer(fmt.Sprintf("\x1bP1$r%d q\x1b\\", s.shape))
	case "\"q":
		guard := 0
		if s.pen.attr&guarded != 0 {
			guard = 1
		}
		s.answer(fmt.Sprintf("\x1bP1$r%d\"q\x1b\\", guard))
	default:
		s.answer("\x1bP0$r\x1b\\")
	}
}
