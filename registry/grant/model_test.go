package grant

import (
	"math/rand/v2"
	"testing"

	"termic/registry"
	"termic/registry/grant/model"
)

// start is the state in which sequences begin: two orchestrators in two projects, a worker of each, a task without a
// cage, and three outside clients of different ceilings.
func (m *machine) start() {
	lead := model.Cage{Mode: model.Enforce, Net: 3, Read: 3, Write: 1, Env: 1, Control: 3}
	small := model.Cage{Mode: model.Enforce, Net: 1, Read: 1, Control: model.NoControl}
	a := m.add(0, lead)
	m.add(0, small, a)
	b := m.add(1, model.Cage{Mode: model.EnforceFS, Net: 0, Read: 1, Control: 6})
	m.add(2, model.Cage{Mode: model.Enforce, Net: 3, Read: 1, Control: 4}, b)
	m.add(1, model.Cage{Mode: model.Off, Control: int(model.All)})
	m.client(model.Reads)
	m.client(model.Writes)
	m.client(model.Destroys)
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
	between := func() {
		if r.IntN(2) == 0 {
			m.person(r, task, grant)
		}
	}
	when := how(r.IntN(3))
	switch r.IntN(24) {
	case 0, 1, 2:
		m.on(grant, model.Put, task, tab, when, between)
	case 3:
		m.on(grant, model.Read, task, tab, when, between)
	case 4:
		m.on(grant, model.Look, task, tab, now, between)
	case 5:
		m.on(grant, model.Close, task, tab, when, between)
	case 6, 7, 8:
		m.create(grant, randomWish(r), between)
	case 9, 10, 11:
		m.settle(tab)
	case 12, 13:
		var tabs []int
		for range 1 + r.IntN(3) {
			tabs = append(tabs, r.IntN(len(m.s.Tabs)))
		}
		m.broadcast(grant, tabs, when, between)
	case 14, 15:
		who := grant
		if r.IntN(4) == 0 {
			who = person
		}
		m.on(who, []model.Deed{model.ListQueue, model.EditQueue, model.CancelQueue}[r.IntN(3)], task, tab, when, between)
	case 16:
		m.on(grant, model.Apply, task, tab, when, between)
	case 17:
		m.forge(grant, model.Deed(r.IntN(int(model.Apply)+1)), task, tab, func(c *registry.Caller) {
			switch r.IntN(3) {
			case 0:
				c.Scope = registry.Full
			case 1:
				c.Ceiling = registry.Destructive
			default:
				c.Task = taskID(r.IntN(len(m.s.Tasks)))
			}
		})
	default:
		m.person(r, task, grant)
	}
	m.doors()
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
	const scoped, writer, destroyer = 0, 4, 5 // grants of the start state; the last two are clients'
	at := func(m *machine, grant int, deed model.Deed, task int, when how) {
		m.on(grant, deed, task, tab(m, task), when, func() {})
	}
	last := func(m *machine) int { return len(m.s.Grants) - 1 } // who got the last token
	var steps []func(*machine)
	for _, task := range []int{0, 1, 3, 4} {
		steps = append(steps, func(m *machine) { at(m, scoped, model.Put, task, waiting) })
	}
	steps = append(steps, func(m *machine) { at(m, last(m), model.Put, 1, now) })
	for _, w := range []model.Wish{{Project: -1}, {Project: -1, Net: &none, MCP: &no}, {Project: 1, Net: &one}, {Project: -1, Net: &three, Mode: model.EnforceFS}} {
		steps = append(steps, func(m *machine) { m.create(scoped, w, func() {}) })
	}
	return append(steps,
		func(m *machine) { m.settle(tab(m, 1)) },
		func(m *machine) { m.edit(1, wide, true) },
		func(m *machine) { m.edit(1, wide, false) },
		func(m *machine) { m.edit(0, lead, true) },
		func(m *machine) { m.open(1, -1, true) },
		func(m *machine) { m.archive(0) },
		func(m *machine) { m.restore(0) },
		func(m *machine) { m.revoke(scoped) },
		func(m *machine) { m.revoke(writer) },
		func(m *machine) { at(m, scoped, model.Close, 1, now) },
		func(m *machine) { at(m, scoped, model.Read, 1, now) },
		func(m *machine) {
			m.broadcast(scoped, []int{tab(m, 0), tab(m, 1), tab(m, 3), tab(m, 4)}, waiting, func() {})
		},
		func(m *machine) { at(m, scoped, model.EditQueue, 1, now) },
		func(m *machine) { at(m, writer, model.EditQueue, 1, now) },
		func(m *machine) { at(m, person, model.EditQueue, 1, now) },
		func(m *machine) { at(m, destroyer, model.CancelQueue, 1, now) },
		func(m *machine) { at(m, scoped, model.Apply, 1, now) },
		func(m *machine) { at(m, destroyer, model.Apply, 1, now) },
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
				m.doors()
				runs++
			}
		}
	}
	if runs < 15_000 {
		t.Errorf("only %d sequences", runs)
	}
}
