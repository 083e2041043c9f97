package settle

import "time"

// due says whether the time t has come. A time still ahead becomes the machine's next deadline if no earlier one is
// known, so every condition on time that a decision meets is also a promise to look again.
func (m *Machine) due(t time.Time) bool {
	if !m.now.Before(t) {
		return true
	}
	if m.next.IsZero() || t.Before(m.next) {
		m.next = t
	}
	return false
}

// judge decides from what is stored. Its only effect besides next is to close a delivery that has ended.
func (m *Machine) judge() (State, Signal) {
	if m.ended {
		return Exited, Process
	}
	m.lookAgain()
	best, ok := m.best()
	waiting, asks := m.waiting()
	if ok && best.state == Working && !(asks && best.src == srcProgress) {
		return Working, best.by
	}
	if asks {
		return Waiting, waiting
	}
	if by, yes := m.atWork(); yes {
		return Working, by
	}
	if !ok {
		return m.byQuiet()
	}
	if !m.due(latest(best.since, m.busyAt).Add(m.holdTime())) {
		return m.held()
	}
	return m.settle(best.by)
}

// verdict is what the most believed source says. A progress bar tells only that something runs, so it never hides a
// question.
type verdict struct {
	src   source
	state State
	by    Signal
	since time.Time
}

// best returns the claim of the most believed source that says anything which counts.
func (m *Machine) best() (verdict, bool) {
	for _, signal := range m.rules.rank() {
		for src := range sources {
			if sourceSignal[src] != signal {
				continue
			}
			if state := m.counts(src); state != Unknown {
				return verdict{src, state, signal, m.claims[src].since}, true
			}
		}
	}
	return verdict{}, false
}

// answerGrace is how long a question asked before a delivery may take to go away. Agents took 30-90 ms; a text
// that the picker dropped leaves the question standing, and nothing announces it a second time.
const answerGrace = 2 * time.Second

// counts returns the claim of a source as far as it may be used now, else Unknown.
func (m *Machine) counts(src source) State {
	c := m.claims[src]
	switch {
	case src == srcHook && m.claims[srcStatus].state != Unknown && m.ranked(OSC):
		return Unknown // the agent reports its state itself: its hooks are of use for what runs beside it
	case src == srcHook && c.busy() && m.overruled(c):
		return Unknown
	case c.state == Waiting && m.pending && !c.fresh:
		if !m.due(m.deliveredAt.Add(answerGrace)) {
			return Unknown
		}
	case c.state == Idle && !c.turn && (m.pending || src == srcProcess):
		// Before it was seen at work, "idle" is what it said before the delivery; and a shell that is its own
		// foreground may still be reading its rc files.
		return Unknown
	}
	return c.state
}

// overruled says whether title or screen have taken back a hook's claim: agents fire no hook on Esc nor on a denial, and
// none when a permission is granted. Only what began after the claim counts. A title that already looked idle proves
// nothing against a question (claude's does while it asks).
func (m *Machine) overruled(hook claim) bool {
	for _, src := range []source{srcTitle, srcScreen} {
		c := m.claims[src]
		if !c.since.After(hook.since) || !m.ranked(sourceSignal[src]) {
			continue
		}
		switch {
		case hook.state == Working && c.state == Idle:
			return true
		case hook.state == Waiting && c.state == Working:
			return true
		case hook.state == Waiting && c.state == Idle && (src == srcScreen || m.titleBusy.After(hook.since)):
			return true
		}
	}
	return false
}

// waiting returns the signal by which the agent is known to ask for something, whoever says so: a question that
// stands is never shown as an end.
func (m *Machine) waiting() (Signal, bool) {
	for _, signal := range m.rules.rank() {
		for src := range sources {
			if sourceSignal[src] == signal && m.counts(src) == Waiting {
				m.wait = m.waits[src]
				return signal, true
			}
		}
	}
	if state, busy := m.childrenBusy(); busy && state == Waiting {
		m.wait = Wait{}
		return OSC, true
	}
	return None, false
}

// atWork returns the signal by which a child of the agent is known to run.
func (m *Machine) atWork() (Signal, bool) {
	if _, busy := m.childrenBusy(); busy {
		return OSC, true
	}
	for signal, n := range m.background {
		if n > 0 {
			return Signal(signal), true
		}
	}
	return None, false
}

// holdTime is how long nothing may contradict an end. Text delivered into a running turn may become a turn of its
// own after it, so there the end is held as long as quiet would be.
func (m *Machine) holdTime() time.Duration {
	if m.pending && m.midTurn {
		return max(m.rules.hold(), time.Duration(m.rules.Quiet))
	}
	return m.rules.hold()
}

// held is the state while an end may still be contradicted: what it was, but Working over a pending delivery.
func (m *Machine) held() (State, Signal) {
	if m.pending && m.state != Working {
		return Working, None
	}
	return m.state, m.by
}

// settle closes the delivery, if one is open, and answers Done or Idle.
func (m *Machine) settle(by Signal) (State, Signal) {
	if m.pending {
		m.pending, m.midTurn = false, false
		m.settledSeq = m.seq
	}
	m.launch = false
	if m.delivered {
		return Done, by
	}
	return Idle, by
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
