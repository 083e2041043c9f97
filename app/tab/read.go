package tab

import (
	"context"
	"time"

	"termic/app/pty"
	"termic/app/screen"
	"termic/app/settle"
)

// readSize is the largest piece of output taken at once. Larger pieces are worth it: 64 KiB pieces went
// through to the window twice as fast as 11 KiB ones.
const readSize = 64 << 10

// drain is how long output is still read after the program ended, while something that it left behind keeps
// the terminal open.
const drain = 200 * time.Millisecond

// run reads the terminal until its program has ended, then clears away what the program left behind.
func (t *Tab) run() {
	defer close(t.ended)
	read := make(chan struct{})
	go func() {
		defer close(read)
		buffer := make([]byte, readSize)
		for {
			t.pace()
			n, err := t.session.Read(buffer)
			if n > 0 {
				t.take(buffer[:n])
			}
			if err != nil {
				return
			}
		}
	}()
	status := t.session.Wait()
	t.unpace()
	select {
	case <-read:
	case <-time.After(drain):
	}
	if err := t.session.Hangup(HangupGrace); err != nil {
		t.log("processes outlived their tab", "tab", t.spec.ID, "cause", err)
	}
	t.session.Close()
	<-read
	t.mu.Lock()
	defer t.mu.Unlock()
	t.exit = status
	if t.claims != nil {
		t.show(t.claims.Rest())
	}
	t.observe(settle.Observation{Kind: settle.KindExited})
	t.broadcast()
	for w := range t.watchers {
		w.wake()
	}
}

// take puts one piece of output, without the reports in it, through the screen, the state machine and to everyone who watches.
func (t *Tab) take(p []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.claims != nil {
		p = t.claims.Filter(p)
	}
	t.show(p)
	t.arm()
}

// show takes in what the program itself printed; t.mu is held.
func (t *Tab) show(p []byte) {
	if len(p) == 0 {
		return
	}
	t.output += uint64(len(p))
	if !t.unsaved && t.spec.Printed != nil {
		t.unsaved = true
		t.spec.Printed()
	}
	t.printed = time.Now()
	t.observe(settle.Observation{Kind: settle.KindOutput, Bytes: len(p)})
	t.screen.Write(p)
	t.unseen = true
	t.see()
	t.look()
	for w := range t.watchers {
		w.feed(p)
	}
}

// events are the screen's reports; the screen calls them inside Write, with t.mu held.
//
// Only an agent's tab listens to status reports, and answers the question whether anyone does: in a shell whatever
// runs there could send them.
func (t *Tab) events() screen.Events {
	events := screen.Events{
		Title: func(title string) { t.observe(settle.Observation{Kind: settle.KindTitle, Text: title}) },
		Progress: func(state, _ int) {
			t.observe(settle.Observation{Kind: settle.KindProgress, Progress: state})
		},
		Cwd: func(url string) {
			if dir := below(t.spec.Dir, url); dir != t.dir {
				t.dir = dir
				t.broadcast()
			}
		},
		Prompt:    func(mark screen.Mark) { t.observe(settle.Observation{Kind: settle.KindPrompt, Mark: mark.Kind}) },
		Clipboard: t.offers,
	}
	if t.spec.Agent.Settle.App != "" {
		events.Status = func(payload string) { t.observe(settle.Observation{Kind: settle.KindStatus, Text: payload}) }
	}
	return events
}

// observe takes one observation in; t.mu is held.
func (t *Tab) observe(o settle.Observation) {
	o.At = time.Now()
	if t.machine.Observe(o) {
		t.broadcast()
	}
}

// look tells the machine who has the keyboard, where the rules read that; t.mu is held.
func (t *Tab) look() {
	if !t.spec.Agent.Settle.Foreground || t.session == nil {
		return
	}
	_, busy, err := t.session.Foreground()
	if err != nil {
		return
	}
	// A shell's own loops run in the shell: it has the keyboard and is not at its prompt. Those that edit lines
	// (bash, zsh, fish) have bracketed paste on at the prompt and off while they run something.
	atPrompt := t.screen.Modes().BracketedPaste
	t.prompts = t.prompts || atPrompt
	t.observe(settle.Observation{Kind: settle.KindForeground, Busy: busy || t.prompts && !atPrompt})
}

// blind tells whether the foreground process is all that is known of a shell, which then may run a loop of its own;
// t.mu is held.
func (t *Tab) blind(signal settle.Signal) bool {
	return signal == settle.Process && t.spec.Agent.Settle.Foreground && !t.prompts && t.exit == (pty.ExitStatus{})
}

// arm sets the timer for the machine's next decision; t.mu is held.
func (t *Tab) arm() {
	next := t.machine.Next()
	if due := t.seen.Add(seeEvery); t.unseen && !t.spec.Agent.Settle.Screen.Empty() && (next.IsZero() || due.Before(next)) {
		next = due
	}
	if next.IsZero() {
		t.tick.Stop()
		return
	}
	t.tick.Reset(max(time.Until(next), time.Millisecond))
}

func (t *Tab) onTick() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.look()
	t.see()
	t.observe(settle.Observation{Kind: settle.KindTick})
	t.arm()
}

// broadcast wakes everyone who waits for a change; t.mu is held.
func (t *Tab) broadcast() {
	close(t.changed)
	t.changed = make(chan struct{})
	if t.spec.Changed != nil {
		t.spec.Changed()
	}
}

// reply keeps an answer of the terminal for answer; the screen calls it inside Write and must not be held up.
func (t *Tab) reply(p []byte) {
	select {
	case t.replies <- append([]byte(nil), p...):
	default:
	}
}

// answer types the terminal's answers. It takes turns with deliveries and keys: an answer inside a paste
// would become part of the text.
func (t *Tab) answer() {
	for {
		select {
		case p := <-t.replies:
			t.input.Lock()
			err := t.write(context.Background(), p)
			t.input.Unlock()
			if err != nil {
				t.log("terminal's answer not read", "tab", t.spec.ID, "cause", err)
			}
		case <-t.ended:
			return
		}
	}
}
