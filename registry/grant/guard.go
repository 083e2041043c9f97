package grant

import (
	"context"

	"termic/registry"
	"termic/registry/ident"
	"termic/registry/refusal"
)

// Guard decides every call; it is the registry.Guard of the running app.
type Guard struct {
	book  *Book
	world World
}

// NewGuard returns a guard over the grants in book and the model behind world.
func NewGuard(book *Book, world World) *Guard { return &Guard{book, world} }

// Check implements registry.Guard. The router has already held the verb's audience and class against the
// caller's scope and ceiling.
func (g *Guard) Check(_ context.Context, caller registry.Caller, _ *registry.Verb, target registry.Target) registry.Decision {
	var grant Grant
	var ended <-chan struct{}
	switch {
	case caller.Way == registry.Window || caller.Way == registry.CLI:
		// The person: no grant, nothing that can end.
	case caller.Grant == "":
		return deny(refusal.New(refusal.NotPermitted, "no grant", ""), "a call over MCP without a grant")
	default:
		var live bool
		if grant, ended, live = g.book.Get(caller.Grant); !live {
			return deny(refusal.New(refusal.Revoked, "this grant has ended", ""), "the grant was revoked between authentication and decision")
		}
	}
	if caller.Scope != registry.Full {
		return deny(refusal.New(refusal.NotPermitted, "scoped callers are not served", ""), "scope "+caller.Scope.String())
	}
	if target.Live && caller.Way == registry.MCP {
		return deny(refusal.New(refusal.NotPermitted, "only the person may put a task on the project's own checkout", "leave live out"), "live checkout over mcp")
	}
	subject, no := g.find(grant, target)
	if no != nil {
		decision := deny(no, string(no.Code))
		decision.Subject = subject
		return decision
	}
	return registry.Decision{Allow: true, Subject: subject, Ended: ended}
}

func deny(no *refusal.Refusal, why string) registry.Decision {
	return registry.Decision{Refusal: no, Why: why}
}

// find looks up everything that the target names.
func (g *Guard) find(own Grant, target registry.Target) (registry.Subject, *refusal.Refusal) {
	view := finder{g.world.Projects(), g.world.Tasks()}
	var subject registry.Subject
	for _, selector := range target.Projects {
		project, no := view.project(selector)
		if no != nil {
			return subject, no
		}
		subject.Projects = append(subject.Projects, project.ID)
	}
	if target.OwnTask && target.Task == "" && own.Task != "" {
		target.Task = string(own.Task)
	}
	if target.Task == "" && target.OwnTask {
		return subject, refusal.New(refusal.BadInput, "no task given", "name the task")
	}
	if target.Task != "" {
		return g.findTask(view, subject, target)
	}
	project, no := g.findProject(view, own, target)
	subject.Project = project
	return subject, no
}

func (g *Guard) findTask(view finder, subject registry.Subject, target registry.Target) (registry.Subject, *refusal.Refusal) {
	task, no := view.task(target.Task, target.Tasks)
	if no != nil {
		return subject, no
	}
	subject.Task, subject.Project = task.ID, task.Project
	if target.Tab == "" && !target.MainTab {
		return subject, nil
	}
	subject.Tab, no = view.tab(target.Tab, task)
	return subject, no
}

// findProject finds the named project. A new task without one goes into the caller's own project, or into
// the only one that there is.
func (g *Guard) findProject(view finder, own Grant, target registry.Target) (ident.Project, *refusal.Refusal) {
	if target.Project != "" {
		project, no := view.project(target.Project)
		return project.ID, no
	}
	if target.Child == nil {
		return "", nil
	}
	for _, task := range view.tasks {
		if task.ID == own.Task && own.Task != "" {
			return task.Project, nil
		}
	}
	if len(view.projects) == 1 {
		return view.projects[0].ID, nil
	}
	return "", refusal.New(refusal.BadInput, "no project given", "name the project")
}
