package tab

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"termic/app/agent"
	"termic/app/settle"
)

// What a text may meet. Callers tell these apart.
var (
	// ErrWaiting: the agent waits for an answer, and Enter would give one.
	ErrWaiting = errors.New("the agent waits for an answer")
	// ErrExited: nothing runs in the tab any more.
	ErrExited = errors.New("the agent has exited")
	// ErrQueueFull: too many texts wait already.
	ErrQueueFull = errors.New("too many texts are queued")
	// ErrTooLong: the agent would not take a text of this length.
	ErrTooLong = errors.New("the text is longer than the agent takes")
	// ErrEmpty: nothing is left of the text once it is clean.
	ErrEmpty = errors.New("the text is empty")
	// ErrNotDelivered: the text was pasted, or not even that, and never submitted.
	ErrNotDelivered = errors.New("the text did not reach the agent's prompt")
)

// maxQueue bounds the texts that wait in one tab. A person queues a few; more come from a loop gone wrong.
const maxQueue = 64

// echoTimeout is how long the program may take to show a sign of a paste before Enter is given up. A
// megabyte took the slowest agent 1.7 s.
const echoTimeout = 5 * time.Second

// text is one prompt that waits to be delivered.
type text struct {
	clean string
	// still says whether the sender may send it to this tab now; nil when nothing can change that.
	still func() error
}

// Send hands text to the program as one prompt: at once when it is settled (delivered is then true), else as
// soon as it is. still is asked just before the text is typed, whenever that is: an error is why the sender may
// not send it any more. A text that has waited is then dropped, and counted in Info. A nil still always may.
func (t *Tab) Send(ctx context.Context, raw string, still func() error) (delivered bool, err error) {
	clean := Clean(raw)
	if limit := t.spec.Agent.Paste.MaxBytes; limit > 0 && len(clean) > limit {
		return false, ErrTooLong
	}
	if clean == "" {
		return false, ErrEmpty
	}
	next := text{clean, still}
	now, err := t.claim(next)
	if err != nil || !now {
		return false, err
	}
	if err := next.may(); err != nil {
		_ = t.finish(nil) // the tab is as it was: nothing was typed
		return false, err
	}
	return true, t.finish(t.deliver(ctx, next))
}

func (next text) may() error {
	if next.still == nil {
		return nil
	}
	return next.still()
}

// claim queues the text, or makes the caller its deliverer when the program is ready for it.
func (t *Tab) claim(next text) (now bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.look()
	state, _, _ := t.machine.State()
	switch {
	case state == settle.Exited:
		return false, ErrExited
	case state == settle.Waiting:
		return false, ErrWaiting
	case len(t.queue) >= maxQueue:
		return false, ErrQueueFull
	}
	t.failed = nil
	if !t.ready() {
		t.queue = append(t.queue, next)
		t.broadcast()
		return false, nil
	}
	t.busy = true
	t.broadcast()
	return true, nil
}

// ready tells whether a text may be typed now; t.mu is held.
func (t *Tab) ready() bool {
	settled, _, _ := t.machine.Settled()
	return settled && !t.busy && len(t.queue) == 0
}

// finish notes how a delivery ended and lets the next begin.
func (t *Tab) finish(err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.busy, t.failed = false, err
	t.broadcast()
	return err
}

// deliver pastes a text, waits until the program has shown a sign of it, looks once more and presses Enter,
// once. Without a sign, or with a question on the screen, Enter is not pressed: it might answer something.
//
// What stays open is the time between the last look and the program's read of Enter: a program that opens a
// question of its own accord just then would take Enter for an answer.
func (t *Tab) deliver(ctx context.Context, next text) error {
	t.input.Lock()
	defer t.input.Unlock()
	t.mu.Lock()
	t.seq++
	t.begun()
	bracketed := t.bracketed()
	before := t.output
	t.mu.Unlock()
	if !bracketed && t.cutsLines(next.clean) {
		return ErrTooLong
	}
	if err := t.write(ctx, []byte(frame(next.clean, bracketed))); err != nil {
		return fmt.Errorf("%w: %w", ErrNotDelivered, err)
	}
	if err := t.awaitEcho(ctx, before); err != nil {
		return err
	}
	// Again, so that the state cannot settle on the echo of the paste.
	t.mu.Lock()
	t.begun()
	t.mu.Unlock()
	if err := t.write(ctx, []byte{'\r'}); err != nil {
		return fmt.Errorf("%w: %w", ErrNotDelivered, err)
	}
	return nil
}

// maxLine is the longest line that a terminal in canonical mode takes, its end included (N_TTY_BUF_SIZE,
// linux/tty.h); what is longer is dropped, and the rest would be run as if it were all. macOS takes 1024 (MAX_CANON).
const maxLine = 1024

// cutsLines tells whether the terminal would drop a part of the text.
func (t *Tab) cutsLines(clean string) bool {
	canonical, err := t.session.Canonical()
	if err != nil || !canonical {
		return err != nil
	}
	for line := range strings.Lines(clean) {
		if len(line) >= maxLine {
			return true
		}
	}
	return false
}

// begun tells the machine that the current delivery is being typed; t.mu is held.
func (t *Tab) begun() {
	t.observe(settle.Observation{Kind: settle.KindDelivered, Seq: t.seq})
	t.arm()
}

// bracketed tells whether the program takes a text as one framed paste; t.mu is held.
func (t *Tab) bracketed() bool {
	switch t.spec.Agent.Paste.Bracketed {
	case agent.BracketAlways:
		return true
	case agent.BracketNever:
		return false
	}
	return t.screen.Modes().BracketedPaste
}

// awaitEcho waits for output that follows the paste, and at least the time that the agent needs between a
// paste and an Enter.
func (t *Tab) awaitEcho(ctx context.Context, before uint64) error {
	deadline := time.NewTimer(echoTimeout)
	defer deadline.Stop()
	pause := time.NewTimer(time.Duration(t.spec.Agent.Paste.EnterDelay))
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-t.ended:
		return ErrExited
	}
	poll := time.NewTicker(echoPoll)
	defer poll.Stop()
	for {
		t.mu.Lock()
		state, _, _ := t.machine.State()
		echoed := t.output > before
		t.mu.Unlock()
		switch {
		case state == settle.Waiting:
			return fmt.Errorf("%w: %w", ErrNotDelivered, ErrWaiting)
		case echoed:
			return nil
		}
		select {
		case <-poll.C:
		case <-deadline.C:
			return fmt.Errorf("%w: no sign of it within %v", ErrNotDelivered, echoTimeout)
		case <-t.ended:
			return ErrExited
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ErrNotDelivered, ctx.Err())
		}
	}
}

// echoPoll is how often output is looked for: often enough not to be felt, seldom enough to cost nothing.
const echoPoll = 10 * time.Millisecond

// pump delivers queued texts, one by one, whenever the program has settled.
func (t *Tab) pump() {
	for {
		t.mu.Lock()
		changed := t.changed
		next, ok := t.dequeue()
		t.mu.Unlock()
		if ok {
			t.deliverQueued(next)
			continue
		}
		select {
		case <-changed:
		case <-t.ended:
			return
		}
	}
}

// deliverQueued delivers a text that has waited, if its sender may still send it. The question is asked without
// t.mu, which whoever answers it may take.
func (t *Tab) deliverQueued(next text) {
	if err := next.may(); err != nil {
		t.log("queued text dropped: its sender may no longer send it", "tab", t.spec.ID, "cause", err)
		t.mu.Lock()
		t.dropped++
		t.mu.Unlock()
		_ = t.finish(nil)
		return
	}
	if err := t.finish(t.deliver(context.Background(), next)); err != nil {
		t.log("queued text not delivered", "tab", t.spec.ID, "cause", err)
	}
}

// dequeue takes the next text when the program is ready for it; t.mu is held.
func (t *Tab) dequeue() (text, bool) {
	settled, _, _ := t.machine.Settled()
	if !settled || t.busy || len(t.queue) == 0 {
		return text{}, false
	}
	next := t.queue[0]
	t.queue = t.queue[1:]
	t.busy = true
	return next, true
}
