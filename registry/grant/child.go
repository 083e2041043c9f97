package grant

import (
	"errors"
	"regexp"
	"slices"

	"termic/registry"
	"termic/registry/ident"
	"termic/registry/refusal"
	"termic/sandbox/capability"
)

// childName is what a scoped caller may name a task: it becomes a part of a branch and of a directory.
var childName = regexp.MustCompile(`^[a-z0-9-]{1,40}$`)

// child decides about a new task of a scoped caller, and says what its cage is: what was asked for, and the
// caller's own where nothing was. Nothing is narrowed silently: what is too wide is refused (I6).
func (g *Guard) child(grant Grant, v view, target registry.Target, subject registry.Subject) registry.Decision {
	refuse := func(rule string, no *refusal.Refusal, why string) registry.Decision {
		decision := deny(rule, no, why)
		decision.Subject = subject
		return decision
	}
	if v.own.ID == "" || v.own.Archived {
		return refuse("parent", refusal.New(refusal.NotPermitted, "only a live task may make others", ""), "the grant's task is gone or archived")
	}
	if !slices.Contains(grant.Projects, subject.Project) {
		return refuse("projects", notFound("project"), "the grant does not list the project")
	}
	if !childName.MatchString(target.Child.Name) {
		return refuse("name", refusal.New(refusal.BadInput, "a name of a task that you make is 1 to 40 of a-z, 0-9 and hyphen", "choose another name"), "")
	}
	child, err := inherit(v.own, subject, *target.Child)
	if err != nil {
		return refuse("wish", invalid(err), "")
	}
	subject.Child = &child
	subject.Projects = projectsOf(child, subject.Project)
	if no := g.wider(grant, v.own, child); no != nil {
		return refuse("limit", no, "the new task would exceed its maker")
	}
	return registry.Decision{Allow: true, Rule: "child", Subject: subject}
}

// inherit returns the cage that a task asks for its child.
func inherit(own Task, subject registry.Subject, wish registry.Wish) (capability.Declared, error) {
	child := own.Declared
	child.Set.Checkout = capability.OwnCheckout
	child.Set.Write = capability.Paths{} // which are its maker's: two tasks never share what they write (I8)
	var err error
	set := func(fail error) { err = errors.Join(err, fail) }
	if wish.Cage != "" {
		mode, fail := capability.ParseMode(wish.Cage)
		child.Mode = mode
		set(fail)
	}
	if wish.Hosts != nil {
		list, fail := capability.HostsOf(wish.Hosts...)
		child.Set.Network = list
		set(fail)
	}
	if wish.Read != nil {
		list, fail := capability.PathsOf(wish.Read...)
		child.Set.Read = list
		set(fail)
	}
	if wish.Write != nil {
		list, fail := capability.PathsOf(wish.Write...)
		child.Set.Write = list
		set(fail)
	}
	if wish.Env != nil {
		list, fail := capability.NamesOf(wish.Env...)
		child.Set.Env = list
		set(fail)
	}
	child.Set.Bypass = capability.Bypass(child.Mode.Caged())
	control, fail := childControl(own, subject, wish)
	child.Set.Control = control
	set(fail)
	return child, err
}

// childControl is what the child may drive: nothing when that was asked for or its maker may not either, else
// tasks in its own project and in those named, or in all of its maker's when none were.
func childControl(own Task, subject registry.Subject, wish registry.Wish) (capability.Control, error) {
	mcp := own.Declared.Set.Control.Level() != "none"
	if wish.MCP != nil {
		mcp = *wish.MCP
	}
	if !mcp {
		return capability.Control{}, nil
	}
	projects := []string{string(subject.Project)}
	if wish.Projects {
		for _, id := range subject.Projects {
			projects = append(projects, string(id))
		}
	} else {
		projects = append(projects, own.Declared.Set.Control.Projects()...)
	}
	return capability.ScopedControl(projects...)
}

// projectsOf are the projects that a task's token may act on, besides its own.
func projectsOf(declared capability.Declared, own ident.Project) []ident.Project {
	var list []ident.Project
	for _, id := range declared.Set.Control.Projects() {
		if id != string(own) {
			list = append(list, ident.Project(id))
		}
	}
	return list
}

// wider refuses a child that would be less caged than its maker, or than the grant that it is made with. The
// refusal names what is too much and what would fit: both are the caller's own.
func (g *Guard) wider(grant Grant, own Task, child capability.Declared) *refusal.Refusal {
	support := g.world.Support(own.Declared.Mode)
	err := child.ChildOf(own.Declared, support)
	if err == nil {
		var reach capability.Set
		if reach, err = capability.Effective(child, g.world.Support(child.Mode)); err == nil {
			if excess, ok := reach.Within(grant.Limit); !ok {
				err = excess
			}
		}
	}
	var excess capability.Excess
	switch {
	case err == nil:
		return nil
	case errors.As(err, &excess) && excess.Axis == capability.AxisMode:
		return refusal.Newf(refusal.ExceedsGrant, "leave cage out, or ask for "+own.Declared.Mode.String()+" or stricter", "%v", excess)
	case errors.As(err, &excess):
		return refusal.Newf(refusal.ExceedsGrant, "leave it out to inherit, or ask for less; your own task: "+grant.Limit.On(excess.Axis), "%v", excess)
	}
	return refusal.New(refusal.ExceedsGrant, "such a cage cannot be compared with yours", "leave the cage out").Because(err)
}

// childStill decides again about a child that was allowed, just before it is made.
func (g *Guard) childStill(grant Grant, v view, subject registry.Subject) registry.Decision {
	switch {
	case v.own.ID == "" || v.own.Archived:
		return deny("parent", refusal.New(refusal.NotPermitted, "only a live task may make others", ""), "the maker went meanwhile")
	case !slices.Contains(grant.Projects, subject.Project):
		return deny("projects", notFound("project"), "the project left the grant meanwhile")
	}
	if no := g.wider(grant, v.own, *subject.Child); no != nil {
		return deny("limit", no, "the maker's cage changed meanwhile")
	}
	return registry.Decision{Allow: true, Rule: "child"}
}

// invalid is the refusal of a wish that is none.
func invalid(err error) *refusal.Refusal {
	var bad *capability.InvalidError
	if errors.As(err, &bad) {
		return refusal.New(refusal.BadInput, bad.Error(), "write it so")
	}
	return refusal.New(refusal.BadInput, "the cage cannot be read", "see the description of the fields").Because(err)
}
