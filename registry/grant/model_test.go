package grant

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

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
	t     fataler
	s     model.State
	book  *Book
	guard *Guard
	ids   []ident.Grant // of s.Grants
	queue []queued
	steps []string
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// queued is a text that waits in a tab, with its sender's grant and the second look that goes with it.
type queued struct {
	grant, task, tab int
	again            func() registry.Decision
}

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
	_, id := m.book.Issue(g)
	m.ids = append(m.ids, id)
	m.s.Grants = append(m.s.Grants, model.Grant{Task: task, Projects: projects, Limit: reach})
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
	g := m.s.Grants[grant]
	return registry.Caller{Way: registry.MCP, Scope: registry.Scoped, Ceiling: registry.Write, Grant: m.ids[grant], Task: taskID(g.Task)}
}

var deeds = map[model.Deed]*registry.Verb{
	model.Look: verbs.TaskStatus.Verb(), model.Read: verbs.TaskLog.Verb(), model.Put: verbs.TaskSend.Verb(), model.Close: verbs.TaskTabClose.Verb(),
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

// on has a caller do something to a tab; deliver at once or queue.
func (m *machine) on(grant int, deed model.Deed, task, tab int, later bool) {
	m.note("grant %d (task %d) does %d to task %d tab %d", grant, m.s.Grants[grant].Task, deed, task, tab)
	target := registry.Target{Task: string(taskID(task))}
	if deed != model.Look {
		target.Tab = string(tabID(tab))
	} else {
		target.Tasks, tab = registry.AllTasks, -1
	}
	d := m.guard.Check(context.Background(), m.caller(grant), deeds[deed], target)
	if want := m.s.On(grant, deed, task, tab); verdict(d) != want {
		m.fail("the guard says %v (%s, %s), the model %v", verdict(d), d.Rule, d.Why, want)
	}
	if verdict(d) == model.Hidden && d.Refusal.Error() != inScope(notFound("task")).Error() && d.Refusal.Error() != inScope(notFound("tab")).Error() {
		m.fail("what is hidden is answered %v", d.Refusal)
	}
	if !d.Allow || deed == model.Look {
		return
	}
	if deed == model.Put && later {
		m.queue = append(m.queue, queued{grant, task, tab, d.Again})
		return
	}
	m.happens(grant, task, tab)
	if deed == model.Close {
		if m.s.Tabs[tab].Opener != m.s.Grants[grant].Task {
			m.fail("a tab of somebody else was closed")
		}
		m.s.Tabs[tab].Ended = true
		m.s.Tasks[task].Tabs = remove(m.s.Tasks[task].Tabs, tab)
	}
}

func remove(list []int, v int) []int {
	var rest []int
	for _, x := range list {
		if x != v {
			rest = append(rest, x)
		}
	}
	return rest
}

// happens is what is checked of every text that reached a tab and all content that left one (I2, I4, I5, I7).
func (m *machine) happens(grant, task, tab int) {
	m.t.Helper()
	g := m.s.Grants[grant]
	reach, ok := m.s.Reaches(task, tab)
	switch {
	case g.Revoked:
		m.fail("a revoked grant had an effect")
	case !ok || !reach.Within(g.Limit):
		m.fail("text or content crossed to task %d tab %d, which may do more than its sender", task, tab)
	case !m.s.Sees(grant, task):
		m.fail("an effect out of sight")
	case g.Projects&(1<<m.s.Tasks[task].Project) == 0:
		m.fail("an effect outside the project list")
	case m.s.Tabs[tab].Ended || m.s.Tabs[tab].Outside:
		m.fail("an effect on a tab that is not there for the caller")
	}
}

// settle delivers what waits in a tab.
func (m *machine) settle(tab int) {
	m.note("tab %d settles", tab)
	var rest []queued
	for _, q := range m.queue {
		switch {
		case q.tab != tab:
			rest = append(rest, q)
		case m.s.Tabs[tab].Ended: // the queue went with the tab
		default:
			d := q.again()
			if want := m.s.On(q.grant, model.Put, q.task, q.tab); (want == model.Allowed) != d.Allow {
				m.fail("at delivery the guard says %v (%s), the model %v", verdict(d), d.Why, want)
			}
			if d.Allow {
				m.happens(q.grant, q.task, q.tab)
			}
		}
	}
	m.queue = rest
}

// create has a caller make a task; between is done after the decision and before the effect.
func (m *machine) create(grant int, w model.Wish, between func()) {
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

// start is the state in which sequences begin: two orchestrators in two projects, a worker of each, a task without a
// cage.
func (m *machine) start() {
	lead := model.Cage{Mode: model.Enforce, Net: 3, Read: 3, Write: 1, Env: 1, Control: 3}
	small := model.Cage{Mode: model.Enforce, Net: 1, Read: 1, Control: model.NoControl}
	a := m.add(0, lead)
	m.add(0, small, a)
	b := m.add(1, model.Cage{Mode: model.EnforceFS, Net: 0, Read: 1, Control: 6})
	m.add(2, model.Cage{Mode: model.Enforce, Net: 3, Read: 1, Control: 4}, b)
	m.add(1, model.Cage{Mode: model.Off, Control: int(model.All)})
}

func pickSet(r *rand.Rand) *uint8 {
	if r.IntN(2) == 0 {
		return nil
	}
	v := uint8(r.IntN(4))
	return &v
}

func randomCage(r *rand.Rand) model.Cage {
	c := model.Cage{Mode: 1 + r.IntN(4), Net: uint8(r.IntN(4)), Read: uint8(r.IntN(4)), Write: uint8(r.IntN(4)), Env: uint8(r.IntN(4)), Control: model.NoControl}
	switch {
	case c.Mode == model.Off:
		c.Control = int(model.All)
	case r.IntN(3) > 0:
		c.Control = 1 + r.IntN(7)
	}
	c.Live = c.Mode < model.EnforceFS && r.IntN(4) == 0
	return c
}

func randomWish(r *rand.Rand) model.Wish {
	w := model.Wish{Project: r.IntN(modelProjects+1) - 1, Net: pickSet(r), Read: pickSet(r), Write: pickSet(r), Env: pickSet(r), Live: r.IntN(20) == 0}
	if r.IntN(3) == 0 {
		w.Mode = 1 + r.IntN(4)
	}
	if r.IntN(2) == 0 {
		v := r.IntN(2) == 0
		w.MCP = &v
	}
	if r.IntN(2) == 0 {
		v := uint8(r.IntN(8))
		w.Projects = &v
	}
	return w
}

// step does one thing at random.
func (m *machine) step(r *rand.Rand) {
	grant, task, tab := r.IntN(len(m.s.Grants)), r.IntN(len(m.s.Tasks)), r.IntN(len(m.s.Tabs))
	if r.IntN(4) > 0 { // mostly a tab that is there
		if tabs := m.s.Tasks[task].Tabs; len(tabs) > 0 {
			tab = tabs[r.IntN(len(tabs))]
		}
	}
	switch r.IntN(16) {
	case 0, 1, 2:
		m.on(grant, model.Put, task, tab, r.IntN(2) == 0)
	case 3:
		m.on(grant, model.Read, task, tab, false)
	case 4:
		m.on(grant, model.Look, task, tab, false)
	case 5:
		m.on(grant, model.Close, task, tab, false)
	case 6, 7, 8:
		m.create(grant, randomWish(r), func() {
			if r.IntN(3) == 0 {
				m.person(r, task, grant)
			}
		})
	case 9, 10, 11:
		m.settle(tab)
	default:
		m.person(r, task, grant)
	}
}

// person does one thing that only the person does.
func (m *machine) person(r *rand.Rand, task, grant int) {
	switch r.IntN(6) {
	case 0:
		m.archive(task)
	case 1:
		m.restore(task)
	case 2:
		m.note("grant %d is revoked", grant)
		m.revoke(grant)
	case 3:
		m.note("the person opens a tab outside in task %d", task)
		m.open(task, -1, true)
	default:
		m.edit(task, randomCage(r), r.IntN(2) == 0)
	}
}

func TestRandomSequencesAgreeWithTheModel(t *testing.T) {
	const sequences, length = 400, 50
	for seed := range uint64(sequences) {
		m := newMachine(t)
		m.start()
		r := rand.New(rand.NewPCG(seed, 1))
		m.note("seed %d", seed)
		for range length {
			m.step(r)
		}
	}
}

// shortSteps are the steps of the exhaustive run. They act on the task of their number in the start state, where it
// is there, and on its first tab.
func shortSteps() []func(*machine) {
	none, one, three := uint8(0), uint8(1), uint8(3)
	no := false
	tab := func(m *machine, task int) int {
		if tabs := m.s.Tasks[task].Tabs; len(tabs) > 0 {
			return tabs[len(tabs)-1]
		}
		return 0
	}
	wide := model.Cage{Mode: model.Enforce, Net: 3, Read: 3, Write: 3, Env: 3, Control: model.NoControl}
	lead := model.Cage{Mode: model.Enforce, Net: 1, Read: 1, Control: 1}
	var steps []func(*machine)
	for _, task := range []int{0, 1, 2, 3, 4} {
		steps = append(steps, func(m *machine) { m.on(0, model.Put, task, tab(m, task), true) })
	}
	for _, task := range []int{1, 3} { // by whoever got the last token
		steps = append(steps, func(m *machine) { m.on(len(m.s.Grants)-1, model.Put, task, tab(m, task), false) })
	}
	for _, w := range []model.Wish{{Project: -1}, {Project: -1, Net: &none, MCP: &no}, {Project: 1, Net: &one}, {Project: -1, Net: &three, Mode: model.EnforceFS}} {
		steps = append(steps, func(m *machine) { m.create(0, w, func() {}) })
	}
	return append(steps,
		func(m *machine) { m.settle(tab(m, 1)) },
		func(m *machine) { m.edit(1, wide, true) },
		func(m *machine) { m.edit(1, wide, false) },
		func(m *machine) { m.edit(0, lead, true) },
		func(m *machine) { m.open(1, -1, true) },
		func(m *machine) { m.archive(0) },
		func(m *machine) { m.restore(0) },
		func(m *machine) { m.revoke(0) },
		func(m *machine) { m.on(0, model.Close, 1, tab(m, 1), false) },
		func(m *machine) { m.on(0, model.Read, 1, tab(m, 1), false) },
	)
}

// TestEveryShortSequenceAgreesWithTheModel runs all sequences of three steps, and settles everything at the end.
func TestEveryShortSequenceAgreesWithTheModel(t *testing.T) {
	steps := shortSteps()
	runs := 0
	for _, a := range steps {
		for _, b := range steps {
			for _, c := range steps {
				m := newMachine(t)
				m.start()
				a(m)
				b(m)
				c(m)
				for i := range m.s.Tabs {
					m.settle(i)
				}
				runs++
			}
		}
	}
	if runs < 8_000 {
		t.Errorf("only %d sequences", runs)
	}
}
