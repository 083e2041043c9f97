package gui

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"termic/registry"
	"termic/registry/ident"
	"termic/registry/refusal"
	"termic/registry/verbs"
)

// Change is one line of the feed: what is not as it was. A task or project comes whole, so that a change that
// is told twice does no harm. Seq counts the lines of one feed from 1 without gaps.
type Change struct {
	Seq      uint64          `json:"seq"`
	Projects []verbs.Project `json:"projects,omitempty"`
	Tasks    []verbs.Task    `json:"tasks,omitempty"`
	Gone     []string        `json:"gone,omitempty"`
	Endpoint *verbs.Endpoint `json:"endpoint,omitempty"`
	Calls    []verbs.Called  `json:"calls,omitempty"`
	// Held is every call that waits for the person; empty when none does any more, nil when that has not changed.
	Held   *[]verbs.HeldCall `json:"held,omitempty"`
	Show   *string           `json:"show,omitempty"`
	Quit   *int              `json:"quit,omitempty"`
	Forgot []string          `json:"forgot,omitempty"`
}

// Draw returns everything that the page shows, as it is now.
type Draw func(ctx context.Context) verbs.WindowWatchOut

const (
	// ticketLife is how long a ticket waits to be used: the time between an answer and the next request.
	ticketLife = 10 * time.Second
	// gather is how long changes are gathered before the page is told: below what a person notices, and long
	// enough that a burst of them is one line.
	gather = 40 * time.Millisecond
	// beat is how often an idle feed says that it lives; a page that went away is noticed by it.
	beat = 5 * time.Second
	// maxBehind is how many lines may wait for one page. One further behind is cut off, and begins again with
	// window_watch.
	maxBehind = 512
)

// Feed tells pages what changes. Its zero value is not usable; see NewFeed.
type Feed struct {
	poked chan struct{} // holds one token when something may have changed

	mu    sync.Mutex // guards everything below
	subs  map[string]*subscriber
	front func()
}

type subscriber struct {
	made   time.Time
	opened bool
	seq    uint64
	lines  chan Change // closed when the page fell too far behind, or the app stops
	closed bool
}

// NewFeed returns a feed that nobody reads yet.
func NewFeed() *Feed {
	return &Feed{poked: make(chan struct{}, 1), subs: map[string]*subscriber{}}
}

// Poke says that something may have changed. It never blocks.
func (f *Feed) Poke() {
	select {
	case f.poked <- struct{}{}:
	default:
	}
}

// Run tells what changed, until ctx ends.
func (f *Feed) Run(ctx context.Context, draw Draw) {
	var last picture
	for {
		select {
		case <-ctx.Done():
			f.cutAll()
			return
		case <-f.poked:
		}
		select {
		case <-ctx.Done():
		case <-time.After(gather):
		}
		if !f.watched() {
			last = picture{} // whoever comes next is told everything once
			continue
		}
		next := take(draw(ctx))
		if change := last.to(next); change != nil {
			f.tell(*change)
		}
		last = next
	}
}

// picture is what was last told, each part as its JSON.
type picture struct {
	projects []byte
	endpoint []byte
	held     []byte
	tasks    map[string][]byte
	page     verbs.WindowWatchOut
}

func take(page verbs.WindowWatchOut) picture {
	p := picture{page: page, tasks: map[string][]byte{}}
	p.projects, _ = json.Marshal(page.Projects) // strings and numbers always encode
	p.endpoint, _ = json.Marshal(page.Endpoint)
	p.held, _ = json.Marshal(page.Held)
	for _, t := range page.Tasks {
		p.tasks[t.ID], _ = json.Marshal(t)
	}
	return p
}

// to returns what makes next of p, or nil.
func (p picture) to(next picture) *Change {
	var change Change
	differs := false
	if !bytes.Equal(p.projects, next.projects) {
		change.Projects, differs = next.page.Projects, true
		for _, old := range p.page.Projects {
			if !slices.ContainsFunc(next.page.Projects, func(n verbs.Project) bool { return n.ID == old.ID }) {
				change.Forgot = append(change.Forgot, old.ID)
			}
		}
	}
	if !bytes.Equal(p.endpoint, next.endpoint) {
		change.Endpoint, differs = &next.page.Endpoint, true
	}
	if !bytes.Equal(p.held, next.held) {
		change.Held, differs = &next.page.Held, true
	}
	for _, t := range next.page.Tasks {
		if !bytes.Equal(p.tasks[t.ID], next.tasks[t.ID]) {
			change.Tasks, differs = append(change.Tasks, t), true
		}
	}
	for _, id := range slices.Sorted(maps.Keys(p.tasks)) {
		if next.tasks[id] == nil {
			change.Gone, differs = append(change.Gone, id), true
		}
	}
	if !differs {
		return nil
	}
	return &change
}

// Watch implements handlers.Window.
func (f *Feed) Watch() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	for ticket, sub := range f.subs {
		if !sub.opened && time.Since(sub.made) > ticketLife {
			delete(f.subs, ticket)
		}
	}
	ticket := rand.Text()
	f.subs[ticket] = &subscriber{made: time.Now(), lines: make(chan Change, maxBehind)}
	f.Poke()
	return ticket
}

// open takes the lines of a ticket, once.
func (f *Feed) open(ticket string) (*subscriber, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	sub := f.subs[ticket]
	if sub == nil || sub.opened || time.Since(sub.made) > ticketLife {
		return nil, refusal.New(refusal.NotFound, "the ticket is unknown, used or too old", "load the page again")
	}
	sub.opened = true
	return sub, nil
}

func (f *Feed) leave(ticket string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.subs, ticket)
}

// watched tells whether anyone reads.
func (f *Feed) watched() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.subs) > 0
}

// Pages returns how many pages read the feed.
func (f *Feed) Pages() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, sub := range f.subs {
		if sub.opened && !sub.closed {
			n++
		}
	}
	return n
}

// tell gives a change to every page.
func (f *Feed) tell(change Change) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, sub := range f.subs {
		sub.give(change)
	}
}

// give keeps a change for a page; Feed.mu is held.
func (s *subscriber) give(change Change) {
	if s.closed {
		return
	}
	s.seq++
	change.Seq = s.seq
	select {
	case s.lines <- change:
	default:
		s.closed = true
		close(s.lines)
	}
}

func (f *Feed) cutAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, sub := range f.subs {
		if !sub.closed {
			sub.closed = true
			close(sub.lines)
		}
	}
}

// Note tells a call as it is recorded, and pokes when it may have changed something.
func (f *Feed) Note(event registry.Event) {
	if Noise(event) {
		return
	}
	if event.Time.IsZero() {
		event.Time = time.Now()
	}
	f.tell(Change{Calls: []verbs.Called{CalledOf(event)}})
	if event.Phase == registry.Finished {
		f.Poke()
	}
}

// Noise tells whether the event is the window reading for itself, which says nothing to the person.
func Noise(event registry.Event) bool {
	return event.Way == registry.Window && event.Class == registry.Read
}

// CalledOf returns an event as the page gets it.
func CalledOf(e registry.Event) verbs.Called {
	return verbs.Called{
		Request: string(e.Request), Time: e.Time.Format(time.RFC3339Nano), Phase: string(e.Phase), Verb: e.Verb, Class: e.Class.String(),
		Way: e.Way.String(), Caller: e.Caller, CallerTask: string(e.Task), Project: string(e.Subject.Project), Task: string(e.Subject.Task),
		Allow: e.Allow, Code: string(e.Code), Why: e.Why, Millis: e.Millis,
	}
}

// AttachWindow gives the feed the window that Show brings to the front.
func (f *Feed) AttachWindow(front func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.front = front
}

// Show implements handlers.Window.
func (f *Feed) Show(which ident.Task) bool {
	f.mu.Lock()
	front := f.front
	f.mu.Unlock()
	if front == nil {
		return false
	}
	front()
	id := string(which)
	f.tell(Change{Show: &id})
	return true
}

// AskQuit lets the pages ask whether to quit while agents work; working is how many.
func (f *Feed) AskQuit(working int) { f.tell(Change{Quit: &working}) }
