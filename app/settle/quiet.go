package settle

import "time"

// byQuiet decides when no source says anything that counts: from output, silence and the clock alone.
func (m *Machine) byQuiet() (State, Signal) {
	switch {
	case !m.heard:
		return Starting, None
	case !m.output && !m.pending:
		return m.silent()
	case !m.output:
		return m.unanswered(m.deliveredAt)
	case m.rules.Quiet == 0:
		return m.unanswered(m.outputAt)
	}
	if !m.due(latest(m.outputAt, m.heardAt).Add(m.quietTime())) {
		return m.flowing()
	}
	if !m.looked() {
		return m.silent()
	}
	return m.settle(Quiet)
}

// silent is the state while silence has not lasted: what it was, but Working over a pending delivery.
func (m *Machine) silent() (State, Signal) {
	if m.pending {
		return Working, None
	}
	return m.state, m.by
}

// unanswered says Unknown once nothing has told the fate of a delivery for too long.
func (m *Machine) unanswered(from time.Time) (State, Signal) {
	if m.due(from.Add(m.rules.unanswered())) {
		return Unknown, None
	}
	return m.silent()
}

// quietTime is how long output must stop. An agent that has a better signal and still says "idle" in it has most
// likely not taken the text: what came was the echo of the paste, so silence proves less.
func (m *Machine) quietTime() time.Duration {
	quiet := time.Duration(m.rules.Quiet)
	if !m.pending {
		return quiet
	}
	for src, c := range m.claims {
		if source(src) != srcProcess && c.state == Idle {
			return max(quiet, m.rules.unanswered())
		}
	}
	return quiet
}

// flowing is the state while output has not stopped long enough. A short burst with nothing delivered is the echo
// of the person's own keys, and in a shell the foreground process tells better.
func (m *Machine) flowing() (State, Signal) {
	if m.pending || m.rules.Foreground || m.state == Starting || m.outputAt.Sub(m.burstAt) < burstGap {
		return m.silent()
	}
	return Working, Quiet
}

// Looking at the foreground costs one ioctl. It is done often while a command may just have begun or ended, and
// seldom during a long one.
const (
	lookSoon  = 100 * time.Millisecond
	lookLater = 500 * time.Millisecond
	soonFor   = 2 * time.Second
)

// looked says whether the foreground was seen to be the shell's own well after the last output: a look just
// before the shell forks tells nothing. It is true where no foreground is ever observed.
func (m *Machine) looked() bool {
	return !m.rules.Foreground || !m.foreground || !m.lookedAt.Before(m.outputAt.Add(m.rules.hold()))
}

// lookAgain sets the deadline for the next look at the foreground, while one is wanted.
func (m *Machine) lookAgain() {
	if !m.rules.Foreground {
		return
	}
	busy := m.claims[srcProcess].state == Working
	unseen := !m.foreground && m.output && !m.state.Settled()
	if !busy && !m.pending && m.looked() && !unseen {
		return
	}
	every := lookSoon
	if m.now.Sub(latest(m.since, m.outputAt)) > soonFor {
		every = lookLater
	}
	next := latest(m.tickAt, m.deliveredAt).Add(every)
	if !next.After(m.now) {
		next = m.now.Add(time.Millisecond) // overdue: the owner was busy reading
	}
	m.due(next)
}
