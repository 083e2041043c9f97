package settle

// takeStatus files an OSC 7501 report: the root record is the agent, records with an id are its children.
func (m *Machine) takeStatus(payload string) {
	r, ok := parseStatus(payload)
	if !ok || m.rules.App == "" || !m.accepts(r) {
		return
	}
	switch {
	case r.id != "":
		m.fileChild(r)
	case r.state == "clear":
		clear(m.children)
		m.overflow = false
		m.say(srcStatus, Unknown)
	default:
		if r.state == "blocked" {
			m.waits[srcStatus] = Wait{Kind: r.kind, Message: r.message}
		}
		m.say(srcStatus, r.claim())
	}
}

// accepts checks the report's app. Agents leave it out only when they clear (claude and codex, 2026-11-29).
func (m *Machine) accepts(r report) bool {
	return r.app == m.rules.App || (r.app == "" && r.state == "clear")
}

func (m *Machine) fileChild(r report) {
	state := r.claim()
	if state == Unknown || state == Idle {
		delete(m.children, r.id)
		return
	}
	if _, known := m.children[r.id]; !known && len(m.children) >= maxChildren {
		m.overflow = true
		return
	}
	if m.children == nil {
		m.children = map[string]State{}
	}
	m.children[r.id] = state
	m.hear()
}

// childrenBusy says whether a child record says that something still runs or asks.
func (m *Machine) childrenBusy() (State, bool) {
	state, busy := Working, m.overflow
	for _, s := range m.children {
		busy = true
		if s == Waiting {
			state = Waiting
		}
	}
	return state, busy
}
