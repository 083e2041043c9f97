package tab

import (
	"bytes"
	"time"
	"unicode/utf8"
)

// keys follows what the person types, as far as it tells whether a half-typed text may stand in the program's box. It errs on the
// side of a draft: what it cannot tell counts as one, until Enter or Ctrl-C.
type keys struct {
	draft   bool
	count   int       // characters of the draft, while only its end was edited
	certain bool      // count is right
	at      time.Time // of the last key that can change the box
	slash   bool      // the last one was a backslash, which makes of Enter a new line in some agents
	pasting bool
	rest    []byte // of a sequence that is not complete
}

// maxRest bounds what is kept of an incomplete sequence. The longest that a terminal sends (a mouse report) has 20 bytes.
const maxRest = 64

// feed takes in what was typed at a time.
func (k *keys) feed(p []byte, now time.Time) {
	p = append(k.rest, p...)
	k.rest = nil
	for len(p) > 0 {
		n := k.one(p, now)
		if n == 0 {
			if len(p) > maxRest {
				n = 1
			} else {
				k.rest = bytes.Clone(p)
				return
			}
		}
		p = p[n:]
	}
}

// one takes in one key and returns its length, 0 when it is not complete.
func (k *keys) one(p []byte, now time.Time) int {
	switch c := p[0]; {
	case c == 0x1b:
		return k.escape(p, now)
	case k.pasting:
		k.text(now)
	case c == '\r':
		if k.slash {
			k.unsure(now)
			return 1
		}
		k.clear()
		k.at = now
	case c == 3: // Ctrl-C
		k.clear()
		k.at = now
	case c == 0x15: // Ctrl-U, which takes what is left of the cursor
		if k.certain {
			k.clear()
		}
		k.at = now
	case c == 0x7f || c == 8:
		if k.at = now; k.certain {
			if k.count--; k.count <= 0 {
				k.clear()
			}
		}
	case c == '\n' || c == '\t' || c >= ' ':
		if c < ' ' {
			k.certain = false
			k.draft = true
		}
		k.text(now)
		k.slash = c == '\\'
		if _, n := utf8.DecodeRune(p); c >= 0x80 {
			return n
		}
	case c == 4: // Ctrl-D does nothing to a box
	default:
		k.unsure(now)
	}
	return 1
}

// text notes one character that came into the box.
func (k *keys) text(now time.Time) {
	if !k.draft {
		k.count, k.certain = 0, true
	}
	k.draft, k.at, k.slash = true, now, false
	k.count++
}

func (k *keys) clear() { k.draft, k.count, k.certain, k.slash = false, 0, false, false }

// unsure notes a key that may have put something into the box (history, completion) or moved in it.
func (k *keys) unsure(now time.Time) { k.draft, k.certain, k.at, k.slash = true, false, now, false }

// escape takes in a sequence. Reports that the terminal sends by itself are no keys.
func (k *keys) escape(p []byte, now time.Time) int {
	switch {
	case len(p) == 1:
		k.at = now // Esc itself: nothing comes into a box by it
		return 1
	case p[1] == ']' || p[1] == 'P' || p[1] == '_': // answers to questions, up to ST or BEL
		if end := bytes.IndexAny(p[2:], "\a\x1b"); end >= 0 {
			if p[2+end] == '\a' {
				return end + 3
			}
			return min(end+4, len(p))
		}
		return 0
	case p[1] == 'O' && len(p) < 3:
		return 0
	case p[1] == 'O':
		k.unsure(now)
		return 3
	case p[1] != '[': // with Alt
		k.unsure(now)
		return 2
	}
	end := bytes.IndexFunc(p[2:], func(r rune) bool { return r >= 0x40 && r <= 0x7e })
	if end < 0 {
		return 0
	}
	end += 2
	return k.csi(p[2:end], p[end], p, end+1, now)
}

// csi takes in a control sequence: what is in it, its final byte, and all that follows from its start.
func (k *keys) csi(inner []byte, final byte, p []byte, n int, now time.Time) int {
	first := byte(0)
	if len(inner) > 0 {
		first = inner[0]
	}
	switch {
	case final == '~' && string(inner) == "200":
		k.pasting = true
	case final == '~' && string(inner) == "201":
		k.pasting = false
	case (final == 'I' || final == 'O') && len(inner) == 0: // focus
	case first == '<' && (final == 'M' || final == 'm'): // mouse
	case final == 'M' && len(inner) == 0: // mouse, the old form: three bytes follow
		if len(p) < n+3 {
			return 0
		}
		return n + 3
	case first == '?', final == 'c', final == 'n', final == 'y', final == 'R' && bytes.IndexByte(inner, ';') > 0: // reports
	default:
		k.unsure(now)
	}
	return n
}
