package cli

import (
	"io"
	"time"
)

// A key or an answer of the terminal that comes in two pieces is put together: the beginning of one is held back until the rest is there,
// or for splitDelay after the last piece. That is how late the escape key arrives, so it is less than what is felt.
const splitDelay = 30 * time.Millisecond

// maxSplit bounds what is held back: no answer of a terminal is longer.
const maxSplit = 4096

// readPieces sends what comes in, piece by piece, and closes to at the end of it.
func readPieces(in io.Reader, to chan<- []byte) {
	defer close(to)
	for {
		buf := make([]byte, 32<<10)
		n, err := in.Read(buf)
		if n > 0 {
			to <- buf[:n]
		}
		if err != nil {
			return
		}
	}
}

// typist takes what the person types.
type typist interface{ Type(p []byte) error }

// typeUntilDetached sends what is typed, and returns true when the person detached or the terminal is gone.
// It returns false when nothing more can be sent: why is for the goroutine to say that reads.
func typeUntilDetached(pieces <-chan []byte, remote typist) bool {
	var held []byte
	late := time.NewTimer(splitDelay)
	late.Stop()
	for {
		gone := false
		select {
		case piece, ok := <-pieces:
			gone = !ok
			held = append(held, piece...)
			late.Stop()
		case <-late.C:
			gone = false
			if !send(remote, held) {
				return false
			}
			held = nil
			continue
		}
		at := detachAt(held)
		whole := len(held)
		switch {
		case at >= 0:
			whole = at
		case !gone:
			whole = unfinished(held)
		}
		if !send(remote, held[:whole]) {
			return false
		}
		if at >= 0 || gone {
			return true
		}
		if held = held[whole:]; len(held) > 0 {
			late.Reset(splitDelay)
		}
	}
}

// send types without this terminal's own answers, and tells whether that could be done.
func send(remote typist, typed []byte) bool {
	typed = withoutAnswers(typed)
	return len(typed) == 0 || remote.Type(typed) == nil
}

// unfinished returns where a sequence begins whose end has not come: escape alone, CSI without its final byte, OSC and DCS without their
// terminator (ECMA-48, 5.4 and 5.6). It returns the length where there is none, or one that is too long to be an answer.
func unfinished(typed []byte) int {
	for i := 0; i < len(typed); {
		if typed[i] != 0x1b {
			i++
			continue
		}
		size, whole := sequence(typed[i:])
		if !whole {
			if len(typed)-i > maxSplit {
				return len(typed)
			}
			return i
		}
		i += size
	}
	return len(typed)
}

// sequence returns how long the sequence is that p begins with, and whether it is there to its end.
func sequence(p []byte) (size int, whole bool) {
	if len(p) < 2 {
		return len(p), false
	}
	switch p[1] {
	case '[':
		for i := 2; i < len(p); i++ {
			if p[i] < 0x20 || p[i] > 0x3f { // its final byte, or one that is no part of it
				return i, true
			}
		}
		return len(p), false
	case ']', 'P':
		for i := 2; i < len(p); i++ {
			switch {
			case p[i] == 0x07:
				return i + 1, true
			case p[i] == 0x1b && i+1 == len(p):
				return len(p), false
			case p[i] == 0x1b: // the terminator, or another sequence, which ends this one
				return i, true
			}
		}
		return len(p), false
	}
	return 1, true
}
