package main

import (
	"bytes"
	"strings"
	"time"
)

// key is something typed or pasted.
type key struct {
	kind keyKind
	text string // keyText, keyPaste
}

type keyKind int

const (
	keyText  keyKind = iota
	keyPaste         // a whole bracketed paste
	keyEnter
	keyEscape
	keyInterrupt // Ctrl-C
	keyEnd       // Ctrl-D
	keyErase     // backspace
	keyClear     // Ctrl-U
)

var (
	pasteBegin = []byte("\x1b[200~")
	pasteEnd   = []byte("\x1b[201~")
)

// keyReader splits what a terminal sends into keys. An escape sequence or a paste may come in pieces; what is not
// whole is kept for the next feed.
type keyReader struct {
	rest    []byte
	pasteAt time.Time // end of the last paste
	pasting bool
	paste   []byte
}

// enterGrace is how soon after a paste an Enter still becomes part of it.
const enterGrace = 30 * time.Millisecond

// feed takes bytes that came at a time and returns the keys that are whole.
func (r *keyReader) feed(p []byte, at time.Time) []key {
	r.rest = append(r.rest, p...)
	var keys []key
	for len(r.rest) > 0 {
		if r.pasting {
			k, ok := r.readPaste(at)
			if !ok {
				return keys
			}
			keys = append(keys, k)
			continue
		}
		k, n := r.next(at)
		if n == 0 {
			return keys
		}
		r.rest = r.rest[n:]
		if k != nil {
			keys = append(keys, *k)
		}
	}
	return keys
}

// flush returns the Esc key that a lone ESC at the end was, once nothing has followed it for a while.
func (r *keyReader) flush() []key {
	if !r.pasting && string(r.rest) == "\x1b" {
		r.rest = nil
		return []key{{kind: keyEscape}}
	}
	return nil
}

// readPaste takes bytes into the paste up to its end marker.
func (r *keyReader) readPaste(at time.Time) (key, bool) {
	i := bytes.Index(r.rest, pasteEnd)
	if i < 0 {
		keep := min(len(r.rest), len(pasteEnd)-1) // a marker may have begun
		r.paste = append(r.paste, r.rest[:len(r.rest)-keep]...)
		r.rest = r.rest[len(r.rest)-keep:]
		return key{}, false
	}
	text := string(append(r.paste, r.rest[:i]...))
	r.rest = r.rest[i+len(pasteEnd):]
	r.paste, r.pasting, r.pasteAt = nil, false, at
	return key{keyPaste, strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)}, true
}

// next returns the key at the start of rest, if it is one, and how many bytes it takes; 0 when more must come.
func (r *keyReader) next(at time.Time) (*key, int) {
	switch c := r.rest[0]; c {
	case 0x1b:
		return r.escape()
	case '\r':
		if !r.pasteAt.IsZero() && at.Sub(r.pasteAt) < enterGrace {
			return &key{keyText, "\n"}, 1
		}
		return &key{kind: keyEnter}, 1
	case '\n':
		return &key{keyText, "\n"}, 1
	case 0x03:
		return &key{kind: keyInterrupt}, 1
	case 0x04:
		return &key{kind: keyEnd}, 1
	case 0x7f, 0x08:
		return &key{kind: keyErase}, 1
	case 0x15:
		return &key{kind: keyClear}, 1
	default:
		if c < ' ' && c != '\t' {
			return nil, 1
		}
	}
	n := 1
	for n < len(r.rest) && r.rest[n] >= ' ' && r.rest[n] != 0x7f {
		n++
	}
	return &key{keyText, string(r.rest[:n])}, n
}

// escape reads an escape sequence: the start of a paste, an arrow, or an answer of the terminal. All but the first
// are dropped.
func (r *keyReader) escape() (*key, int) {
	s := r.rest
	switch {
	case bytes.HasPrefix(s, pasteBegin):
		r.pasting = true
		return nil, len(pasteBegin)
	case len(s) == 1 || bytes.HasPrefix(pasteBegin, s):
		return nil, 0
	case s[1] == '[':
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return nil, i + 1
			}
		}
		return nil, 0
	case s[1] == ']' || s[1] == 'P':
		for i := 2; i < len(s); i++ {
			if s[i] == 0x07 {
				return nil, i + 1
			}
			if s[i] == '\\' && s[i-1] == 0x1b {
				return nil, i + 1
			}
		}
		return nil, 0
	}
	return &key{kind: keyEscape}, 1
}
