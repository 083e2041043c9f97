package audit

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
)

// Tail returns the newest n entries that keep accepts, oldest first; nil accepts all. It sees what is written, on disk or not. It reads
// without checking the chain (Verify does that): a line that it cannot read is shown to keep as a note of kind NoteUnreadable.
func (l *Log) Tail(n int, keep func(Entry) bool) ([]Entry, error) {
	if n <= 0 {
		return nil, nil
	}
	l.mu.Lock()
	closed := l.closed
	names, err := segments(l.root)
	l.mu.Unlock()
	if closed {
		err = ErrClosed
	}
	if err != nil {
		return nil, fmt.Errorf("read audit log: %w", err)
	}
	var newest []Entry // newest first
	for _, name := range slices.Backward(names) {
		part, err := tailOf(l.root, name, n-len(newest), keep)
		if os.IsNotExist(err) {
			break // rotated away while we read, and with it all that is older
		}
		if err != nil {
			return nil, fmt.Errorf("read audit log: %w", err)
		}
		slices.Reverse(part)
		if newest = append(newest, part...); len(newest) == n {
			break
		}
	}
	slices.Reverse(newest)
	return newest, nil
}

// Newest returns the number of the newest entry, and a channel that is closed when another one was written.
func (l *Log) Newest() (uint64, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.grown == nil {
		l.grown = make(chan struct{})
	}
	return l.last.seq, l.grown
}

// tailOf returns the last n entries of one file that keep accepts, oldest first.
func tailOf(root *os.Root, name string, n int, keep func(Entry) bool) ([]Entry, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []Entry
	_, err = eachLine(f, func(line []byte, _ int64) error {
		var e Entry
		if json.Unmarshal(line, &e) != nil {
			e = Entry{Note: &Note{Kind: NoteUnreadable, File: name}}
		}
		if keep != nil && !keep(e) {
			return nil
		}
		if out = append(out, e); len(out)-n >= n { // not at each line: that would move n entries each time
			out = append(out[:0], out[len(out)-n:]...)
		}
		return nil
	})
	return out[max(0, len(out)-n):], err
}
