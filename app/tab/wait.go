package tab

import (
	"context"
	"time"

	"termic/app/settle"
)

// Outcome is how a wait ended.
type Outcome string

const (
	Done       Outcome = "done"
	Idle       Outcome = "idle"
	NeedsInput Outcome = "needs_input"
	Exited     Outcome = "exited"
	TimedOut   Outcome = "timed_out"
)

// Wait waits until the program has settled with nothing left to deliver, waits for the person, or has ended;
// at most for timeout. It never answers from before the last text. The error is why the last text did not
// arrive, or the end of ctx.
func (t *Tab) Wait(ctx context.Context, timeout time.Duration) (Outcome, error) {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	for {
		outcome, changed, err := t.outcome()
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
func (t *Tab) outcome() (Outcome, <-chan struct{}, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.look()
	state, _, _ := t.machine.State()
	settled, _, seq := t.machine.Settled()
	switch {
	case state == settle.Exited:
		return Exited, nil, nil
	case t.failed != nil:
		return "", nil, t.failed
	case state == settle.Waiting:
		return NeedsInput, nil, nil
	case t.busy || len(t.queue) > 0 || !settled:
		return "", t.changed, nil
	case seq == 0:
		return Idle, nil, nil
	}
	return Done, nil, nil
}
