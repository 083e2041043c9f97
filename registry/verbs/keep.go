package verbs

import (
	"termic/registry"
	"termic/registry/refusal"
)

// TaskPreflightIn are the arguments of task_preflight.
type TaskPreflightIn struct {
	Task string `json:"task" min:"1" jsonschema:"task: name, project/name, unique prefix, or id" cli:"arg"`
}

// Target implements registry.Targeted.
func (in TaskPreflightIn) Target() registry.Target { return registry.Target{Task: in.Task} }

// TaskPreflightOut is the result of task_preflight.
type TaskPreflightOut struct {
	Kept     []string `json:"kept" jsonschema:"work that is nowhere else and that an archive keeps, in words; empty when there is none"`
	Lost     []string `json:"lost" jsonschema:"what goes with the checkout, in words"`
	Prevents []string `json:"prevents" jsonschema:"what makes an archive be refused, in words"`
	Working  []string `json:"working" jsonschema:"tabs whose agents are still working"`
	Running  []string `json:"running,omitempty" jsonschema:"programs that have left their tabs or work in the checkout without one, in words; an archive does not end them"`
}

var TaskPreflight = registry.Define[TaskPreflightIn, TaskPreflightOut](registry.Verb{
	Name:       "task_preflight",
	Summary:    "say what archiving a task would keep",
	Doc:        "Says in words what a task holds that is nowhere else: staged, unstaged and untracked files, commits that were not pushed or are on no branch, stashes, tags; what would go with its checkout; and what makes an archive be refused. It changes nothing.",
	Class:      registry.Read,
	Scope:      registry.Full,
	Audience:   registry.ForCLI | registry.ForFull,
	Reach:      registry.ReachContent,
	Idempotent: true,
	Refusals:   []refusal.Code{refusal.NotFound, refusal.Ambiguous, refusal.Conflict},
	CLI:        registry.Command{Path: "preflight", Example: "preflight fix-login"},
})

// TaskPurgeIn are the arguments of task_purge.
type TaskPurgeIn struct {
	Task string `json:"task" min:"1" jsonschema:"archived task: name, project/name, unique prefix, or id" cli:"arg"`
	Yes  bool   `json:"yes,omitempty" jsonschema:"destroy it; without this the call only says what would be destroyed"`
}

// Target implements registry.Targeted.
func (in TaskPurgeIn) Target() registry.Target {
	return registry.Target{Task: in.Task, Tasks: registry.ArchivedTasks}
}

// TaskPurgeOut is the result of task_purge.
type TaskPurgeOut struct {
	Purged   bool     `json:"purged" jsonschema:"whether it was destroyed"`
	Destroys []string `json:"destroys" jsonschema:"what is destroyed for good, in words"`
	Stays    []string `json:"stays" jsonschema:"what stays in the project, in words"`
	Bytes    int64    `json:"bytes" jsonschema:"space that its archive takes, in bytes"`
}

var TaskPurge = registry.Define[TaskPurgeIn, TaskPurgeOut](registry.Verb{
	Name:     "task_purge",
	Summary:  "destroy an archived task for good",
	Doc:      "Says what an archived task's archive holds and, with yes, destroys it for good: the kept files, the commits that only the archive has, what its tabs showed, and the task's record. Its branch stays in the project. Archives are kept until they are purged.",
	Class:    registry.Destructive,
	Scope:    registry.Full,
	Audience: registry.ForCLI,
	Reach:    registry.ReachAct,
	Refusals: []refusal.Code{refusal.NotFound, refusal.Ambiguous, refusal.Conflict},
	CLI:      registry.Command{Path: "purge", Example: "purge fix-login --yes"},
})
