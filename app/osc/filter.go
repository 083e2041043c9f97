// Package osc cuts operating system commands (OSC) out of a stream of terminal output, whatever the pieces that the stream
// comes in, and changes no other byte.
package osc

// Filter is one stream. Its zero value passes everything; use New.
type Filter struct {
	cut     func(number int) bool
	instead string
	state   state
	// number is that of the command under way, -1 when it has none.
	number int
	// held are the bytes of a sequence of which it is not known yet whether it goes: at most the introducer and some digits.
	held []byte
}

type state byte

const (
	text    state = iota
	esc           // ESC came
	c1            // 0xc2 came, the first byte of U+009D, which is OSC as well
	number        // in the number of a command
	drop          // in a command that goes
	dropEsc       // ESC came in it
	dropC1        // 0xc2 came in it
)

// maxHeld bounds what is held of a number, which may begin with zeros. A command with a longer one is none that a program sends, and
// goes.
const maxHeld = 64

// Nothing is ST without a string that it would end. Put in the place of a command it does what the command's own beginning would
// have done to a sequence that was cut off there, and nothing else.
const Nothing = "\x1b\\"

// New returns a filter that puts instead in the place of every command for whose number cut returns true, from its introducer to
// its terminator (BEL, ST, or CAN and SUB, which abort it). With Nothing the rest means what it meant before; with "" a sequence
// into whose middle the command was written by another process is whole again. A command that is never terminated is swallowed to
// the end of the stream, as every terminal does.
func New(cut func(number int) bool, instead string) *Filter {
	return &Filter{cut: cut, instead: instead}
}

// Append appends what is left of p to dst. The beginning of a sequence of which nothing can be said yet is kept for the next call:
// a dozen bytes at most, and a lone ESC among them.
func (f *Filter) Append(dst, p []byte) []byte {
	if f.cut == nil {
		return append(dst, p...)
	}
	for _, b := range p {
		dst = f.step(dst, b)
	}
	return dst
}

// Rest returns what was kept when the stream ends.
func (f *Filter) Rest() []byte {
	rest := f.held
	f.held, f.state = nil, text
	return rest
}

func (f *Filter) step(dst []byte, b byte) []byte {
	switch f.state {
	case text:
		return f.start(dst, b)
	case esc:
		if b == ']' {
			return f.begin(dst, b)
		}
		return f.start(f.pass(dst), b)
	case c1:
		if b == 0x9d {
			return f.begin(dst, b)
		}
		return f.start(f.pass(dst), b)
	case number:
		return f.digit(dst, b)
	}
	return f.swallow(dst, b)
}

// start takes a byte outside of any command.
func (f *Filter) start(dst []byte, b byte) []byte {
	switch b {
	case 0x1b:
		f.state = esc
	case 0xc2:
		f.state = c1
	default:
		return append(dst, b)
	}
	f.held = append(f.held[:0], b)
	return dst
}

// pass lets go what was held.
func (f *Filter) pass(dst []byte) []byte {
	f.state = text
	dst = append(dst, f.held...)
	f.held = f.held[:0]
	return dst
}

func (f *Filter) begin(dst []byte, b byte) []byte {
	f.state, f.number = number, -1
	f.held = append(f.held, b)
	return dst
}

// digit takes a byte of a command's number, or what ends it.
func (f *Filter) digit(dst []byte, b byte) []byte {
	switch {
	case f.number >= 0 && f.ends(b) && f.cut(f.number), len(f.held) == maxHeld:
		f.held = f.held[:0]
		f.state = drop
		return f.swallow(append(dst, f.instead...), b)
	case b >= '0' && b <= '9':
		f.number = min(max(f.number, 0)*10+int(b-'0'), 1<<20)
	case b < 0x20 && !f.ends(b): // terminals ignore these inside of a command: they must not hide its number
	default:
		return f.start(f.pass(dst), b)
	}
	f.held = append(f.held, b)
	return dst
}

// ends tells whether a byte ends the number.
func (f *Filter) ends(b byte) bool {
	return b >= 0x20 && (b < '0' || b > '9') || b == 0x07 || b == 0x18 || b == 0x1a || b == 0x1b
}

// swallow takes a byte of a command that goes.
func (f *Filter) swallow(dst []byte, b byte) []byte {
	switch {
	case b == 0x07, b == 0x18, b == 0x1a, f.state == dropEsc && b == '\\', f.state == dropC1 && b == 0x9c:
		f.state = text
	case f.state == dropEsc:
		f.state = esc // ESC and anything else begins another sequence: this byte is its second
		f.held = append(f.held[:0], 0x1b)
		return f.step(dst, b)
	case b == 0x1b:
		f.state = dropEsc
	case b == 0xc2:
		f.state = dropC1
	default:
		f.state = drop
	}
	return dst
}
