package verbs

import (
	"termic/registry"
	"termic/registry/refusal"
)

// What the person sees of the inside of a cage, and opens of it. None of it is for agents: a way out is nothing that who
// is held by a cage should be offered.

// CageDenialsIn are the arguments of cage_denials.
type CageDenialsIn struct {
	Task string `json:"task" min:"1" jsonschema:"task: name, project/name, unique prefix, or id" cli:"arg"`
}

// Target implements registry.Targeted.
func (in CageDenialsIn) Target() registry.Target { return registry.Target{Task: in.Task} }

// CageDenial is a connection that a cage was refused.
type CageDenial struct {
	Target string `json:"target" jsonschema:"what the cage asked for" cli:"col"`
	Count  int    `json:"count" jsonschema:"how often" cli:"col"`
	Last   string `json:"last" jsonschema:"when it last asked (RFC 3339)" cli:"col"`
	Reason string `json:"reason" jsonschema:"which rule refused it" cli:"col"`
	Allow  string `json:"allow,omitempty" jsonschema:"the one host entry that would let it through, for cage_edit; empty where none would" cli:"col"`
	Widens string `json:"widens,omitempty" jsonschema:"what that entry would let through besides" cli:"hide"`
}

// CageDenialsOut is the result of cage_denials.
type CageDenialsOut struct {
	Denials []CageDenial `json:"denials" jsonschema:"what the task's cages were refused since the app started and are still refused, the latest first"`
	More    int          `json:"more,omitzero" jsonschema:"how many other targets were refused that are not kept any more"`
}

var CageDenials = registry.Define[CageDenialsIn, CageDenialsOut](registry.Verb{
	Name:     "cage_denials",
	Summary:  "what a task's cage was refused",
	Doc:      "Lists the connections that a cage of mode enforce was refused, with the one entry that would allow each. To allow it: termic cage TASK --host ENTRY --confirm, which starts the task's tabs again.",
	Class:    registry.Read,
	Scope:    registry.Full,
	Audience: registry.ForCLI,
	Reach:    registry.ReachContent, Idempotent: true,
	Refusals: []refusal.Code{refusal.NotFound, refusal.Ambiguous},
	CLI:      registry.Command{Path: "denials", Example: "denials fix-login"},
})

// CageServer is a server inside a cage that programs outside can reach.
type CageServer struct {
	Port int    `json:"port" jsonschema:"its port inside the cage" cli:"col"`
	URL  string `json:"url" jsonschema:"where it is outside, on 127.0.0.1 of this machine" cli:"col"`
}

// ServerOpenIn are the arguments of server_open.
type ServerOpenIn struct {
	Task string `json:"task" min:"1" jsonschema:"task: name, project/name, unique prefix, or id" cli:"arg"`
	Port int    `json:"port" min:"1" max:"65535" jsonschema:"port that the server listens on inside the cage"`
}

// Target implements registry.Targeted.
func (in ServerOpenIn) Target() registry.Target { return registry.Target{Task: in.Task} }

// ServerOpenOut is the result of server_open.
type ServerOpenOut struct {
	Server CageServer `json:"server" jsonschema:"the server, as it is reached outside"`
}

var ServerOpen = registry.Define[ServerOpenIn, ServerOpenOut](registry.Verb{
	Name:    "server_open",
	Summary: "reach a server inside a task's cage",
	Doc: "Opens a port of 127.0.0.1 behind which is one server inside a task's cage (mode enforce), until it is closed or the cage ends. Its pages are the agent's: open them in a browser, " +
		"and give them nothing. Any program of this machine can reach the port meanwhile.",
	Class:      registry.Write,
	Scope:      registry.Full,
	Audience:   registry.ForCLI,
	Reach:      registry.ReachAct,
	Idempotent: true,
	Refusals:   []refusal.Code{refusal.NotFound, refusal.Ambiguous, refusal.Conflict, refusal.BadInput, refusal.Unavailable, refusal.Busy},
	CLI:        registry.Command{Path: "server open", Example: "server open fix-login --port 8080"},
})

// ServerCloseIn are the arguments of server_close.
type ServerCloseIn struct {
	Task string `json:"task" min:"1" jsonschema:"task: name, project/name, unique prefix, or id" cli:"arg"`
	Port int    `json:"port" min:"1" max:"65535" jsonschema:"port of the server inside the cage"`
}

// Target implements registry.Targeted.
func (in ServerCloseIn) Target() registry.Target { return registry.Target{Task: in.Task} }

var ServerClose = registry.Define[ServerCloseIn, None](registry.Verb{
	Name:     "server_close",
	Summary:  "close a server that was opened",
	Doc:      "Closes the port that server_open opened, and every connection through it. The server itself goes on inside the cage.",
	Class:    registry.Write,
	Scope:    registry.Full,
	Audience: registry.ForCLI,
	Reach:    registry.ReachAct,
	Always:   true,
	Refusals: []refusal.Code{refusal.NotFound, refusal.Ambiguous},
	CLI:      registry.Command{Path: "server close", Example: "server close fix-login --port 8080"},
})

// ServerListIn are the arguments of server_list.
type ServerListIn struct {
	Task string `json:"task" min:"1" jsonschema:"task: name, project/name, unique prefix, or id" cli:"arg"`
}

// Target implements registry.Targeted.
func (in ServerListIn) Target() registry.Target { return registry.Target{Task: in.Task} }

// ServerListOut is the result of server_list.
type ServerListOut struct {
	Servers []CageServer `json:"servers" jsonschema:"the servers of the task that can be reached outside its cage"`
}

var ServerList = registry.Define[ServerListIn, ServerListOut](registry.Verb{
	Name:     "server_list",
	Summary:  "list a task's servers that were opened",
	Doc:      "Lists the servers inside a task's cage that server_open made reachable.",
	Class:    registry.Read,
	Scope:    registry.Full,
	Audience: registry.ForCLI,
	Reach:    registry.ReachContent, Idempotent: true,
	Refusals: []refusal.Code{refusal.NotFound, refusal.Ambiguous},
	CLI:      registry.Command{Path: "server list", Example: "server list fix-login"},
})

// TaskDiskIn are the arguments of task_disk.
type TaskDiskIn struct {
	Task string `json:"task" min:"1" jsonschema:"task: name, project/name, unique prefix, or id" cli:"arg"`
}

// Target implements registry.Targeted.
func (in TaskDiskIn) Target() registry.Target { return registry.Target{Task: in.Task} }

// DiskUse is what one kind of a task's files takes.
type DiskUse struct {
	What  string `json:"what" jsonschema:"checkout, git, state of its agents, or caches" cli:"col"`
	Bytes int64  `json:"bytes" jsonschema:"bytes on the disk" cli:"col"`
	Files int    `json:"files" jsonschema:"files and directories" cli:"col"`
}

// TaskDiskOut is the result of task_disk.
type TaskDiskOut struct {
	Use     []DiskUse `json:"use" jsonschema:"what the task takes of the disk, by kind"`
	Total   int64     `json:"total" jsonschema:"bytes together"`
	Whole   bool      `json:"whole" jsonschema:"whether everything could be looked at; if not, it is more"`
	Warning string    `json:"warning,omitempty" jsonschema:"said when it is unusually much"`
}

var TaskDisk = registry.Define[TaskDiskIn, TaskDiskOut](registry.Verb{
	Name:     "task_disk",
	Summary:  "what a task takes of the disk",
	Doc:      "Counts what a task's checkout, its own git directory, its agent's state and its layers of caches take of the disk. Nothing bounds it.",
	Class:    registry.Read,
	Scope:    registry.Full,
	Audience: registry.ForCLI,
	Reach:    registry.ReachSight, Idempotent: true,
	Refusals: []refusal.Code{refusal.NotFound, refusal.Ambiguous},
	CLI:      registry.Command{Path: "disk", Example: "disk fix-login"},
})

// CachesClearIn are the arguments of caches_clear.
type CachesClearIn struct {
	Task    string `json:"task" min:"1" jsonschema:"task: name, project/name, unique prefix, or id" cli:"arg"`
	Confirm bool   `json:"confirm,omitempty" jsonschema:"yes: end what runs in the task and start its tabs again"`
}

// Target implements registry.Targeted.
func (in CachesClearIn) Target() registry.Target { return registry.Target{Task: in.Task} }

// CachesClearOut is the result of caches_clear.
type CachesClearOut struct {
	Freed     int64    `json:"freed" jsonschema:"bytes that they took of the disk"`
	Restarted []string `json:"restarted" jsonschema:"tabs that were ended and started again"`
	Failed    []string `json:"failed" jsonschema:"tabs that were ended and could not be started again"`
}

var CachesClear = registry.Define[CachesClearIn, CachesClearOut](registry.Verb{
	Name:    "caches_clear",
	Summary: "clear a task's caches",
	Doc: "Deletes what a task's cages wrote over your caches of modules, packages and compilers. Yours stay as they are, and what is missing is fetched or made again. " +
		"Where a cage runs it ends all that runs in the task and starts its tabs again: it is refused until confirm is given, and says what it would end.",
	Class:    registry.Write,
	Scope:    registry.Full,
	Audience: registry.ForCLI,
	Reach:    registry.ReachAct,
	Refusals: []refusal.Code{refusal.NotFound, refusal.Ambiguous, refusal.Conflict},
	CLI:      registry.Command{Path: "clear-caches", Example: "clear-caches fix-login --confirm"},
})

// TaskWatchedIn are the arguments of task_watched.
type TaskWatchedIn struct {
	Task string `json:"task" min:"1" jsonschema:"task: name, project/name, unique prefix, or id" cli:"arg"`
	Kind string `json:"kind,omitempty" enum:"read,write,connect,program" jsonschema:"only of this kind"`
}

// Target implements registry.Targeted.
func (in TaskWatchedIn) Target() registry.Target { return registry.Target{Task: in.Task} }

// WatchedThing is something that a watched task's programs asked for.
type WatchedThing struct {
	Kind    string `json:"kind" enum:"read,write,connect,program" jsonschema:"read and write: a directory of files; connect: an address or socket; program: started" cli:"col"`
	What    string `json:"what" jsonschema:"the path or address; without a port: more than 32 of one host" cli:"col"`
	Below   int    `json:"below,omitzero" jsonschema:"how many places below it were asked for, when they are more than are told apart" cli:"col"`
	Count   int    `json:"count" jsonschema:"how often" cli:"col"`
	Tab     string `json:"tab" jsonschema:"tab in which it was first seen" cli:"col"`
	Program string `json:"program" jsonschema:"program that first asked, as it calls itself" cli:"col"`
	Last    string `json:"last" jsonschema:"when it was last seen (RFC 3339)" cli:"hide"`
}

// TaskWatchedOut is the result of task_watched.
type TaskWatchedOut struct {
	Things []WatchedThing `json:"things" jsonschema:"what the task's programs asked for since the app started; whether they got it is not known"`
	More   int            `json:"more,omitzero" jsonschema:"how many other things there were, of the kinds asked for, that are not kept any more: those asked for least, longest ago"`
}

var TaskWatched = registry.Define[TaskWatchedIn, TaskWatchedOut](registry.Verb{
	Name:    "task_watched",
	Summary: "what a task in mode monitor asked for",
	Doc: "Lists what the programs of a task in mode monitor asked the system for: directories that they read outside the checkout, directories that they wrote, addresses that they connected to, and programs that they started. " +
		"Nothing is blocked in that mode.",
	Class:    registry.Read,
	Scope:    registry.Full,
	Audience: registry.ForCLI,
	Reach:    registry.ReachContent, Idempotent: true,
	Refusals: []refusal.Code{refusal.NotFound, refusal.Ambiguous},
	CLI:      registry.Command{Path: "watched", Example: "watched fix-login --kind connect"},
})

// CageDraftIn are the arguments of cage_draft.
type CageDraftIn struct {
	Task string `json:"task" min:"1" jsonschema:"task: name, project/name, unique prefix, or id" cli:"arg"`
}

// Target implements registry.Targeted.
func (in CageDraftIn) Target() registry.Target { return registry.Target{Task: in.Task} }

// LeftOut is a path that a draft does not have, and why.
type LeftOut struct {
	Path string `json:"path" jsonschema:"the path" cli:"col"`
	Why  string `json:"why" jsonschema:"why no cage can have it" cli:"col"`
}

// CageDraftOut is the result of cage_draft.
type CageDraftOut struct {
	Read      []string  `json:"read" jsonschema:"paths for cage_edit to let be read"`
	Write     []string  `json:"write" jsonschema:"paths for cage_edit to let be written"`
	Addresses []string  `json:"addresses" jsonschema:"what was connected to; a cage lets hosts through by name, which connections do not tell"`
	LeftOut   []LeftOut `json:"left_out" jsonschema:"paths that no cage can have, and why"`
}

var CageDraft = registry.Define[CageDraftIn, CageDraftOut](registry.Verb{
	Name:    "cage_draft",
	Summary: "draft a cage from what a task was seen to ask for",
	Doc: "Says which paths a cage would need to let the task do what it was seen to do in mode monitor. It changes nothing: edit it, and apply it with termic cage TASK --cage enforce --read PATH --host NAME --confirm. " +
		"What every cage has (the system, toolchains, the checkout) is left out.",
	Class:    registry.Read,
	Scope:    registry.Full,
	Audience: registry.ForCLI,
	Reach:    registry.ReachContent, Idempotent: true,
	Refusals: []refusal.Code{refusal.NotFound, refusal.Ambiguous, refusal.Conflict},
	CLI:      registry.Command{Path: "draft", Example: "draft fix-login"},
})
