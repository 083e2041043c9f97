package grant

import (
	"context"
	"slices"

	"termic/registry"
	"termic/registry/grant/model"
	"termic/registry/verbs"
)

// wants is what the model says of a call; the person may do everything that there is to do.
func (m *machine) wants(grant int, deed model.Deed, task, tab int) model.Verdict {
	if grant != person {
		return m.s.On(grant, deed, task, tab)
	}
	if m.s.Tasks[task].Archived && deed != model.Look && deed != model.Apply || tab >= 0 && (m.s.Tabs[tab].Ended || m.s.Tabs[tab].Task != task) {
		return model.Hidden
	}
	return model.Allowed
}

// decide has both decide about a call on a task and a tab (none: the task as a whole), and returns the guard's decision.
func (m *machine) decide(grant int, deed model.Deed, task, tab int) registry.Decision {
	target := registry.Target{Task: string(taskID(task))}
	if tab >= 0 {
		target.Tab = string(tabID(tab))
	} else {
		target.Tasks = registry.AllTasks
	}
	d := m.guard.Check(context.Background(), m.caller(grant), deeds[deed], target)
	if want := m.wants(grant, deed, task, tab); verdict(d) != want {
		m.fail("the guard says %v (%s, %s), the model %v", verdict(d), d.Rule, d.Why, want)
	}
	everything := grant == person || m.s.Grants[grant].Full
	if verdict(d) == model.Hidden && !everything && d.Refusal.Error() != inScope(notFound("task")).Error() && d.Refusal.Error() != inScope(notFound("tab")).Error() {
		m.fail("what is hidden is answered %v", d.Refusal)
	}
	return d
}

// on has a caller do something to a task or to one of its tabs. between is done while a held call waits for the person.
func (m *machine) on(grant int, deed model.Deed, task, tab int, when how, between func()) {
	m.note("grant %d does %d to task %d tab %d (%d)", grant, deed, task, tab, when)
	if deed == model.Look || deed == model.Apply {
		tab = -1
	}
	d := m.decide(grant, deed, task, tab)
	if !d.Allow || deed == model.Look {
		return
	}
	if deed == model.Put && when == waiting {
		m.queue = append(m.queue, queued{grant, task, tab, 1 + len(m.steps)%2, deed, d.Again})
		return
	}
	if when == held {
		between()
		if !m.still(grant, deed, task, tab, d.Again) || tab >= 0 && m.s.Tabs[tab].Ended {
			return
		}
	}
	m.happens(grant, deed, task, tab)
	switch deed {
	case model.Close:
		m.s.Tabs[tab].Ended = true
		m.s.Tasks[task].Tabs = remove(m.s.Tasks[task].Tabs, tab)
	case model.CancelQueue:
		m.queue = slices.DeleteFunc(m.queue, func(q queued) bool { return q.tab == tab })
	case model.EditQueue:
		for i, q := range m.queue {
			if q.tab == tab { // it is the editor's text now, and has the editor's rights
				m.queue[i] = queued{grant, task, tab, q.times, deed, d.Again}
			}
		}
	}
}

// still asks the guard again about something that it allowed, as what holds the target's lock does just before the effect.
// What has no second look is the person's.
func (m *machine) still(grant int, deed model.Deed, task, tab int, again func() registry.Decision) bool {
	if again == nil {
		if grant != person {
			m.fail("a call of grant %d is not decided again", grant)
		}
		return true
	}
	d := again()
	want := m.wants(grant, deed, task, tab)
	// Of a task as a whole, and for holders of everything, a second look finds the task only: that its tab ended, or that
	// it was archived, is found by what would type into it.
	lenient := want == model.Hidden && d.Allow && m.s.Grants[grant].Full
	if (want == model.Allowed) != d.Allow && !lenient {
		m.fail("at its effect the guard says %v (%s), the model %v", verdict(d), d.Why, want)
	}
	return want == model.Allowed && d.Allow
}

// broadcast has a caller send to several tabs at once: each is a send of its own.
func (m *machine) broadcast(grant int, tabs []int, when how, between func()) {
	m.note("grant %d broadcasts to tabs %v", grant, tabs)
	d := m.guard.Check(context.Background(), m.caller(grant), verbs.TaskBroadcast.Verb(), registry.Target{})
	if want := m.s.Self(grant, model.Writes); verdict(d) != want {
		m.fail("of a broadcast the guard says %v (%s), the model %v", verdict(d), d.Rule, want)
	}
	if !d.Allow {
		return
	}
	for _, tab := range tabs {
		m.on(grant, model.Put, m.s.Tabs[tab].Task, tab, when, between)
	}
}

// forge has a caller say of itself what its grant does not (I4).
func (m *machine) forge(grant int, deed model.Deed, task, tab int, change func(*registry.Caller)) {
	c := m.caller(grant)
	change(&c)
	if c == m.caller(grant) {
		return
	}
	m.note("grant %d claims to be %+v", grant, c)
	if d := m.guard.Check(context.Background(), c, deeds[deed], registry.Target{Task: string(taskID(task)), Tab: string(tabID(tab))}); d.Allow {
		m.fail("a caller that is not what its grant says was allowed: %+v", c)
	}
}

// doors tries a token at every door (I2), and whether the book holds what the model does.
func (m *machine) doors() {
	live := m.book.List()
	for i := range m.s.Grants {
		for _, door := range []int{model.HostDoor, model.CageDoor} {
			channel := map[int]Channel{model.HostDoor: HostPort, model.CageDoor: OwnCage}[door]
			c, ok := m.book.Caller(channel, m.tokens[i])
			if ok != m.s.Opens(i, door) || ok && c != m.caller(i) {
				m.fail("the token of grant %d at door %d is taken for %+v, %v", i, door, c, ok)
			}
		}
		if slices.ContainsFunc(live, func(l Live) bool { return l.ID == m.ids[i] }) == m.s.Grants[i].Revoked {
			m.fail("grant %d is held by the book: %v", i, m.s.Grants[i].Revoked)
		}
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

// happens is what is checked of every text that reached a tab, all content that left one, and all work that was landed (I2,
// I4, I5, I7).
func (m *machine) happens(grant int, deed model.Deed, task, tab int) {
	m.t.Helper()
	if tab >= 0 && m.s.Tabs[tab].Ended {
		m.fail("an effect on a tab that is not there")
	}
	if grant == person {
		return
	}
	g := m.s.Grants[grant]
	reach, ok := m.s.Reaches(task, tab)
	switch {
	case g.Revoked:
		m.fail("a revoked grant had an effect")
	case deed.Changes() > g.Ceiling:
		m.fail("an effect above the ceiling")
	case g.Full:
	case deed == model.Apply || deed == model.EditQueue || deed == model.CancelQueue || deed == model.ListQueue:
		m.fail("a caged caller did what only holders of everything do")
	case !ok || !reach.Within(g.Limit):
		m.fail("text or content crossed to task %d tab %d, which may do more than its sender", task, tab)
	case !m.s.Sees(grant, task):
		m.fail("an effect out of sight")
	case g.Projects&(1<<m.s.Tasks[task].Project) == 0:
		m.fail("an effect outside the project list")
	case m.s.Tabs[tab].Outside:
		m.fail("an effect on a tab that is not there for the caller")
	case deed == model.Close && m.s.Tabs[tab].Opener != g.Task:
		m.fail("a tab of somebody else was closed")
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
		case m.still(q.grant, q.deed, q.task, q.tab, q.again):
			m.happens(q.grant, q.deed, q.task, q.tab)
			if q.times--; q.times > 0 {
				rest = append(rest, q)
			}
		}
	}
	m.queue = rest
}
