package screen

import "unicode/utf8"

// The states of the parser are those of Paul Williams' parser for DEC terminals (https://vt100.net/emu/dec_ansi_parser).
//
// It is our own rather than that of charmbracelet/x/ansi v0.11.9, which (tried on 2026-11-29) breaks a title and ends a DCS at
// a byte 0x9c inside a UTF-8 character, such as the "✳" of claude's titles; swallows the ESC that follows a cut-off character;
// lets numbers overflow; and prints the rest of a malformed CSI sequence. Here characters are decoded first, as in xterm.js,
// and the states see runes.
type state byte

const (
	ground state = iota
	escape
	escapeInter // an intermediate byte came
	csiEntry
	csiParam
	csiInter
	csiIgnore
	dcsEntry
	dcsParam
	dcsInter
	dcsIgnore
	dcsString
	oscString
	otherString // SOS, PM, APC: read and forgotten
)

const (
	maxParams = 32     // as xterm.js; the rest of the sequence's numbers is ignored
	maxParam  = 99_999 // beyond any size, so that sums cannot overflow
	maxOSC    = 8 << 10
	// maxClipboard is maxOSC for OSC 52: what the window takes of it is 100,000 characters, of at most 6 bytes each in base64.
	maxClipboard = 600_032
	maxDCS       = 256 // DECRQSS asks with one or two bytes
)

// parser is what is known of the sequence that is being received.
type parser struct {
	state  state
	prefix byte   // < = > ?
	inter  uint16 // intermediate bytes, the last one lowest
	vals   [maxParams]int32
	subs   [maxParams]bool // the value was set off by a colon: it belongs to the one before
	n      int
	full   bool
	final  byte   // of a DCS
	str    []byte // of an OSC or DCS
	over   bool   // str would have exceeded its limit: the whole string is ignored

	part  [utf8.UTFMax]byte // beginning of a character that is split between two writes
	parts int
}

// begin starts a sequence.
func (p *parser) begin(st state) {
	p.state = st
	p.prefix, p.inter, p.final = 0, 0, 0
	p.n, p.full = 1, false
	p.vals[0], p.subs[0] = -1, false
	p.str, p.over = p.str[:0], false
}

// feed handles some of p, which is not empty, and returns how many bytes.
func (s *Screen) feed(p []byte) int {
	ps := &s.parser
	b := p[0]
	if b >= utf8.RuneSelf {
		return s.feedRune(p)
	}
	ps.parts = 0 // a character that was cut off is dropped, as xterm.js does
	switch {
	case ps.state == ground && b >= 0x20 && b < 0x7f:
		n := 1
		for n < len(p) && p[n] >= 0x20 && p[n] < 0x7f {
			n++
		}
		s.printASCII(p[:n])
		return n
	case ps.state >= dcsString && b >= 0x20 && b < 0x7f:
		n := 1
		for n < len(p) && p[n] >= 0x20 && p[n] < 0x7f {
			n++
		}
		ps.collect(p[:n])
		return n
	}
	s.step(rune(b))
	return 1
}

// feedRune handles bytes of a character beyond ASCII. Bytes that belong to none are dropped.
func (s *Screen) feedRune(p []byte) int {
	ps := &s.parser
	if ps.parts == 0 {
		if !utf8.FullRune(p) {
			ps.parts = copy(ps.part[:], p)
			return len(p)
		}
		r, n := utf8.DecodeRune(p)
		if r != utf8.RuneError || n > 1 {
			s.step(r)
		}
		return n
	}
	ps.part[ps.parts] = p[0]
	ps.parts++
	held := ps.part[:ps.parts]
	if !utf8.FullRune(held) {
		return 1
	}
	ps.parts = 0
	r, n := utf8.DecodeRune(held)
	if r == utf8.RuneError && n == 1 {
		return 0 // what was held is dropped; this byte may begin another character
	}
	s.step(r)
	return 1
}

// step is one transition of the parser.
func (s *Screen) step(r rune) {
	p := &s.parser
	switch {
	case r == 0x1b:
		s.endString(true)
		p.begin(escape)
		return
	case r == 0x18 || r == 0x1a: // CAN, SUB
		s.endString(false)
		p.state = ground
		s.joinable = false
		return
	case r >= 0x80 && r < 0xa0:
		s.endString(r == 0x9c)
		s.c1(r)
		return
	}
	switch p.state {
	case ground:
		switch {
		case r < 0x20:
			s.execute(byte(r))
		case r != 0x7f:
			s.print(r)
		}
	case escape, escapeInter:
		s.stepEscape(r)
	case csiEntry, csiParam, csiInter, csiIgnore:
		s.stepCSI(r)
	case dcsEntry, dcsParam, dcsInter, dcsIgnore:
		s.stepDCS(r)
	case oscString:
		if r == 0x07 {
			s.endString(true)
			p.state = ground
		} else if r >= 0x20 {
			p.collectRune(r)
		}
	case dcsString:
		p.collectRune(r)
	}
}

func (s *Screen) stepEscape(r rune) {
	p := &s.parser
	switch {
	case r < 0x20:
		s.execute(byte(r))
	case r < 0x30:
		p.inter = p.inter<<8 | uint16(r)
		p.state = escapeInter
	case r == 0x7f:
	case r > 0x7f:
		p.state = ground
	case p.state == escapeInter:
		p.state = ground
		s.esc(byte(r))
	case r == '[':
		p.begin(csiEntry)
	case r == ']':
		p.begin(oscString)
	case r == 'P':
		p.begin(dcsEntry)
	case r == 'X' || r == '^' || r == '_':
		p.begin(otherString)
	default:
		p.state = ground
		s.esc(byte(r))
	}
}

func (s *Screen) stepCSI(r rune) {
	p := &s.parser
	switch {
	case r < 0x20:
		s.execute(byte(r))
	case r == 0x7f:
	case r > 0x7f:
		if p.state != csiIgnore {
			p.state = ground
		}
	case r >= 0x40:
		ignored := p.state == csiIgnore
		p.state = ground
		if !ignored {
			s.csi(byte(r))
		}
	default:
		p.state = p.header(byte(r), csiParam, csiInter, csiIgnore)
	}
}

func (s *Screen) stepDCS(r rune) {
	p := &s.parser
	switch {
	case r < 0x20 || r == 0x7f:
	case r > 0x7f:
		if p.state != dcsIgnore {
			p.state = ground
		}
	case p.state == dcsIgnore:
	case r >= 0x40:
		p.final = byte(r)
		p.state = dcsString
	default:
		p.state = p.header(byte(r), dcsParam, dcsInter, dcsIgnore)
	}
}

// header takes a byte of a sequence's parameters or intermediates (0x20 to 0x3f) and returns the next state.
func (p *parser) header(b byte, param, inter, ignore state) state {
	entry := p.state == csiEntry || p.state == dcsEntry
	switch {
	case p.state == ignore:
		return ignore
	case b < 0x30:
		p.inter = p.inter<<8 | uint16(b)
		return inter
	case p.state == inter, b >= '<' && !entry:
		return ignore
	case b >= '<':
		p.prefix = b
	case b >= ':':
		p.next(b == ':')
	case !p.full:
		v := &p.vals[p.n-1]
		*v = min(max(*v, 0)*10+int32(b-'0'), maxParam)
	}
	return param
}

// next begins another parameter.
func (p *parser) next(sub bool) {
	if p.n == maxParams {
		p.full = true
		return
	}
	p.vals[p.n], p.subs[p.n] = -1, sub
	p.n++
}

// arg returns parameter i, or def when it is missing. Sub-parameters do not count.
func (p *parser) arg(i, def int) int {
	for k := range p.n {
		if p.subs[k] {
			continue
		}
		if i == 0 {
			if p.vals[k] < 0 {
				return def
			}
			return int(p.vals[k])
		}
		i--
	}
	return def
}

// count returns parameter i where 0 means 1, as it does for all movements.
func (p *parser) count(i int) int { return max(p.arg(i, 1), 1) }

// limit returns how long the open string may become, of which b is the next piece.
func (p *parser) limit(b []byte) int {
	if p.state != oscString {
		return maxDCS
	}
	var head [3]byte
	copy(head[copy(head[:], p.str):], b)
	if string(head[:]) == "52;" {
		return maxClipboard
	}
	return maxOSC
}

func (p *parser) collect(b []byte) {
	switch {
	case p.state == otherString || p.over:
	case len(p.str)+len(b) > p.limit(b):
		p.over = true
	default:
		p.str = append(p.str, b...)
	}
}

func (p *parser) collectRune(r rune) {
	var buf [utf8.UTFMax]byte
	p.collect(utf8.AppendRune(buf[:0], r))
}

// endString ends a string sequence, if one is open. An incomplete one is forgotten.
func (s *Screen) endString(complete bool) {
	p := &s.parser
	st := p.state
	if st < dcsString {
		return
	}
	p.state = ground
	s.joinable = false
	if !complete || p.over {
		return
	}
	switch st {
	case oscString:
		s.osc(p.str)
	case dcsString:
		s.dcs(p.str)
	}
	if cap(p.str) > 2*maxOSC {
		p.str = nil // most terminals never get such a string again
	}
}

// c1 handles a C1 control character, which reaches us only as UTF-8.
func (s *Screen) c1(r rune) {
	p := &s.parser
	p.state = ground
	s.joinable = false
	switch r {
	case 0x84:
		s.index()
	case 0x85:
		s.x = 0
		s.index()
	case 0x88:
		s.setTab()
	case 0x8d:
		s.reverseIndex()
	case 0x90:
		p.begin(dcsEntry)
	case 0x98, 0x9e, 0x9f:
		p.begin(otherString)
	case 0x9b:
		p.begin(csiEntry)
	case 0x9d:
		p.begin(oscString)
	}
}
