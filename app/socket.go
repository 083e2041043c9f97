package app

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"termic/app/ctl"
	"termic/mcpserver"
	"termic/registry"
	"termic/registry/grant"
	"termic/registry/refusal"
)

// socketName is the endpoint's second door, in the data directory: for programs that speak MCP and may see that
// directory, without a port that others could reach.
const socketName = "mcp.sock"

// socketDoor serves the host port's full tokens on a unix socket, to our own user only. It is open exactly while the host
// port serves, since that is where its tokens come from.
type socketDoor struct {
	host *mcpserver.Server
	book *grant.Book
	sink registry.Sink
	dir  string
	log  *slog.Logger

	serving *mcpserver.Endpoint // nil while shut; the endpoint's switching guards it

	mu     sync.Mutex
	last   time.Time // when a refusal was last recorded
	unsaid int       // refusals since
}

// open opens the door. Without it everything else works, so an error is only logged.
func (d *socketDoor) open() {
	listener, err := ctl.ListenDoor(d.dir, socketName, d.refused)
	if err == nil {
		d.serving = &mcpserver.Endpoint{Server: &mcpserver.Server{
			Socket: true, Auth: socketAuth{d.book}, Calls: d.host.Calls, Version: d.host.Version, Limits: d.host.Limits, Log: d.log,
			Ended: d.host.Ended, OlderClients: d.host.OlderClients,
		}}
		err = d.serving.StartOn(listener)
	}
	if err != nil {
		d.serving = nil
		d.log.Error("the control plane is not served on its socket", "path", filepath.Join(d.dir, socketName), "cause", err)
	}
}

// shut closes the door; its tokens have ended already.
func (d *socketDoor) shut() {
	if d.serving == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if err := d.serving.Stop(ctx); err != nil {
		d.log.Error("the control plane's socket not closed in time", "cause", err)
	}
	d.serving = nil
}

// toolsChanged makes the subscriptions on the socket look what they are offered.
func (d *socketDoor) toolsChanged() {
	if d.serving != nil {
		d.serving.Server.ToolsChanged()
	}
}

// refusalsEvery is how often refused connections are recorded at most: another user may not fill our log.
const refusalsEvery = 10 * time.Second

// refused records that a process of another user was turned away. The audit log keeps no more than that.
func (d *socketDoor) refused(cause error) {
	d.mu.Lock()
	d.unsaid++
	times, now := d.unsaid, time.Now()
	if !d.last.IsZero() && now.Sub(d.last) < refusalsEvery {
		d.mu.Unlock()
		return
	}
	d.last, d.unsaid = now, 0
	d.mu.Unlock()
	d.log.Warn("connection refused", "socket", socketName, "times", times, "cause", cause)
	err := d.sink.Record(context.Background(), registry.Event{
		Phase: registry.Decided, Verb: socketName, Class: registry.Read, Way: registry.MCP, Code: refusal.NotPermitted,
		Why: fmt.Sprintf("%d connections of another user, or of nobody that the kernel names", times),
	})
	if err != nil {
		d.log.Error("refusal not recorded", "socket", socketName, "cause", err)
	}
}

// socketAuth is the book as the socket sees it: the full tokens of the host port, and no other.
type socketAuth struct{ book *grant.Book }

// Caller implements mcpserver.Auth.
func (a socketAuth) Caller(token string) (registry.Caller, bool) {
	caller, ok := a.book.Caller(grant.HostPort, token)
	return caller, ok && caller.Scope == registry.Full
}

// endedGrant tells a subscription when its caller's grant ends, or its ceiling is lowered.
func endedGrant(book *grant.Book) func(registry.Caller) <-chan struct{} {
	over := make(chan struct{})
	close(over)
	return func(caller registry.Caller) <-chan struct{} {
		if _, ended, live := book.Get(caller.Grant); live {
			return ended
		}
		return over
	}
}
