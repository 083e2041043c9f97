package registry

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"termic/registry/ident"
	"termic/registry/refusal"
)

// Router carries every call, whatever way it came in, from its name to its outcome. Authorization happens
// here and nowhere else.
type Router struct {
	guard   Guard
	sink    Sink
	log     *slog.Logger
	verbs   []*Verb
	bound   map[string]*binding
	repeats *repeats
	redact  func([]byte) []byte
	holder  Holder
	// confirms are the questions that wait for an answer through a client.
	confirms *confirms
}

type binding struct {
	verb *Verb
	run  func(ctx context.Context, call Call, in any) (any, error)
}

// NewRouter returns a router for verbs, each still without a handler. log receives causes that no caller
// may see.
func NewRouter(guard Guard, sink Sink, log *slog.Logger, verbs ...*Verb) *Router {
	for _, verb := range verbs {
		verb.in.validator()
		verb.out.validator()
	}
	return &Router{
		guard:    guard,
		sink:     sink,
		log:      log,
		verbs:    verbs,
		bound:    map[string]*binding{},
		repeats:  newRepeats(),
		redact:   func(result []byte) []byte { return result },
		confirms: newConfirms(),
	}
}

// RedactWith makes every result pass through redact on its way out, so that no verb can show a live token,
// whatever it read it from (I12). Call it before the first Dispatch.
func (r *Router) RedactWith(redact func(result []byte) []byte) { r.redact = redact }

// Bind gives a verb its handler. It panics when the router does not have the verb or the verb has a handler
// already: both are mistakes in wiring.
func Bind[In, Out any](r *Router, spec Spec[In, Out], handle Handler[In, Out]) {
	verb := spec.Verb()
	if r.find(verb.Name) != verb {
		panic("registry: bind " + verb.Name + ": not a verb of this router")
	}
	if r.bound[verb.Name] != nil {
		panic("registry: bind " + verb.Name + ": bound twice")
	}
	r.bound[verb.Name] = &binding{verb, func(ctx context.Context, call Call, in any) (any, error) {
		return handle(ctx, call, in.(In))
	}}
}

// Unbound returns the names of verbs that have no handler.
func (r *Router) Unbound() []string {
	var names []string
	for _, verb := range r.verbs {
		if r.bound[verb.Name] == nil {
			names = append(names, verb.Name)
		}
	}
	return names
}

// Verbs returns the verbs that there are for caller, in registry order. One above the caller's ceiling is among
// them, and is refused when it is called.
func (r *Router) Verbs(caller Caller) []*Verb {
	var verbs []*Verb
	for _, verb := range r.verbs {
		if offered(verb, caller) {
			verbs = append(verbs, verb)
		}
	}
	return verbs
}

func offered(verb *Verb, caller Caller) bool {
	return verb.Audience.Includes(caller.Way, caller.Scope)
}

func (r *Router) find(name string) *Verb {
	for _, verb := range r.verbs {
		if verb.Name == name {
			return verb
		}
	}
	return nil
}

// Dispatch executes one call: find the verb in the caller's audience, decode strictly, let the guard decide,
// record the decision, run the handler, check the result against its schema, record the outcome.
//
// Every error is a *refusal.Refusal that names the request. Cancelling ctx ends reads and waits, and writes
// that have not begun; a begun write is finished, or undone where its verb says so, and its outcome recorded, whatever the
// caller does (I11).
func (r *Router) Dispatch(ctx context.Context, caller Caller, name string, raw json.RawMessage) (json.RawMessage, error) {
	request := ident.NewRequest()
	result, no := r.dispatch(ctx, caller, request, name, raw)
	if no == nil {
		return result, nil
	}
	if cause := no.Cause(); cause != nil {
		r.log.Warn("refused", "request", request, "verb", name, "code", no.Code, "cause", cause)
	}
	return nil, r.inWordsOf(caller, r.find(name), no).For(string(request))
}

func (r *Router) dispatch(ctx context.Context, caller Caller, request ident.Request, name string, raw json.RawMessage) (json.RawMessage, *refusal.Refusal) {
	verb := r.find(name)
	if verb == nil || !offered(verb, caller) {
		return nil, r.unknown(ctx, caller, request, verb, raw)
	}
	bound := r.bound[name]
	if bound == nil {
		return nil, refusal.Of(fmt.Errorf("verb %s has no handler", name))
	}
	event := Event{
		Request: request, Verb: verb.Name, Class: verb.Class,
		Way: caller.Way, Scope: caller.Scope, Caller: caller.Name, Grant: caller.Grant, Task: caller.Task,
		Arguments: digestOf(verb, raw), ClientSays: caller.Says,
	}
	in, err := verb.in.decode(raw)
	if err != nil {
		no := refusal.New(refusal.BadInput, err.Error(), describedIn(verb, caller))
		r.deny(ctx, event, no, "schema", "arguments do not fit the schema")
		return nil, no
	}
	decision := r.guard.Check(ctx, caller, verb, targetOf(in))
	event.Subject = EventSubject{decision.Subject.Project, decision.Subject.Task, decision.Subject.Tab}
	if !decision.Allow {
		no := decision.Refusal
		if no == nil {
			no = refusal.New(refusal.NotPermitted, "not allowed", "")
		}
		r.deny(ctx, event, no, decision.Rule, decision.Why)
		return nil, no
	}
	call := Call{Caller: caller, Subject: decision.Subject, Request: request, Ended: decision.Ended, Still: r.still(event, decision),
		Later: Later{Caller: caller, Request: request, Arguments: event.Arguments}}
	return r.repeats.do(ctx, caller, verb, in, func() (json.RawMessage, *refusal.Refusal, bool) {
		given, no := r.hold(ctx, call, verb, event, in)
		if no != nil {
			return nil, no, false
		}
		if given.rule != "" {
			decision.Rule, decision.Why = given.rule, given.why
		}
		return r.execute(ctx, bound, call, decision, event, in)
	})
}

// describedIn says where the caller finds what a verb takes.
func describedIn(verb *Verb, caller Caller) string {
	if caller.Way == CLI && verb.CLI.Path != "" {
		return "see: termic " + verb.CLI.Path + " --help"
	}
	return "see the description of " + verb.Name
}

// noVerb stands in the log for a name that is no verb's: it is the caller's own text.
const noVerb = "none"

// unknown refuses a verb outside the caller's audience: it does not exist for it, whether or not it exists for others.
func (r *Router) unknown(ctx context.Context, caller Caller, request ident.Request, verb *Verb, raw json.RawMessage) *refusal.Refusal {
	no := refusal.New(refusal.UnknownVerb, "this caller has no such verb", "list the verbs that there are")
	event := Event{
		Request: request, Verb: noVerb, Way: caller.Way, Scope: caller.Scope, Caller: caller.Name, Grant: caller.Grant, Task: caller.Task,
		ClientSays: caller.Says,
	}
	why := "there is no such verb"
	if verb != nil {
		event.Verb, event.Class, event.Arguments = verb.Name, verb.Class, digestOf(verb, raw)
		why = "the verb is not for such callers"
	}
	r.deny(ctx, event, no, "audience", why)
	return no
}

// execute runs an allowed call. The last result tells whether the handler was started.
func (r *Router) execute(ctx context.Context, bound *binding, call Call, decision Decision, event Event, in any) (json.RawMessage, *refusal.Refusal, bool) {
	event.Phase, event.Time, event.Allow, event.Rule, event.Why = Decided, time.Now(), true, decision.Rule, decision.Why
	event.TakesPowerAway = takesPowerAway(bound.verb, in)
	if err := r.sink.Record(ctx, event); err != nil {
		if !event.TakesPowerAway {
			return nil, unrecorded(err), false
		}
		r.log.Error("decision not recorded", "request", call.Request, "verb", bound.verb.Name, "cause", err)
	}
	if ctx.Err() != nil {
		no := refusal.New(refusal.Cancelled, "the caller went away before the work began", "")
		r.finish(event, no, time.Now())
		return nil, no, false
	}
	ctx, stop := lifetime(ctx, bound.verb, decision.Ended)
	defer stop()
	began := time.Now()
	out, no := r.run(ctx, bound, call, in)
	if no == nil && bound.verb.Class == Read {
		// What a read returns left its target some time ago: it is given out only if it still may be.
		if err := call.Still(); err != nil {
			out, no = nil, refusal.Of(err)
		}
	}
	r.finish(event, no, began)
	return out, no, true
}

// unrecorded refuses a call whose decision the sink did not keep, in the sink's own words where it has some.
func unrecorded(err error) *refusal.Refusal {
	if no, ok := refusal.From(err); ok {
		return no
	}
	return refusal.New(refusal.StorageFailed, "the audit log cannot be written, so nothing is done",
		"free space on the disk of termic's data directory").Because(err)
}

// run calls the handler and checks what it returns. A panic is the app's mistake: it ends the call, not the app.
func (r *Router) run(ctx context.Context, bound *binding, call Call, in any) (raw json.RawMessage, no *refusal.Refusal) {
	defer func() {
		if p := recover(); p != nil {
			r.log.Error("handler panicked", "request", call.Request, "verb", bound.verb.Name, "panic", p, "stack", string(debug.Stack()))
			raw, no = nil, refusal.Of(fmt.Errorf("panic: %v", p))
		}
	}()
	out, err := bound.run(ctx, call, in)
	if err != nil {
		return nil, r.explain(ctx, err)
	}
	raw, err = bound.verb.out.encode(out)
	if err != nil {
		return nil, refusal.Of(fmt.Errorf("result of %s breaks its schema: %w", bound.verb.Name, err))
	}
	return r.redact(raw), nil
}

// explain turns a handler's error into a refusal; an error that only echoes the end of ctx says which end.
func (r *Router) explain(ctx context.Context, err error) *refusal.Refusal {
	if _, ok := refusal.From(err); ok || ctx.Err() == nil {
		return refusal.Of(err)
	}
	if errors.Is(context.Cause(ctx), errGrantEnded) {
		return refusal.New(refusal.Revoked, "the grant ended, or was narrowed, while the call ran", "").Because(err)
	}
	return refusal.New(refusal.Cancelled, "the call was given up", "").Because(err)
}

// still returns what Call.Still is: the guard's second look, whose refusals are recorded like the first one's.
func (r *Router) still(event Event, decision Decision) func() error {
	return func() error {
		if decision.Again == nil {
			return nil
		}
		now := decision.Again()
		if now.Allow {
			return nil
		}
		no := now.Refusal
		if no == nil {
			no = refusal.New(refusal.NotPermitted, "not allowed", "")
		}
		r.deny(context.Background(), event, no, now.Rule, "at the effect: "+now.Why)
		return no
	}
}

// digestOf is what stands for a call's arguments in the log.
func digestOf(verb *Verb, raw json.RawMessage) string {
	var room [1 << 10]byte // almost every call fits, and then nothing is allocated
	sum := sha256.Sum256(append(append(append(room[:0], verb.Name...), 0), raw...))
	var text [32]byte // 128 bits: enough that no two calls share one
	hex.Encode(text[:], sum[:16])
	return string(text[:])
}

// deny records a refusal that came before any effect. It is refused whether or not that can be recorded.
func (r *Router) deny(ctx context.Context, event Event, no *refusal.Refusal, rule, why string) {
	event.Phase, event.Time, event.Allow, event.Code, event.Rule, event.Why = Decided, time.Now(), false, no.Code, rule, why
	err := r.sink.Record(context.WithoutCancel(ctx), event)
	if _, limited := refusal.From(err); err != nil && !limited { // a caller over its quota may not fill our log instead
		r.log.Error("refusal not recorded", "request", event.Request, "verb", event.Verb, "cause", err)
	}
}

// finish records how an allowed call ended.
func (r *Router) finish(event Event, no *refusal.Refusal, began time.Time) {
	event.Phase, event.Time, event.Why = Finished, time.Now(), ""
	event.Millis = time.Since(began).Milliseconds()
	if no != nil {
		event.Code = no.Code
	}
	if err := r.sink.Record(context.Background(), event); err != nil {
		r.log.Error("outcome not recorded", "request", event.Request, "verb", event.Verb, "cause", err)
	}
}

// takesPowerAway tells what must work without the audit log (I14).
func takesPowerAway(verb *Verb, in any) bool {
	giving, ok := in.(Relinquishing)
	return verb.Always || ok && giving.TakesPowerAway()
}

func targetOf(in any) Target {
	if targeted, ok := in.(Targeted); ok {
		return targeted.Target()
	}
	return Target{}
}
