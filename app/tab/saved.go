package tab

import (
	"fmt"
	"slices"
	"time"

	"termic/app/agent"
	"termic/app/pty"
	"termic/app/screen"
	"termic/app/settle"
	"termic/registry/ident"
)

// Saved is what is kept of a tab across a restart of the app.
type Saved struct {
	ID      ident.Tab  `json:"id"`
	Name    string     `json:"name"`
	Agent   string     `json:"agent"`
	Cols    uint16     `json:"cols"`
	Rows    uint16     `json:"rows"`
	Title   string     `json:"title,omitempty"`
	Opener  ident.Task `json:"opener,omitempty"`
	Outside bool       `json:"outside,omitempty"`
	// Cage is the mode that the task had then: what was shown in one must not be read by those whom another lets read.
	Cage string `json:"cage"`
	// Session is that of its processes outside any cage, for a run that finds it without their app; 0 when there is none.
	Session int `json:"session,omitempty"`
	// Ended is when its program ended with the app, or had ended before; zero in a record that was made while it ran.
	Ended time.Time `json:"ended,omitzero"`
	// Lines are the last ones that it showed, with their colours and no other sequence.
	Lines []string `json:"lines,omitempty"`
}

const (
	maxSavedLines = 2000    // of each tab: some 200 KB of plain text
	maxSavedBytes = 1 << 20 // of each tab; a program may colour every cell
)

// Save returns what is to be kept. blank takes secrets out of a line; a line from which it takes something loses its colours, since
// they may lie inside of what was taken.
func (t *Tab) Save(blank func(string) string) Saved {
	if t.session == nil {
		return t.saved // nothing has been shown since
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unsaved = false
	cols, rows := t.screen.Size()
	saved := Saved{
		ID: t.spec.ID, Name: t.spec.Name, Agent: t.spec.Agent.ID, Cols: uint16(cols), Rows: uint16(rows), Title: blank(t.screen.Title()),
		Opener: t.spec.Opener, Outside: t.spec.Outside, Session: t.session.Pid(),
	}
	if t.hasEnded() {
		_, _, saved.Ended = t.machine.State()
	}
	size := 0
	lines := t.screen.Lines(maxSavedLines)
	for i := len(lines) - 1; i >= 0 && size < maxSavedBytes; i-- {
		text := lines[i].Styled
		if clean := blank(lines[i].Plain); clean != lines[i].Plain {
			text = clean
		}
		if size += len(text) + 1; size <= maxSavedBytes {
			saved.Lines = append(saved.Lines, text)
		}
	}
	slices.Reverse(saved.Lines)
	return saved
}

// draw shows saved lines and, below them, a mark that says what they are.
func (s Saved) draw(to *screen.Screen) {
	if len(s.Lines) == 0 {
		return
	}
	for _, line := range s.Lines {
		_, _ = to.Write([]byte(line + "\r\n"))
	}
	when := ""
	if !s.Ended.IsZero() {
		when = " on " + s.Ended.Local().Format("2 Jan 2006 at 15:04")
	}
	fmt.Fprintf(to, "\x1b[2m--- above: what this tab showed before the app ended%s ---\x1b[m\r\n", when)
}

// Restore returns a tab that shows what was saved and in which nothing runs any more.
func Restore(saved Saved, task ident.Task, definition agent.Definition, scrollback int) *Tab {
	t := &Tab{
		spec: Spec{
			ID: saved.ID, Task: task, Name: saved.Name, Agent: definition, Size: saved.size(), Scrollback: scrollback,
			Opener: saved.Opener, Outside: saved.Outside,
		},
		log:      func(string, ...any) {},
		machine:  settle.New(definition.Settle),
		changed:  make(chan struct{}),
		watchers: map[*Watcher]struct{}{},
		pacer:    newPacer(),
		ended:    make(chan struct{}),
		saved:    saved,
		epoch:    newEpoch(),
	}
	t.screen = screen.New(screen.Options{Cols: int(t.spec.Size.Cols), Rows: int(t.spec.Size.Rows), Scrollback: scrollback})
	_, _ = t.screen.Write([]byte("\x1b]2;" + saved.Title + "\x1b\\"))
	saved.draw(t.screen)
	t.tick = time.AfterFunc(time.Hour, func() {})
	t.tick.Stop()
	ended := saved.Ended
	if ended.IsZero() { // the app did not get to say
		ended = time.Now()
	}
	t.machine.Observe(settle.Observation{Kind: settle.KindExited, At: ended})
	close(t.ended)
	return t
}

// Printed returns how many bytes the program has printed so far.
func (t *Tab) Printed() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.output
}

// size is a size that a terminal may have, whatever the file says.
func (s Saved) size() pty.Size {
	size := pty.Size{Cols: max(s.Cols, pty.MinCols), Rows: max(s.Rows, pty.MinRows)}
	size.Cols, size.Rows = min(size.Cols, 1000), min(size.Rows, 500)
	return size
}

// Restored tells whether the tab is left from an earlier run of the app, and what was saved of it.
func (t *Tab) Restored() (Saved, bool) { return t.saved, t.session == nil }

// Inherit gives a restored tab the texts that waited in it, and what keeps them. It is called before the tab is shown to anyone.
func (t *Tab) Inherit(queue []Queued, keep func([]Queued) error) { t.queue, t.spec.Keep = queue, keep }
