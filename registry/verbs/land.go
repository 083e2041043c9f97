package verbs

import (
	"termic/registry"
	"termic/registry/refusal"
)

// TaskApplyIn are the arguments of task_apply.
type TaskApplyIn struct {
	Task    string `json:"task" min:"1" jsonschema:"task: name, project/name, unique prefix, or id" cli:"arg"`
	As      string `json:"as,omitempty" enum:"changes,merge,branch" jsonschema:"changes: uncommitted changes of the project's checkout (default); merge: a merge commit on its branch; branch: a new branch"`
	Branch  string `json:"branch,omitempty" max:"255" jsonschema:"name of the new branch; default: the task's name"`
	Message string `json:"message,omitempty" max:"4096" jsonschema:"message of commits that are made; default: one that names the task" cli:"short=m"`
	Preview bool   `json:"preview,omitempty" jsonschema:"change nothing: say what would land"`
	Confirm string `json:"confirm,omitempty" max:"64" jsonschema:"the word that a refusal or a preview gave: you have seen the files that it named"`
	Undo    bool   `json:"undo,omitempty" jsonschema:"take the task's last landing back, whole"`
}

// Target implements registry.Targeted. An archived task's landing may still be taken back.
func (in TaskApplyIn) Target() registry.Target {
	return registry.Target{Task: in.Task, Tasks: registry.AllTasks}
}

// ObeyedFile is a changed file that programs obey although nobody tells them to.
type ObeyedFile struct {
	Path string `json:"path" jsonschema:"path in the checkout" cli:"col"`
	Why  string `json:"why" enum:"runs,instructs,submodule" jsonschema:"runs: editors, git, shells or agents run it or what it says; instructs: agents read it as an instruction; submodule: git looks into that directory as a repository" cli:"col"`
	Kind string `json:"kind" enum:"added,modified,deleted" jsonschema:"what became of it" cli:"col"`
}

// TaskApplyOut is the result of task_apply.
type TaskApplyOut struct {
	Outcome   string       `json:"outcome" enum:"landed,conflicts,preview,undone" jsonschema:"conflicts: it landed, and files with conflict markers are left to be resolved"`
	As        string       `json:"as" enum:"changes,merge,branch" jsonschema:"how it landed"`
	Files     int          `json:"files" jsonschema:"how many files change"`
	Paths     []string     `json:"paths" jsonschema:"the first thousand of them" cli:"hide"`
	Conflicts []string     `json:"conflicts" jsonschema:"files with conflicts"`
	Commit    string       `json:"commit,omitempty" jsonschema:"the merge commit, or the commit of the new branch"`
	Branch    string       `json:"branch,omitempty" jsonschema:"the new branch"`
	LeftOut   []string     `json:"left_out,omitempty" jsonschema:"nested repositories, sockets and the like, which do not land"`
	Obeyed    []ObeyedFile `json:"obeyed" jsonschema:"changed files that programs obey although nobody tells them to; listed for work from a cage"`
	Confirm   string       `json:"confirm,omitempty" jsonschema:"the word that confirms them, for the argument confirm"`
}

var TaskApply = registry.Define[TaskApplyIn, TaskApplyOut](registry.Verb{
	Name:    "task_apply",
	Summary: "land a task's work in the project's checkout, or take that back",
	Doc: "Lands everything that a task changed, committed or not, untracked files included: as uncommitted changes, as a merge, or as a branch. The task stays as it is. It is refused where the project's checkout has changes of its own in the same files. " +
		"Conflicts are left with the usual markers. Work from a cage is landed only once you have seen the files in it that programs obey by themselves: the refusal names them and the word to confirm them with. undo takes the last landing back exactly, unless something of it was changed since.",
	Class:    registry.Destructive,
	Scope:    registry.Full,
	Audience: registry.ForCLI | registry.ForFull,
	Reach:    registry.ReachAct,
	Refusals: []refusal.Code{refusal.NotFound, refusal.Ambiguous, refusal.Conflict, refusal.Busy, refusal.BadInput, refusal.Unsupported, refusal.Unconfirmed},
	CLI:      registry.Command{Path: "apply", Example: "apply fix-login --as merge", Exits: map[string]int{"conflicts": 10}},
})
