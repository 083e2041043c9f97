package verbs

import (
	"termic/registry"
	"termic/registry/refusal"
)

// Project is a registered git repository as callers see it.
type Project struct {
	ID            string `json:"id" jsonschema:"stable id of the project" cli:"col"`
	Name          string `json:"name" jsonschema:"unique name of the project" cli:"col"`
	Path          string `json:"path" jsonschema:"directory of the repository" cli:"col"`
	DefaultBranch string `json:"default_branch" jsonschema:"branch that tasks start from unless told otherwise; empty while the repository cannot be read" cli:"col"`
	Tasks         int    `json:"tasks" jsonschema:"number of live tasks" cli:"col"`
}

// ProjectAddIn are the arguments of project_add.
type ProjectAddIn struct {
	Path string `json:"path" min:"1" max:"4096" jsonschema:"directory of the git repository; absolute" cli:"arg,abs"`
	Name string `json:"name,omitempty" max:"64" jsonschema:"name of the project; default: the directory's name"`
}

// ProjectOut is the result of verbs that answer with one project.
type ProjectOut struct {
	Project Project `json:"project" jsonschema:"the project"`
}

var ProjectAdd = registry.Define[ProjectAddIn, ProjectOut](registry.Verb{
	Name:       "project_add",
	Summary:    "register a git repository as a project",
	Doc:        "Registers a git repository. The repository itself is not changed. Adding the same repository again answers with the project that there is. One that is in a task's checkout, where a task may write or in termic's own directories is refused: what is in it need not be yours.",
	Class:      registry.Write,
	Scope:      registry.Full,
	Audience:   registry.ForCLI | registry.ForFull,
	Reach:      registry.ReachSelf,
	Idempotent: true,
	Refusals:   []refusal.Code{refusal.BadInput, refusal.Conflict, refusal.Unsupported},
	CLI:        registry.Command{Path: "project add", Example: "project add ~/src/shop"},
})

// ProjectListOut is the result of project_list.
type ProjectListOut struct {
	Projects []Project `json:"projects" jsonschema:"the projects, by name"`
}

var ProjectList = registry.Define[None, ProjectListOut](registry.Verb{
	Name:       "project_list",
	Summary:    "list projects",
	Doc:        "Lists the registered repositories.",
	Class:      registry.Read,
	Scope:      registry.Full,
	Audience:   registry.ForCLI | registry.ForFull,
	Reach:      registry.ReachSelf,
	Idempotent: true,
	CLI:        registry.Command{Path: "project list", Example: "project list"},
})

// ProjectRemoveIn are the arguments of project_remove.
type ProjectRemoveIn struct {
	Project string `json:"project" min:"1" jsonschema:"project: name, unique prefix, or id" cli:"arg"`
}

// Target implements registry.Targeted.
func (in ProjectRemoveIn) Target() registry.Target { return registry.Target{Project: in.Project} }

var ProjectRemove = registry.Define[ProjectRemoveIn, None](registry.Verb{
	Name:     "project_remove",
	Summary:  "forget a project",
	Doc:      "Forgets a project. The repository and everything in it stays as it is. Refused while the project has tasks, archived ones included, since forgetting it would lose the way back to their work.",
	Class:    registry.Destructive,
	Scope:    registry.Full,
	Audience: registry.ForCLI | registry.ForFull,
	Reach:    registry.ReachSelf,
	Refusals: []refusal.Code{refusal.NotFound, refusal.Ambiguous, refusal.Conflict},
	CLI:      registry.Command{Path: "project remove", Example: "project remove shop"},
})
