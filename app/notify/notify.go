// Package notify tells the person's desktop that an agent stopped or waits for them. It decides when that is worth
// a word, finds the words, and hands them to the desktop's own service.
package notify

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"termic/app/settle"
)

// Tab is an agent's tab as it is now.
type Tab struct {
	// ID tells tabs apart, for as long as the app runs.
	ID string
	// TaskID is that of its task: where a click on a notice about it leads.
	TaskID string
	// Task, Project and Agent are names of ours; Title is the agent's own text.
	Task, Project, Agent, Title string
	State                       settle.State
	Since                       time.Time // when State began
	// Silent says that the person wants to hear nothing of its project.
	Silent bool
}

// Options say what a Watcher looks at and where it speaks.
type Options struct {
	// Tabs returns the agents' tabs. It is called often and must not block.
	Tabs func() []Tab
	// On tells whether the person wants to be told at that time.
	On func(now time.Time) bool
	// Window tells whether there is a window that shows tabs.
	Window func() bool
	// Send shows a notice; it returns once the desktop took it, or when ctx ends.
	Send func(ctx context.Context, notice Notice) error
	Log  *slog.Logger
}

const (
	// gather is how long changes are gathered before tabs are looked at.
	gather = 100 * time.Millisecond
	// holds is how long a state must last: an agent that goes on by itself has not stopped.
	holds = 1500 * time.Millisecond
	// apart is the least time between two notices; what comes meanwhile is said in one.
	apart = 10 * time.Second
	// sendTimeout bounds one notice. A service that is started for it takes a second or two.
	sendTimeout = 5 * time.Second
)

// Watcher follows the agents' states. See New.
type Watcher struct {
	Options
	poked chan struct{} // holds one token when something may have changed

	known  map[string]moment // of each tab at the last look; Run's own
	due    map[string]moment // what is to be said unless it passes; Run's own
	failed bool              // the last notice did not go out; Run's own

	mu   sync.Mutex
	view map[string]bool // ids of the tabs that the person looks at
}

// moment is a state of a tab and its beginning.
type moment struct {
	state settle.State
	since time.Time
}

// New returns a watcher that has seen nothing yet. It looks once Run is called.
func New(o Options) *Watcher {
	return &Watcher{Options: o, poked: make(chan struct{}, 1), known: map[string]moment{}, due: map[string]moment{}}
}

// Poke says that something may have changed. It never blocks.
func (w *Watcher) Poke() {
	select {
	case w.poked <- struct{}{}:
	default:
	}
}

// InView says which tabs the person looks at from now on: those that the window shows while it has the focus.
func (w *Watcher) InView(tabs []string) {
	view := map[string]bool{}
	for _, id := range tabs {
		view[id] = true
	}
	w.mu.Lock()
	w.view = view
	w.mu.Unlock()
	w.Poke()
}

func (w *Watcher) looksAt(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.view[id] && w.Window()
}

// Run watches until ctx ends. What is so at its beginning is no news.
func (w *Watcher) Run(ctx context.Context) {
	for _, tab := range w.Tabs() {
		w.known[tab.ID] = moment{tab.State, tab.Since}
	}
	var look, speak <-chan time.Time
	var free time.Time // before it nothing is said
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.poked:
			if look == nil {
				look = time.After(gather)
			}
		case <-look:
			look = nil
			w.look()
			if len(w.due) > 0 && speak == nil {
				speak = time.After(max(holds, time.Until(free)))
			}
		case now := <-speak:
			speak = nil
			if next := w.speak(ctx, now); next > 0 {
				speak = time.After(next)
			} else if next < 0 {
				free = now.Add(apart)
			}
		}
	}
}

// look compares the tabs with what was last seen of them.
func (w *Watcher) look() {
	seen := map[string]moment{}
	for _, tab := range w.Tabs() {
		now := moment{tab.State, tab.Since}
		seen[tab.ID] = now
		before, known := w.known[tab.ID]
		if before == now {
			if w.looksAt(tab.ID) {
				delete(w.due, tab.ID) // the person came to see it
			}
			continue
		}
		delete(w.due, tab.ID)
		if calls(before.state, known, now.state) && !w.looksAt(tab.ID) {
			w.due[tab.ID] = now
		}
	}
	for id := range w.due {
		if _, there := seen[id]; !there {
			delete(w.due, id)
		}
	}
	w.known = seen
}

// calls tells whether a change of state is news for the person. A tab that nobody saw before began just now, unless
// it has ended: then it was brought back so.
func calls(before settle.State, known bool, now settle.State) bool {
	switch now {
	case settle.Waiting, settle.Done:
		return true
	case settle.Exited: // of one that had stopped before, it is no news
		return known && (before == settle.Working || before == settle.Waiting || before == settle.Starting)
	}
	return false
}

// speak says what is due and still so. It returns how long to wait for what has not lasted long enough, 0 when there
// is nothing to say, less when something was said.
func (w *Watcher) speak(ctx context.Context, now time.Time) time.Duration {
	w.look()
	var said []Tab
	var wait time.Duration
	for _, tab := range w.Tabs() {
		due, is := w.due[tab.ID]
		switch lasted := now.Sub(due.since); {
		case !is || due != (moment{tab.State, tab.Since}):
			continue
		case lasted < holds:
			if rest := min(holds-lasted, holds); wait == 0 || rest < wait {
				wait = rest
			}
			continue
		}
		delete(w.due, tab.ID)
		if !tab.Silent {
			said = append(said, tab)
		}
	}
	if len(said) == 0 || !w.On(now) {
		return wait
	}
	w.send(ctx, words(said))
	w.Poke() // for what is still due: it waits its turn
	return -1
}

// send shows a notice. That it cannot be shown is logged once, until one goes out again; that there is no bus, doctor says.
func (w *Watcher) send(ctx context.Context, notice Notice) {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	err := w.Send(ctx, notice)
	if err != nil && !w.failed && !errors.Is(err, ErrNoBus) {
		w.Log.Info("the desktop was not told", "cause", err)
	}
	w.failed = err != nil
}
