package verbs

import (
	"termic/registry"
	"termic/registry/refusal"
)

// RepoSettings is what a repository's .termic.toml says, and what of it counts.
type RepoSettings struct {
	Branch   string        `json:"branch" jsonschema:"the default branch, whose commit is read" cli:"hide"`
	Digest   string        `json:"digest,omitempty" jsonschema:"digest of .termic.toml as it is there; empty when there is none"`
	Trusted  bool          `json:"trusted" jsonschema:"whether the person trusted exactly these commands"`
	Mine     string        `json:"mine" jsonschema:"the person's own file, the same keys as JSON with comments, which wins" cli:"hide"`
	Settings []RepoSetting `json:"settings" jsonschema:"each key that is given, and what counts"`
	Wants    []string      `json:"wants,omitempty" jsonschema:"hosts and paths that .termic.toml asks for and the person did not give: project settings gives them"`
	Problems []string      `json:"problems,omitempty" jsonschema:"what was not understood or has no effect, with line and column"`
}

// RepoSetting is one key.
type RepoSetting struct {
	Key    string   `json:"key" jsonschema:"the key" cli:"col"`
	Values []string `json:"values" jsonschema:"its values" cli:"col"`
	From   string   `json:"from" jsonschema:"where it comes from: .termic.toml or the person's own file" cli:"col"`
	Effect string   `json:"effect" jsonschema:"what comes of it" cli:"col"`
}

// TrustAnswerIn are the arguments of trust_answer.
type TrustAnswerIn struct {
	Project string `json:"project" min:"1" jsonschema:"project: name, unique prefix or id"`
	Digest  string `json:"digest" min:"1" max:"128" jsonschema:"digest of the .termic.toml that was shown"`
	Trust   bool   `json:"trust" jsonschema:"whether its commands may run; no takes an earlier yes back"`
}

// Target implements registry.Targeted.
func (in TrustAnswerIn) Target() registry.Target { return registry.Target{Project: in.Project} }

var TrustAnswer = registry.Define[TrustAnswerIn, None](registry.Verb{
	Name:     "trust_answer",
	Summary:  "trust the commands of a repository's .termic.toml, or take that back",
	Doc:      "Lets the commands of exactly this file run in the project's tasks, each in its task's cage. A file that changes is asked about again. Only the person answers: in the window, or at the terminal of a foreground serve.",
	Class:    registry.Write,
	Scope:    registry.Full,
	Reach:    registry.ReachSelf,
	Refusals: []refusal.Code{refusal.NotFound, refusal.Ambiguous, refusal.Conflict},
})

// TaskRunIn are the arguments of task_run.
type TaskRunIn struct {
	Task string `json:"task" min:"1" jsonschema:"task: name, project/name, unique prefix, or id" cli:"arg"`
	What string `json:"what,omitempty" enum:"run,setup" jsonschema:"which of the project's commands; default: run" cli:"arg"`
}

// Target implements registry.Targeted.
func (in TaskRunIn) Target() registry.Target { return registry.Target{Task: in.Task} }

var TaskRun = registry.Define[TaskRunIn, TabOut](registry.Verb{
	Name:     "task_run",
	Summary:  "run the project's commands in a task",
	Doc:      "Runs the run or the setup commands of the project's settings in a terminal of the task, in its cage. Those of .termic.toml run only as the person has trusted them.",
	Class:    registry.Write,
	Scope:    registry.Full,
	Audience: registry.ForCLI,
	Reach:    registry.ReachAct,
	Refusals: []refusal.Code{refusal.NotFound, refusal.Ambiguous, refusal.Conflict, refusal.Unconfirmed, refusal.Busy},
	CLI:      registry.Command{Path: "run", Example: "run fix-login"},
})
