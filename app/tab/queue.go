package tab

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"termic/registry/ident"
)

// What can be wrong with a change to the queue.
var (
	// ErrNoText: no such text waits; it may have been delivered meanwhile.
	ErrNoText = errors.New("no such text waits")
)

// Bounds of one tab's queue.
const (
	// maxQueue is how many texts may wait. A person queues a few; more come from a loop gone wrong.
	maxQueue = 64
	// maxQueueBytes is how long they may be together: they are kept in memory and in one file.
	maxQueueBytes = 4 << 20
	// MaxTimes is how often one text may be sent.
	MaxTimes = 100
)

// Sender is who sent a text.
type Sender struct {
	// Name is what people are shown; Task the task whose token was used, empty for the person and outside clients.
	Name string     `json:"name"`
	Task ident.Task `json:"task,omitempty"`
	// Later is what the sender's right to send is asked about again with after a restart. The tab does not read it.
	Later json.RawMessage `json:"later,omitempty"`
}

// Message is a text to be sent.
type Message struct {
	Text string
	// Times is how often it is to be delivered, each time once the agent has settled; 0 is once.
	Times  int
	Sender Sender
	// Still is asked just before the text is typed, whenever that is: an error is why the sender may not send it any more. A nil one
	// always may.
	Still func() error
}

// Queued is a text that waits.
type Queued struct {
	ID     ident.Text `json:"id"`
	Text   string     `json:"text"` // clean
	Times  int        `json:"times"`
	Sender Sender     `json:"sender"`
	At     time.Time  `json:"at"`
	still  func() error
}

// may asks whether the sender may still send it.
func (q Queued) may() error {
	if q.still == nil {
		return nil
	}
	return q.still()
}

// Fate is what became of a text.
type Fate string

// The fates. A text that waits or is being delivered has none yet.
const (
	Submitted   Fate = "submitted"   // seen to be taken
	Unconfirmed Fate = "unconfirmed" // Enter was pressed, and nothing told whether the agent took it
	Failed      Fate = "failed"      // it was pasted, or not even that, and Enter was not pressed
	Dropped     Fate = "dropped"     // its sender may no longer send it
	Cancelled   Fate = "cancelled"   // taken out of the queue
)

// Past is a text that waits no more.
type Past struct {
	ID   ident.Text
	Fate Fate
	At   time.Time
	// Why is what went wrong, or the sign by which it was seen to be taken. For the log and the person.
	Why string
	seq uint64
}

// maxPast is how many fates are remembered.
const maxPast = 128

// note remembers a fate; t.mu is held.
func (t *Tab) note(id ident.Text, fate Fate, why string) {
	if t.past = append(t.past, Past{id, fate, time.Now(), why, t.seq}); len(t.past) > maxPast {
		t.past = slices.Delete(t.past, 0, len(t.past)-maxPast)
	}
	if fate == Dropped {
		t.dropped++
	}
}

// fate returns what became of a text last; t.mu is held.
func (t *Tab) fate(id ident.Text) (Past, bool) {
	for i := len(t.past) - 1; i >= 0; i-- {
		if t.past[i].ID == id {
			return t.past[i], true
		}
	}
	return Past{}, false
}

// Queue returns the texts that wait, the next first; why the first of them is not typed now; and what became of the last ones.
func (t *Tab) Queue() (waiting []Queued, hold Hold, past []Past) {
	t.mu.Lock()
	defer t.mu.Unlock()
	hold = t.holds(time.Now())
	if t.busy {
		hold = HoldWorking
	}
	return slices.Clone(t.queue), hold, slices.Clone(t.past)
}

// Change says what becomes of a text that waits. What is nil stays.
type Change struct {
	// Text replaces it. It is then Message's sender who sends it.
	Text *Message
	// Place moves it to that place, 0 the next.
	Place *int
	Times *int
}

// Edit changes a text that waits. The error is ErrNoText, or why the new text cannot be sent.
func (t *Tab) Edit(id ident.Text, change Change) error {
	var clean string
	if change.Text != nil {
		var err error
		if clean, err = t.admit(change.Text.Text); err != nil {
			return err
		}
	}
	return t.keeping(func() error {
		i := slices.IndexFunc(t.queue, func(q Queued) bool { return q.ID == id })
		if i < 0 {
			return ErrNoText
		}
		next := t.queue[i]
		if change.Text != nil {
			if size := t.queueBytes() - len(next.Text) + len(clean); size > maxQueueBytes {
				return ErrQueueFull
			}
			next.Text, next.Sender, next.still = clean, change.Text.Sender, change.Text.Still
		}
		if change.Times != nil {
			next.Times = min(max(*change.Times, 1), MaxTimes)
		}
		queue := slices.Delete(slices.Clone(t.queue), i, i+1)
		if change.Place != nil {
			i = min(max(*change.Place, 0), len(queue))
		}
		t.queue = slices.Insert(queue, i, next)
		return nil
	})
}

// Cancel takes a text out of the queue, or all of them with an empty id, and returns how many.
func (t *Tab) Cancel(id ident.Text) (int, error) {
	n := 0
	err := t.keeping(func() error {
		var rest []Queued
		for _, q := range t.queue {
			if id != "" && q.ID != id {
				rest = append(rest, q)
				continue
			}
			n++
			t.note(q.ID, Cancelled, "")
		}
		if n == 0 && id != "" {
			return ErrNoText
		}
		t.queue = rest
		return nil
	})
	return n, err
}

// keeping changes the queue in memory and then keeps it on disk, so that what is kept is never older than what was said. Change is
// called with t.mu held, and alone. When it cannot be kept the change is taken back.
func (t *Tab) keeping(change func() error) error {
	t.keep.Lock()
	defer t.keep.Unlock()
	t.mu.Lock()
	before := t.queue
	if err := change(); err != nil {
		t.mu.Unlock()
		return err
	}
	queue := slices.Clone(t.queue)
	t.broadcast()
	t.mu.Unlock()
	if t.spec.Keep == nil {
		return nil
	}
	if err := t.spec.Keep(queue); err != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.queue = before
		t.broadcast()
		return fmt.Errorf("keep queue: %w", err)
	}
	return nil
}

// queueBytes is how long the waiting texts are; t.mu is held.
func (t *Tab) queueBytes() (n int) {
	for _, q := range t.queue {
		n += len(q.Text)
	}
	return n
}

// enqueue appends a text; t.mu is held.
func (t *Tab) enqueue(next Queued) error {
	if len(t.queue) >= maxQueue || t.queueBytes()+len(next.Text) > maxQueueBytes {
		return ErrQueueFull
	}
	t.queue = append(slices.Clip(t.queue), next)
	return nil
}

// pumpEvery is how often the screen is looked at while a text waits for what no event tells: a draft that goes, a pause in typing.
const pumpEvery = 150 * time.Millisecond

// pump delivers queued texts, one by one, whenever the program is ready for one.
func (t *Tab) pump() {
	for {
		t.mu.Lock()
		changed := t.changed
		waits := len(t.queue) > 0
		hold := t.holds(time.Now())
		ready := waits && !t.busy && hold == HoldNone && time.Now().After(t.rest)
		t.mu.Unlock()
		if ready && t.deliverNext() {
			continue
		}
		var again <-chan time.Time
		if waits && (hold == HoldTyping || hold == HoldDraft || hold == HoldBox || hold == HoldNone) {
			again = time.After(pumpEvery)
		}
		select {
		case <-changed:
		case <-again:
		case <-t.ended:
			return
		}
	}
}

// afterFailure is how long the queue rests when a text could not be typed: its reason may last.
const afterFailure = 5 * time.Second

// deliverNext delivers the next text that waits, if its sender may still send it. That is asked without t.mu, which whoever answers may
// take. It returns false when the text stays where it is.
func (t *Tab) deliverNext() bool {
	next, ok := t.begin()
	if !ok {
		return false
	}
	if err := next.may(); err != nil {
		t.log("queued text dropped: its sender may no longer send it", "tab", t.spec.ID, "cause", err)
		t.settleText(next, Dropped, "", err)
		t.forget(next.ID)
		return true
	}
	// It leaves the file before it is typed: a crash may lose it, and never types it twice.
	if err := t.keeping(func() error { t.take1(next); return nil }); err != nil {
		t.log("queued text held: the queue cannot be kept", "tab", t.spec.ID, "cause", err)
		t.mu.Lock()
		t.busy, t.rest = false, time.Now().Add(afterFailure)
		t.mu.Unlock()
		return true
	}
	by, fate, err := t.deliver(next.Text)
	if held := (*heldError)(nil); errors.As(err, &held) {
		if next.Times > 1 { // the rest of its deliveries still waits
			t.forget(next.ID)
		}
		if err := t.putBack(next); err != nil {
			t.log("queue not kept", "tab", t.spec.ID, "cause", err)
		}
		return true
	}
	if err != nil {
		t.log("queued text not delivered", "tab", t.spec.ID, "cause", err)
	}
	t.settleText(next, fate, by, err)
	return true
}

// begin makes the caller the deliverer of the text that is next. It stays in the queue until it is typed.
func (t *Tab) begin() (Queued, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.queue) == 0 || t.busy || t.holds(time.Now()) != HoldNone {
		return Queued{}, false
	}
	t.busy, t.current = true, t.queue[0].ID
	return t.queue[0], true
}

// take1 takes one delivery of a text out of the queue; t.mu is held. An edit that came meanwhile is gone with it.
func (t *Tab) take1(which Queued) {
	i := slices.IndexFunc(t.queue, func(q Queued) bool { return q.ID == which.ID })
	if i < 0 {
		return
	}
	queue := slices.Clone(t.queue)
	if queue[i].Times--; queue[i].Times <= 0 {
		queue = slices.Delete(queue, i, i+1)
	}
	t.queue = queue
}

// forget takes a text out of the queue for good.
func (t *Tab) forget(id ident.Text) {
	err := t.keeping(func() error {
		t.queue = slices.DeleteFunc(slices.Clone(t.queue), func(q Queued) bool { return q.ID == id })
		return nil
	})
	if err != nil {
		t.log("queue not kept", "tab", t.spec.ID, "cause", err)
	}
}

// settleText notes what became of a text and lets the next begin.
func (t *Tab) settleText(which Queued, fate Fate, by string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		by = err.Error()
	}
	t.note(which.ID, fate, by)
	t.busy, t.current, t.failed, t.doubt = false, "", nil, fate == Unconfirmed
	if fate == Failed {
		t.failed = err
		t.rest = time.Now().Add(afterFailure)
	}
	t.broadcast()
}

// AskedBy returns the text with what is asked just before it is typed.
func (q Queued) AskedBy(still func() error) Queued {
	q.still = still
	return q
}
