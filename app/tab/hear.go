package tab

import (
	"crypto/rand"
	"encoding/hex"
	"time"

	"termic/app/hook"
	"termic/app/osc"
	"termic/app/settle"
)

// hear begins to listen to the hooks of the tab's agent and returns the nonce with which they report.
func (t *Tab) hear() (nonce string) {
	var random [16]byte
	_, _ = rand.Read(random[:]) // it never fails (crypto/rand)
	t.nonce = hex.EncodeToString(random[:])
	t.claims = osc.NewTaker(hook.Number, hook.MaxCommand, t.heard)
	return t.nonce
}

// heard takes one report in; the filter calls it with t.mu held. A report is a claim: it moves the state, and nothing else.
func (t *Tab) heard(payload []byte) {
	claim, err := hook.Parse(payload, t.nonce)
	if err != nil {
		if t.strays++; t.strays == 1 { // once is enough to know
			t.log("a report of no hook of the tab's agent", "tab", t.spec.ID, "cause", err)
		}
		return
	}
	t.told++
	for _, o := range t.hooks.Take(claim) {
		t.observe(o)
	}
	t.broadcast() // a prompt that was taken may be waited for
}

// Claims is what a tab's agent has reported through its hooks.
type Claims struct {
	Session    string // the agent's id of its session, or empty
	Transcript string // where it says that it keeps the session: a hint, which may be a lie
	Prompt     hook.Prompt
	Strays     int // reports that were not the agent's hooks'
}

// Claims returns what the agent's hooks have reported so far.
func (t *Tab) Claims() Claims {
	t.mu.Lock()
	defer t.mu.Unlock()
	session, transcript := t.hooks.Session()
	return Claims{Session: session, Transcript: transcript, Prompt: t.hooks.Prompt(), Strays: t.strays}
}

// Conversation returns the agent's id of its session, and whether there is something in it to go on with: a prompt was taken. Agents
// refuse to resume an empty one.
func (t *Tab) Conversation() (id string, begun bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	id, _ = t.hooks.Session()
	if id == "" {
		id = t.spec.Conversation
	}
	return id, id != "" && (t.spec.Resumed || t.hooks.Prompt().Number > 0)
}

// seeEvery is how often the screen is read at most: a busy agent draws ten times a second, and one read costs some microseconds.
const seeEvery = 100 * time.Millisecond

// see tells the machine what the bottom of the live screen says, where the rules read that and it may have changed; t.mu is held.
func (t *Tab) see() {
	rules := t.spec.Agent.Settle.Screen
	now := time.Now()
	if !t.unseen || rules.Empty() || now.Before(t.seen.Add(seeEvery)) {
		return
	}
	t.unseen, t.seen = false, now
	cols, rows := t.screen.Size()
	seen := rules.Read(settle.Bottom(rows, cols, t.screen.Row))
	t.observe(settle.Observation{Kind: settle.KindBackground, Source: settle.Screen, Count: seen.Background})
	t.observe(settle.Observation{Kind: settle.KindScreen, State: seen.State, Text: seen.Kind})
}
