package settle

import "time"

// source is one channel over which a claim comes. Several sources can share a Signal.
type source int

// The sources. Those of one signal are believed in this order.
const (
	srcStatus   source = iota // OSC 7501
	srcMark                   // OSC 133
	srcProgress               // OSC 9;4
	srcHook
	srcTitle
	srcScreen
	srcProcess
	sources
)

var sourceSignal = [sources]Signal{OSC, OSC, OSC, Hook, Title, Screen, Process}

// claim is what one source says now.
type claim struct {
	state State     // Working, Waiting or Idle; Unknown when the source says nothing
	since time.Time // when it began to say so
	fresh bool      // said after the last delivery
	turn  bool      // said Working or Waiting after the last delivery, or was saying Working at it
}

func (c claim) busy() bool { return c.state == Working || c.state == Waiting }

// Machine decides one tab's state. Make it with New.
type Machine struct {
	rules Rules

	now   time.Time // the latest time seen
	state State
	by    Signal
	since time.Time
	next  time.Time // earliest deadline that the last decision met; zero if none
	ended bool      // the process has exited
	wait  Wait

	claims     [sources]claim
	waits      [sources]Wait    // what each source that says Waiting says of it
	title      string           // the last title, to tell a spinner's step from a repeat
	children   map[string]State // live 7501 records with an id
	overflow   bool             // more records than are kept: counts as one that works
	background [Quiet + 1]int   // running sub-agents and commands, by the signal that knows
	heard      bool             // the agent's interface has shown itself
	heardAt    time.Time        // when it first did
	busyAt     time.Time        // last time that any source said busy anew
	titleBusy  time.Time        // last time that the title said busy
	output     bool             // output came since the start, or since the last delivery
	outputAt   time.Time        // last output
	burstAt    time.Time        // first output of the current burst
	foreground bool             // Foreground was ever observed
	lookedAt   time.Time        // last observed Foreground
	tickAt     time.Time        // last Tick or Foreground

	seq         uint64    // last delivered
	delivered   bool      // anything was ever delivered
	deliveredAt time.Time // when
	pending     bool      // delivered, and its end not proved
	midTurn     bool      // the agent was at work when the text was delivered
	launch      bool      // delivered before the agent had shown itself
	settledSeq  uint64    // the delivery that the last settle covers
}

// Wait describes what a Waiting agent asks for, as far as the signal tells.
type Wait struct {
	Kind    string // "permission", "question", or empty when the signal does not tell
	Message string // the agent's own words, one printable line of at most 200 characters, or empty
}

// New returns a machine in state Starting.
func New(rules Rules) *Machine {
	return &Machine{rules: rules, state: Starting}
}

// State returns what the agent is doing, by which signal that is known, and since when it has been so. By None a
// state follows from what we did ourselves (Starting, Working after a delivery) or from nothing (Unknown).
func (m *Machine) State() (state State, by Signal, since time.Time) { return m.state, m.by, m.since }

// Wait returns what a Waiting agent asks for; the zero Wait in every other state.
func (m *Machine) Wait() Wait {
	if m.state != Waiting {
		return Wait{}
	}
	return m.wait
}

// Settled says whether the agent has stopped, by which signal that is known, and the last delivery that this
// covers: always the latest one made, or 0 when nothing was delivered.
func (m *Machine) Settled() (ok bool, by Signal, seq uint64) {
	if !m.state.Settled() {
		return false, None, m.settledSeq
	}
	return true, m.by, m.settledSeq
}

// Next returns when a KindTick is needed for the next decision, always after the last observation's time, or the
// zero time when only a new observation can change anything. Where the rules read the foreground process group,
// the owner also looks at it then and observes KindForeground before the tick.
func (m *Machine) Next() time.Time { return m.next }

// Observe takes in one observation and says whether State, its signal or Settled changed.
func (m *Machine) Observe(o Observation) (changed bool) {
	if m.ended {
		return false
	}
	if o.At.After(m.now) {
		m.now = o.At
	}
	before, by, seq := m.state, m.by, m.settledSeq
	m.take(o)
	m.next = time.Time{}
	state, signal := m.judge()
	if state != m.state || m.since.IsZero() {
		m.since = m.now
	}
	m.state, m.by = state, signal
	return m.state != before || m.by != by || m.settledSeq != seq
}

// take stores what an observation says. It decides nothing.
func (m *Machine) take(o Observation) {
	switch o.Kind {
	case KindTick:
		m.tickAt = m.now
	case KindOutput:
		m.takeOutput(o.Bytes)
	case KindTitle:
		m.takeTitle(o.Text)
	case KindProgress:
		if m.rules.Progress {
			m.say(srcProgress, progressState(o.Progress))
		}
	case KindStatus:
		m.takeStatus(o.Text)
	case KindPrompt:
		if m.rules.Marks {
			m.say(srcMark, markState(o.Mark))
		}
	case KindForeground:
		m.takeForeground(o.Busy)
	case KindDelivered:
		m.takeDelivered(o.Seq)
	case KindHook:
		m.waits[srcHook] = Wait{Kind: waitKind(o.Text)}
		m.say(srcHook, claimed(o.State))
	case KindScreen:
		m.waits[srcScreen] = Wait{Kind: waitKind(o.Text)}
		if state := claimed(o.State); state != m.claims[srcScreen].state || !m.claims[srcScreen].fresh {
			m.say(srcScreen, state)
		}
	case KindBackground:
		if o.Source > None && o.Source <= Quiet {
			m.background[o.Source] = max(0, o.Count)
		}
	case KindExited:
		m.ended, m.pending = true, false
	}
}

// waitKind keeps the kinds that there are.
func waitKind(text string) string {
	if text == "permission" || text == "question" {
		return text
	}
	return ""
}

// burstGap is the pause that ends a burst of output. Busy TUIs never paused longer than 0.2 s (tried 2026-11-29).
const burstGap = 500 * time.Millisecond

func (m *Machine) takeOutput(n int) {
	if n <= 0 {
		return
	}
	if !m.output || m.now.Sub(m.outputAt) > burstGap {
		m.burstAt = m.now
	}
	m.output, m.outputAt = true, m.now
	if !m.rules.expects() {
		m.hear()
	}
}

// hear ends the time in which the agent only starts.
func (m *Machine) hear() {
	if !m.heard {
		m.heard, m.heardAt = true, m.now
	}
}

func (m *Machine) takeTitle(title string) {
	state, up := m.rules.titleState(title)
	if up {
		m.hear()
	}
	repeat := title == m.title && m.claims[srcTitle].fresh
	m.title = title
	if state == Working || state == Waiting {
		m.titleBusy = m.now
		if repeat {
			return // not a new sign of work: a stuck title must not hold off an end for ever
		}
	}
	m.say(srcTitle, state)
}

func (m *Machine) takeForeground(busy bool) {
	m.tickAt = m.now
	if !m.rules.Foreground {
		return
	}
	m.foreground, m.lookedAt = true, m.now
	state := Idle
	if busy {
		state = Working
	}
	if c := m.claims[srcProcess]; c.state != state || !c.fresh {
		m.say(srcProcess, state)
	}
}

// minTurn is the shortest work that ends a prompt given at launch. Codex says working and idle within the same
// 20 ms while it starts (recording of 2026-11-29); the shortest real turn there took 80 ms.
const minTurn = 50 * time.Millisecond

// say records what a source claims now. Sources of signals that the rules do not rank are not read.
func (m *Machine) say(src source, state State) {
	if !m.ranked(sourceSignal[src]) {
		return
	}
	c := &m.claims[src]
	was := *c
	if c.state != state {
		c.state, c.since = state, m.now
	}
	c.fresh = true
	if state == Unknown {
		return
	}
	m.hear()
	if c.busy() {
		c.turn, m.busyAt = true, m.now
		if state == Working && was.state != Working {
			m.midTurn = false
		}
		return
	}
	if m.launch && was.state == Working && m.now.Sub(was.since) < minTurn {
		c.turn = false
	}
}

func (m *Machine) ranked(s Signal) bool {
	for _, r := range m.rules.rank() {
		if r == s {
			return true
		}
	}
	return false
}

// takeDelivered opens a delivery: whatever was claimed before it cannot end it. The same seq again (the text was
// pasted, now Enter is pressed) opens it anew; a smaller one counts as the largest seen.
func (m *Machine) takeDelivered(seq uint64) {
	m.seq = max(m.seq, seq)
	m.delivered, m.pending, m.deliveredAt = true, true, m.now
	m.launch = m.launch || !m.heard
	m.output, m.midTurn = false, false
	for i := range m.claims {
		c := &m.claims[i]
		c.fresh, c.turn = false, c.busy()
		m.midTurn = m.midTurn || c.state == Working
	}
}
