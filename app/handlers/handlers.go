// Package handlers binds each verb to the services that do it. It translates and decides nothing.
package handlers

import (
	"context"

	"termic/app/agent"
	"termic/app/git"
	"termic/app/project"
	"termic/app/settings"
	"termic/app/store"
	"termic/app/tab"
	"termic/app/task"
	"termic/registry"
	"termic/registry/grant"
)

// Endpoint is the MCP endpoint as its switch and its state.
type Endpoint interface {
	// Apply makes the endpoint serve or not, as the settings say. An error is a refusal.
	Apply(ctx context.Context) error
	// Off ends the endpoint and every token of it, at once and without a disk.
	Off()
	// State returns the address that it serves at, or why it does not serve.
	State() (url, why string)
}

// Streams hands out tickets for a tab's stream.
type Streams interface {
	Ticket(which *tab.Tab) string
}

// Agents is the set of agents and where it is kept.
type Agents interface {
	List() []agent.Definition
	Add(agent.Definition) (agent.Definition, error)
	Remove(id string) error
	// Installed tells whether the program is there, and its version as far as known.
	Installed(ctx context.Context, definition agent.Definition) (bool, string)
}

// Services is everything that handlers hand calls to.
type Services struct {
	Projects *project.Projects
	Tasks    *task.Tasks
	Agents   Agents
	Settings *settings.Settings
	Endpoint Endpoint
	Streams  Streams
	Store    *store.Store
	Git      *git.Git
	Book     *grant.Book
	Window   Window
	// Audit looks the audit log through and returns what is wrong with it, in words; nothing when it is whole.
	Audit   func() (string, error)
	Version string
}

// Bind gives every verb of the router its handler.
func Bind(r *registry.Router, s Services) {
	s.bindTasks(r)
	s.bindTabs(r)
	s.bindProjects(r)
	s.bindAgents(r)
	s.bindSettings(r)
	s.bindDoctor(r)
	s.bindWindow(r)
}

// bind is registry.Bind with errors of the services turned into refusals.
func bind[In, Out any](r *registry.Router, spec registry.Spec[In, Out], handle registry.Handler[In, Out]) {
	registry.Bind(r, spec, func(ctx context.Context, call registry.Call, in In) (Out, error) {
		out, err := handle(ctx, call, in)
		return out, explain(err)
	})
}

// World shows the model to the guard.
func World(projects *project.Projects, tasks *task.Tasks) grant.World { return world{projects, tasks} }

type world struct {
	projects *project.Projects
	tasks    *task.Tasks
}

func (w world) Projects() []grant.Project {
	var list []grant.Project
	for _, p := range w.projects.List() {
		list = append(list, grant.Project{ID: p.ID, Name: p.Name})
	}
	return list
}

func (w world) Tasks() []grant.Task {
	var list []grant.Task
	for _, r := range w.tasks.List() {
		if r.Stage == task.Creating {
			continue
		}
		t := grant.Task{ID: r.ID, Name: r.Name, Project: r.Project, Archived: r.Stage == task.Archived}
		for _, open := range w.tasks.Tabs(r.ID) {
			info := open.Info()
			t.Tabs = append(t.Tabs, grant.Tab{ID: info.ID, Name: info.Name, Agent: !info.Shell})
		}
		list = append(list, t)
	}
	return list
}
