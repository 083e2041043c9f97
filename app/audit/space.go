package audit

import (
	"errors"
	"syscall"
)

// allocChunk is how many bytes are asked for beyond what is needed, so that not every line costs a system call.
const allocChunk = 64 << 10

// errNoAlloc: this file system cannot allocate ahead. Then there is no reserve, and a full disk stops privileged events too.
var errNoAlloc = errors.New("file system cannot reserve space")

// room returns nil when n more bytes leave the reserve untouched, and ErrNoSpace when they would not.
//
// The reserve is disk blocks behind the end of the current file, not a file of its own that is deleted in need: what fills the disk is
// most likely still running, and would take the freed space before we do.
func (l *Log) room(n int) error {
	need := l.size + int64(n) + l.opts.Reserve
	if l.reserved >= need {
		l.starving = false
		return nil
	}
	err := l.alloc(l.file, l.reserved, need+allocChunk)
	if errors.Is(err, errNoAlloc) {
		return nil
	}
	if err != nil {
		return classify(err)
	}
	l.reserved = need + allocChunk
	l.starving = false
	return nil
}

// noteFull tells once, from the reserve, that ordinary events are missing from here on.
func (l *Log) noteFull() {
	if !l.starving {
		l.starving = true
		_ = l.note(Note{Kind: NoteFull}, true)
	}
}

// spaceError is ErrNoSpace with the error of the system, whose text it keeps.
type spaceError struct{ err error }

func (e *spaceError) Error() string   { return e.err.Error() }
func (e *spaceError) Unwrap() []error { return []error{ErrNoSpace, e.err} }

func classify(err error) error {
	// EFBIG is RLIMIT_FSIZE (setrlimit(2)) or the file system's own limit.
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		if errors.Is(err, full) {
			return &spaceError{err}
		}
	}
	return err
}
