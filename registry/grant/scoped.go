package grant

import (
	"slices"

	"termic/registry"
	"termic/registry/refusal"
	"termic/sandbox/capability"
)

// scoped decides about a subject that a scoped caller can see. Whatever a verb reaches that is not named here
// is refused.
func (g *Guard) scoped(grant Grant, v view, verb *registry.Verb, target registry.Target, subject registry.Subject) registry.Decision {
	switch {
	case verb.Scope != registry.Scoped || verb.Audience&registry.ForScoped == 0:
		// The router has said so already; a verb that declares nothing is reachable by nobody here either.
	case verb.Reach == registry.ReachSelf:
		return registry.Decision{Allow: true, Rule: "self", Subject: subject}
	case verb.Reach == registry.ReachCreate && target.Child != nil && subject.Task == "":
		return g.child(grant, v, target, subject)
	case subject.Task != "" && slices.Contains(targeted, verb.Reach):
		decision := g.onTask(grant, v, verb.Reach, subject)
		decision.Subject = subject
		return decision
	}
	return deny("scope", refusal.New(refusal.NotPermitted, "a caller of this scope may not do this", ""), "the verb reaches what no scoped caller does")
}

// targeted are the reaches of verbs that a scoped caller may use on a task.
var targeted = []registry.Reach{registry.ReachSight, registry.ReachContent, registry.ReachAct, registry.ReachClose}

// onTask decides about one task and one of its tabs: first the project list, then the limit (I5).
func (g *Guard) onTask(grant Grant, v view, reach registry.Reach, subject registry.Subject) registry.Decision {
	i := slices.IndexFunc(v.tasks, func(t Task) bool { return t.ID == subject.Task })
	if i < 0 {
		return deny("sight", notFound("task"), "the task is not in the caller's view")
	}
	task := v.tasks[i]
	if reach == registry.ReachSight {
		return registry.Decision{Allow: true, Rule: "sight"}
	}
	if !allListed(grant, task) {
		return deny("projects", refusal.New(refusal.ExceedsGrant, "the task's project is not in your grant", "ask the person to allow the project"), "the grant does not list every project of the task")
	}
	tab := Tab{}
	if subject.Tab != "" {
		j := slices.IndexFunc(task.Tabs, func(t Tab) bool { return t.ID == subject.Tab })
		if j < 0 {
			return deny("sight", notFound("tab"), "the tab is gone, or outside the cage")
		}
		tab = task.Tabs[j]
	}
	if no := g.exceeds(grant, task, tab); no != nil {
		return deny("limit", no, string(no.Code))
	}
	if reach == registry.ReachClose && tab.Opener != grant.Task {
		return deny("opener", refusal.New(refusal.NotPermitted, "a caged caller closes only tabs that it opened", "ask the person to close it"), "the tab was opened by somebody else")
	}
	return registry.Decision{Allow: true, Rule: "limit"}
}

// exceeds refuses a tab, or a whole task, that may touch more than the grant's limit. The refusal names the axis
// and nothing of the target's cage.
func (g *Guard) exceeds(grant Grant, task Task, tab Tab) *refusal.Refusal {
	reach := capability.Unbounded()
	if !tab.Outside {
		var err error
		if reach, err = capability.Effective(task.Declared, g.world.Support(task.Declared.Mode)); err != nil {
			return refusal.New(refusal.ExceedsGrant, "the cage of that task cannot be compared with yours", "ask the person").Because(err)
		}
	}
	if excess, ok := reach.Within(grant.Limit); !ok {
		return refusal.Newf(refusal.ExceedsGrant, "ask the person, or use a task that you made", "that task may do more than yours (%s)", excess.Axis)
	}
	return nil
}
