// Package app wires the services of termic together, runs them, and stops them in order.
package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"

	"termic/app/audit"
	"termic/app/ctl"
	"termic/app/git"
	"termic/app/gui"
	"termic/app/handlers"
	"termic/app/project"
	"termic/app/settings"
	"termic/app/settle"
	"termic/app/store"
	"termic/app/task"
	"termic/mcpserver"
	"termic/registry"
	"termic/registry/grant"
	"termic/registry/verbs"
)

// Options say how the app runs.
type Options struct {
	// DataDir is the directory of all data, absolute.
	DataDir string
	// Environ is what new tabs start from.
	Environ []string
	// CLI is the path of the termic program, for tabs.
	CLI     string
	Version string
	Log     *slog.Logger
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
	auditDir, err := s.Subdir("audit")
	if err != nil {
		return err
	}
	log, err := audit.Open(auditDir, audit.Options{Always: func(e registry.Event) bool { return e.TakesPowerAway }})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	a, err := open(ctx, s, newWindow(log), o)
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
	window   *window
	page     *handlers.Page
}

// open makes every service and gives every verb its handler.
func open(ctx context.Context, s *store.Store, w *window, o Options) (*app, error) {
	g, err := git.Find(ctx)
	if err != nil {
		return nil, err
	}
	set, err := settings.Open(s)
	if err != nil {
		return nil, err
	}
	known, err := openAgents(s, o.Environ)
	if err != nil {
		return nil, err
	}
	projects, err := project.Open(s, g)
	if err != nil {
		return nil, err
	}
	book := grant.NewBook()
	server := &mcpserver.Server{Auth: hostAuth{book}, Version: o.Version, Log: o.Log}
	a := &app{Options: o, store: s, book: book, endpoint: newEndpoint(s, set, book, server, o.Log), streams: newStreams(), window: w}
	a.endpoint.withdraw() // of a run that crashed: its token is dead and its port may be another's
	a.tasks, err = task.Open(ctx, task.Tools{
		Store: s, Projects: projects, Agents: known.Set, Settings: set, Credentials: a.endpoint,
		Environ: o.Environ, CLI: o.CLI, Log: o.Log, Changed: w.feed.Poke,
	})
	if err != nil {
		return nil, err
	}
	a.router = registry.NewRouter(grant.NewGuard(book, handlers.World(projects, a.tasks)), w, o.Log, verbs.All()...)
	a.router.RedactWith(book.Redact)
	services := handlers.Services{
		Projects: projects, Tasks: a.tasks, Agents: known, Settings: set, Endpoint: a.endpoint, Streams: a.streams, Window: w,
		Store: s, Git: g, Book: book, Version: o.Version, Audit: func() (string, error) { return verifyAudit(s) },
	}
	handlers.Bind(a.router, services)
	a.page = handlers.NewPage(services)
	if missing := a.router.Unbound(); len(missing) > 0 {
		return nil, fmt.Errorf("verbs without a handler: %v", missing)
	}
	server.Calls = a.router
	return a, nil
}

// verifyAudit returns what is wrong with the audit log, in words.
func verifyAudit(s *store.Store) (string, error) {
	dir, err := s.Path("audit")
	if err != nil {
		return "", err
	}
	report, err := audit.Verify(dir)
	if err != nil || report.OK() {
		return "", err
	}
	return fmt.Sprintf("%d places do not fit together", len(report.Problems)), nil
}

// serve answers until ctx ends. An endpoint that cannot serve does not keep the app from running: the person
// needs it to put that right.
func (a *app) serve(ctx context.Context) error {
	defer a.tasks.Stop()
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
	if a.Window != nil {
		go a.window.feed.Run(ctx, a.page.Draw)
		a.window.feed.AttachWindow(a.Host.Front)
		a.Window(gui.New(gui.Options{
			Router: a.router, Streams: guiStreams{a.streams}, Feed: a.window.feed, Host: a.Host, Working: a.working, Assets: a.Assets, Log: a.Log,
		}))
	}
	if a.Ready != nil {
		a.Ready(a.endpoint.State())
	}
	return ctl.Serve(ctx, listener, a.router, a.streams, a.Log)
}

// working returns how many tasks' agents work right now.
func (a *app) working() int {
	n := 0
	for _, record := range a.tasks.List() {
		for _, open := range a.tasks.Tabs(record.ID) {
			if info := open.Info(); !info.Shell && (info.State == settle.Working || info.State == settle.Starting) {
				n++
				break
			}
		}
	}
	return n
}
