package registry

import (
	"context"
	"fmt"
	"time"

	"termic/registry/ident"
	"termic/registry/refusal"
)

// Later is what is kept of a call that leaves something for later (a queued text), so that it can be decided about again after a restart
// of the app. It holds nothing that was asked for. Possession of it is no credential: the grant that it names is looked up
// when it is used, and grants end with the app.
type Later struct {
	Caller    Caller        `json:"caller"`
	Request   ident.Request `json:"request"`
	Arguments string        `json:"arguments,omitempty"`
}

// Recheck decides, as things are now, whether the caller of an earlier call may do what a verb does to a task's tab. A refusal is
// recorded under the request of that call.
func (r *Router) Recheck(later Later, name string, task ident.Task, tab ident.Tab) error {
	event := r.eventOf(later, name, task, tab)
	verb := r.find(name)
	if verb == nil || !offered(verb, later.Caller) {
		no := refusal.New(refusal.NotPermitted, "not allowed", "")
		r.deny(context.Background(), event, no, "audience", "the verb is not for this caller")
		return no
	}
	event.Class = verb.Class
	decision := r.guard.Check(context.Background(), later.Caller, verb, Target{Task: string(task), Tab: string(tab)})
	if decision.Allow {
		return nil
	}
	no := decision.Refusal
	if no == nil {
		no = refusal.New(refusal.NotPermitted, "not allowed", "")
	}
	r.deny(context.Background(), event, no, decision.Rule, "after a restart: "+decision.Why)
	return no
}

// Lost records that what an earlier call left for later will not happen, and why.
func (r *Router) Lost(later Later, name string, task ident.Task, tab ident.Tab, why string) {
	event := r.eventOf(later, name, task, tab)
	if verb := r.find(name); verb != nil {
		event.Class = verb.Class
	}
	r.deny(context.Background(), event, refusal.New(refusal.NotDelivered, why, ""), "queue", why)
}

func (r *Router) eventOf(later Later, name string, task ident.Task, tab ident.Tab) Event {
	c := later.Caller
	return Event{
		Time: time.Now(), Request: later.Request, Verb: name, Way: c.Way, Scope: c.Scope, Caller: c.Name, Grant: c.Grant, Task: c.Task,
		Subject: EventSubject{Task: task, Tab: tab}, Arguments: later.Arguments, ClientSays: c.Says,
	}
}

// Check refuses a Later that was not made by a router.
func (l Later) Check() error {
	if l.Request == "" || l.Caller.Way == WayNone || l.Caller.Scope == ScopeNone {
		return fmt.Errorf("kept call without its caller")
	}
	return nil
}
