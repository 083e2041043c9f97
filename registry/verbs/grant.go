package verbs

import (
	"termic/registry"
	"termic/registry/refusal"
)

// LiveGrant is a grant whose token is valid now.
type LiveGrant struct {
	ID       string   `json:"id" jsonschema:"stable id of the grant" cli:"col"`
	Holder   string   `json:"holder" jsonschema:"who holds it: task, or the name of an outside client" cli:"col"`
	Task     string   `json:"task,omitempty" jsonschema:"id of the task whose agents hold it"`
	TaskName string   `json:"task_name,omitempty" jsonschema:"name of that task" cli:"col"`
	Scope    string   `json:"scope" enum:"scoped,full" jsonschema:"how far it reaches" cli:"col"`
	Ceiling  string   `json:"ceiling" enum:"none,read,write,destructive" jsonschema:"highest class of verb that it may call" cli:"col"`
	Channel  string   `json:"channel" enum:"none,host port,own cage" jsonschema:"where its token is valid" cli:"col"`
	Projects []string `json:"projects" jsonschema:"ids of the projects that it may act on; a full grant is not limited by them"`
	Limit    []string `json:"limit" jsonschema:"what its task may touch, in words"`
	Issued   string   `json:"issued" jsonschema:"since when (RFC 3339)" cli:"col"`
	Used     string   `json:"used,omitempty" jsonschema:"when its token was last used (RFC 3339); empty when it never was" cli:"col"`
}

// GrantListOut is the result of grant_list.
type GrantListOut struct {
	Grants []LiveGrant `json:"grants" jsonschema:"the live grants, oldest first"`
}

var GrantList = registry.Define[None, GrantListOut](registry.Verb{
	Name:       "grant_list",
	Summary:    "list who holds a token, and for what",
	Doc:        "Lists the live grants: which task or client holds a token, how far it reaches and when it was last used. Tokens themselves are not kept and not shown.",
	Class:      registry.Read,
	Scope:      registry.Full,
	Audience:   registry.ForCLI,
	Reach:      registry.ReachSelf,
	Idempotent: true,
	CLI:        registry.Command{Path: "grant list", Example: "grant list"},
})

// GrantRevokeIn are the arguments of grant_revoke.
type GrantRevokeIn struct {
	Grant string `json:"grant" min:"1" max:"64" jsonschema:"id of the grant" cli:"arg"`
}

// GrantRevokeOut is the result of verbs that end grants.
type GrantRevokeOut struct {
	Ended int `json:"ended" jsonschema:"how many grants ended"`
}

var GrantRevoke = registry.Define[GrantRevokeIn, GrantRevokeOut](registry.Verb{
	Name:     "grant_revoke",
	Summary:  "end a grant at once",
	Doc:      "Ends a grant: its token is unknown from now on, its calls end (a write that has begun is finished), and what it left in queues is not delivered. A task gets a new token when its cage is edited, and a client when the endpoint is switched off and on.",
	Class:    registry.Write,
	Scope:    registry.Full,
	Audience: registry.ForCLI,
	Reach:    registry.ReachSelf,
	Always:   true,
	Refusals: []refusal.Code{refusal.NotFound},
	CLI:      registry.Command{Path: "grant revoke", Example: "grant revoke g-abcdefghijklmnop"},
})

// TaskBudgetIn are the arguments of task_budget.
type TaskBudgetIn struct {
	Task     string `json:"task" min:"1" jsonschema:"task: name, project/name, unique prefix, or id" cli:"arg"`
	Depth    *int   `json:"depth,omitempty" min:"0" max:"1000" jsonschema:"generations of tasks that may descend from it; 0: the default"`
	Children *int   `json:"children,omitempty" min:"0" max:"1000" jsonschema:"live tasks that it may have made itself; 0: the default"`
	Total    *int   `json:"total,omitempty" min:"0" max:"1000" jsonschema:"tasks that may descend from it, archived ones included; 0: the default"`
	Hourly   *int   `json:"hourly,omitempty" min:"0" max:"1000" jsonschema:"tasks that may descend from it and be made within an hour; 0: the default"`
}

// Target implements registry.Targeted.
func (in TaskBudgetIn) Target() registry.Target { return registry.Target{Task: in.Task} }

// TaskBudgetOut is the result of task_budget.
type TaskBudgetOut struct {
	Budget Budget `json:"budget" jsonschema:"what the agents of the task may make"`
	Left   Budget `json:"left" jsonschema:"what is left of it"`
}

var TaskBudget = registry.Define[TaskBudgetIn, TaskBudgetOut](registry.Verb{
	Name:       "task_budget",
	Summary:    "bound the tasks that a task's agents may make",
	Doc:        "Shows and changes how many tasks the agents of a task may make with a scoped token. What is not given stays as it is. Tasks that there are already stay.",
	Class:      registry.Write,
	Scope:      registry.Full,
	Audience:   registry.ForCLI,
	Reach:      registry.ReachAct,
	Idempotent: true,
	Refusals:   []refusal.Code{refusal.NotFound, refusal.Ambiguous, refusal.BadInput},
	CLI:        registry.Command{Path: "budget", Example: "budget fix-login --children 2"},
})
