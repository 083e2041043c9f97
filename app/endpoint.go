package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"time"

	"termic/app/handlers"
	"termic/app/registration"
	"termic/app/settings"
	"termic/app/store"
	"termic/app/task"
	"termic/mcpserver"
	"termic/registry"
	"termic/registry/grant"
	"termic/registry/ident"
	"termic/registry/refusal"
	"termic/sandbox/capability"
)

// The advertisement of the endpoint, in the data directory. Both files are there exactly while it serves.
const (
	mcpTokenFile = "mcp-token"
	mcpPortFile  = "mcp-port"
)

// clientName is the name of outside clients that have none of their own.
const clientName = "client"

// lastPort remembers the port between runs, since clients hold the address in their configuration.
var lastPort = store.Define[int]("endpoint", 1)

// endpoint switches the MCP listener on and off and keeps what depends on it true: the advertisement, the
// outside clients' token, the tasks' tokens. A token is minted after the port is bound and ends with the
// binding (I3).
type endpoint struct {
	store    *store.Store
	settings *settings.Settings
	book     *grant.Book
	server   *mcpserver.Endpoint
	clients  *registration.Set
	socket   *socketDoor
	log      *slog.Logger

	// switching is held while the endpoint is switched, so that two switches never mix. Taken before mu.
	switching sync.Mutex
	// retry looks whether the port is free again; nil while nothing waits for that.
	retry *time.Timer

	mu      sync.Mutex
	enabled bool                  // the control plane is on; the host's port may be taken all the same
	url     string                // empty while nothing serves
	why     string                // why it does not serve although it should
	tokens  map[ident.Task]string // of the tasks that got one since the port was bound
	doors   map[ident.Task]*door  // inside cages
	// withheld are the tasks whose token the person ended: they get none until Allow.
	withheld map[ident.Task]bool
	proofs   map[string]string // digests of the outside clients' tokens, by name (registration.Tokens)
}

func newEndpoint(s *store.Store, set *settings.Settings, book *grant.Book, server *mcpserver.Server, clients *registration.Set, sink registry.Sink, log *slog.Logger) *endpoint {
	e := &endpoint{store: s, settings: set, book: book, clients: clients, log: log, server: &mcpserver.Endpoint{Server: server}, doors: map[ident.Task]*door{}, withheld: map[ident.Task]bool{}}
	e.socket = &socketDoor{host: server, book: book, sink: sink, dir: s.Dir(), log: log}
	e.server.Ended = func(err error) {
		e.log.Error("endpoint ended", "cause", err)
		e.switching.Lock()
		defer e.switching.Unlock()
		e.stop("the listener ended")
		if port, err := e.port(); err == nil {
			e.waitForPort(port)
		}
	}
	return e
}

// Apply makes the endpoint serve or not, as the settings say. It implements handlers.Endpoint.
func (e *endpoint) Apply(ctx context.Context) error {
	e.switching.Lock()
	defer e.switching.Unlock()
	if !e.settings.Bool(settings.MCPEnabled) {
		e.shut()
		return nil
	}
	e.mu.Lock()
	e.enabled = true
	e.mu.Unlock()
	port, err := e.port()
	if err != nil {
		return err
	}
	if address, serving := e.server.Address(); serving {
		if port == 0 || int(address.Port()) == port {
			e.toolsChanged() // a setting may be what it depends on
			return nil
		}
		e.stop("")
	}
	return e.start(ctx, port)
}

// port is the one to bind: the person's choice, else the last one, else (0) any.
func (e *endpoint) port() (int, error) { return e.portFor(e.settings.Int(settings.MCPPort)) }

// portFor is port where the person's choice is choice.
func (e *endpoint) portFor(choice int) (int, error) {
	if choice != 0 {
		return choice, nil
	}
	port, err := lastPort.Load(e.store)
	if err != nil {
		return 0, fmt.Errorf("read the endpoint's last port: %w", err)
	}
	return port, nil
}

// Free implements handlers.Endpoint. It binds the port for a moment, which tells what no look-up could.
func (e *endpoint) Free(ctx context.Context, choice int) error {
	e.switching.Lock()
	defer e.switching.Unlock()
	port, err := e.portFor(choice)
	if address, serving := e.server.Address(); err != nil || serving && (port == 0 || int(address.Port()) == port) {
		return err
	}
	probe := mcpserver.Endpoint{Server: &mcpserver.Server{}} // which serves nobody
	if _, err := probe.Start(ctx, port); err != nil {
		return refusal.New(refusal.Unavailable, whyNot(port, err)+", so nothing is changed", "free that port, or choose another").Because(err)
	}
	return probe.Stop(ctx)
}

// whyNot says why a port could not be bound.
func whyNot(port int, err error) string {
	if errors.Is(err, mcpserver.ErrPortTaken) {
		return fmt.Sprintf("port %d is taken by another program", port)
	}
	return fmt.Sprintf("port %d could not be bound", port)
}

func (e *endpoint) start(ctx context.Context, port int) error {
	e.stopWaiting()
	address, err := e.server.Start(ctx, port)
	if err != nil {
		why := whyNot(port, err)
		e.stop(why)
		e.waitForPort(port)
		return refusal.New(refusal.Unavailable, why+", so the endpoint does not serve",
			"free the port, and it serves again within seconds; or move to another with its clients: termic client refresh --port N").Because(err)
	}
	if err := e.advertise(int(address.Port())); err != nil {
		e.stop("its token could not be written")
		return err
	}
	e.socket.open()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.url, e.why, e.tokens = mcpserver.URL(address), "", map[ident.Task]string{}
	return nil
}

// retryEvery is how often a taken port is tried again: a person who freed it looks for the effect after seconds.
const retryEvery = 2 * time.Second

// waitForPort makes the endpoint serve once its port is free again; e.switching is held.
func (e *endpoint) waitForPort(port int) {
	var timer *time.Timer
	timer = time.AfterFunc(retryEvery, func() {
		e.switching.Lock()
		defer e.switching.Unlock()
		if e.retry != timer {
			return // it was switched since
		}
		if err := e.start(context.Background(), port); err == nil {
			e.log.Warn("the port is free again: the endpoint serves", "port", port)
		}
	})
	e.retry = timer
}

// stopWaiting ends waitForPort; e.switching is held.
func (e *endpoint) stopWaiting() {
	if e.retry != nil {
		e.retry.Stop()
		e.retry = nil
	}
}

// advertise mints the outside clients' token and writes token and port where clients look for them.
func (e *endpoint) advertise(port int) error {
	if err := lastPort.Save(e.store, port); err != nil {
		return err
	}
	token, _ := e.book.Issue(grant.Grant{
		Scope: registry.Full, Ceiling: registry.Destructive, Limit: capability.Unbounded(), Channel: grant.HostPort, Name: clientName,
	})
	if err := e.store.WriteSecret(mcpTokenFile, token); err != nil {
		return err
	}
	if err := e.admitAll(); err != nil {
		return err
	}
	return e.store.WriteSecret(mcpPortFile, strconv.Itoa(port))
}

// stopTimeout is how long answers under way may take once the endpoint is switched off.
const stopTimeout = 5 * time.Second

// Off ends the endpoint and every token of it. It needs no disk to be done; implements handlers.Endpoint.
// The tokens end before anything is waited for.
func (e *endpoint) Off() {
	e.revokeAll("")
	e.closeDoors()
	e.switching.Lock()
	defer e.switching.Unlock()
	e.shut()
}

// shut ends the control plane everywhere; e.switching is held.
func (e *endpoint) shut() {
	e.closeDoors()
	e.stop("")
}

// revokeAll ends every token of the host port, and says why nothing serves.
func (e *endpoint) revokeAll(why string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.url, e.why, e.tokens, e.proofs = "", why, nil, nil
	e.book.Revoke(func(g grant.Grant) bool { return g.Channel == grant.HostPort })
}

// stop takes power away in the order in which it is held: first the tokens, then the listener, then the
// advertisement, so that no step waits for one that could fail; e.switching is held.
func (e *endpoint) stop(why string) {
	e.stopWaiting()
	e.revokeAll(why)
	e.socket.shut()
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if err := e.server.Stop(ctx); err != nil {
		e.log.Error("endpoint not stopped in time", "cause", err)
	}
	e.withdraw()
}

// withdraw removes the advertisement.
func (e *endpoint) withdraw() {
	names := []string{mcpTokenFile, mcpPortFile}
	for _, client := range e.clients.Known() {
		names = append(names, registration.TokenFile(client))
	}
	for _, name := range names {
		if err := e.store.RemoveSecret(name); err != nil {
			e.log.Error("advertisement not removed", "file", name, "cause", err)
		}
	}
}

// State returns the address that it serves at, or why it does not although it should.
func (e *endpoint) State() (url, why string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.url, e.why
}

// RefusedOlder implements handlers.Endpoint.
func (e *endpoint) RefusedOlder() []handlers.OlderClient {
	var clients []handlers.OlderClient
	for _, client := range e.server.Server.RefusedOlder() {
		clients = append(clients, handlers.OlderClient{Name: client.Name, Revision: client.Revision})
	}
	return clients
}

// Task returns what a task's agents need for the control plane; it implements task.Credentials. A full token is for a
// task without a cage only: it may never be inside one (I2).
func (e *endpoint) Task(record task.Record, limit capability.Set, own net.Listener) (url, token string, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if own != nil {
		return e.openDoor(record, limit, own)
	}
	if e.url == "" || e.withheld[record.ID] || !mayHold(record) || record.Mode == capability.Enforce { // whose token is valid in its own cage only
		return "", "", false
	}
	if token = e.tokens[record.ID]; token == "" {
		token, _ = e.book.Issue(grantOf(record, limit, grant.HostPort))
		e.tokens[record.ID] = token
	}
	return e.url, token, true
}

// Address is where Task would say that the control plane is, or empty; it implements task.Credentials.
func (e *endpoint) Address(record task.Record, door uint16) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case !mayHold(record), e.withheld[record.ID]:
		return ""
	case record.Mode != capability.Enforce:
		return e.url
	case e.enabled:
		return doorURL(door)
	}
	return ""
}

// mayHold tells whether a task's agents hold a token at all: those without a cage do, others when the person says so.
func mayHold(record task.Record) bool {
	return record.Mode == capability.Off || record.Mode.Valid() && record.MCP
}

// grantOf is what a task's token stands for.
func grantOf(record task.Record, limit capability.Set, channel grant.Channel) grant.Grant {
	g := grant.Grant{
		Task: record.ID, Parents: record.Parents, Projects: append([]ident.Project{record.Project}, record.Projects...),
		Scope: registry.Scoped, Ceiling: registry.Destructive, Limit: limit, Channel: channel, Name: "task",
	}
	if record.Mode == capability.Off {
		g.Scope = registry.Full
	}
	return g
}

// Revoke ends a task's token and closes its cage's door; it implements task.Credentials.
func (e *endpoint) Revoke(id ident.Task) {
	e.mu.Lock()
	delete(e.tokens, id)
	e.book.Revoke(func(g grant.Grant) bool { return g.Task == id })
	shut := e.doors[id]
	delete(e.doors, id)
	e.mu.Unlock()
	shut.close(e.log)
}

// hostAuth is the book as the host listener sees it: tokens that are valid on another channel are unknown here.
type hostAuth struct {
	book *grant.Book
	// saw, when set, is told the name behind each accepted token of an outside client.
	saw func(name string)
}

// Caller implements mcpserver.Auth.
func (a hostAuth) Caller(token string) (registry.Caller, bool) {
	caller, ok := a.book.Caller(grant.HostPort, token)
	if ok && caller.Task == "" && a.saw != nil {
		a.saw(caller.Name)
	}
	return caller, ok
}
