package osc

import "bytes"

// Taker takes private commands out of a stream: those of one number in exactly the form `ESC ] NUMBER ; PAYLOAD ESC \`, whose
// payload is letters, digits and `- _ ; =` and nothing else. Every other byte is left as it is, so that a sequence of a program
// into whose middle a command was written by another process is whole again. What begins like a command and is none (another
// byte in it, CAN, SUB, another escape, too long) is left too: it is the program's, whatever it means by it.
type Taker struct {
	prefix []byte
	max    int
	take   func(payload []byte)
	// held is the beginning of what may be a command; never longer than max.
	held []byte
}

// NewTaker returns a Taker for `ESC ] number ;` that hands each payload to take, which must not keep it. A command of more than
// max bytes, its frame included, is none.
func NewTaker(number string, max int, take func(payload []byte)) *Taker {
	return &Taker{prefix: []byte("\x1b]" + number + ";"), max: max, take: take}
}

// Filter returns p, and what was held before it, without the commands. The result may share memory with p and is valid until p
// changes. What may be the beginning of a command is kept for the next call.
func (t *Taker) Filter(p []byte) []byte {
	if len(t.held) == 0 && bytes.IndexByte(p, 0x1b) < 0 {
		return p
	}
	if len(t.held) > 0 {
		p = append(t.held, p...) // held is given up: the result may be this memory
		t.held = nil
	}
	first := bytes.Index(p, t.prefix)
	if first < 0 {
		keep := t.partial(p)
		return t.hold(p, len(p)-keep)
	}
	out := append(make([]byte, 0, len(p)), p[:first]...)
	p = p[first:]
	for {
		end, state := t.command(p)
		switch state {
		case open:
			return append(out, t.hold(p, 0)...)
		case whole:
			t.take(p[len(t.prefix) : end-2])
		case none:
			out = append(out, p[:end]...)
		}
		p = p[end:]
		next := bytes.Index(p, t.prefix)
		if next < 0 {
			return append(out, t.hold(p, len(p)-t.partial(p))...)
		}
		out = append(out, p[:next]...)
		p = p[next:]
	}
}

// Rest returns what was kept when the stream ends.
func (t *Taker) Rest() []byte {
	rest := t.held
	t.held = nil
	return rest
}

// hold keeps p from at on and returns what is before it.
func (t *Taker) hold(p []byte, at int) []byte {
	if at < len(p) {
		t.held = append([]byte(nil), p[at:]...)
	}
	return p[:at:at]
}

// partial returns how many bytes at the end of p may be the beginning of a command's prefix.
func (t *Taker) partial(p []byte) int {
	for n := min(len(t.prefix)-1, len(p)); n > 0; n-- {
		if bytes.HasSuffix(p, t.prefix[:n]) {
			return n
		}
	}
	return 0
}

type form byte

const (
	open  form = iota // it goes on beyond the end
	whole             // a command
	none              // no command
)

// command looks at what begins with the prefix. end is behind a command, and behind what is certainly none.
func (t *Taker) command(p []byte) (end int, f form) {
	for i := len(t.prefix); i < len(p); i++ {
		switch b := p[i]; {
		case i+2 > t.max:
			return i, none
		case plain(b):
		case b != 0x1b:
			return i, none
		case i+1 == len(p):
			return 0, open
		case p[i+1] == '\\':
			return i + 2, whole
		default:
			return i, none
		}
	}
	return 0, open
}

func plain(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '-' || b == '_' || b == ';' || b == '='
}
