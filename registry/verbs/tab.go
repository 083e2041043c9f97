package verbs

import (
	"termic/registry"
	"termic/registry/refusal"
)

// Tab is a terminal as callers see it.
type Tab struct {
	ID      string `json:"id" jsonschema:"stable id of the tab" cli:"col"`
	Name    string `json:"name" jsonschema:"name of the tab, unique in its task" cli:"col"`
	Agent   string `json:"agent" jsonschema:"agent that runs in it; shell for a plain shell" cli:"col"`
	State   string `json:"state" enum:"starting,working,waiting,done,idle,exited,unknown" jsonschema:"what the agent is doing" cli:"col"`
	Signal  string `json:"signal" enum:"none,hook,osc,process,title,screen,quiet" jsonschema:"what the state is known by; title, screen and quiet are guesses" cli:"col"`
	Since   string `json:"since" jsonschema:"since when it is in this state (RFC 3339)" cli:"hide"`
	Queued  int    `json:"queued" jsonschema:"texts that wait for the agent to be ready" cli:"col"`
	Dropped int    `json:"dropped,omitzero" jsonschema:"texts that waited and were not delivered, since their sender might no longer send them" cli:"hide"`
	Outside bool   `json:"outside,omitzero" jsonschema:"runs outside the task's cage; the person opened it so" cli:"hide"`
	Exit    int    `json:"exit,omitzero" jsonschema:"exit status, once exited and not zero" cli:"hide"`
}

// TaskSendIn are the arguments of task_send.
type TaskSendIn struct {
	Task string `json:"task" min:"1" jsonschema:"task: name, project/name, unique prefix, or id" cli:"arg"`
	Text string `json:"text" min:"1" max:"1048576" jsonschema:"text to hand to the agent as one prompt; control characters but tab and newline are dropped" cli:"arg,rest,stdin"`
	Tab  string `json:"tab,omitempty" jsonschema:"tab: name or id; default: the task's first agent tab, or its first tab"`
	Key  string `json:"key,omitempty" max:"128" jsonschema:"repeating the call with the same key and arguments within ten minutes returns the first outcome"`
}

// Target implements registry.Targeted.
func (in TaskSendIn) Target() registry.Target {
	return registry.Target{Task: in.Task, Tab: in.Tab, MainTab: true}
}

// RepeatKey implements registry.Keyed.
func (in TaskSendIn) RepeatKey() string { return in.Key }

// TaskSendOut is the result of task_send.
type TaskSendOut struct {
	Task     string `json:"task" jsonschema:"id of the task" cli:"hide"`
	Tab      string `json:"tab" jsonschema:"id of the tab" cli:"hide"`
	Delivery string `json:"delivery" enum:"delivered,queued" jsonschema:"delivered: submitted at the agent's prompt; queued: the agent is busy and gets it when it is ready"`
}

var TaskSend = registry.Define[TaskSendIn, TaskSendOut](registry.Verb{
	Name:      "task_send",
	Summary:   "send a prompt to a task's agent",
	Doc:       "Hands a text to the agent in a tab, as one paste that cannot be mistaken for keys, and submits it. While the agent is busy the text is queued. A tab that waits for an answer (a permission, a question) is refused: text must not answer that by accident.",
	Class:     registry.Write,
	Scope:     registry.Scoped,
	Audience:  registry.Everyone,
	Reach:     registry.ReachAct,
	OpenWorld: true,
	Refusals:  []refusal.Code{refusal.NotFound, refusal.Ambiguous, refusal.NeedsInput, refusal.AgentExited, refusal.NotDelivered, refusal.Busy},
	CLI:       registry.Command{Path: "send", Then: "task_wait", Example: `send fix-login "now the logout test" --wait`},
})

// TaskWaitIn are the arguments of task_wait.
type TaskWaitIn struct {
	Task      string `json:"task" min:"1" jsonschema:"task: name, project/name, unique prefix, or id" cli:"arg"`
	Tab       string `json:"tab,omitempty" jsonschema:"tab: name or id; default: the task's first agent tab, or its first tab"`
	TimeoutMS int    `json:"timeoutMs,omitempty" min:"0" max:"300000" jsonschema:"how long to wait at most, in milliseconds; default 60000; call again when the outcome is timed_out" cli:"flag=timeout,duration"`
}

// Target implements registry.Targeted.
func (in TaskWaitIn) Target() registry.Target {
	return registry.Target{Task: in.Task, Tab: in.Tab, MainTab: true}
}

// TaskWaitOut is the result of task_wait.
type TaskWaitOut struct {
	Task    string `json:"task" jsonschema:"id of the task" cli:"hide"`
	Tab     string `json:"tab" jsonschema:"id of the tab" cli:"hide"`
	Outcome string `json:"outcome" enum:"done,idle,needs_input,exited,timed_out" jsonschema:"done: settled after the last text; idle: settled and never given one; needs_input: waits for a person; exited; timed_out: still working"`
	State   string `json:"state" enum:"starting,working,waiting,done,idle,exited,unknown" jsonschema:"what the agent is doing now"`
	Signal  string `json:"signal" enum:"none,hook,osc,process,title,screen,quiet" jsonschema:"what that is known by"`
	Guess   bool   `json:"guess" jsonschema:"the signal is a guess, not a report"`
}

var TaskWait = registry.Define[TaskWaitIn, TaskWaitOut](registry.Verb{
	Name:       "task_wait",
	Summary:    "wait until a task's agent has settled",
	Doc:        "Waits until the agent in a tab has stopped and its queue is empty, or needs a person, or has exited. It never answers done from a time before the last text was delivered.",
	Class:      registry.Read,
	Scope:      registry.Scoped,
	Audience:   registry.Everyone,
	Reach:      registry.ReachContent,
	Idempotent: true,
	Bounded:    true,
	Refusals:   []refusal.Code{refusal.NotFound, refusal.Ambiguous},
	CLI: registry.Command{
		Path: "wait", Example: "wait fix-login --timeout 10m",
		Exits: map[string]int{"needs_input": 3, "timed_out": 7, "exited": 8},
	},
})

// TaskResultIn are the arguments of task_result.
type TaskResultIn struct {
	Task  string `json:"task" min:"1" jsonschema:"task: name, project/name, unique prefix, or id" cli:"arg"`
	Tab   string `json:"tab,omitempty" jsonschema:"tab: name or id; default: the task's first agent tab, or its first tab"`
	Bytes int    `json:"bytes,omitempty" min:"0" max:"1048576" jsonschema:"how much of the message at most, in bytes; default 65536"`
}

// Target implements registry.Targeted.
func (in TaskResultIn) Target() registry.Target {
	return registry.Target{Task: in.Task, Tab: in.Tab, MainTab: true}
}

// TaskResultOut is the result of task_result.
type TaskResultOut struct {
	Tab       string `json:"tab" jsonschema:"id of the tab" cli:"hide"`
	Session   string `json:"session" jsonschema:"the agent's own id of its session" cli:"hide"`
	Text      string `json:"text" jsonschema:"the agent's last message, as it wrote it" cli:"raw"`
	Truncated bool   `json:"truncated" jsonschema:"the message goes on" cli:"hide"`
}

var TaskResult = registry.Define[TaskResultIn, TaskResultOut](registry.Verb{
	Name:       "task_result",
	Summary:    "show an agent's last message",
	Doc:        "Returns the last message of the agent in a tab, exactly, from the transcript that the agent itself keeps. Wait for it with task_wait first: before that it is the message of the turn before. Agents of which no transcript is known are refused; use task_log, or have them write to a file.",
	Class:      registry.Read,
	Scope:      registry.Scoped,
	Audience:   registry.Everyone,
	Reach:      registry.ReachContent,
	Idempotent: true,
	Refusals:   []refusal.Code{refusal.NotFound, refusal.Ambiguous, refusal.Unsupported, refusal.Unavailable},
	CLI:        registry.Command{Path: "result", Example: "result fix-login"},
})

// TaskLogIn are the arguments of task_log.
type TaskLogIn struct {
	Task  string `json:"task" min:"1" jsonschema:"task: name, project/name, unique prefix, or id" cli:"arg"`
	Tab   string `json:"tab,omitempty" jsonschema:"tab: name or id; default: the task's first agent tab, or its first tab"`
	Lines int    `json:"lines,omitempty" min:"0" max:"10000" jsonschema:"how many of the last lines; default 200" cli:"short=n"`
}

// Target implements registry.Targeted.
func (in TaskLogIn) Target() registry.Target {
	return registry.Target{Task: in.Task, Tab: in.Tab, MainTab: true}
}

// TaskLogOut is the result of task_log.
type TaskLogOut struct {
	Tab       string `json:"tab" jsonschema:"id of the tab" cli:"hide"`
	Text      string `json:"text" jsonschema:"the terminal's last lines as text, without colours" cli:"raw"`
	Truncated bool   `json:"truncated" jsonschema:"there are earlier lines" cli:"hide"`
}

var TaskLog = registry.Define[TaskLogIn, TaskLogOut](registry.Verb{
	Name:       "task_log",
	Summary:    "show what a tab's terminal shows",
	Doc:        "Returns the last lines of a tab's terminal, scrollback included, as plain text.",
	Class:      registry.Read,
	Scope:      registry.Scoped,
	Audience:   registry.Everyone,
	Reach:      registry.ReachContent,
	Idempotent: true,
	Refusals:   []refusal.Code{refusal.NotFound, refusal.Ambiguous},
	CLI:        registry.Command{Path: "log", Example: "log fix-login -n 50"},
})

// TaskTabIn are the arguments of task_tab.
type TaskTabIn struct {
	Task  string `json:"task" min:"1" jsonschema:"task: name, project/name, unique prefix, or id" cli:"arg"`
	Agent string `json:"agent,omitempty" max:"32" jsonschema:"agent to start in it; default: shell"`
	Name  string `json:"name,omitempty" max:"64" jsonschema:"name of the tab; default: the agent's id, numbered if taken"`
	Fresh bool   `json:"fresh,omitempty" jsonschema:"begin a new conversation; else a tab of a name that was used before goes on with the agent's, where the agent can"`
}

// Target implements registry.Targeted.
func (in TaskTabIn) Target() registry.Target { return registry.Target{Task: in.Task} }

// TabOut is the result of verbs that answer with one tab.
type TabOut struct {
	Tab Tab `json:"tab" jsonschema:"the tab"`
}

var TaskTab = registry.Define[TaskTabIn, TabOut](registry.Verb{
	Name:      "task_tab",
	Summary:   "open another tab in a task",
	Doc:       "Opens a terminal in a task's checkout and starts an agent or a shell in it, in the task's cage.",
	Class:     registry.Write,
	Scope:     registry.Scoped,
	Audience:  registry.Everyone,
	Reach:     registry.ReachAct,
	OpenWorld: true,
	Refusals:  []refusal.Code{refusal.NotFound, refusal.Ambiguous, refusal.Conflict, refusal.Unsupported, refusal.Busy},
	CLI:       registry.Command{Path: "tab", Example: "tab fix-login --agent shell"},
})

// TabOutsideIn are the arguments of tab_outside.
type TabOutsideIn struct {
	Task  string `json:"task" min:"1" jsonschema:"caged task: name, project/name, unique prefix, or id" cli:"arg"`
	Agent string `json:"agent,omitempty" max:"32" jsonschema:"agent to start in it; default: shell"`
	Name  string `json:"name,omitempty" max:"64" jsonschema:"name of the tab; default: the agent's id, numbered if taken"`
	Seen  bool   `json:"seen,omitempty" jsonschema:"the person has seen the files that programs execute by themselves"`
}

// Target implements registry.Targeted.
func (in TabOutsideIn) Target() registry.Target { return registry.Target{Task: in.Task} }

// ExecutedFile is a file of a checkout that programs outside a cage execute, or obey, by themselves.
type ExecutedFile struct {
	Path   string `json:"path" jsonschema:"path in the checkout"`
	Change string `json:"change" jsonschema:"new, changed, link (not followed), special, nested-git or bare-git (a git that starts there takes its configuration)"`
}

// TabOutsideOut is the result of tab_outside.
type TabOutsideOut struct {
	Opened bool           `json:"opened" jsonschema:"whether the tab was opened; if not, show the files and ask again with seen"`
	Tab    Tab            `json:"tab,omitzero" jsonschema:"the tab, when it was opened"`
	Files  []ExecutedFile `json:"files" jsonschema:"new or changed files that programs outside the cage execute, or obey, by themselves"`
	Unseen []string       `json:"unseen" jsonschema:"places that could not be looked at; there may be more such files"`
}

// TabOutside is the person's, at the window, and does not exist for anyone else.
var TabOutside = registry.Define[TabOutsideIn, TabOutsideOut](registry.Verb{
	Name:     "tab_outside",
	Summary:  "open a tab outside a task's cage",
	Doc:      "Opens a terminal in a caged task's checkout, outside its cage. First it answers with the new or changed files that programs there execute by themselves, and opens nothing.",
	Class:    registry.Write,
	Scope:    registry.Full,
	Reach:    registry.ReachAct,
	Refusals: []refusal.Code{refusal.NotFound, refusal.Ambiguous, refusal.Conflict, refusal.Unsupported, refusal.Busy},
})

// TaskTabCloseIn are the arguments of task_tab_close.
type TaskTabCloseIn struct {
	Task string `json:"task" min:"1" jsonschema:"task: name, project/name, unique prefix, or id" cli:"arg"`
	Tab  string `json:"tab" min:"1" jsonschema:"tab: name or id" cli:"arg"`
}

// Target implements registry.Targeted.
func (in TaskTabCloseIn) Target() registry.Target { return registry.Target{Task: in.Task, Tab: in.Tab} }

var TaskTabClose = registry.Define[TaskTabCloseIn, None](registry.Verb{
	Name:     "task_tab_close",
	Summary:  "close a tab and end what runs in it",
	Doc:      "Hangs up the terminal: what runs in it gets a moment to end, then is killed with everything it started there. A caged caller may close the tabs that it opened.",
	Class:    registry.Write,
	Scope:    registry.Scoped,
	Audience: registry.Everyone,
	Reach:    registry.ReachClose,
	Always:   true,
	Refusals: []refusal.Code{refusal.NotFound, refusal.Ambiguous},
	CLI:      registry.Command{Path: "tab close", Example: "tab close fix-login shell"},
})

// TaskAttachIn are the arguments of task_attach.
type TaskAttachIn struct {
	Task string `json:"task" min:"1" jsonschema:"task: name, project/name, unique prefix, or id" cli:"arg"`
	Tab  string `json:"tab,omitempty" jsonschema:"tab: name or id; default: the task's first agent tab, or its first tab"`
}

// Target implements registry.Targeted.
func (in TaskAttachIn) Target() registry.Target {
	return registry.Target{Task: in.Task, Tab: in.Tab, MainTab: true}
}

// TaskAttachOut is the result of task_attach.
type TaskAttachOut struct {
	Tab    string `json:"tab" jsonschema:"id of the tab"`
	Ticket string `json:"ticket" jsonschema:"opens the tab's stream once, on the connection's own transport, within ten seconds"`
}

var TaskAttach = registry.Define[TaskAttachIn, TaskAttachOut](registry.Verb{
	Name:     "task_attach",
	Summary:  "connect this terminal to a tab",
	Doc:      "Connects the caller's terminal to a tab: what is on its screen, then everything live. Detach with ctrl-] (the tab goes on).",
	Class:    registry.Write,
	Scope:    registry.Full,
	Audience: registry.ForCLI,
	Reach:    registry.ReachAct,
	Stream:   true,
	Refusals: []refusal.Code{refusal.NotFound, refusal.Ambiguous, refusal.AgentExited},
	CLI:      registry.Command{Path: "attach", Example: "attach fix-login"},
})
