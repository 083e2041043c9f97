package grant

import (
	"context"
	"fmt"

	"termic/registry"
	"termic/registry/grant/model"
	"termic/registry/ident"
	"termic/registry/refusal"
	"termic/registry/verbs"
	"termic/sandbox/capability"
)

// machine runs one sequence of steps before the guard and before the model at once. The state is the model's; the
// guard is shown it in its own words, and what it allows is what happens.
type machine struct {
	t      fataler
	s      model.State
	book   *Book
	guard  *Guard
	ids    []ident.Grant // of s.Grants
	tokens []string      // of s.Grants
	queue  []queued
	steps  []string
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// person stands for the person where a grant is asked for: whoever holds none and may do everything.
const person = -1

// queued is a text that waits in a tab, with its sender's grant, what its sender did to put it there, how often it is still
// to be delivered, and the second look that goes with it.
type queued struct {
	grant, task, tab, times int
	deed                    model.Deed
	again                   func() registry.Decision
}

// how a call has its effect: at once, when its tab settles, or after it was held for the person.
type how int

const (
	now how = iota
	waiting
	held
)

func newMachine(t fataler) *machine {
	m := &machine{t: t, book: NewBook()}
	m.guard = NewGuard(m.book, m)
	return m
}

func taskID(i int) ident.Task       { return ident.Task(fmt.Sprintf("t-%04d", i)) }
func tabID(i int) ident.Tab         { return ident.Tab(fmt.Sprintf("b-%04d", i)) }
func projectID(i int) ident.Project { return ident.Project(fmt.Sprint("p-", i)) }

const modelProjects = 3

// Projects, Tasks and Support show the model's state to the guard.
func (m *machine) Projects() []Project {
	var list []Project
	for i := range modelProjects {
		list = append(list, Project{projectID(i), fmt.Sprint("project", i)})
	}
	return list
}

func (m *machine) Tasks() []Task {
	var list []Task
	for i, task := range m.s.Tasks {
		t := Task{ID: taskID(i), Name: fmt.Sprint("task", i), Project: projectID(task.Project), Archived: task.Archived, Declared: declared(task.Cage)}
		for _, p := range task.Parents {
			t.Parents = append(t.Parents, taskID(p))
		}
		for _, tab := range task.Tabs {
			opener := ident.Task("")
			if o := m.s.Tabs[tab].Opener; o >= 0 {
				opener = taskID(o)
			}
			t.Tabs = append(t.Tabs, Tab{ID: tabID(tab), Name: fmt.Sprint("tab", tab), Agent: true, Outside: m.s.Tabs[tab].Outside, Opener: opener})
		}
		list = append(list, t)
	}
	return list
}

func (m *machine) Support(capability.Mode) capability.Support {
	return capability.Support{Write: true, Read: true, Network: true, Checkout: true, Control: true, Env: true, Bypass: true}
}

func words(set uint8, format string) []string {
	list := []string{}
	for bit := range 2 {
		if set&(1<<bit) != 0 {
			list = append(list, fmt.Sprintf(format, bit))
		}
	}
	return list
}

const (
	hostFormat = "host%d.example.com:443"
	pathFormat = "/data/%d" // to read and to write: which are the same places
	envFormat  = "NAME_%d"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// said keeps what declared has made: the same few cages are shown to the guard over and over. Tests of this file run
// one after the other.
var said = map[model.Cage]capability.Declared{}

// declared says a cage of the model in the guard's words.
func declared(c model.Cage) capability.Declared {
	if d, ok := said[c]; ok {
		return d
	}
	d := capability.Declared{Mode: capability.Mode(c.Mode), Set: capability.Set{
		Network: must(capability.HostsOf(words(c.Net, hostFormat)...)), Read: must(capability.PathsOf(words(c.Read, pathFormat)...)),
		Write: must(capability.PathsOf(words(c.Write, pathFormat)...)), Env: must(capability.NamesOf(words(c.Env, envFormat)...)),
		Checkout: capability.Checkout(c.Live), Bypass: capability.Bypass(c.Mode >= model.EnforceFS),
	}}
	switch c.Control {
	case model.NoControl:
	case int(model.All):
		d.Set.Control = capability.FullControl()
	default:
		d.Set.Control = must(capability.ScopedControl(projectNames(uint8(c.Control))...))
	}
	said[c] = d
	return d
}

func projectNames(set uint8) []string {
	list := []string{}
	for i := range modelProjects {
		if set&(1<<i) != 0 {
			list = append(list, string(projectID(i)))
		}
	}
	return list
}

// mint gives a task a fresh token, as the app does when its cage starts.
func (m *machine) mint(task int) {
	c := m.s.Tasks[task].Cage
	if c.Control == model.NoControl || c.Mode == model.Off || m.s.Tasks[task].Archived {
		return
	}
	reach, ok := c.Effective()
	if !ok {
		return
	}
	limit := must(capability.Effective(declared(c), m.Support(0)))
	g := Grant{Task: taskID(task), Scope: registry.Scoped, Ceiling: registry.Write, Limit: limit, Channel: OwnCage}
	projects := uint8(c.Control) & 7
	for _, p := range projectNames(projects) {
		g.Projects = append(g.Projects, ident.Project(p))
	}
	m.issue(g, model.Grant{Task: task, Ceiling: model.Writes, Door: model.CageDoor, Projects: projects, Limit: reach})
}

// client gives an outside client a token. Its ceiling is a class of the model, and so of the guard: both count from 1.
func (m *machine) client(ceiling int) {
	m.issue(Grant{Scope: registry.Full, Ceiling: registry.Class(ceiling), Channel: HostPort, Name: "client"},
		model.Grant{Task: model.NoTask, Full: true, Ceiling: ceiling, Door: model.HostDoor})
}

func (m *machine) issue(g Grant, said model.Grant) {
	token, id := m.book.Issue(g)
	m.ids, m.tokens = append(m.ids, id), append(m.tokens, token)
	m.s.Grants = append(m.s.Grants, said)
}

func (m *machine) revoke(grant int) {
	m.s.Grants[grant].Revoked = true
	m.book.Revoke(func(g Grant) bool { return g.ID == m.ids[grant] })
}

func (m *machine) revokeTask(task int) {
	for i, g := range m.s.Grants {
		if g.Task == task && !g.Revoked {
			m.revoke(i)
		}
	}
}

func (m *machine) open(task, opener int, outside bool) {
	m.s.Tabs = append(m.s.Tabs, model.Tab{Task: task, Outside: outside, Opener: opener})
	m.s.Tasks[task].Tabs = append(m.s.Tasks[task].Tabs, len(m.s.Tabs)-1)
}

func (m *machine) endTabs(task int) {
	for _, tab := range m.s.Tasks[task].Tabs {
		m.s.Tabs[tab].Ended = true
	}
	m.s.Tasks[task].Tabs = nil
}

// add makes a task of the person's.
func (m *machine) add(project int, cage model.Cage, parents ...int) int {
	m.s.Tasks = append(m.s.Tasks, model.Task{Parents: parents, Project: project, Cage: cage})
	task := len(m.s.Tasks) - 1
	opener := -1
	if len(parents) > 0 {
		opener = parents[0]
	}
	m.open(task, opener, false)
	m.mint(task)
	return task
}

func (m *machine) caller(grant int) registry.Caller {
	if grant == person {
		return registry.Person(registry.CLI)
	}
	g := m.s.Grants[grant]
	c := registry.Caller{Way: registry.MCP, Scope: registry.Scoped, Ceiling: registry.Class(g.Ceiling), Grant: m.ids[grant]}
	if g.Full {
		c.Scope, c.Name = registry.Full, "client"
	} else {
		c.Task = taskID(g.Task)
	}
	return c
}

var deeds = map[model.Deed]*registry.Verb{
	model.Look: verbs.TaskStatus.Verb(), model.Read: verbs.TaskLog.Verb(), model.Put: verbs.TaskSend.Verb(), model.Close: verbs.TaskTabClose.Verb(),
	model.ListQueue: verbs.QueueList.Verb(), model.EditQueue: verbs.QueueEdit.Verb(), model.CancelQueue: verbs.QueueCancel.Verb(), model.Apply: verbs.TaskApply.Verb(),
}

func verdict(d registry.Decision) model.Verdict {
	if d.Allow {
		return model.Allowed
	}
	switch d.Refusal.Code {
	case refusal.NotFound:
		return model.Hidden
	case refusal.ExceedsGrant:
		return model.Exceeds
	case refusal.Revoked:
		return model.Revoked
	}
	return model.Denied
}

func (m *machine) note(format string, args ...any) {
	m.steps = append(m.steps, fmt.Sprintf(format, args...))
}

func (m *machine) fail(format string, args ...any) {
	m.t.Helper()
	m.t.Fatalf("%s\nafter %q\nstate %+v", fmt.Sprintf(format, args...), m.steps, m.s)
}

// create has a caller make a task; between is done after the decision and before the effect.
func (m *machine) create(grant int, w model.Wish, between func()) {
	if m.s.Grants[grant].Full {
		return // who makes what it likes
	}
	m.note("grant %d (task %d) makes %s", grant, m.s.Grants[grant].Task, wishText(w))
	d := m.guard.Check(context.Background(), m.caller(grant), verbs.TaskNew.Verb(), wishTarget(w))
	want, project, cage := m.s.Child(grant, w)
	if verdict(d) != want {
		m.fail("the guard says %v (%s, %v), the model %v", verdict(d), d.Rule, d.Refusal, want)
	}
	if !d.Allow {
		return
	}
	if got := *d.Subject.Child; got.Mode != capability.Mode(cage.Mode) || !got.Set.Equal(declared(cage).Set) || d.Subject.Project != projectID(project) {
		m.fail("the child is %s %q, the model's %+v", got.Mode, got.Set.Words(), cage)
	}
	between()
	again := d.Again()
	still := m.s.Grants[grant]
	if still.Revoked && again.Allow {
		m.fail("a revoked grant made a task")
	}
	if !again.Allow {
		return
	}
	own := m.s.Grants[grant].Task
	mine, _ := m.s.Tasks[own].Cage.Effective()
	its, _ := cage.Effective()
	if !its.Within(mine) || cage.Mode < m.s.Tasks[own].Cage.Mode || cage.Live || m.s.Tasks[own].Archived {
		m.fail("a child that is less caged than its maker: %+v", cage)
	}
	m.add(project, cage, append([]int{own}, m.s.Tasks[own].Parents...)...)
}

func wishText(w model.Wish) string {
	text := fmt.Sprintf("project %d mode %d live %v", w.Project, w.Mode, w.Live)
	for name, set := range map[string]*uint8{"net": w.Net, "read": w.Read, "write": w.Write, "env": w.Env, "projects": w.Projects} {
		if set != nil {
			text += fmt.Sprintf(" %s %b", name, *set)
		}
	}
	if w.MCP != nil {
		text += fmt.Sprintf(" mcp %v", *w.MCP)
	}
	return text
}

// wishTarget says a wish in the guard's words.
func wishTarget(w model.Wish) registry.Target {
	child := &registry.Wish{Name: "kid", MCP: w.MCP}
	target := registry.Target{Child: child, Live: w.Live}
	if w.Project >= 0 {
		target.Project = string(projectID(w.Project))
	}
	if w.Mode != 0 {
		child.Cage = capability.Mode(w.Mode).String()
	}
	for _, axis := range []struct {
		asked  *uint8
		into   *[]string
		format string
	}{{w.Net, &child.Hosts, hostFormat}, {w.Read, &child.Read, pathFormat}, {w.Write, &child.Write, pathFormat}, {w.Env, &child.Env, envFormat}} {
		if axis.asked != nil {
			*axis.into = words(*axis.asked, axis.format)
		}
	}
	if w.Projects != nil {
		child.Projects, target.Projects = true, projectNames(*w.Projects)
	}
	return target
}

// edit is the person's change of a cage. keepTabs leaves the tabs as they are, which the app never does: the second
// look has to hold even so.
func (m *machine) edit(task int, cage model.Cage, keepTabs bool) {
	if cage.Control > 0 && cage.Control != int(model.All) {
		cage.Control |= 1 << m.s.Tasks[task].Project // a task's own project is always among them
	}
	m.note("the person makes task %d %+v (tabs stay: %v)", task, cage, keepTabs)
	m.revokeTask(task)
	if !keepTabs {
		m.endTabs(task)
	}
	m.s.Tasks[task].Cage = cage
	if !keepTabs {
		m.open(task, -1, false)
	}
	m.mint(task)
}

func (m *machine) archive(task int) {
	m.note("task %d is archived", task)
	m.revokeTask(task)
	m.endTabs(task)
	m.s.Tasks[task].Archived = true
}

func (m *machine) restore(task int) {
	m.note("task %d is restored", task)
	m.revokeTask(task)
	m.endTabs(task)
	m.s.Tasks[task].Archived = false
	m.open(task, -1, false)
	m.mint(task)
}
