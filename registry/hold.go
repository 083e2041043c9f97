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
	// Elicits tells whether the person lets this outside client ask for itself: its own program puts the question to
	// whoever sits there. It is never asked about a caller that runs in a task, whose client is the agent.
	Elicits(call Call) bool
}

// HoldWith makes the router ask holder about every allowed call. Call it before the first Dispatch. Without one
// nothing is held.
func (r *Router) HoldWith(holder Holder) { r.holder = holder }

// consent is why a call that was asked about goes on, for the log. The zero value: nobody was asked.
type consent struct{ rule, why string }

// hold returns when a call may go on, with who said so when the person was asked. What was decided before the wait is decided
// again after it: the target, the grant and their cages may have changed meanwhile.
func (r *Router) hold(ctx context.Context, call Call, verb *Verb, event Event, in any) (consent, *refusal.Refusal) {
	dialog := dialogOf(ctx)
	if r.holder == nil {
		return consent{}, nil
	}
	ask, no := r.holder.Policy(call, verb)
	if no != nil {
		r.deny(ctx, event, no, "policy", "the person's policy denies the verb to this caller")
		return consent{}, no
	}
	if !ask && dialog.State == "" {
		return consent{}, nil
	}
	arguments, err := jsonv2.Marshal(in, jsonv2.Deterministic(true))
	if err != nil {
		return consent{}, refusal.Of(err)
	}
	question := Question{Call: call, Verb: verb, Arguments: arguments, Digest: event.Arguments}
	if dialog.State != "" {
		if given, no, answered := r.reply(ctx, question, event, dialog); answered {
			return given, no
		}
	}
	if dialog.Offered && r.elicits(call) {
		return consent{}, r.elicit(ctx, question, event, dialog)
	}
	if err := r.recordHeld(ctx, event, "ask"); err != nil {
		return consent{}, unrecorded(err)
	}
	if no := r.holder.Ask(ctx, question); no != nil {
		r.deny(ctx, event, no, "person", "the person did not allow it")
		return consent{}, no
	}
	if err := call.Still(); err != nil {
		return consent{}, refusal.Of(err)
	}
	return consent{"person", decidedByPerson}, nil
}

// decidedByPerson is why a call goes on that waited for an answer at the window or the terminal.
const decidedByPerson = "the person allowed it"

// recordHeld records that a call is asked about, by a rule that says how.
func (r *Router) recordHeld(ctx context.Context, event Event, rule string) error {
	event.Phase, event.Time, event.Allow, event.Rule = Held, time.Now(), true, rule
	return r.sink.Record(ctx, event)
}

// elicits tells whether a question may go through the caller's client. In a task the client is the agent, which would
// answer itself.
func (r *Router) elicits(call Call) bool {
	return call.Caller.Way == MCP && call.Caller.Task == "" && r.holder.Elicits(call)
}

// elicit has the client put the question to its person. The call ends here: the answer comes with another one.
func (r *Router) elicit(ctx context.Context, question Question, event Event, dialog *Dialog) *refusal.Refusal {
	if err := r.recordHeld(ctx, event, "elicit"); err != nil {
		return unrecorded(err)
	}
	dialog.Asks = &Asks{question.Verb, question.Arguments, r.confirms.ask(question)}
	return refusal.New(refusal.Held, "the person has to confirm this call", "ask, then call again with the answer and the state")
}

// reply takes an answer that came through a client. A state counts once, for the very call that it was made for; whoever
// brings another is refused, whether or not the call would be asked about. With a state and no reply nothing is answered, and
// the question may be put again.
func (r *Router) reply(ctx context.Context, question Question, event Event, dialog *Dialog) (given consent, no *refusal.Refusal, answered bool) {
	refuse := func(no *refusal.Refusal, why string) (consent, *refusal.Refusal, bool) {
		r.deny(ctx, event, no, "elicit", why)
		return consent{}, no, true
	}
	bad := refusal.New(refusal.NotPermitted, "that is no answer to a question about this call: it was asked about another one, longer than ten minutes ago, or answered already", "make the call without requestState")
	if !r.elicits(question.Call) {
		return refuse(bad, "the caller does not ask its own person")
	}
	first, err := r.confirms.take(dialog.State, question)
	if err != nil {
		return refuse(bad, err.Error())
	}
	switch dialog.Reply {
	case NoReply:
		return consent{}, nil, false
	case Yes:
		return consent{"elicit", "the client says that its person allowed it; asked in " + string(first)}, nil, true
	}
	return refuse(refusal.New(refusal.NotPermitted, "the person said no", "ask the person what to do instead"),
		"the client says that its person did not allow it; asked in "+string(first))
}
