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
	Task     string `json:"task" min:"1" jsonschema:"task: name, project/name, unique prefix, or id" cli:"arg"`
	Text     string `json:"text,omitempty" max:"1048576" jsonschema:"text to hand to the agent as one prompt; control characters but tab and newline are dropped" cli:"arg,rest,stdin"`
	Tab      string `json:"tab,omitempty" jsonschema:"tab: name or id; default: the task's first agent tab, or its first tab"`
	PromptID string `json:"promptId,omitempty" max:"64" jsonschema:"saved prompt to send, above the text if there is one (see prompts)"`
	Repeat   int    `json:"repeat,omitempty" min:"1" max:"100" jsonschema:"how often to send it, each time once the agent has settled; default once"`
	Key      string `json:"key,omitempty" max:"128" jsonschema:"repeating the call with the same key and arguments within ten minutes returns the first outcome"`
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
	Text     string `json:"text" jsonschema:"id of the text, for task_wait and the queue" cli:"hide"`
	Delivery string `json:"delivery" enum:"submitted,queued,unconfirmed" jsonschema:"submitted: the agent was seen to take it; queued: it waits, and is delivered when the agent is ready; unconfirmed: Enter was pressed and no sign came that it was taken; do not send it again, look"`
	Why      string `json:"why,omitempty" enum:"starting,working,question,unknown,typing,draft,box,behind" jsonschema:"why it waits: the agent starts, works, asks something, is not understood; the person types, has left a draft in its box; its box is not on its screen; other texts come first"`
	By       string `json:"by,omitempty" jsonschema:"sign by which it was seen to be taken: report (the agent's own of this text), or a signal of work with an empty box"`
}

var TaskSend = registry.Define[TaskSendIn, TaskSendOut](registry.Verb{
	Name:      "task_send",
	Summary:   "send a prompt to a task's agent",
	Doc:       "Hands a text to the agent in a tab, as one paste that cannot be mistaken for keys, and submits it once the agent's own box has shown it. While the agent is busy, or the person's half-typed text may stand in its box, the text is queued. A tab that waits for an answer (a permission, a question) is refused: text must not answer that by accident.",
	Class:     registry.Write,
	Scope:     registry.Scoped,
	Audience:  registry.Everyone,
	Reach:     registry.ReachAct,
	OpenWorld: true,
	Refusals:  []refusal.Code{refusal.NotFound, refusal.Ambiguous, refusal.NeedsInput, refusal.AgentExited, refusal.NotDelivered, refusal.Busy, refusal.BadInput},
	CLI:       registry.Command{Path: "send", Then: "task_wait", Example: `send fix-login "now the logout test" --wait`},
})

// TaskWaitIn are the arguments of task_wait.
type TaskWaitIn struct {
	Task      string   `json:"task" min:"1" jsonschema:"task: name, project/name, unique prefix, or id" cli:"arg"`
	Tab       string   `json:"tab,omitempty" jsonschema:"tab: name or id; default: the task's first agent tab, or its first tab"`
	Text      string   `json:"text,omitempty" max:"64" jsonschema:"id of a text that task_send returned: the outcome is that text's, whatever was sent after it"`
	Also      []string `json:"also,omitempty" max:"31" jsonschema:"further tabs to wait for, as TASK or TASK:TAB" cli:"flag=also"`
	Until     string   `json:"until,omitempty" enum:"any,all" jsonschema:"with several tabs, whether one or each of them has to settle; default all"`
	TimeoutMS int      `json:"timeoutMs,omitempty" min:"0" max:"300000" jsonschema:"how long to wait at most, in milliseconds; default 60000; call again when the outcome is timeout" cli:"flag=timeout,duration"`
}

// Target implements registry.Targeted.
func (in TaskWaitIn) Target() registry.Target {
	if in.Tab == AllTabs {
		return registry.Target{Task: in.Task}
	}
	return registry.Target{Task: in.Task, Tab: in.Tab, MainTab: true}
}

// AllTabs, as the tab of a wait, stands for every tab of the task.
const AllTabs = "*"

// Waited is how the wait for one of several tabs ended.
type Waited struct {
	Target  string `json:"target" jsonschema:"the tab as it was named, or its id" cli:"col"`
	Outcome string `json:"outcome" enum:"done,idle,needs_input,exited,not_delivered,timeout,refused" jsonschema:"as for one tab; refused: the caller may not wait for it" cli:"col"`
	State   string `json:"state,omitempty" jsonschema:"what the agent is doing now" cli:"col"`
	Signal  string `json:"signal,omitempty" jsonschema:"what that is known by" cli:"col"`
	Guess   bool   `json:"guess,omitempty" jsonschema:"the signal is a guess, not a report" cli:"col"`
	Why     string `json:"why,omitempty" jsonschema:"why it was not delivered, or the refusal" cli:"col"`
}

// TaskWaitOut is the result of task_wait.
type TaskWaitOut struct {
	Task    string   `json:"task" jsonschema:"id of the task" cli:"hide"`
	Tab     string   `json:"tab" jsonschema:"id of the tab" cli:"hide"`
	Outcome string   `json:"outcome" enum:"done,idle,needs_input,exited,not_delivered,timeout" jsonschema:"done: settled after the last text; idle: settled and never given one; needs_input: waits for a person; exited; not_delivered: the text did not arrive; timeout: still working"`
	State   string   `json:"state" enum:"starting,working,waiting,done,idle,exited,unknown" jsonschema:"what the agent is doing now"`
	Signal  string   `json:"signal" enum:"none,hook,osc,process,title,screen,quiet" jsonschema:"what that is known by"`
	Guess   bool     `json:"guess" jsonschema:"the signal is a guess, not a report"`
	Why     string   `json:"why,omitempty" jsonschema:"why the text was not delivered"`
	Each    []Waited `json:"each,omitempty" jsonschema:"with several tabs, how each wait ended; the outcome is then that of the first to settle (any) or of the one that is worst (all)"`
}

var TaskWait = registry.Define[TaskWaitIn, TaskWaitOut](registry.Verb{
	Name:       "task_wait",
	Summary:    "wait until a task's agent has settled",
	Doc:        "Waits until the agent in a tab has stopped and its queue is empty, or needs a person, or has exited. It never answers done from a time before the last text was delivered. With tab * it waits for all tabs of the task, with also for further ones. The signals title, screen and quiet are guesses, and guess says so.",
	Class:      registry.Read,
	Scope:      registry.Scoped,
	Audience:   registry.Everyone,
	Reach:      registry.ReachContent,
	Idempotent: true,
	Bounded:    true,
	Refusals:   []refusal.Code{refusal.NotFound, refusal.Ambiguous, refusal.BadInput},
	CLI: registry.Command{
		Path: "wait", Example: "wait fix-login --timeout 10m",
		Exits: map[string]int{"needs_input": 3, "not_delivered": 9, "timeout": 7, "exited": 8},
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
	Text      string `json:"text" jsonschema:"the agent's last message, as it wrote it" cli:"said"`
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
	Since string `json:"since,omitempty" max:"128" jsonschema:"mark of an earlier answer: only what came after it, of which an agent's screen then is a part"`
	Raw   bool   `json:"raw,omitempty" jsonschema:"with its colours, as escape sequences; no other sequence is in it"`
}

// Target implements registry.Targeted.
func (in TaskLogIn) Target() registry.Target {
	return registry.Target{Task: in.Task, Tab: in.Tab, MainTab: true}
}

// TaskLogOut is the result of task_log.
type TaskLogOut struct {
	Tab       string `json:"tab" jsonschema:"id of the tab" cli:"hide"`
	Text      string `json:"text" jsonschema:"the terminal's last lines as text, without colours unless raw" cli:"said"`
	Mark      string `json:"mark" jsonschema:"this moment, for since" cli:"hide"`
	Truncated bool   `json:"truncated" jsonschema:"there are earlier lines" cli:"hide"`
}

var TaskLog = registry.Define[TaskLogIn, TaskLogOut](registry.Verb{
	Name:       "task_log",
	Summary:    "show what a tab's terminal shows",
	Doc:        "Returns the last lines of a tab's terminal, scrollback included, as plain text, and a mark with which a later call asks for what has come since.",
	Class:      registry.Read,
	Scope:      registry.Scoped,
	Audience:   registry.Everyone,
	Reach:      registry.ReachContent,
	Idempotent: true,
	Refusals:   []refusal.Code{refusal.NotFound, refusal.Ambiguous, refusal.BadInput},
	CLI:        registry.Command{Path: "log", Example: "log fix-login -n 50"},
})

// TaskTabIn are the arguments of task_tab.
type TaskTabIn struct {
	Task     string `json:"task" min:"1" jsonschema:"task: name, project/name, unique prefix, or id" cli:"arg"`
	Agent    string `json:"agent,omitempty" max:"32" jsonschema:"agent to start in it; default: shell"`
	Name     string `json:"name,omitempty" max:"64" jsonschema:"name of the tab; default: the agent's id, numbered if taken"`
	Fresh    bool   `json:"fresh,omitempty" jsonschema:"begin a new conversation; else a tab of a name that was used before goes on with the agent's, where the agent can"`
	Prompt   string `json:"prompt,omitempty" max:"1048576" jsonschema:"first prompt for the agent, delivered when it is ready" cli:"short=p,stdin"`
	PromptID string `json:"promptId,omitempty" max:"64" jsonschema:"saved prompt to begin with, above the prompt if there is one (see prompts)"`
}

// Target implements registry.Targeted.
func (in TaskTabIn) Target() registry.Target { return registry.Target{Task: in.Task} }

// TabOut is the result of verbs that answer with one tab.
type TabOut struct {
	Tab    Tab    `json:"tab" jsonschema:"the tab"`
	Notice string `json:"notice,omitempty" jsonschema:"why the agent's version is not supported; it runs all the same"`
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
