package grant

import (
	"context"
	"slices"

	"termic/registry"
	"termic/registry/refusal"
)

// Guard decides every call; it is the registry.Guard of the running app.
type Guard struct {
	book  *Book
	world World
}

// NewGuard returns a guard over the grants in book and the model behind world.
func NewGuard(book *Book, world World) *Guard { return &Guard{book, world} }

// Check implements registry.Guard. The router has already held the verb's audience against the caller's way in
// and scope.
//
// For a scoped caller the order is: what it can see; the project list; its limit; the ceiling. The budget for
// new tasks is held under the lock of the tasks, where it is spent.
func (g *Guard) Check(_ context.Context, caller registry.Caller, verb *registry.Verb, target registry.Target) registry.Decision {
	grant, ended, no := g.holder(caller)
	if no != nil {
		return *no
	}
	v := g.viewOf(grant)
	subject, missing := v.find(target)
	if grant.Scope == registry.Scoped {
		missing = inScope(missing)
	}
	if missing != nil {
		decision := deny("sight", missing, v.hidden(grant, target))
		decision.Subject = subject
		return decision
	}
	decision := registry.Decision{Allow: true, Rule: "full", Subject: subject}
	switch {
	case caller.Way != registry.MCP:
		decision.Rule = "person"
	case target.Live:
		decision = deny("live", refusal.New(refusal.NotPermitted, "only the person may put a task on the project's own checkout", "leave live out"), "live checkout over mcp")
	case target.Bypass:
		decision = deny("bypass", refusal.New(refusal.NotPermitted, "only the person may have an agent act without asking outside a cage", "leave bypass out"), "permission bypass over mcp")
	case target.Fetch && grant.Scope != registry.Full:
		decision = deny("fetch", refusal.New(refusal.NotPermitted, "only the person may have a task's base fetched: it is done with their credentials", "leave fetch out"), "fetch by a scoped caller")
	case grant.Scope == registry.Scoped:
		decision = g.scoped(grant, v, verb, target, subject)
	}
	if decision.Allow && verb.Class > caller.Ceiling {
		decision = deny("ceiling", refusal.Newf(refusal.NotPermitted, "the person can raise the ceiling of this caller",
			"this caller may call verbs up to class %s, and this one is %s", caller.Ceiling, verb.Class), "")
	}
	if grant.Scope == registry.Scoped {
		decision.Refusal = inScope(decision.Refusal)
	}
	switch {
	case !decision.Allow:
		decision.Subject = subject
	case caller.Way == registry.MCP:
		decision.Ended = ended
		decided := decision.Subject
		decision.Again = func() registry.Decision { return g.again(caller, verb, decided) }
	}
	return decision
}

// holder returns the grant behind a caller; the zero grant for the person.
func (g *Guard) holder(caller registry.Caller) (Grant, <-chan struct{}, *registry.Decision) {
	if (caller.Way == registry.Window || caller.Way == registry.CLI) && caller.Scope == registry.Full {
		return Grant{}, nil, nil // the person: nothing that could end
	}
	refuse := func(no *refusal.Refusal, why string) (Grant, <-chan struct{}, *registry.Decision) {
		decision := deny("grant", no, why)
		return Grant{}, nil, &decision
	}
	if caller.Way != registry.MCP || caller.Grant == "" {
		return refuse(refusal.New(refusal.NotPermitted, "no grant", ""), "a call without a grant")
	}
	grant, ended, live := g.book.Get(caller.Grant)
	if !live {
		return refuse(refusal.New(refusal.Revoked, "this grant has ended", ""), "the grant was revoked between authentication and decision")
	}
	if caller.Ceiling > grant.Ceiling {
		return refuse(refusal.New(refusal.NotPermitted, "the person lowered what this caller may call meanwhile", "see what you are offered now"), "the caller claims a higher ceiling than its grant has")
	}
	if caller.Scope != grant.Scope || caller.Task != grant.Task || grant.Scope == registry.ScopeNone {
		return refuse(refusal.New(refusal.NotPermitted, "no grant", ""), "the caller is not what its grant says")
	}
	return grant, ended, nil
}

// again decides about a subject that was found before: the same ids, things as they are now.
func (g *Guard) again(caller registry.Caller, verb *registry.Verb, subject registry.Subject) registry.Decision {
	grant, ended, no := g.holder(caller)
	if no != nil {
		no.Subject = subject
		return *no
	}
	decision := registry.Decision{Allow: true, Rule: "full", Subject: subject, Ended: ended}
	v := g.viewOf(grant)
	gone := subject.Task != "" && !slices.ContainsFunc(v.tasks, func(t Task) bool { return t.ID == subject.Task })
	switch {
	case gone:
		decision = deny("sight", notFound("task"), "the task went out of sight since")
	case grant.Scope == registry.Scoped && subject.Child != nil:
		decision = g.childStill(grant, v, subject)
	case grant.Scope == registry.Scoped:
		decision = g.scoped(grant, v, verb, registry.Target{}, subject)
	}
	decision.Subject = subject
	return decision
}

func deny(rule string, no *refusal.Refusal, why string) registry.Decision {
	return registry.Decision{Refusal: no, Rule: rule, Why: why}
}
