package tab

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"termic/app/agent"
	"termic/app/hook"
	"termic/app/settle"
	"termic/registry/ident"
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

// echoTimeout is how long the program may take to show a paste before Enter is given up. A megabyte took the slowest agent
// 1.7 s (claude, 2026-11-29); the rest is for a loaded machine.
const echoTimeout = 5 * time.Second

// takenTimeout is how long after Enter a sign is waited for that the agent took the text. The slowest seen was 0.4 s (codex's first
// turn, 2026-11-29).
const takenTimeout = 5 * time.Second

// Receipt is what is known of a text when Send returns.
type Receipt struct {
	ID ident.Text
	// Fate is Submitted, Unconfirmed, or empty for a text that waits; By is the sign by which it was seen to be taken, Hold why it waits.
	Fate Fate
	By   string
	Hold Hold
}

// Send hands a text to the program as one prompt: at once when the program is ready for it, else as soon as it is.
//
// A text that waits is kept before Send returns. One that was typed without a sign that the program took it is
// Unconfirmed and never typed again: Enter was pressed once. The error is why nothing was pressed.
func (t *Tab) Send(ctx context.Context, m Message) (Receipt, error) {
	clean, err := t.admit(m.Text)
	if err != nil {
		return Receipt{}, err
	}
	next := Queued{ID: ident.NewText(), Text: clean, Times: min(max(m.Times, 1), MaxTimes), Sender: m.Sender, At: time.Now(), still: m.Still}
	hold, err := t.claim(next)
	if err != nil || hold != HoldNone {
		return Receipt{ID: next.ID, Hold: hold}, err
	}
	if err := next.may(); err != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.busy, t.current = false, "" // the tab is as it was: nothing was typed
		t.broadcast()
		return Receipt{}, err
	}
	by, fate, err := t.deliver(clean)
	if held := (*heldError)(nil); errors.As(err, &held) {
		return Receipt{ID: next.ID, Hold: held.hold}, t.putBack(next)
	}
	if err == nil && next.Times > 1 {
		next.Times--
		if kept := t.keeping(func() error { return t.enqueue(next) }); kept != nil {
			t.log("text not repeated", "tab", t.spec.ID, "cause", kept)
		}
	}
	t.settleText(next, fate, by, err)
	if err != nil {
		return Receipt{}, err
	}
	return Receipt{ID: next.ID, Fate: fate, By: by}, nil
}

// admit cleans a text and checks its length.
func (t *Tab) admit(raw string) (clean string, err error) {
	clean = Clean(raw)
	if limit := t.spec.Agent.Paste.MaxBytes; limit > 0 && len(clean) > limit {
		return "", ErrTooLong
	}
	if Blank(clean) {
		return "", ErrEmpty
	}
	return clean, nil
}

// claim queues a text and says why it waits, or makes the caller its deliverer.
func (t *Tab) claim(next Queued) (hold Hold, err error) {
	err = t.keeping(func() error {
		t.look()
		switch hold = t.holds(time.Now()); {
		case hold == HoldExited:
			return ErrExited
		case hold == HoldQuestion:
			return ErrWaiting
		case t.busy:
			hold = HoldWorking
		case len(t.queue) > 0:
			hold = HoldBehind
		}
		t.failed, t.doubt = nil, false
		if hold != HoldNone {
			return t.enqueue(next)
		}
		t.busy, t.current = true, next.ID
		return nil
	})
	return hold, err
}

// deliver pastes a text, waits until the program shows it, looks once more and presses Enter, once. Without that, or with a question
// on the screen, Enter is not pressed: it might answer something. Then it waits for a sign that the program took it.
//
// What stays open is the time between the last look and the program's read of Enter: a program that opens a
// question of its own accord just then would take Enter for an answer.
func (t *Tab) deliver(clean string) (by string, fate Fate, err error) {
	t.input.Lock()
	seq, before, err := t.type1(clean)
	t.input.Unlock()
	if err != nil {
		return "", Failed, err
	}
	if by = t.awaitTaken(clean, seq, before); by == "" {
		return "", Unconfirmed, nil
	}
	return by, Submitted, nil
}

// heldError: something came between the decision to type a text and its turn. Nothing was typed.
type heldError struct{ hold Hold }

func (e *heldError) Error() string { return "held: " + string(e.hold) }

// putBack makes a text that could not be typed the next one again.
func (t *Tab) putBack(next Queued) error {
	err := t.keeping(func() error {
		t.queue = append([]Queued{next}, t.queue...)
		return nil
	})
	t.mu.Lock()
	defer t.mu.Unlock()
	t.busy, t.current = false, ""
	t.broadcast()
	return err
}

// type1 types a text and Enter; t.input is held. It returns the delivery's number and what was seen of the text just before Enter.
func (t *Tab) type1(clean string) (seq uint64, seen sight, err error) {
	tail := tailOf(clean)
	t.mu.Lock()
	if hold := t.holds(time.Now()); hold != HoldNone { // a key may have come while this waited for its turn
		t.mu.Unlock()
		return 0, seen, &heldError{hold}
	}
	t.seq++
	seq = t.seq
	t.begun()
	t.reports = t.hooks.Prompt().Number
	bracketed := t.bracketed()
	before := t.sightOf(tail)
	t.mu.Unlock()
	if !bracketed && t.cutsLines(clean) {
		return 0, seen, ErrTooLong
	}
	if err := t.write(context.Background(), []byte(frame(clean, bracketed))); err != nil {
		return 0, seen, fmt.Errorf("%w: %w", ErrNotDelivered, err)
	}
	if seen, err = t.awaitShown(tail, before); err != nil {
		return 0, seen, err
	}
	if err := t.write(context.Background(), []byte{'\r'}); err != nil {
		return 0, seen, fmt.Errorf("%w: %w", ErrNotDelivered, err)
	}
	return seq, seen, nil
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

// awaitShown waits until the program shows the end of the paste, or what stands for it, and at least the time that it needs between
// a paste and Enter. Its last look is the one before Enter; the state is told of Enter then, so that it cannot settle on the echo.
func (t *Tab) awaitShown(tail string, before sight) (sight, error) {
	deadline := time.NewTimer(echoTimeout)
	defer deadline.Stop()
	pause := time.NewTimer(time.Duration(t.spec.Agent.Paste.EnterDelay))
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-t.ended:
		return sight{}, ErrExited
	}
	poll := time.NewTicker(echoPoll)
	defer poll.Stop()
	for {
		t.mu.Lock()
		state, _, _ := t.machine.State()
		now := t.sightOf(tail)
		shown := now.shows(before)
		if shown && state != settle.Waiting {
			t.begun()
		}
		t.mu.Unlock()
		switch {
		case state == settle.Waiting:
			return now, fmt.Errorf("%w: %w", ErrNotDelivered, ErrWaiting)
		case shown:
			return now, nil
		}
		select {
		case <-poll.C:
		case <-deadline.C:
			return now, fmt.Errorf("%w: not shown within %v; it may stand in the box", ErrNotDelivered, echoTimeout)
		case <-t.ended:
			return now, ErrExited
		}
	}
}

// echoPoll is how often the screen is looked at: often enough not to be felt, seldom enough to cost nothing.
const echoPoll = 10 * time.Millisecond

// awaitTaken returns the sign by which the program is seen to have taken a text, or nothing when none came in time.
func (t *Tab) awaitTaken(clean string, seq uint64, before sight) string {
	deadline := time.NewTimer(takenTimeout)
	defer deadline.Stop()
	poll := time.NewTicker(echoPoll)
	defer poll.Stop()
	tail := tailOf(clean)
	t.mu.Lock()
	begun := t.output
	t.mu.Unlock()
	began := time.Now()
	for {
		t.mu.Lock()
		by := t.taken(clean, seq, before, t.sightOf(tail))
		if by == "" && t.drawsOn(before, t.sightOf(tail), begun, began) {
			by = "output"
		}
		t.mu.Unlock()
		if by != "" {
			return by
		}
		select {
		case <-poll.C:
		case <-deadline.C:
			return ""
		case <-t.ended:
			return ""
		}
	}
}

// taken returns the sign by which a text is known to be taken now; t.mu is held. It is the agent's own report of the very text; or
// two signs together: the text has left the box, and the agent works by a signal of its own, or has already settled on this delivery.
// A shell has no pickers: there it is enough that the line is not the cursor's any more.
func (t *Tab) taken(clean string, seq uint64, before, now sight) string {
	if p := t.hooks.Prompt(); p.Number > t.reports {
		if sha, length := hook.Digest(clean); p.Digest == sha && p.Length == length {
			return "report"
		}
	}
	if !t.left(before, now) {
		return ""
	}
	t.look()
	state, by, _ := t.machine.State()
	settled, settledBy, upTo := t.machine.Settled()
	switch {
	case state == settle.Working && by != settle.None && by != settle.Quiet:
		return by.String()
	case settled && upTo >= seq && settledBy != settle.None && settledBy != settle.Quiet:
		return settledBy.String()
	case state == settle.Waiting: // what it was asked has led to a question
		return by.String()
	case t.spec.Agent.Shell:
		return "line"
	}
	return ""
}

// left tells whether a text that stood before the cursor stands there no more; t.mu is held.
func (t *Tab) left(before, now sight) bool {
	if t.spec.Agent.Box.Known() {
		line := t.screen.CursorLine()
		return t.boxHolds(line) == HoldNone
	}
	return now.row != before.row || now.line != before.line
}

// drawing is how long an agent without any signal must go on to draw after Enter. The echo of Enter is over in a tenth of it.
const drawing = 300 * time.Millisecond

// drawsOn tells whether a program that says nothing of itself is seen at work: the text has left the box, and it goes on printing;
// t.mu is held.
func (t *Tab) drawsOn(before, now sight, begun uint64, began time.Time) bool {
	return t.left(before, now) && time.Since(began) > drawing && t.output > begun && time.Since(t.printed) < drawing/2
}
