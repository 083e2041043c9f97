package verbs

import (
	"termic/registry"
	"termic/registry/refusal"
)

// What the person does with a task's changes before they land. None of it is for agents: they have git.

// TaskStageIn are the arguments of task_stage.
type TaskStageIn struct {
	Task  string   `json:"task" min:"1" jsonschema:"task: name, project/name, unique prefix, or id" cli:"arg"`
	Paths []string `json:"paths,omitempty" max:"1000" jsonschema:"files or directories of the checkout, relative to its top; a name in double quotes is read as task_diff writes it" cli:"arg,rest"`
	All   bool     `json:"all,omitempty" jsonschema:"every change"`
}

// Target implements registry.Targeted.
func (in TaskStageIn) Target() registry.Target { return registry.Target{Task: in.Task} }

// TaskUnstageIn are the arguments of task_unstage.
type TaskUnstageIn struct {
	Task  string   `json:"task" min:"1" jsonschema:"task: name, project/name, unique prefix, or id" cli:"arg"`
	Paths []string `json:"paths,omitempty" max:"1000" jsonschema:"files or directories of the checkout, relative to its top; a name in double quotes is read as task_diff writes it" cli:"arg,rest"`
	All   bool     `json:"all,omitempty" jsonschema:"everything that is staged"`
}

// Target implements registry.Targeted.
func (in TaskUnstageIn) Target() registry.Target { return registry.Target{Task: in.Task} }

// TaskStageOut is the result of task_stage and task_unstage.
type TaskStageOut struct {
	Files   int      `json:"files" jsonschema:"how many files are staged otherwise than before"`
	LeftOut []string `json:"left_out,omitempty" jsonschema:"repositories in the checkout, sockets and the like, which cannot be staged"`
}

var TaskStage = registry.Define[TaskStageIn, TaskStageOut](registry.Verb{
	Name:    "task_stage",
	Summary: "stage changed files of a task",
	Doc: "Stages files of a task's checkout as git add does, deletions and untracked files included, ignored ones not. Line endings are converted; no hook and no filter runs, and files that a filter belongs to (large files) are refused. " +
		"For a caged task it is staged outside of the cage: its agent has an index of its own.",
	Class:      registry.Write,
	Scope:      registry.Full,
	Audience:   registry.ForCLI,
	Reach:      registry.ReachAct,
	Idempotent: true,
	Refusals:   []refusal.Code{refusal.NotFound, refusal.Ambiguous, refusal.Conflict, refusal.Busy, refusal.BadInput},
	CLI:        registry.Command{Path: "stage", Example: "stage fix-login src/login.go"},
})

var TaskUnstage = registry.Define[TaskUnstageIn, TaskStageOut](registry.Verb{
	Name:       "task_unstage",
	Summary:    "take files of a task out of what is staged",
	Doc:        "Makes the index have files as the last commit has them, as git reset does. The files themselves stay as they are.",
	Class:      registry.Write,
	Scope:      registry.Full,
	Audience:   registry.ForCLI,
	Reach:      registry.ReachAct,
	Idempotent: true,
	Refusals:   []refusal.Code{refusal.NotFound, refusal.Ambiguous, refusal.Conflict, refusal.Busy, refusal.BadInput},
	CLI:        registry.Command{Path: "unstage", Example: "unstage fix-login --all"},
})

// TaskCommitIn are the arguments of task_commit.
type TaskCommitIn struct {
	Task    string `json:"task" min:"1" jsonschema:"task: name, project/name, unique prefix, or id" cli:"arg"`
	Message string `json:"message" min:"1" max:"65536" jsonschema:"the whole message; its first line is the subject" cli:"short=m,stdin"`
	All     bool   `json:"all,omitempty" jsonschema:"stage every change first, untracked files included"`
}

// Target implements registry.Targeted.
func (in TaskCommitIn) Target() registry.Target { return registry.Target{Task: in.Task} }

// TaskCommitOut is the result of task_commit.
type TaskCommitOut struct {
	Commit  string   `json:"commit" jsonschema:"id of the new commit"`
	Branch  string   `json:"branch,omitempty" jsonschema:"branch that it is on; absent where HEAD is detached"`
	Files   int      `json:"files" jsonschema:"how many files it changes"`
	LeftOut []string `json:"left_out,omitempty" jsonschema:"repositories in the checkout, sockets and the like, which cannot be committed"`
}

var TaskCommit = registry.Define[TaskCommitIn, TaskCommitOut](registry.Verb{
	Name:    "task_commit",
	Summary: "commit what is staged in a task",
	Doc: "Makes a commit of what is staged, with your name and address, on the branch that the task's checkout is on. No hook runs, and it is not signed. It is refused while a merge, a rebase or the like is unfinished, the agent's own included. " +
		"The agent of a caged task has the commit too, unless both of you committed at once.",
	Class:    registry.Write,
	Scope:    registry.Full,
	Audience: registry.ForCLI,
	Reach:    registry.ReachAct,
	Refusals: []refusal.Code{refusal.NotFound, refusal.Ambiguous, refusal.Conflict, refusal.Busy, refusal.BadInput},
	CLI:      registry.Command{Path: "commit", Example: "commit fix-login -m 'check the token first' --all"},
})

// TaskDiscardIn are the arguments of task_discard.
type TaskDiscardIn struct {
	Task  string   `json:"task" min:"1" jsonschema:"task: name, project/name, unique prefix, or id" cli:"arg"`
	Paths []string `json:"paths,omitempty" max:"1000" jsonschema:"files or directories of the checkout, relative to its top; a name in double quotes is read as task_diff writes it" cli:"arg,rest"`
	All   bool     `json:"all,omitempty" jsonschema:"every change that is in no commit"`
	Undo  bool     `json:"undo,omitempty" jsonschema:"bring back what was discarded last"`
	ID    string   `json:"id,omitempty" max:"64" jsonschema:"with undo: which discard, as task_discards lists it"`
}

// Target implements registry.Targeted.
func (in TaskDiscardIn) Target() registry.Target { return registry.Target{Task: in.Task} }

// TaskDiscardOut is the result of task_discard.
type TaskDiscardOut struct {
	Outcome string   `json:"outcome" enum:"discarded,undone" jsonschema:"what was done"`
	ID      string   `json:"id" jsonschema:"id of the discard, for undo"`
	Files   int      `json:"files" jsonschema:"how many files changed"`
	Paths   []string `json:"paths" jsonschema:"the first thousand of them" cli:"hide"`
	LeftOut []string `json:"left_out,omitempty" jsonschema:"repositories in the checkout and submodules, which stay as they are"`
}

var TaskDiscard = registry.Define[TaskDiscardIn, TaskDiscardOut](registry.Verb{
	Name:    "task_discard",
	Summary: "discard uncommitted changes of a task, or bring them back",
	Doc: "Brings files of a task's checkout back to its last commit: what is staged and unstaged of them goes, and untracked ones are removed; ignored ones stay. All of it is copied first: undo brings files, permissions, links and what was staged back exactly, unless the same files were changed since. " +
		"The last 20 discards of a task can be undone, for 30 days.",
	Class:    registry.Destructive,
	Scope:    registry.Full,
	Audience: registry.ForCLI,
	Reach:    registry.ReachAct,
	Refusals: []refusal.Code{refusal.NotFound, refusal.Ambiguous, refusal.Conflict, refusal.Busy, refusal.BadInput},
	CLI:      registry.Command{Path: "discard", Example: "discard fix-login src/login.go"},
})

// TaskDiscardsIn are the arguments of task_discards.
type TaskDiscardsIn struct {
	Task string `json:"task" min:"1" jsonschema:"task: name, project/name, unique prefix, or id" cli:"arg"`
}

// Target implements registry.Targeted.
func (in TaskDiscardsIn) Target() registry.Target { return registry.Target{Task: in.Task} }

// Discard is a discard that can be undone.
type Discard struct {
	ID    string   `json:"id" jsonschema:"id of the discard, for undo" cli:"col"`
	When  string   `json:"when" jsonschema:"when it was made (RFC 3339)" cli:"col"`
	Files int      `json:"files" jsonschema:"how many files it changed" cli:"col"`
	Paths []string `json:"paths" jsonschema:"the first thousand of them" cli:"hide"`
}

// TaskDiscardsOut is the result of task_discards.
type TaskDiscardsOut struct {
	Discards []Discard `json:"discards" jsonschema:"what was discarded and can be brought back, the latest first"`
}

var TaskDiscards = registry.Define[TaskDiscardsIn, TaskDiscardsOut](registry.Verb{
	Name:       "task_discards",
	Summary:    "list what was discarded in a task and can be brought back",
	Doc:        "Lists the discards of a task that can be undone, the latest first.",
	Class:      registry.Read,
	Scope:      registry.Full,
	Audience:   registry.ForCLI,
	Reach:      registry.ReachContent,
	Idempotent: true,
	Refusals:   []refusal.Code{refusal.NotFound, refusal.Ambiguous},
	CLI:        registry.Command{Path: "discards", Example: "discards fix-login"},
})
