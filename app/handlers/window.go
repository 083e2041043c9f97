package handlers

import (
	"context"
	"sync"

	"termic/app/settings"
	"termic/app/task"
	"termic/registry"
	"termic/registry/ident"
	"termic/registry/refusal"
	"termic/registry/verbs"
)

// Window is the app's window, as far as verbs reach it.
type Window interface {
	// Watch begins to keep what changes, and returns the ticket that opens the stream of it.
	Watch() string
	// Calls returns the newest calls of the control plane, oldest first: of everyone, or those that a task's agent made
	// and that were about the task.
	Calls(of ident.Task) ([]verbs.Called, error)
	// Show brings the window to the front and shows the task in it, if one is named. It returns false
	// where there is no window.
	Show(which ident.Task) bool
}

func (s Services) bindWindow(r *registry.Router) {
	page := NewPage(s)
	bind(r, verbs.WindowWatch, func(ctx context.Context, _ registry.Call, _ verbs.None) (verbs.WindowWatchOut, error) {
		// The ticket comes first: what changes while the page is drawn up is then told twice, and never not at all.
		ticket := s.Window.Watch()
		calls, err := s.Window.Calls("")
		if err != nil {
			return verbs.WindowWatchOut{}, err
		}
		page.lookAgain()
		out := page.Draw(ctx)
		out.Ticket, out.Calls = ticket, calls
		return out, nil
	})
	bind(r, verbs.WindowCalls, func(_ context.Context, call registry.Call, _ verbs.WindowCallsIn) (verbs.WindowCallsOut, error) {
		calls, err := s.Window.Calls(call.Subject.Task)
		return verbs.WindowCallsOut{Calls: calls}, err
	})
	bind(r, verbs.TaskOpen, func(_ context.Context, call registry.Call, _ verbs.TaskOpenIn) (verbs.None, error) {
		if !s.Window.Show(call.Subject.Task) {
			return verbs.None{}, refusal.New(refusal.NoWindow, "the app runs without a window", "stop it and start termic-app")
		}
		return verbs.None{}, nil
	})
}

// Page draws up what the window shows. It is safe for concurrent use.
type Page struct {
	services Services

	mu       sync.Mutex
	branches map[ident.Project]string // default branches: asking for one starts git
}

// NewPage returns a page of these services.
func NewPage(s Services) *Page { return &Page{services: s, branches: map[ident.Project]string{}} }

// lookAgain forgets what git said.
func (p *Page) lookAgain() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.branches)
}

// Draw returns projects, live tasks, calls that wait and the endpoint as they are now. It reads memory, and asks git once for a
// project that it has not seen.
func (p *Page) Draw(ctx context.Context) verbs.WindowWatchOut {
	s := p.services
	out := verbs.WindowWatchOut{
		Version: s.Version, DataDir: s.Store.Dir(),
		Projects: []verbs.Project{}, Tasks: []verbs.Task{}, Calls: []verbs.Called{},
	}
	pending, _ := s.Holds.Pending()
	out.Held = s.heldCalls(pending)
	out.Endpoint.Enabled = s.Settings.Bool(settings.MCPEnabled)
	out.Endpoint.URL, out.Endpoint.Why = s.Endpoint.State()
	for _, known := range s.Projects.List() {
		live, _ := s.Tasks.UsedBy(known.ID)
		project := verbs.Project{ID: string(known.ID), Name: known.Name, Path: known.Root, Tasks: live}
		project.DefaultBranch = p.branch(known.ID, func() string { return s.project(ctx, known).DefaultBranch })
		out.Projects = append(out.Projects, project)
	}
	for _, record := range s.Tasks.List() {
		if record.Stage != task.Creating && record.Stage != task.Archived {
			out.Tasks = append(out.Tasks, s.task(record))
		}
	}
	return out
}

func (p *Page) branch(id ident.Project, ask func() string) string {
	p.mu.Lock()
	name, known := p.branches[id]
	p.mu.Unlock()
	if known {
		return name
	}
	name = ask()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.branches[id] = name
	return name
}
