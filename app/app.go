// Package app wires the services of termic together, runs them, and stops them in order.
package app

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"termic/app/agentstate"
	"termic/app/audit"
	"termic/app/cage"
	"termic/app/ctl"
	"termic/app/git"
	"termic/app/gui"
	"termic/app/handlers"
	"termic/app/hold"
	"termic/app/notify"
	"termic/app/project"
	"termic/app/prompt"
	"termic/app/registration"
	"termic/app/settings"
	"termic/app/settle"
	"termic/app/store"
	"termic/app/task"
	"termic/mcpserver"
	"termic/registry"
	"termic/registry/grant"
	"termic/registry/ident"
	"termic/registry/verbs"
	"termic/sandbox/cgroup"
	"termic/sandbox/launch"
)

// Options say how the app runs.
type Options struct {
	// DataDir is the directory of all data, absolute.
	DataDir string
	// Environ is what the app was started with; new tabs start from it, or from what the login shell makes of it.
	Environ []string
	// LoginShell says that an app started like this one wants the login shell's, unless the setting says otherwise.
	LoginShell bool
	// CLI is the path of the termic program, for tabs.
	CLI string
	// Stage is the path of the stage program, which makes cages.
	Stage   string
	Version string
	Log     *slog.Logger
	// Terminal, when set, is the person's own: calls that wait are put before it and answered there.
	Terminal io.ReadWriter
	// Held, when set, is called once the data directory is this app's alone, before everything that takes a while.
	Held func()
	// Window, when set, is called before Ready with what serves the window's page and what tells it of changes.
	// The app then has a window, which Host is.
	Window func(*gui.Server)
	Host   gui.Host
	// Assets is the window's page.
	Assets fs.FS
	// Ready, when set, is called once everything serves, with the endpoint's address or why there is none.
	Ready func(url, why string)
}

// Run runs the app until ctx ends, then stops it in order: no new calls, no endpoint, no tabs, everything
// saved. The error says why it could not start or what could not be stopped.
func Run(ctx context.Context, o Options) (err error) {
	defer func() { err = handlers.Explain(err) }()
	s, err := store.Open(o.DataDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if o.Held != nil {
		o.Held()
	}
	auditDir, err := s.Subdir("audit")
	if err != nil {
		return err
	}
	log, err := audit.Open(auditDir, audit.Options{Always: func(e registry.Event) bool { return e.TakesPowerAway }})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	a, err := open(ctx, s, log, o)
	if err != nil {
		return err
	}
	return a.serve(ctx)
}

// app is what runs.
type app struct {
	Options
	store    *store.Store
	book     *grant.Book
	router   *registry.Router
	endpoint *endpoint
	streams  *streams
	tasks    *task.Tasks
	holds    *hold.Holds
	state    *agentstate.Keeper
	window   *window
	page     *handlers.Page
	notices  *notify.Watcher
	bus      *notify.Bus
}

// open makes every service and gives every verb its handler.
func open(ctx context.Context, s *store.Store, log *audit.Log, o Options) (*app, error) {
	g, err := git.Find(ctx)
	if err != nil {
		return nil, err
	}
	set, err := settings.Open(s)
	if err != nil {
		return nil, err
	}
	bus := notify.Session(o.Environ) // before the login shell may name another
	groups := cgroup.Open(groupPrefix(s.Dir()), o.Environ)
	environment := openEnvironment(ctx, set, o, o.Log)
	o.Environ = environment.Environ()
	known, err := openAgents(s, o.Environ)
	if err != nil {
		return nil, err
	}
	projects, err := project.Open(s, g)
	if err != nil {
		return nil, err
	}
	book := grant.NewBook()
	outside, err := registration.Open(s, registration.Options{Environ: o.Environ, Program: o.CLI, Mac: runtime.GOOS == "darwin", Reads: readingTools()})
	if err != nil {
		return nil, err
	}
	server := &mcpserver.Server{
		Auth: hostAuth{book, outside.Saw}, Version: o.Version, Log: o.Log, Ended: endedGrant(book),
		OlderClients: func() bool { return set.Bool(settings.MCPOlder) },
	}
	a := &app{Options: o, store: s, book: book, endpoint: newEndpoint(s, set, book, server, outside, log, o.Log), streams: newStreams(), window: watching(log), bus: bus}
	a.notices = noticing(func() *task.Tasks { return a.tasks }, func() bool { return a.window.feed.Pages() > 0 }, known, set, bus, o)
	outside.Use(a.endpoint)
	a.endpoint.withdraw() // of a run that crashed: its token is dead and its port may be another's
	cages, err := s.Subdir("cages")
	if err != nil {
		return nil, err
	}
	a.state, err = agentstate.Open(agentstate.Options{Dir: cages, Environ: environment.Environ, InPlace: !launch.Mounts, Log: o.Log, Untrusted: func() []string {
		return []string{s.Dir(), task.Checkouts(s, set)}
	}})
	if err != nil {
		return nil, err
	}
	a.tasks, err = task.Open(ctx, task.Tools{
		Store: s, Projects: projects, Agents: known.Set, Settings: set, Credentials: a.endpoint, Machine: cage.NewMachine(o.Stage, groups), State: a.state,
		Environ: environment.Environ, CLI: o.CLI, Blank: grant.Blank, Log: o.Log, Changed: a.changed,
		Recheck: a.recheck, Lost: a.lost,
	})
	if err != nil {
		return nil, err
	}
	a.router = registry.NewRouter(grant.NewGuard(book, handlers.World(projects, a.tasks, a.tasks.Machine.Enforced)), a.window, o.Log, verbs.All()...)
	a.router.RedactWith(book.Redact)
	policy, err := hold.OpenPolicy(s, hold.Known{Verb: knownVerb, Project: func(id ident.Project) bool { _, ok := projects.Get(id); return ok }})
	if err != nil {
		return nil, err
	}
	a.holds = hold.New(policy, 0)
	a.holds.Confirms = outside.Elicits
	a.router.HoldWith(a.holds)
	services := handlers.Services{
		Projects: projects, Tasks: a.tasks, Agents: known, Settings: set, Endpoint: a.endpoint, Streams: a.streams, Clients: outside, Environment: environment, Window: a.window, Desktop: bus,
		Store: s, Git: g, Book: book, Version: o.Version, Audit: auditLog{log, s}, Holds: a.holds, Policy: policy,
		Prompts: prompt.New(filepath.Join(s.Dir(), "prompts")), Call: a.router.Dispatch,
	}
	handlers.Bind(a.router, services)
	a.page = handlers.NewPage(services)
	if missing := a.router.Unbound(); len(missing) > 0 {
		return nil, fmt.Errorf("verbs without a handler: %v", missing)
	}
	server.Calls = a.router // before the first listener serves, the host's or a cage's
	return a, nil
}

// groupPrefix is how the control groups of a data directory's cages begin, and no other app's.
func groupPrefix(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return fmt.Sprintf("termic-%x-", sum[:6])
}

// knownVerb tells whether there is a verb of the name.
func knownVerb(name string) bool {
	return slices.ContainsFunc(verbs.All(), func(v *registry.Verb) bool { return v.Name == name })
}

// auditLog is the log as handlers read it.
type auditLog struct {
	*audit.Log
	store *store.Store
}

// Verify implements handlers.AuditLog.
func (l auditLog) Verify() (audit.Report, error) {
	dir, err := l.store.Path("audit")
	if err != nil {
		return audit.Report{}, err
	}
	return audit.Verify(dir)
}

// serve answers until ctx ends. An endpoint that cannot serve does not keep the app from running: the person
// needs it to put that right.
func (a *app) serve(ctx context.Context) error {
	defer func() {
		if err := a.state.Close(); err != nil {
			a.Log.Error("agents' state not given up", "cause", err)
		}
	}()
	defer a.tasks.Stop()
	if a.Window != nil { // without one there is nothing that a click could show
		a.bus.OnClick(a.openClicked)
	}
	defer a.notice(ctx)()
	saved, saving := make(chan struct{}), sync.WaitGroup{}
	saving.Go(func() { a.tasks.SaveLayouts(saved) })
	defer saving.Wait()
	defer close(saved)
	defer a.endpoint.Off()
	token := grant.NewToken()
	a.book.Keep(token)
	listener, err := ctl.Listen(a.store.Dir(), token, a.Log)
	if err != nil {
		return err
	}
	if err := a.endpoint.Apply(ctx); err != nil {
		a.Log.Error("endpoint does not serve", "cause", err)
	}
	if a.Terminal != nil {
		go a.answerAt(ctx, a.Terminal)
	}
	if a.Window != nil {
		go a.window.feed.Run(ctx, a.page.Draw)
		go a.window.watchHolds(ctx, a.holds)
		a.window.feed.AttachWindow(a.Host.Front)
		a.Window(gui.New(gui.Options{
			Router: a.router, Streams: guiStreams{a.streams}, Feed: a.window.feed, Host: a.Host, Working: a.working, InView: a.notices.InView, Assets: a.Assets, Log: a.Log,
		}))
	}
	if a.Ready != nil {
		a.Ready(a.endpoint.State())
	}
	return ctl.Serve(ctx, listener, a.router, a.streams, a.Log)
}

// changed says that a tab's state may have changed. It never blocks.
func (a *app) changed() {
	a.window.feed.Poke()
	a.notices.Poke()
}

// notice tells the desktop of agents until the returned function is called, which waits until it has ceased.
func (a *app) notice(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { a.notices.Run(ctx) })
	return func() {
		cancel()
		running.Wait()
		a.bus.Close()
	}
}

// working returns how many agents work right now; a task may have several.
func (a *app) working() int {
	n := 0
	for _, record := range a.tasks.List() {
		for _, open := range a.tasks.Tabs(record.ID) {
			if info := open.Info(); !info.Shell && (info.State == settle.Working || info.State == settle.Starting) {
				n++
			}
		}
	}
	return n
}
