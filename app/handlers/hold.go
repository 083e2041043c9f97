package handlers

import (
	"context"
	"time"

	"termic/app/hold"
	"termic/registry"
	"termic/registry/verbs"
)

func (s Services) bindHolds(r *registry.Router) {
	bind(r, verbs.HoldList, s.holdList)
	bind(r, verbs.HoldAnswer, s.holdAnswer)
	bind(r, verbs.HoldPolicy, s.holdPolicy)
	bind(r, verbs.HoldForget, s.holdForget)
}

func (s Services) holdList(ctx context.Context, _ registry.Call, in verbs.HoldListIn) (verbs.HoldListOut, error) {
	pending, changed := s.Holds.Pending()
	timer := time.NewTimer(followFor)
	defer timer.Stop()
	for waits := in.Follow; waits && len(pending) == 0; {
		select {
		case <-changed:
			pending, changed = s.Holds.Pending()
		case <-timer.C:
			waits = false
		case <-ctx.Done():
			return verbs.HoldListOut{}, ctx.Err()
		}
	}
	out := verbs.HoldListOut{Calls: []verbs.HeldCall{}, Rules: []verbs.HoldRule{}}
	out.Calls = s.heldCalls(pending)
	rules, refused := s.Policy.Rules()
	for _, r := range rules {
		out.Rules = append(out.Rules, renderRule(r, false))
	}
	for _, r := range refused {
		out.Rules = append(out.Rules, renderRule(r, true))
	}
	return out, nil
}

func (s Services) heldCalls(pending []hold.Pending) []verbs.HeldCall {
	calls := make([]verbs.HeldCall, len(pending))
	for i, p := range pending {
		calls[i] = s.heldCall(p)
	}
	return calls
}

// heldCall renders a call for the person, who sees what it was called with.
func (s Services) heldCall(p hold.Pending) verbs.HeldCall {
	out := verbs.HeldCall{
		ID: p.ID, Since: p.Since.UTC().Format(time.RFC3339), Until: p.Until.UTC().Format(time.RFC3339), Holder: p.Holder, Verb: p.Verb.Name, Class: p.Verb.Class.String(),
		Arguments: string(p.Arguments), Digest: p.Digest, Always: p.Verb.Class != registry.Destructive,
	}
	if record, ok := s.Tasks.Get(p.Subject.Task); ok {
		out.Task = record.Name
	}
	if project, ok := s.Projects.Get(p.Subject.Project); ok {
		out.Project = project.Name
	}
	return out
}

func renderRule(r hold.Rule, refused bool) verbs.HoldRule {
	return verbs.HoldRule{ID: r.ID, Holder: r.Holder, Verb: r.Verb, Task: string(r.Task), Project: string(r.Project), Policy: string(r.Policy), Refused: refused}
}

func (s Services) holdAnswer(_ context.Context, _ registry.Call, in verbs.HoldAnswerIn) (verbs.None, error) {
	return verbs.None{}, s.Holds.Answer(in.ID, in.Digest, hold.Answer(in.Answer))
}

func (s Services) holdPolicy(_ context.Context, call registry.Call, in verbs.HoldPolicyIn) (verbs.None, error) {
	return verbs.None{}, s.Policy.Add(hold.Rule{Holder: in.Holder, Verb: in.Verb, Project: call.Subject.Project, Policy: hold.Mode(in.Policy)})
}

func (s Services) holdForget(_ context.Context, call registry.Call, in verbs.HoldForgetIn) (verbs.None, error) {
	return verbs.None{}, s.Policy.Forget(in.ID, call.Caller.Way != registry.Window)
}
