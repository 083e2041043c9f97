// Package handlers binds each verb to the services that do it. It translates and decides nothing.
package handlers

import (
	"context"
	"encoding/json"

	"termic/app/agent"
	"termic/app/audit"
	"termic/app/git"
	"termic/app/hold"
	"termic/app/project"
	"termic/app/prompt"
	"termic/app/registration"
	"termic/app/settings"
	"termic/app/store"
	"termic/app/tab"
	"termic/app/task"
	"termic/registry"
	"termic/registry/grant"
	"termic/registry/ident"
	"termic/sandbox/capability"
)

// Endpoint is the MCP endpoint as its switch and its state.
type Endpoint interface {
	// Apply makes the endpoint serve or not, as the settings say. An error is a refusal.
	Apply(ctx context.Context) error
	// Off ends the endpoint and every token of it, at once and without a disk.
	Off()
	// State returns the address that it serves at, or why it does not serve.
	State() (url, why string)
	// End ends one grant for good; Stop ends all of them and every listener. Both return how many ended, and need
	// no disk.
	End(id ident.Grant) int
	Stop() int
	// Withheld tells whether the person ended a task's token, so that it gets none.
	Withheld(id ident.Task) bool
	// URL returns the address that it serves at, else the one that it would; URLAt the one that it has where the setting of its
	// port is port. Both are empty where that is 0 and it had none yet.
	URL() string
	URLAt(port int) string
	// Free returns nil when it serves at URLAt(port) or could now, else a refusal. Nothing else changes.
	Free(ctx context.Context, port int) error
	// RefusedOlder returns the clients that were refused because they speak an older revision, the latest last.
	RefusedOlder() []OlderClient
}

// OlderClient is a client of an older revision of MCP, in its own words.
type OlderClient struct{ Name, Revision string }

// Streams hands out tickets for a tab's stream.
type Streams interface {
	Ticket(which *tab.Tab) string
}

// Agents is the set of agents and where it is kept.
type Agents interface {
	List() []agent.Definition
	Get(id string) (agent.Definition, error)
	// Files returns the definitions in files of the person's, and what is wrong with the others.
	Files() (list []agent.Definition, faults []error)
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
	Clients  *registration.Set
	Desktop  Desktop
	Window   Window
	// Environment is what tabs start from.
	Environment Environment
	Audit       AuditLog
	Holds       *hold.Holds
	Policy      *hold.Policy
	Prompts     *prompt.Library
	// Call makes one more call of the same caller, by the router: decided, held and recorded by itself.
	Call    func(ctx context.Context, caller registry.Caller, verb string, arguments json.RawMessage) (json.RawMessage, error)
	Version string
}

// AuditLog is the audit log, to read.
type AuditLog interface {
	// Tail returns the newest n entries that keep accepts, oldest first.
	Tail(n int, keep func(audit.Entry) bool) ([]audit.Entry, error)
	// Newest returns the number of the newest entry, and a channel that is closed when there is another.
	Newest() (uint64, <-chan struct{})
	// Verify looks the whole log through.
	Verify() (audit.Report, error)
}

// Desktop is what shows notifications.
type Desktop interface {
	// Check returns nil when it answers before ctx ends.
	Check(ctx context.Context) error
}

// Environment is what new tabs start from.
type Environment interface {
	// Apply makes the setting true, asking the login shell anew where it says so. The error is a refusal; what was had is then
	// still in use.
	Apply(ctx context.Context) error
	// State tells which shell it is from, "" for the app's own, and why asking that shell did not work.
	State() (shell string, problem error)
}

// Bind gives every verb of the router its handler.
func Bind(r *registry.Router, s Services) {
	s.bindTasks(r)
	s.bindTabs(r)
	s.bindCages(r)
	s.bindInside(r)
	s.bindProjects(r)
	s.bindRepo(r)
	s.bindAgents(r)
	s.bindSettings(r)
	s.bindClients(r)
	s.bindAuthority(r)
	s.bindAudit(r)
	s.bindHolds(r)
	s.bindDoctor(r)
	s.bindWindow(r)
}

// bind is registry.Bind with errors of the services turned into refusals.
func bind[In, Out any](r *registry.Router, spec registry.Spec[In, Out], handle registry.Handler[In, Out]) {
	registry.Bind(r, spec, func(ctx context.Context, call registry.Call, in In) (Out, error) {
		out, err := handle(ctx, call, in)
		return out, explainTo(call.Caller, err)
	})
}

// World shows the model to the guard. support says which axes this machine holds a task of a mode to.
func World(projects *project.Projects, tasks *task.Tasks, support func(capability.Mode) capability.Support) grant.World {
	return world{projects, tasks, support}
}

type world struct {
	projects *project.Projects
	tasks    *task.Tasks
	support  func(capability.Mode) capability.Support
}

func (w world) Support(mode capability.Mode) capability.Support { return w.support(mode) }

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
		t := grant.Task{ID: r.ID, Name: r.Name, Namespace: r.Namespace, Project: r.Project, Archived: r.Stage == task.Archived, Parents: r.Parents}
		if declared, err := r.Declared(); err == nil { // else it stays the one that nothing is compared with
			t.Declared = declared
		}
		for _, open := range w.tasks.Tabs(r.ID) {
			info := open.Info()
			t.Tabs = append(t.Tabs, grant.Tab{ID: info.ID, Name: info.Name, Agent: !info.Shell, Outside: info.Outside, Opener: info.Opener})
		}
		list = append(list, t)
	}
	return list
}
