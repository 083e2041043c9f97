// Package hold lets the person decide about calls of agents and outside clients, one by one: which calls wait is a
// policy, and what waits is in memory only. A restart forgets it, and nothing can be replayed: the call that runs after a
// yes is the one that waited.
package hold

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"termic/registry"
	"termic/registry/ident"
	"termic/registry/refusal"
)

const (
	// maxPending is how many calls of one grant may wait. A person reads few; more come from a loop gone wrong.
	maxPending = 3
	// defaultWait is how long a call waits for the person. Clients give up a tool call after a minute or more
	// (clients tried in November 2026), and a refusal that says what to do is better than their time-out.
	defaultWait = 50 * time.Second
)

// Answer is what the person says.
type Answer string

const (
	Once   Answer = "once"
	Always Answer = "always"
	Deny   Answer = "deny"
)

// Pending is a call that waits.
type Pending struct {
	ID    string
	Since time.Time
	// Until is when the call is refused unless the person has answered.
	Until time.Time
	// Holder is who asks, as rules name it: the id of a task, or the name of an outside client.
	Holder    string
	Caller    registry.Caller
	Verb      *registry.Verb
	Subject   registry.Subject
	Arguments json.RawMessage
	Digest    string
}

type waiting struct {
	Pending
	answered chan Answer // holds one
}

// Holds is what waits, and the policy. It is safe for concurrent use, and implements registry.Holder.
type Holds struct {
	policy *Policy
	wait   time.Duration
	// Confirms tells of an outside client, by name, whether its person is asked through it; nil: none is. Set it
	// before the first call.
	Confirms func(name string) bool

	mu      sync.Mutex
	waiting map[string]*waiting
	changed chan struct{} // closed and replaced when something begins or ceases to wait
}

var _ registry.Holder = (*Holds)(nil)

// New returns holds under a policy. wait is how long a call waits for the person; 0 is the default.
func New(policy *Policy, wait time.Duration) *Holds {
	return &Holds{policy: policy, wait: cmp.Or(wait, defaultWait), waiting: map[string]*waiting{}, changed: make(chan struct{})}
}

// Policy implements registry.Holder.
func (h *Holds) Policy(call registry.Call, verb *registry.Verb) (ask bool, no *refusal.Refusal) {
	switch h.policy.Of(call, verb) {
	case Allow:
		return false, nil
	case Ask:
		return true, nil
	}
	return false, refusal.New(refusal.NotPermitted, "the person has denied you this verb", "ask the person")
}

// Elicits implements registry.Holder.
func (h *Holds) Elicits(call registry.Call) bool {
	return h.Confirms != nil && isClient(call.Caller) && h.Confirms(call.Caller.Name)
}

// Ask implements registry.Holder.
func (h *Holds) Ask(ctx context.Context, q registry.Question) *refusal.Refusal {
	now := time.Now()
	w := &waiting{
		Pending: Pending{
			ID: "h-" + rand.Text(), Since: now, Until: now.Add(h.wait), Holder: holderOf(q.Call.Caller), Caller: q.Call.Caller,
			Verb: q.Verb, Subject: q.Call.Subject, Arguments: q.Arguments, Digest: q.Digest,
		},
		answered: make(chan Answer, 1),
	}
	if no := h.enter(w); no != nil {
		return no
	}
	defer h.leave(w)
	timer := time.NewTimer(h.wait)
	defer timer.Stop()
	select {
	case answer := <-w.answered:
		if answer == Deny {
			return refusal.New(refusal.NotPermitted, "the person said no", "ask the person what to do instead")
		}
		return nil
	case <-q.Call.Ended:
		return refusal.New(refusal.Revoked, "the grant ended, or was narrowed, while the call waited for the person", "")
	case <-ctx.Done():
		return refusal.New(refusal.Cancelled, "the call was given up while it waited for the person", "")
	case <-timer.C:
		return refusal.New(refusal.Held, "the person did not answer in time", "ask the person to look at termic, then call again")
	}
}

func (h *Holds) enter(w *waiting) *refusal.Refusal {
	h.mu.Lock()
	defer h.mu.Unlock()
	same := 0
	for _, other := range h.waiting {
		if other.Caller.Grant == w.Caller.Grant {
			same++
		}
	}
	if same >= maxPending {
		return refusal.Newf(refusal.Busy, "wait for their answers", "%d calls of yours wait for the person already", maxPending)
	}
	h.waiting[w.ID] = w
	h.tell()
	return nil
}

func (h *Holds) leave(w *waiting) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.waiting, w.ID)
	h.tell()
}

// tell wakes who watches; h.mu is held.
func (h *Holds) tell() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// Pending returns what waits, the oldest first, and a channel that is closed when that changes.
func (h *Holds) Pending() ([]Pending, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []Pending
	for _, w := range h.waiting {
		list = append(list, w.Pending)
	}
	slices.SortFunc(list, func(a, b Pending) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID)) })
	return list, h.changed
}

// Answer lets a call that waits go on or end. digest is the one that the person was shown: an answer to something else
// is refused. Always is kept as a rule for this caller, verb, task and project; it is never for destructive verbs.
func (h *Holds) Answer(id, digest string, answer Answer) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.waiting[id]
	switch {
	case w == nil:
		return refusal.New(refusal.NotFound, "that call does not wait any more", "")
	case w.Digest != digest:
		return refusal.New(refusal.Conflict, "that is not the call that was shown", "look again")
	case answer != Once && answer != Always && answer != Deny:
		return refusal.New(refusal.BadInput, "an answer is once, always or deny", "")
	case answer == Always && w.Verb.Class == registry.Destructive:
		return refusal.New(refusal.BadInput, "a destructive verb is allowed one call at a time", "answer once")
	}
	if answer == Always {
		rule := Rule{Holder: w.Holder, Verb: w.Verb.Name, Task: w.Subject.Task, Project: w.Subject.Project, Policy: Allow}
		if err := h.policy.Add(rule); err != nil {
			return err
		}
	}
	delete(h.waiting, id) // answered: no second answer counts
	w.answered <- answer
	h.tell()
	return nil
}

// holderOf names a caller as rules do. Ids of tasks and names of clients never look alike.
func holderOf(caller registry.Caller) string {
	if caller.Task != "" {
		return string(caller.Task)
	}
	return caller.Name
}

// isClient tells whether a caller is an outside client.
func isClient(caller registry.Caller) bool {
	return caller.Way == registry.MCP && caller.Task == ident.Task("")
}
