package verbs

import (
	"termic/registry"
	"termic/registry/refusal"
)

// QueuedText is a text that waits in a tab.
type QueuedText struct {
	ID    string `json:"id" jsonschema:"id of the text" cli:"col"`
	Place int    `json:"place" jsonschema:"its place in the queue, 0 the next" cli:"col"`
	Times int    `json:"times" jsonschema:"how often it is still to be delivered" cli:"col"`
	From  string `json:"from" jsonschema:"who sent it" cli:"col"`
	Task  string `json:"task,omitempty" jsonschema:"id of the task whose token sent it"`
	At    string `json:"at" jsonschema:"when it was sent (RFC 3339)" cli:"col"`
	Text  string `json:"text" jsonschema:"the text" cli:"col"`
}

// PastText is a text that waits no more.
type PastText struct {
	ID   string `json:"id" jsonschema:"id of the text" cli:"col"`
	Fate string `json:"fate" enum:"submitted,unconfirmed,failed,dropped,cancelled" jsonschema:"what became of it; dropped: its sender may no longer send it" cli:"col"`
	At   string `json:"at" jsonschema:"when (RFC 3339)" cli:"col"`
	Why  string `json:"why,omitempty" jsonschema:"the sign by which it was seen to be taken, or what went wrong" cli:"col"`
}

// QueueListIn are the arguments of queue_list.
type QueueListIn struct {
	Task string `json:"task" min:"1" jsonschema:"task: name, project/name, unique prefix, or id" cli:"arg"`
	Tab  string `json:"tab,omitempty" jsonschema:"tab: name or id; default: the task's first agent tab, or its first tab"`
}

// Target implements registry.Targeted.
func (in QueueListIn) Target() registry.Target {
	return registry.Target{Task: in.Task, Tab: in.Tab, MainTab: true}
}

// QueueListOut is the result of queue_list.
type QueueListOut struct {
	Tab   string       `json:"tab" jsonschema:"id of the tab" cli:"hide"`
	Hold  string       `json:"hold,omitempty" enum:"starting,working,question,unknown,typing,draft,box,behind,exited" jsonschema:"why the next text is not typed now"`
	Texts []QueuedText `json:"texts" jsonschema:"the texts that wait, the next first"`
	Past  []PastText   `json:"past" jsonschema:"what became of the last texts, the oldest first"`
}

var QueueList = registry.Define[QueueListIn, QueueListOut](registry.Verb{
	Name:       "queue_list",
	Summary:    "list the texts that wait in a tab",
	Doc:        "Lists the texts that wait for a tab's agent, why the next one is not typed now, and what became of the last ones. The queue survives a restart of the app; texts of agents and outside clients do not, since their tokens end with it.",
	Class:      registry.Read,
	Scope:      registry.Full,
	Audience:   registry.ForCLI | registry.ForFull,
	Reach:      registry.ReachContent,
	Idempotent: true,
	Refusals:   []refusal.Code{refusal.NotFound, refusal.Ambiguous},
	CLI:        registry.Command{Path: "queue", Example: "queue fix-login"},
})

// QueueEditIn are the arguments of queue_edit.
type QueueEditIn struct {
	Task  string `json:"task" min:"1" jsonschema:"task: name, project/name, unique prefix, or id" cli:"arg"`
	ID    string `json:"id" min:"1" max:"64" jsonschema:"id of the text that waits" cli:"arg"`
	Tab   string `json:"tab,omitempty" jsonschema:"tab: name or id; default: the task's first agent tab, or its first tab"`
	Text  string `json:"text,omitempty" max:"1048576" jsonschema:"new text; it is then sent by who changed it" cli:"stdin"`
	Place *int   `json:"place,omitempty" min:"0" max:"63" jsonschema:"new place in the queue, 0 the next"`
	Times int    `json:"times,omitempty" min:"1" max:"100" jsonschema:"how often it is to be delivered from now on"`
}

// Target implements registry.Targeted.
func (in QueueEditIn) Target() registry.Target {
	return registry.Target{Task: in.Task, Tab: in.Tab, MainTab: true}
}

var QueueEdit = registry.Define[QueueEditIn, None](registry.Verb{
	Name:      "queue_edit",
	Summary:   "change, move or repeat a text that waits",
	Doc:       "Changes the text, the place in the queue or the number of deliveries of a text that waits. A text that is being typed cannot be changed any more.",
	Class:     registry.Write,
	Scope:     registry.Full,
	Audience:  registry.ForCLI | registry.ForFull,
	Reach:     registry.ReachAct,
	OpenWorld: true,
	Refusals:  []refusal.Code{refusal.NotFound, refusal.Ambiguous, refusal.BadInput, refusal.Busy},
	CLI:       registry.Command{Path: "queue edit", Example: "queue edit fix-login q-abcdefghijklmnop --place 0"},
})

// QueueCancelIn are the arguments of queue_cancel.
type QueueCancelIn struct {
	Task string `json:"task" min:"1" jsonschema:"task: name, project/name, unique prefix, or id" cli:"arg"`
	ID   string `json:"id,omitempty" max:"64" jsonschema:"id of the text that waits" cli:"arg"`
	Tab  string `json:"tab,omitempty" jsonschema:"tab: name or id; default: the task's first agent tab, or its first tab"`
	All  bool   `json:"all,omitempty" jsonschema:"all texts that wait in the tab"`
}

// Target implements registry.Targeted.
func (in QueueCancelIn) Target() registry.Target {
	return registry.Target{Task: in.Task, Tab: in.Tab, MainTab: true}
}

// QueueCancelOut is the result of queue_cancel.
type QueueCancelOut struct {
	Cancelled int `json:"cancelled" jsonschema:"how many texts were taken out of the queue"`
}

var QueueCancel = registry.Define[QueueCancelIn, QueueCancelOut](registry.Verb{
	Name:     "queue_cancel",
	Summary:  "take a text out of a tab's queue",
	Doc:      "Takes one text, or all, out of a tab's queue. A text that is being typed is not stopped.",
	Class:    registry.Destructive,
	Scope:    registry.Full,
	Audience: registry.ForCLI | registry.ForFull,
	Reach:    registry.ReachAct,
	Refusals: []refusal.Code{refusal.NotFound, refusal.Ambiguous, refusal.BadInput},
	CLI:      registry.Command{Path: "queue cancel", Example: "queue cancel fix-login --all"},
})

// TaskBroadcastIn are the arguments of task_broadcast.
type TaskBroadcastIn struct {
	Targets  []string `json:"targets" max:"32" jsonschema:"the tabs to send to, as TASK or TASK:TAB" cli:"flag=to,split"`
	Text     string   `json:"text,omitempty" max:"1048576" jsonschema:"text to hand to each agent as one prompt" cli:"arg,rest,stdin"`
	PromptID string   `json:"promptId,omitempty" max:"64" jsonschema:"saved prompt to send, above the text if there is one (see prompts)"`
	Key      string   `json:"key,omitempty" max:"128" jsonschema:"repeating the call with the same key and arguments within ten minutes returns the first outcome"`
}

// RepeatKey implements registry.Keyed.
func (in TaskBroadcastIn) RepeatKey() string { return in.Key }

// Broadcast is what became of a text at one of its targets.
type Broadcast struct {
	Target   string `json:"target" jsonschema:"the tab as it was named" cli:"col"`
	Task     string `json:"task,omitempty" jsonschema:"id of the task"`
	Tab      string `json:"tab,omitempty" jsonschema:"id of the tab"`
	Text     string `json:"text,omitempty" jsonschema:"id of the text there, for task_wait and the queue"`
	Delivery string `json:"delivery" enum:"submitted,queued,unconfirmed,refused" jsonschema:"as task_send says; refused: nothing was sent there" cli:"col"`
	Why      string `json:"why,omitempty" jsonschema:"why it waits, or the refusal" cli:"col"`
	Code     string `json:"code,omitempty" jsonschema:"code of the refusal" cli:"col"`
}

// TaskBroadcastOut is the result of task_broadcast.
type TaskBroadcastOut struct {
	Outcome string      `json:"outcome" enum:"all,some,none" jsonschema:"whether it was sent to all targets, to some, or refused at each"`
	Sent    int         `json:"sent" jsonschema:"targets that were not refused"`
	Results []Broadcast `json:"results" jsonschema:"what became of the text at each target, in the order given"`
}

// TaskBroadcast names no target of its own: each of its sends is decided, held and recorded as a task_send of the same caller.
var TaskBroadcast = registry.Define[TaskBroadcastIn, TaskBroadcastOut](registry.Verb{
	Name:      "task_broadcast",
	Summary:   "send one prompt to several agents",
	Doc:       "Sends a text to several tabs, as task_send does to each of them: each is decided by itself, and one that is refused keeps nothing from the others.",
	Class:     registry.Write,
	Scope:     registry.Scoped,
	Audience:  registry.Everyone,
	Reach:     registry.ReachSelf,
	OpenWorld: true,
	Refusals:  []refusal.Code{refusal.BadInput, refusal.NotFound},
	CLI:       registry.Command{Path: "broadcast", Example: `broadcast --to fix-login,fix-logout "run the tests again"`, Exits: map[string]int{"some": 9, "none": 9}},
})
