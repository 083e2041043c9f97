package grant

import (
	"context"
	"testing"

	"termic/registry"
	"termic/registry/ident"
	"termic/registry/refusal"
	"termic/sandbox/capability"
)

// fakeWorld is a model that tests set up by hand. Every machine of it enforces everything, unless weak is set.
type fakeWorld struct {
	projects []Project
	tasks    []Task
	weak     bool
	// How often the tasks, the projects and what the machine enforces were asked for.
	asked, askedProjects, askedSupport int
}

func (w *fakeWorld) Projects() []Project { w.askedProjects++; return w.projects }
func (w *fakeWorld) Tasks() []Task       { w.asked++; return w.tasks }

func (w *fakeWorld) Support(capability.Mode) capability.Support {
	w.askedSupport++
	if w.weak {
		return capability.Support{}
	}
	return capability.Support{Write: true, Read: true, Network: true, Checkout: true, Control: true, Env: true, Bypass: true}
}

// task returns the task to change it.
func (w *fakeWorld) task(id ident.Task) *Task {
	for i := range w.tasks {
		if w.tasks[i].ID == id {
			return &w.tasks[i]
		}
	}
	panic("no task " + id)
}

func hosts(entries ...string) capability.Hosts {
	list, err := capability.HostsOf(entries...)
	if err != nil {
		panic(err)
	}
	return list
}

func paths(entries ...string) capability.Paths {
	list, err := capability.PathsOf(entries...)
	if err != nil {
		panic(err)
	}
	return list
}

// cage is the declaration of a caged task that may drive tasks in the projects; with none it has no control.
func cage(mode capability.Mode, network capability.Hosts, projects ...string) capability.Declared {
	d := capability.Declared{Mode: mode, Set: capability.Set{
		Network: network, Write: paths("/data/shared"), Read: paths("/opt/sdk"), Bypass: true,
	}}
	if len(projects) > 0 {
		control, err := capability.ScopedControl(projects...)
		if err != nil {
			panic(err)
		}
		d.Set.Control = control
	}
	return d
}

var uncaged = capability.Declared{Mode: capability.Off, Set: capability.Set{Control: capability.FullControl()}}

// The model of most tests here. An orchestrator B1 in project B may also act on C. It made two workers, one of
// which made a third. A1 is another's task; free is the person's, without a cage.
func newFakeWorld() *fakeWorld {
	agent := func(id ident.Tab, opener ident.Task) []Tab {
		return []Tab{{ID: id, Name: "claude", Agent: true, Opener: opener}}
	}
	worker := cage(capability.Enforce, hosts("api.example.com:443"))
	return &fakeWorld{
		projects: []Project{{"p-a", "alpha"}, {"p-b", "beta"}, {"p-c", "gamma"}},
		tasks: []Task{
			{ID: "t-a1", Name: "a1", Project: "p-a", Declared: cage(capability.Enforce, hosts("api.example.com:443"), "p-a"), Tabs: agent("b-a1", "")},
			{ID: "t-b1", Name: "b1", Project: "p-b", Declared: cage(capability.Enforce, hosts("*.example.com:443", "api.example.com:443"), "p-b", "p-c"), Tabs: agent("b-b1", "")},
			{ID: "t-w1", Name: "w1", Project: "p-b", Parents: []ident.Task{"t-b1"}, Declared: worker, Tabs: append(agent("b-w1", "t-b1"), Tab{ID: "b-w1s", Name: "shell", Opener: "t-w1"}, Tab{ID: "b-out", Name: "outside", Outside: true})},
			{ID: "t-w2", Name: "w2", Project: "p-c", Parents: []ident.Task{"t-b1"}, Declared: cage(capability.Enforce, hosts("api.example.com:443"), "p-c"), Tabs: agent("b-w2", "t-b1")},
			{ID: "t-w3", Name: "w3", Project: "p-c", Parents: []ident.Task{"t-w2", "t-b1"}, Declared: worker, Tabs: agent("b-w3", "t-w2")},
			{ID: "t-old", Name: "old", Project: "p-b", Parents: []ident.Task{"t-b1"}, Declared: worker, Archived: true},
			{ID: "t-free", Name: "free", Project: "p-c", Declared: uncaged, Tabs: agent("b-free", "")},
		},
	}
}

// scopedCaller is the caller behind a fresh token of a task of the world.
func scopedCaller(t *testing.T, w *fakeWorld, book *Book, id ident.Task) registry.Caller {
	t.Helper()
	task := w.task(id)
	limit, err := capability.Effective(task.Declared, w.Support(task.Declared.Mode))
	if err != nil {
		t.Fatal(err)
	}
	var projects []ident.Project
	for _, p := range task.Declared.Set.Control.Projects() {
		projects = append(projects, ident.Project(p))
	}
	token, _ := book.Issue(Grant{
		Task: id, Projects: projects, Scope: registry.Scoped, Limit: limit, Ceiling: registry.Write, Channel: OwnCage, Name: "task",
	})
	caller, ok := book.Caller(OwnCage, token)
	if !ok {
		t.Fatal("the token is not accepted")
	}
	return caller
}

// code is how a decision looks from outside: nothing when it allows.
func code(d registry.Decision) refusal.Code {
	if d.Allow {
		return ""
	}
	return d.Refusal.Code
}

func check(g *Guard, c registry.Caller, v *registry.Verb, target registry.Target) registry.Decision {
	return g.Check(context.Background(), c, v, target)
}
