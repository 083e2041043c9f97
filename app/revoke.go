package app

import (
	"slices"

	"termic/app/registration"
	"termic/registry/grant"
	"termic/registry/ident"
)

// End ends one grant on the person's word, and returns how many ended: 1, or 0 when there is none of that id. The
// token is dead before anything else is done. A task gets no other until Allow; a client's file is removed, so that
// nothing advertises a token that is none.
func (e *endpoint) End(id ident.Grant) int {
	held, _, ok := e.book.Get(id)
	if !ok {
		return 0
	}
	ended := e.book.Revoke(func(g grant.Grant) bool { return g.ID == id })
	if held.Task != "" {
		e.mu.Lock()
		e.withheld[held.Task] = true
		e.mu.Unlock()
		e.Revoke(held.Task)
		return ended
	}
	file := registration.TokenFile(held.Name)
	if held.Name == clientName {
		file = mcpTokenFile
	}
	if err := e.store.RemoveSecret(file); err != nil {
		e.log.Error("advertisement not removed", "file", file, "cause", err)
	}
	e.mu.Lock()
	delete(e.proofs, held.Name)
	e.mu.Unlock()
	return ended
}

// Holds tells whether a token of the task is valid; it implements task.Credentials.
func (e *endpoint) Holds(id ident.Task) bool {
	return slices.ContainsFunc(e.book.List(), func(l grant.Live) bool { return l.Task == id })
}

// Withheld tells whether the person ended a task's token, so that it gets none; it implements handlers.Endpoint.
func (e *endpoint) Withheld(id ident.Task) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.withheld[id]
}

// Allow lets a task have a token again after End; it implements task.Credentials. The person's change of a cage says so.
func (e *endpoint) Allow(id ident.Task) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.withheld, id)
}

// Stop ends every token and every listener there is, at once and without a disk, and returns how many tokens ended.
func (e *endpoint) Stop() int {
	ended := e.book.Revoke(func(grant.Grant) bool { return true })
	e.Off()
	return ended
}
