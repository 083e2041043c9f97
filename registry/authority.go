package registry

import (
	"fmt"

	"termic/registry/ident"
)

// Class is how much a verb may change. A grant's ceiling is a class too. The zero value allows nothing.
type Class uint8

const (
	ClassNone Class = iota
	// Read changes nothing.
	Read
	// Write adds or changes, and what it does can be taken back.
	Write
	// Destructive removes something that a person may miss, even where it can be brought back.
	Destructive
)

var classNames = [...]string{"none", "read", "write", "destructive"}

func (c Class) String() string { return nameOf(classNames[:], uint8(c)) }

// Scope is how far a grant reaches: none < scoped < full. The zero value reaches nothing.
type Scope uint8

const (
	ScopeNone Scope = iota
	// Scoped reaches the holder's own task, what it created, and its project list (I5, I7).
	Scoped
	// Full reaches everything but the window-only acts.
	Full
)

var scopeNames = [...]string{"none", "scoped", "full"}

func (s Scope) String() string { return nameOf(scopeNames[:], uint8(s)) }

// Way is how a call came in. It is decided by the transport, never by the caller. The zero value is no way.
type Way uint8

const (
	WayNone Way = iota
	// Window is the in-process bridge of the window.
	Window
	// CLI is the unix socket, after both ends checked the peer's uid.
	CLI
	// MCP is the loopback endpoint.
	MCP
)

var wayNames = [...]string{"none", "window", "cli", "mcp"}

func (w Way) String() string { return nameOf(wayNames[:], uint8(w)) }

// Audience is a set of callers that a verb is for. What is not listed is for the window only, so the zero
// value is the narrowest.
type Audience uint8

const (
	ForCLI Audience = 1 << iota
	ForFull
	ForScoped
)

// Everyone is every caller there is.
const Everyone = ForCLI | ForFull | ForScoped

// Names returns the audience as words, the window first, since it is always in it.
func (a Audience) Names() []string {
	names := []string{"window"}
	for _, part := range []struct {
		bit  Audience
		name string
	}{{ForCLI, "cli"}, {ForFull, "mcp-full"}, {ForScoped, "mcp-scoped"}} {
		if a&part.bit != 0 {
			names = append(names, part.name)
		}
	}
	return names
}

// Includes tells whether a caller that came in by way, holding scope, belongs to the audience.
func (a Audience) Includes(way Way, scope Scope) bool {
	switch {
	case way == Window && scope == Full:
		return true
	case way == CLI && scope == Full:
		return a&ForCLI != 0
	case way == MCP && scope == Full:
		return a&ForFull != 0
	case way == MCP && scope == Scoped:
		return a&ForScoped != 0
	}
	return false
}

// Reach is what a call does to its target. It decides what the guard compares for a scoped caller (I5).
// The zero value is refused by Define: whoever adds a verb has to say.
type Reach uint8

const (
	ReachUnset Reach = iota
	// ReachSelf concerns the caller or the app, and no task or project.
	ReachSelf
	// ReachSight tells that a target exists and how it is, and nothing of what is in it.
	ReachSight
	// ReachContent returns what a tab or a checkout contains.
	ReachContent
	// ReachAct puts text into a tab, opens or closes one, or changes the target in another way.
	ReachAct
	// ReachCreate makes a new task in a project.
	ReachCreate
	// ReachClose ends a tab. It is ReachAct, and a scoped caller must have opened the tab.
	ReachClose
)

var reachNames = [...]string{"unset", "self", "sight", "content", "act", "create", "close"}

func (r Reach) String() string { return nameOf(reachNames[:], uint8(r)) }

// Caller is who asks. Transports make it from the credential; no part of it is ever the caller's own word.
// The zero value may do nothing.
type Caller struct {
	Way     Way
	Scope   Scope
	Ceiling Class
	// Grant is the grant that the credential stands for; empty for the person (window, CLI).
	Grant ident.Grant
	// Task is the task whose token was used; empty for the person and for outside clients.
	Task ident.Task
	// Name is what the audit log and the window show: "window", "cli", "task", or an outside client's name.
	Name string
	// Says is what the caller's program calls itself (clientInfo). It is the one part that is the caller's own
	// word: it is shown and recorded as such, and nothing is decided by it.
	Says string
}

// Person is the caller behind the window or the CLI socket.
func Person(way Way) Caller {
	return Caller{Way: way, Scope: Full, Ceiling: Destructive, Name: way.String()}
}

// MarshalText and UnmarshalText give classes, scopes and ways their words in files and logs.

func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }
func (s Scope) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
func (w Way) MarshalText() ([]byte, error)   { return []byte(w.String()), nil }
func (r Reach) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

func (c *Class) UnmarshalText(text []byte) error { return parseName(classNames[:], text, (*uint8)(c)) }
func (s *Scope) UnmarshalText(text []byte) error { return parseName(scopeNames[:], text, (*uint8)(s)) }
func (w *Way) UnmarshalText(text []byte) error   { return parseName(wayNames[:], text, (*uint8)(w)) }

func nameOf(names []string, v uint8) string {
	if int(v) >= len(names) {
		return fmt.Sprintf("invalid(%d)", v)
	}
	return names[v]
}

func parseName(names []string, text []byte, into *uint8) error {
	for i, name := range names {
		if name == string(text) {
			*into = uint8(i)
			return nil
		}
	}
	return fmt.Errorf("parse %q: not one of %v", text, names)
}
