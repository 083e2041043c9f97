package grant

import (
	"slices"
	"strings"

	"termic/registry"
	"termic/registry/ident"
	"termic/registry/refusal"
	"termic/sandbox/capability"
)

// World is what the guard needs to know of the model. Answers come from memory: finding a target touches
// neither git nor disk.
type World interface {
	Projects() []Project
	// Tasks returns every task, archived ones included, with its open tabs in order.
	Tasks() []Task
	// Support is which axes this machine holds a task of the mode to.
	Support(mode capability.Mode) capability.Support
}

// Project is a project as the guard sees it.
type Project struct {
	ID   ident.Project
	Name string
}

// Task is a task as the guard sees it.
type Task struct {
	ID   ident.Task
	Name string
	// Namespace is the task in whose names its own is kept apart; empty for the person's.
	Namespace ident.Task
	Project   ident.Project
	// Also are the projects of its further repositories.
	Also     []ident.Project
	Archived bool
	// Parents are the tasks from which it descends, the nearest first. Fixed when it was made.
	Parents []ident.Task
	// Declared is its cage as it was chosen. The zero value is no cage that can be compared: a scoped caller
	// reaches nothing of such a task.
	Declared capability.Declared
	Tabs     []Tab
}

// projects returns every project that the task works in.
func (t Task) projects() []ident.Project { return append([]ident.Project{t.Project}, t.Also...) }

// Tab is a tab as the guard sees it.
type Tab struct {
	ID   ident.Tab
	Name string
	// Agent tells an agent's tab from a shell's.
	Agent bool
	// Outside: what runs in it is in no cage, although the task has one. No scoped caller sees it.
	Outside bool
	// Opener is the task whose token opened it; empty when the person or an outside client did.
	Opener ident.Task
}

// maxShown is how many names an "ambiguous" answer lists; more would be no help.
const maxShown = 8

// choose returns the one item that the selector means: an exact id, else an exact name, else the only one
// whose name or id begins with it. label is how an item is named in an "ambiguous" answer. How long it takes
// depends on the items that it is given and on what it finds among them, and on nothing else.
func choose[T any](kind, selector string, items []T, id, name, label func(T) string) (T, *refusal.Refusal) {
	var none T
	for _, fits := range []func(T) bool{
		func(t T) bool { return id(t) == selector },
		func(t T) bool { return name(t) == selector || label(t) == selector },
		func(t T) bool {
			return strings.HasPrefix(name(t), selector) || strings.HasPrefix(id(t), selector) || strings.HasPrefix(label(t), selector)
		},
	} {
		var found []T
		for _, item := range items {
			if fits(item) {
				found = append(found, item)
			}
		}
		if len(found) == 1 {
			return found[0], nil
		}
		if len(found) > 1 {
			return none, ambiguous(kind, found, label)
		}
	}
	return none, notFound(kind)
}

// notFound is the same for what does not exist and for what the caller may not see (I7): it does not repeat
// the selector, so that not even its length differs.
func notFound(kind string) *refusal.Refusal {
	return refusal.New(refusal.NotFound, "no such "+kind, seeList)
}

// What to do about what is not found. A scoped caller has no list to look at.
const (
	seeList  = "look at the list of what there is"
	seeScope = "name your own task, one that you made, or what is in them; task_status of your own task says what you may act on"
)

// inScope returns a refusal in the words of a scoped caller. They do not depend on what is hidden from it.
func inScope(no *refusal.Refusal) *refusal.Refusal {
	if no == nil || no.Remedy != seeList {
		return no
	}
	return refusal.New(no.Code, no.Reason, seeScope)
}

func ambiguous[T any](kind string, found []T, label func(T) string) *refusal.Refusal {
	names := make([]string, len(found))
	for i, item := range found {
		names[i] = label(item)
	}
	slices.Sort(names)
	more := ""
	if len(names) > maxShown {
		names, more = names[:maxShown], ", …"
	}
	return refusal.New(refusal.Ambiguous, "that fits more than one "+kind+": "+strings.Join(names, ", ")+more, "use the full name or the id")
}

// finder looks names up in one view of the world: what one caller may see.
type finder struct {
	projects []Project
	tasks    []Task
	// everything tells that nothing is hidden from the caller: the person, and holders of a full grant.
	everything bool
}

func (f finder) project(selector string) (Project, *refusal.Refusal) {
	name := func(p Project) string { return p.Name }
	return choose("project", selector, f.projects, func(p Project) string { return string(p.ID) }, name, name)
}

func (f finder) task(selector string, which registry.Which) (Task, *refusal.Refusal) {
	task, no := f.pick(selector, which)
	if no != nil {
		return Task{}, no
	}
	return *task, nil
}

// pick looks through pointers: a task is large, and every call looks through all of them several times.
func (f finder) pick(selector string, which registry.Which) (*Task, *refusal.Refusal) {
	var live, archived []*Task
	for i := range f.tasks {
		if t := &f.tasks[i]; t.Archived {
			archived = append(archived, t)
		} else {
			live = append(live, t)
		}
	}
	switch which {
	case registry.LiveTasks:
		return f.oneOf(selector, live, archived, refusal.New(refusal.NotFound, "that task is archived", "restore it first"))
	case registry.ArchivedTasks:
		return f.oneOf(selector, archived, live, refusal.New(refusal.NotFound, "that task is not archived", "only an archived task can be restored or purged: archive it first"))
	}
	named := func(t *Task) bool { return f.exactly(selector, t) }
	task, no := f.own(selector, live)
	if no == nil && !named(task) && slices.ContainsFunc(archived, named) || no != nil && no.Code == refusal.NotFound {
		return f.own(selector, archived)
	}
	return task, no
}

// oneOf finds a task among some, and never one whose name merely begins so while another task has the very name: a command
// that is repeated after its task was archived would hit a second one. Who sees everything is told that
// it is one of the others that is meant; for a scoped caller, who could do nothing about it, there is no such task.
func (f finder) oneOf(selector string, tasks, others []*Task, other *refusal.Refusal) (*Task, *refusal.Refusal) {
	task, no := f.own(selector, tasks)
	if no == nil && !f.exactly(selector, task) && slices.ContainsFunc(others, func(t *Task) bool { return f.exactly(selector, t) }) {
		return nil, other
	}
	if no != nil && no.Code == refusal.NotFound && f.everything {
		if _, missing := f.own(selector, others); missing == nil || missing.Code == refusal.Ambiguous {
			return nil, other
		}
	}
	return task, no
}

// own prefers the person's tasks, for whoever sees them: what agents call theirs never stands in the way of a name.
func (f finder) own(selector string, tasks []*Task) (*Task, *refusal.Refusal) {
	if f.everything {
		persons := slices.DeleteFunc(slices.Clone(tasks), func(t *Task) bool { return t.Namespace != "" })
		if task, no := f.taskOf(selector, persons); no == nil || no.Code != refusal.NotFound {
			return task, no
		}
	}
	return f.taskOf(selector, tasks)
}

func (f finder) exactly(selector string, t *Task) bool {
	return string(t.ID) == selector || t.Name == selector || f.label(t) == selector
}

func (f finder) taskOf(selector string, tasks []*Task) (*Task, *refusal.Refusal) {
	return choose("task", selector, tasks, func(t *Task) string { return string(t.ID) }, func(t *Task) string { return t.Name }, f.label)
}

// label is a task's name with all that tells it from others of that name.
func (f finder) label(t *Task) string {
	project := ""
	if i := slices.IndexFunc(f.projects, func(p Project) bool { return p.ID == t.Project }); i >= 0 {
		project = f.projects[i].Name
	}
	if t.Namespace == "" {
		return project + "/" + t.Name
	}
	return project + "/" + string(t.Namespace) + "/" + t.Name
}

// tab finds a tab of task. An empty selector means the main tab: the first agent's, else the first.
func (f finder) tab(selector string, task Task) (ident.Tab, *refusal.Refusal) {
	if selector != "" {
		name := func(t Tab) string { return t.Name }
		tab, no := choose("tab", selector, task.Tabs, func(t Tab) string { return string(t.ID) }, name, name)
		return tab.ID, no
	}
	if len(task.Tabs) == 0 {
		return "", refusal.New(refusal.NotFound, "the task has no open tab", "open one in it first")
	}
	if i := slices.IndexFunc(task.Tabs, func(t Tab) bool { return t.Agent }); i >= 0 {
		return task.Tabs[i].ID, nil
	}
	return task.Tabs[0].ID, nil
}
