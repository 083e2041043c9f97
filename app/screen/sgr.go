package screen

// sgr sets the pen.
func (s *Screen) sgr() {
	p := &s.parser
	for i := 0; i < p.n; {
		v := max(int(p.vals[i]), 0)
		subs := 0
		for i+1+subs < p.n && p.subs[i+1+subs] {
			subs++
		}
		used := 0
		switch v {
		case 38, 48, 58:
			var c color
			var ok bool
			if c, used, ok = p.color(i, subs); ok {
				s.paint(v, c)
			}
		case 4:
			under := 1
			if subs > 0 {
				under = clamp(int(p.vals[i+1]), 0, 5)
			}
			s.underline(under)
		default:
			s.sgrOne(v)
		}
		i += 1 + max(subs, used)
	}
}

// color reads the colour after a 38, 48 or 58 at i: "38;5;N", "38;2;R;G;B", or with colons, where the colour space may stand
// before the three. used is the number of values that belong to it when they are set off by semicolons.
func (p *parser) color(i, subs int) (c color, used int, ok bool) {
	vals := p.vals[i+1 : p.n]
	if subs > 0 {
		vals = p.vals[i+1 : i+1+subs]
	}
	at := func(k int) int {
		if k < len(vals) {
			return max(int(vals[k]), 0)
		}
		return 0
	}
	switch at(0) {
	case 5:
		return indexed | color(at(1)&0xff), 2, at(1) <= 0xff && len(vals) > 1
	case 2:
		k := 1
		if subs > 4 {
			k = 2 // the colour space
		}
		r, g, b := at(k), at(k+1), at(k+2)
		return truecolor | color(r&0xff)<<16 | color(g&0xff)<<8 | color(b&0xff), 4, max(r, g, b) <= 0xff && len(vals) >= k+3
	}
	return 0, 1, false
}

func (s *Screen) paint(which int, c color) {
	switch which {
	case 38:
		s.pen.fg = c
	case 48:
		s.pen.bg = c
	case 58:
		s.under = c
		s.decorate()
	}
}

func (s *Screen) underline(kind int) {
	s.pen.attr = s.pen.attr&^underMask | attr(kind)<<underShift
}

var sgrOn = map[int]attr{1: bold, 2: faint, 3: italic, 5: blink, 6: blink, 7: inverse, 8: invisible, 9: strike, 53: overline}

var sgrOff = map[int]attr{22: bold | faint, 23: italic, 25: blink, 27: inverse, 28: invisible, 29: strike, 55: overline}

func (s *Screen) sgrOne(v int) {
	switch {
	case v == 0:
		s.pen = style{attr: s.pen.attr & guarded}
		s.under = 0
		s.decorate()
	case v >= 30 && v <= 37:
		s.pen.fg = indexed | color(v-30)
	case v == 39:
		s.pen.fg = 0
	case v >= 40 && v <= 47:
		s.pen.bg = indexed | color(v-40)
	case v == 49:
		s.pen.bg = 0
	case v >= 90 && v <= 97:
		s.pen.fg = indexed | color(v-90+8)
	case v >= 100 && v <= 107:
		s.pen.bg = indexed | color(v-100+8)
	case v == 21:
		s.underline(2)
	case v == 24:
		s.underline(0)
	case v == 59:
		s.under = 0
		s.decorate()
	default:
		s.pen.attr = s.pen.attr&^sgrOff[v] | sgrOn[v]
	}
}

// guard is DECSCA: whether what is printed from now on survives a selective erase.
func (s *Screen) guard(v int) {
	switch v {
	case 1:
		s.pen.attr |= guarded
	case 0, 2:
		s.pen.attr &^= guarded
	}
}
