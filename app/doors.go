package app

import (
	"context"
	"fmt"
	"log/slog"
	"net"

	"termic/app/task"
	"termic/mcpserver"
	"termic/registry"
	"termic/registry/grant"
	"termic/registry/ident"
	"termic/sandbox/capability"
)

// door is the endpoint inside one cage. On Linux only that cage's processes can connect to it, so a call says by the way it
// came which task it is of; on macOS no other cage can, and its token says which.
type door struct{ endpoint *mcpserver.Endpoint }

// doorURL is the address of a door, inside its cage. It is known before the cage: its agent's configuration holds it.
func doorURL(port uint16) string { return fmt.Sprintf("http://127.0.0.1:%d%s", port, mcpserver.Path) }

// openDoor serves the control plane inside a cage and mints the one token that is valid there; e.mu is held. It takes
// the listener in any case.
func (e *endpoint) openDoor(record task.Record, limit capability.Set, listener net.Listener) (url, token string, ok bool) {
	if !e.enabled || e.withheld[record.ID] || !mayHold(record) || record.Mode != capability.Enforce || e.doors[record.ID] != nil {
		_ = listener.Close()
		return "", "", false
	}
	host := e.server.Server
	server := &mcpserver.Server{
		Auth: doorAuth{e.book, record.ID}, Calls: host.Calls, Version: host.Version, Limits: host.Limits, Log: host.Log,
		Ended: host.Ended, OlderClients: host.OlderClients,
	}
	d := &door{&mcpserver.Endpoint{Server: server}}
	if err := d.endpoint.StartOn(listener); err != nil {
		e.log.Error("the control plane is not served in a cage", "task", record.ID, "cause", err)
		return "", "", false
	}
	e.doors[record.ID] = d
	token, _ = e.book.Issue(grantOf(record, limit, grant.OwnCage))
	return doorURL(uint16(listener.Addr().(*net.TCPAddr).Port)), token, true
}

// closeDoors ends every token of a cage, then every door. From now on none is opened until the control plane is
// switched on again.
func (e *endpoint) closeDoors() {
	e.mu.Lock()
	e.enabled = false
	e.book.Revoke(func(g grant.Grant) bool { return g.Channel == grant.OwnCage })
	doors := e.doors
	e.doors = map[ident.Task]*door{}
	e.mu.Unlock()
	for _, d := range doors {
		d.close(e.log)
	}
}

// close stops serving; nil is no door.
func (d *door) close(log *slog.Logger) {
	if d == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if err := d.endpoint.Stop(ctx); err != nil {
		log.Error("a cage's door not closed in time", "cause", err)
	}
}

// doorAuth is the book as a cage's door sees it: the token of that task's cage and no other, full ones included.
type doorAuth struct {
	book *grant.Book
	task ident.Task
}

// Caller implements mcpserver.Auth.
func (a doorAuth) Caller(token string) (registry.Caller, bool) {
	caller, ok := a.book.Caller(grant.OwnCage, token)
	if !ok || caller.Task != a.task {
		return registry.Caller{}, false
	}
	return caller, true
}
