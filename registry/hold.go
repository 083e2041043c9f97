package registry

import (
	"context"
	"encoding/json"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"termic/registry/refusal"
)

// Question is a call that waits for the person.
type Question struct {
	Call Call
	Verb *Verb
	// Arguments are what the call was made with, as JSON: what the person sees and what will run.
	Arguments json.RawMessage
	// Digest is the audit log's digest of the call.
	Digest string
}

// Holder lets the person decide about calls that the guard has allowed.
type Holder interface {
	// Policy says what is to become of a call: it goes on (nil), it is refused, or it is asked about (ask).
	Policy(call Call, verb *Verb) (ask bool, no *refusal.Refusal)
	// Ask waits for the person, for a bounded time and at most as long as ctx and the caller's grant last. Nil is
	// a yes to this call and no other.
	Ask(ctx context.Context, question Question) *refusal.Refusal
}

// HoldWith makes the router ask holder about every allowed call. Call it before the first Dispatch. Without one
// nothing is held.
func (r *Router) HoldWith(holder Holder) { r.holder = holder }

// hold returns when a call may go on, with the rule that says so when the person was asked. What was decided before
// the wait is decided again after it: the target, the grant and their cages may have changed meanwhile.
func (r *Router) hold(ctx context.Context, call Call, verb *Verb, event Event, in any) (rule string, no *refusal.Refusal) {
	if r.holder == nil {
		return "", nil
	}
	ask, no := r.holder.Policy(call, verb)
	if no != nil {
		r.deny(ctx, event, no, "policy", "the person's policy denies the verb to this caller")
		return "", no
	}
	if !ask {
		return "", nil
	}
	arguments, err := jsonv2.Marshal(in, jsonv2.Deterministic(true))
	if err != nil {
		return "", refusal.Of(err)
	}
	event.Phase, event.Time, event.Allow, event.Rule = Held, time.Now(), true, "ask"
	if err := r.sink.Record(ctx, event); err != nil {
		return "", unrecorded(err)
	}
	if no := r.holder.Ask(ctx, Question{Call: call, Verb: verb, Arguments: arguments, Digest: event.Arguments}); no != nil {
		r.deny(ctx, event, no, "person", "the person did not allow it")
		return "", no
	}
	if err := call.Still(); err != nil {
		return "", refusal.Of(err)
	}
	return "person", nil
}
