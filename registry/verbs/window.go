package verbs

import (
	"termic/registry"
	"termic/registry/refusal"
)

// Endpoint is the MCP endpoint as the window shows it.
type Endpoint struct {
	Enabled bool   `json:"enabled" jsonschema:"the setting mcp.enabled"`
	URL     string `json:"url,omitempty" jsonschema:"the address that it serves at"`
	Why     string `json:"why,omitempty" jsonschema:"why it does not serve although it should"`
}

// Called is one call of the control plane as the audit log knows it: no argument, output or path.
type Called struct {
	Request    string `json:"request" jsonschema:"id of the call; its decision and its outcome have the same"`
	Time       string `json:"time" jsonschema:"when (RFC 3339)"`
	Phase      string `json:"phase" enum:"decided,held,finished" jsonschema:"decided: before anything happened; held: it waits for a person; finished: the outcome"`
	Verb       string `json:"verb" jsonschema:"what was asked"`
	Class      string `json:"class" enum:"read,write,destructive" jsonschema:"how much the verb may change"`
	Way        string `json:"way" enum:"none,window,cli,mcp" jsonschema:"how the call came in"`
	Caller     string `json:"caller" jsonschema:"who asked, as the log names it"`
	CallerTask string `json:"caller_task,omitempty" jsonschema:"id of the task whose agent asked"`
	Project    string `json:"project,omitempty" jsonschema:"id of the project that it was about"`
	Task       string `json:"task,omitempty" jsonschema:"id of the task that it was about"`
	Allow      bool   `json:"allow" jsonschema:"whether it was allowed"`
	Code       string `json:"code,omitempty" jsonschema:"code of the refusal"`
	Why        string `json:"why,omitempty" jsonschema:"the true reason, which the caller may not have been told"`
	Millis     int64  `json:"ms,omitempty" jsonschema:"how long it took, in milliseconds; finished only"`
}

// WindowWatchOut is the result of window_watch.
type WindowWatchOut struct {
	Ticket   string     `json:"ticket" jsonschema:"opens the stream of changes once, within ten seconds"`
	Version  string     `json:"version" jsonschema:"of the app"`
	DataDir  string     `json:"data_dir" jsonschema:"directory of all data"`
	Projects []Project  `json:"projects" jsonschema:"every project, by name"`
	Tasks    []Task     `json:"tasks" jsonschema:"every live task, oldest first"`
	Endpoint Endpoint   `json:"endpoint" jsonschema:"the MCP endpoint"`
	Calls    []Called   `json:"calls" jsonschema:"the newest calls, oldest first"`
	Held     []HeldCall `json:"held" jsonschema:"the calls that wait for the person, the oldest first"`
}

var WindowWatch = registry.Define[None, WindowWatchOut](registry.Verb{
	Name:     "window_watch",
	Summary:  "show everything, and follow it",
	Doc:      "Answers with everything that the window shows, and with a ticket for the stream of what changes from then on.",
	Class:    registry.Read,
	Scope:    registry.Full,
	Audience: 0, // the window alone
	Reach:    registry.ReachSelf,
	Stream:   true,
})

// WindowCallsIn are the arguments of window_calls.
type WindowCallsIn struct {
	Task string `json:"task" jsonschema:"task: name, project/name, unique prefix, or id"`
}

// Target implements registry.Targeted.
func (in WindowCallsIn) Target() registry.Target { return registry.Target{Task: in.Task} }

// WindowCallsOut is the result of window_calls.
type WindowCallsOut struct {
	Calls []Called `json:"calls" jsonschema:"the newest calls of the task, oldest first"`
}

var WindowCalls = registry.Define[WindowCallsIn, WindowCallsOut](registry.Verb{
	Name:       "window_calls",
	Summary:    "list the calls of one task",
	Doc:        "Lists the newest calls that a task's agent made and that were about the task, however many calls of others came after them.",
	Class:      registry.Read,
	Scope:      registry.Full,
	Audience:   0, // the window alone
	Reach:      registry.ReachSight,
	Idempotent: true,
	Refusals:   []refusal.Code{refusal.NotFound, refusal.Ambiguous},
})

// TaskOpenIn are the arguments of task_open.
type TaskOpenIn struct {
	Task string `json:"task,omitempty" jsonschema:"task: name, project/name, unique prefix, or id; leave it out to bring only the window to the front" cli:"arg"`
}

// Target implements registry.Targeted.
func (in TaskOpenIn) Target() registry.Target { return registry.Target{Task: in.Task} }

var TaskOpen = registry.Define[TaskOpenIn, None](registry.Verb{
	Name:       "task_open",
	Summary:    "bring the window to the front",
	Doc:        "Brings the window to the front and shows a task in it. Refused with no_window where the app runs without one.",
	Class:      registry.Write,
	Scope:      registry.Full,
	Audience:   registry.ForCLI | registry.ForFull,
	Reach:      registry.ReachSight,
	Idempotent: true,
	Refusals:   []refusal.Code{refusal.NotFound, refusal.Ambiguous, refusal.NoWindow},
	CLI:        registry.Command{Path: "open", Example: "open fix-login"},
})
