package tab

import (
	"sync"
	"time"
)

// Watermarks of a paced watcher: how much it may hold or leave unacknowledged before the terminal is not read any more, and
// down to where before it is read again. xterm.js parses some 20 MB/s, so what is under way when a person presses Ctrl-C is
// drawn 25 ms later at most.
const (
	highWater = 512 << 10 // bytes
	lowWater  = 128 << 10
)

// stall is how long a paced watcher may acknowledge nothing while the terminal waits for it. Then it is taken for gone or asleep
// (a page in the background gets no timers): it holds nobody up any more, and is paced again when it has caught up. A busy page
// answers within a frame or two; a second is long enough for a slow one and short for a program that waits.
const stall = time.Second

// pacer stops the reading of a terminal while a paced watcher is behind. Its fields but the mutex's are guarded by tab.mu.
type pacer struct {
	held  int           // paced watchers above their high watermark
	moved chan struct{} // closed and replaced when one has acknowledged or gone

	once  sync.Once
	ended chan struct{} // closed when nothing is paced any more, for good
}

func newPacer() *pacer { return &pacer{moved: make(chan struct{}), ended: make(chan struct{})} }

// pace returns when the terminal may be read: at once unless a paced watcher is behind. While it waits the kernel's buffer fills,
// and the program that floods is held in its write; keys still reach it.
func (t *Tab) pace() {
	timer := time.NewTimer(stall)
	defer timer.Stop()
	for {
		t.mu.Lock()
		held, moved := t.pacer.held, t.pacer.moved
		t.mu.Unlock()
		if held == 0 {
			return
		}
		select {
		case <-moved:
			timer.Reset(stall)
		case <-timer.C:
			t.mu.Lock()
			for w := range t.watchers {
				w.release(true)
			}
			t.mu.Unlock()
			return
		case <-t.pacer.ended:
			return
		}
	}
}

// unpace ends all pacing: what the program left is read without waiting for anyone.
func (t *Tab) unpace() { t.pacer.once.Do(func() { close(t.pacer.ended) }) }

// WatchPaced is Watch for a watcher that says with Ack what it has taken in, and that the terminal waits for: it sees all of the
// output, at its own speed. One that stops to acknowledge is left behind, and sees a snapshot when it comes back.
func (t *Tab) WatchPaced() *Watcher {
	w := t.Watch()
	t.mu.Lock()
	defer t.mu.Unlock()
	w.paced = true
	return w
}

// Ack says that n more bytes of what Next returned have been taken in.
func (w *Watcher) Ack(n int) {
	t := w.tab
	t.mu.Lock()
	defer t.mu.Unlock()
	w.unacked = max(w.unacked-n, 0)
	if w.unacked+len(w.pending) <= lowWater {
		w.asleep = false
		w.release(false)
	}
	t.pacer.moves()
}

// hold holds the terminal when this watcher is too far behind; tab.mu is held.
func (w *Watcher) hold() {
	if w.paced && !w.asleep && !w.holds && w.unacked+len(w.pending) > highWater {
		w.holds = true
		w.tab.pacer.held++
	}
}

// release lets the terminal go on as far as this watcher is concerned; tab.mu is held.
func (w *Watcher) release(asleep bool) {
	if !w.holds {
		return
	}
	w.holds, w.asleep = false, asleep
	w.tab.pacer.held--
	w.tab.pacer.moves()
}

func (p *pacer) moves() {
	close(p.moved)
	p.moved = make(chan struct{})
}
