package tab

import (
	"context"
	"fmt"
	"slices"
	"time"

	"termic/app/settle"
	"termic/registry/ident"
)

// Outcome is how a wait ended.
type Outcome string

const (
	Done         Outcome = "done"
	Idle         Outcome = "idle"
	NeedsInput   Outcome = "needs_input"
	Exited       Outcome = "exited"
	NotDelivered Outcome = "not_delivered"
	TimedOut     Outcome = "timeout"
)

// Wait waits until the program has settled with nothing left to deliver, waits for the person, or has ended; at most for timeout. It
// never answers from before the last text. With the id of a text it answers for that text, whatever was sent after it. NotDelivered
// comes with why as its error; another error is the end of ctx.
func (t *Tab) Wait(ctx context.Context, timeout time.Duration, text ident.Text) (Outcome, error) {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	for {
		outcome, changed, err := t.outcome(text)
		if outcome != "" || err != nil {
			return outcome, err
		}
		select {
		case <-changed:
		case <-timer.C:
			return TimedOut, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// outcome returns how a wait would end now, or nothing and a channel that is closed when to ask again.
func (t *Tab) outcome(text ident.Text) (Outcome, <-chan struct{}, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.look()
	if text != "" {
		return t.outcomeOf(text)
	}
	state, _, _ := t.machine.State()
	settled, _, seq := t.machine.Settled()
	switch {
	case state == settle.Exited:
		return Exited, nil, nil
	case t.failed != nil:
		return NotDelivered, nil, t.failed
	case state == settle.Waiting:
		return NeedsInput, nil, nil
	case t.doubt && state == settle.Unknown:
		return NotDelivered, nil, fmt.Errorf("%w: Enter was pressed, and nothing told whether it was taken", ErrNotDelivered)
	case t.busy || len(t.queue) > 0 || !settled:
		return "", t.changed, nil
	case seq == 0:
		return Idle, nil, nil
	}
	return Done, nil, nil
}

// outcomeOf is outcome for one text; t.mu is held.
func (t *Tab) outcomeOf(text ident.Text) (Outcome, <-chan struct{}, error) {
	waits := slices.ContainsFunc(t.queue, func(q Queued) bool { return q.ID == text })
	state, _, _ := t.machine.State()
	settled, _, upTo := t.machine.Settled()
	past, known := t.fate(text)
	switch {
	case waits || t.busy && t.current == text:
		switch state {
		case settle.Exited:
			return Exited, nil, nil
		case settle.Waiting:
			return NeedsInput, nil, nil
		}
		return "", t.changed, nil
	case !known:
		return "", nil, ErrNoText
	case past.Fate == Failed || past.Fate == Dropped || past.Fate == Cancelled:
		return NotDelivered, nil, fmt.Errorf("%w: %s %s", ErrNotDelivered, past.Fate, past.Why)
	case t.seq > past.seq || settled && upTo >= past.seq: // a later one is typed only once this one is over
		return Done, nil, nil
	case state == settle.Exited:
		return Exited, nil, nil
	case state == settle.Waiting:
		return NeedsInput, nil, nil
	case past.Fate == Unconfirmed && state == settle.Unknown:
		return NotDelivered, nil, fmt.Errorf("%w: Enter was pressed, and nothing told whether it was taken", ErrNotDelivered)
	}
	return "", t.changed, nil
}
