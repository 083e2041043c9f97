package tab

import (
	"context"
	"io"
	"slices"

	"termic/app/settle"
)

// maxBehind is how much output may wait for one watcher. A watcher that falls further behind loses what
// waits and gets a snapshot instead: it sees the right screen, and memory stays bounded.
const maxBehind = 1 << 20

// clear brings a terminal that was used before into the state that a snapshot is drawn on: soft reset (DECSTR),
// main screen, everything on it erased. Its scrollback is the person's and stays.
const clear = "\x1b[!p\x1b[?1049l\x1b[r\x1b[m\x1b[H\x1b[2J"

// Watcher follows a tab: a snapshot first, then everything live from that byte on.
type Watcher struct {
	tab *Tab
	// Guarded by tab.mu.
	pending []byte
	resync  bool
	offers  bool // the snapshot is followed by the offer that nobody has answered
	closed  bool
	paced   bool          // the terminal waits for it
	holds   bool          // it is what the terminal waits for
	asleep  bool          // it was waited for in vain
	unacked int           // bytes that Next returned and Ack has not named
	ready   chan struct{} // holds one token when there is something to get
}

// Watch begins to follow the tab.
func (t *Tab) Watch() *Watcher {
	w := &Watcher{tab: t, resync: true, ready: make(chan struct{}, 1)}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.watchers[w] = struct{}{}
	w.wake()
	return w
}

// feed keeps output for the watcher; t.mu is held.
func (w *Watcher) feed(p []byte) {
	switch {
	case w.resync:
		// The snapshot will show it.
	case len(w.pending)+len(p) > maxBehind:
		w.pending, w.resync = nil, true
	default:
		w.pending = append(w.pending, p...)
		w.hold()
	}
	w.wake()
}

func (w *Watcher) wake() {
	select {
	case w.ready <- struct{}{}:
	default:
	}
}

// Next returns the next output, waiting for it. It returns io.EOF when the tab has ended and everything was
// returned, and when the watcher is closed.
func (w *Watcher) Next(ctx context.Context) ([]byte, error) {
	for {
		if p, err := w.get(); p != nil || err != nil {
			return p, err
		}
		select {
		case <-w.ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (w *Watcher) get() ([]byte, error) {
	t := w.tab
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case w.closed:
		return nil, io.EOF
	case w.resync:
		w.resync = false
		return w.gives(slices.Concat([]byte(clear), t.screen.Snapshot(), w.unanswered())), nil
	case len(w.pending) > 0:
		p := w.pending
		w.pending = nil
		return w.gives(p), nil
	case t.hasEnded():
		return nil, io.EOF
	}
	return nil, nil
}

// gives counts what is handed out; tab.mu is held.
func (w *Watcher) gives(p []byte) []byte {
	if w.paced {
		w.unacked += len(p)
		w.hold()
	}
	return p
}

// hasEnded tells whether the last output was read; t.mu is held.
func (t *Tab) hasEnded() bool {
	state, _, _ := t.machine.State()
	return state == settle.Exited
}

// Close stops following.
func (w *Watcher) Close() {
	w.tab.mu.Lock()
	defer w.tab.mu.Unlock()
	w.closed = true
	w.release(false)
	delete(w.tab.watchers, w)
	w.wake()
}
