package screen

import "strconv"

// pending appends bytes that bring a parser in its first state into this one.
func (p *parser) pending(dst []byte) []byte {
	switch p.state {
	case ground:
	case escape, escapeInter:
		dst = p.appendInter(append(dst, 0x1b))
	case csiEntry, csiParam, csiInter:
		dst = p.appendHeader(append(dst, "\x1b["...))
	case csiIgnore:
		dst = append(dst, "\x1b[ 0"...)
	case dcsEntry, dcsParam, dcsInter:
		dst = p.appendHeader(append(dst, "\x1bP"...))
	case dcsIgnore:
		dst = append(dst, "\x1bP 0"...)
	case dcsString:
		if p.over {
			dst = append(dst, "\x1bPz"...) // a kind that nobody knows
			break
		}
		dst = append(append(p.appendHeader(append(dst, "\x1bP"...)), p.final), p.str...)
	case oscString:
		if p.over {
			dst = append(dst, "\x1b]99999;"...) // as above
			break
		}
		dst = append(append(dst, "\x1b]"...), p.str...)
	case otherString:
		dst = append(dst, "\x1b_"...)
	}
	return append(dst, p.part[:p.parts]...)
}

// appendHeader appends prefix, parameters and intermediates.
func (p *parser) appendHeader(dst []byte) []byte {
	if p.prefix != 0 {
		dst = append(dst, p.prefix)
	}
	for i := range p.n {
		if i > 0 {
			dst = append(dst, ";:"[b2i(p.subs[i])])
		}
		if p.vals[i] >= 0 {
			dst = strconv.AppendInt(dst, int64(p.vals[i]), 10)
		}
	}
	if p.full {
		dst = append(dst, ';')
	}
	return p.appendInter(dst)
}

func (p *parser) appendInter(dst []byte) []byte {
	if p.inter > 0xff {
		dst = append(dst, byte(p.inter>>8))
	}
	if p.inter != 0 {
		dst = append(dst, byte(p.inter))
	}
	return dst
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
