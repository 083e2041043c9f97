package registry

import (
	"context"
	"time"

	"termic/registry/ident"
	"termic/registry/refusal"
	"termic/sandbox/capability"
)

// Target is what a call names, in the caller's own words: a name, a unique prefix or an id.
type Target struct {
	Task, Tab, Project string
	// Tasks says which tasks the selector may find.
	Tasks Which
	// MainTab makes an empty Tab mean the task's first agent tab, or its first tab; without it an empty Tab
	// means the whole task.
	MainTab bool
	// OwnTask lets a task's own agent leave Task empty to mean its own task.
	OwnTask bool
	// Live asks for the project's own checkout, which only the person may do.
	Live bool
	// Bypass asks that an agent without a cage acts without asking, which only the person may do.
	Bypass bool
	// Fetch asks that a remote is asked first, with the person's credentials: never for a scoped caller.
	Fetch bool
	// Child is the cage that a new task asks for; nil where none is made.
	Child *Wish
	// Projects are the projects that a new task's token may act on, besides its own.
	Projects []string
}

// Which tells live and archived tasks apart. The zero value finds live ones.
type Which uint8

const (
	LiveTasks Which = iota
	// AllTasks prefers a live task to an archived one of the same name.
	AllTasks
	ArchivedTasks
)

// Wish is the new task that a caller asks for, in its own words. What a caged caller leaves out is as in its own
// task: an empty Cage, a nil MCP, a nil list. An empty list asks for nothing.
type Wish struct {
	Name                    string
	Cage                    string
	MCP                     *bool
	Hosts, Read, Write, Env []string
	// Projects tells that Target.Projects was given, if only as nothing.
	Projects bool
}

// Targeted is implemented by the arguments of verbs that name a target.
type Targeted interface{ Target() Target }

// Keyed is implemented by the arguments of verbs that a caller may repeat safely: the same key with the same
// arguments returns the first outcome (Repeats).
type Keyed interface{ RepeatKey() string }

// Relinquishing is implemented by the arguments of verbs that take power away with some of their arguments
// only (a setting that switches the endpoint off); see Verb.Always.
type Relinquishing interface{ TakesPowerAway() bool }

// Subject is a target after the guard found it. Handlers take ids from here and never look names up again,
// so that what was decided on is what is acted on.
type Subject struct {
	Project ident.Project
	Task    ident.Task
	Tab     ident.Tab
	// Projects are Target.Projects, found; for a scoped caller's new task all that its token may act on
	// besides its own.
	Projects []ident.Project
	// Child is the cage of the task that a scoped caller makes, complete: what was asked for, and its own
	// where nothing was. Nil for other callers.
	Child *capability.Declared
}

// Call is what a handler is told besides its arguments.
type Call struct {
	Caller  Caller
	Subject Subject
	Request ident.Request
	// Ended is closed when the caller's grant ends or is narrowed; nil when it cannot. What is left for later (a queued
	// text) is dropped by then.
	Ended <-chan struct{}
	// Still decides again, as things are now: nil, or why the call may not have its effect any more. What
	// holds the target's lock asks it just before the effect, and before a queued text is delivered (I5).
	// Its refusals are recorded. Never nil in a call of the router's.
	Still func() error
	// Later is what is kept of the call where it leaves something for after a restart of the app.
	Later Later
}

// Handler does what a verb says. An error that is no refusal is shown to the caller as "internal".
type Handler[In, Out any] func(ctx context.Context, call Call, in In) (Out, error)

// Guard decides whether a caller may do a thing. It is asked once for every call, by the router alone.
type Guard interface {
	// Check returns a decision whose zero value denies. It finds the target in the caller's own view:
	// what the caller may not see must be answered as if it did not exist (I7), without touching git or
	// disk.
	Check(ctx context.Context, caller Caller, verb *Verb, target Target) Decision
}

// Decision is a guard's answer. The zero value denies.
type Decision struct {
	Allow bool
	// Refusal is what the caller is told when it is not allowed.
	Refusal *refusal.Refusal
	// Rule names the check that decided, for the audit log: "sight", "projects", "limit".
	Rule string
	// Why is the true reason, for the audit log only.
	Why     string
	Subject Subject
	// Ended is closed when the caller's grant ends or is narrowed; nil when it cannot (the person).
	Ended <-chan struct{}
	// Again decides about the same subject as things are now; nil when nothing can change (the person).
	Again func() Decision
}

// Phase tells the two records of a call apart: the decision, before anything happens, and the outcome.
type Phase string

const (
	Decided  Phase = "decided"
	Finished Phase = "finished"
	// Held: it was allowed, and waits for the person.
	Held Phase = "held"
)

// Event is one record of the audit log. It holds no argument, output, token or path (I12).
type Event struct {
	Time    time.Time     `json:"time"`
	Phase   Phase         `json:"phase"`
	Request ident.Request `json:"request"`
	Verb    string        `json:"verb"`
	Class   Class         `json:"class"`
	Way     Way           `json:"way"`
	Scope   Scope         `json:"scope"`
	Caller  string        `json:"caller"`
	Grant   ident.Grant   `json:"grant,omitempty"`
	Task    ident.Task    `json:"caller_task,omitempty"`
	Subject EventSubject  `json:"subject,omitzero"`
	Allow   bool          `json:"allow"`
	// TakesPowerAway marks a call that must work even when the log cannot be written (I14); a sink may have
	// kept space for it.
	TakesPowerAway bool         `json:"takes_power_away,omitempty"`
	Code           refusal.Code `json:"code,omitempty"`
	// Rule names the check that decided.
	Rule string `json:"rule,omitempty"`
	Why  string `json:"why,omitempty"`
	// Arguments is a digest of the arguments: it ties a record to a call that somebody kept, and tells
	// nothing of what was in it.
	Arguments string `json:"arguments,omitempty"`
	// ClientSays is what the caller's program calls itself; nothing was decided by it.
	ClientSays string `json:"client_says,omitempty"`
	// Millis is how long the handler ran; Finished only.
	Millis int64 `json:"ms,omitempty"`
}

// EventSubject is the target of an event, by id.
type EventSubject struct {
	Project ident.Project `json:"project,omitempty"`
	Task    ident.Task    `json:"task,omitempty"`
	Tab     ident.Tab     `json:"tab,omitempty"`
}

// Sink keeps events.
type Sink interface {
	// Record keeps the event. For the Decided event of a write or destructive verb it returns only when
	// the event is on disk. An error means that the event is not kept, and the router then runs nothing
	// but what takes power away.
	Record(ctx context.Context, event Event) error
}
