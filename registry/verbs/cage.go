package verbs

import (
	"termic/registry"
	"termic/registry/refusal"
)

// CageEditIn are the arguments of cage_edit.
type CageEditIn struct {
	Task     string   `json:"task" min:"1" jsonschema:"task: name, project/name, unique prefix, or id" cli:"arg"`
	Cage     string   `json:"cage,omitempty" enum:"off,monitor,enforce-fs,enforce" jsonschema:"mode of the cage; default: as it is"`
	MCP      *bool    `json:"mcp,omitempty" jsonschema:"let a caged agent use the control plane; default: as it is"`
	Projects []string `json:"projects,omitempty" max:"64" jsonschema:"more projects that its agent may create tasks in" cli:"split"`
	Hosts    []string `json:"hosts,omitempty" max:"256" jsonschema:"more hosts to let through, as host, host:port or *.domain" cli:"flag=host"`
	Read     []string `json:"read,omitempty" max:"256" jsonschema:"more paths to let be read" cli:"flag=read,abs"`
	Write    []string `json:"write,omitempty" max:"256" jsonschema:"more paths to let be written" cli:"flag=write,abs"`
	Env      []string `json:"env,omitempty" max:"64" jsonschema:"more variables of the person's environment to pass" cli:"flag=env"`
	Drop     []string `json:"drop,omitempty" max:"256" jsonschema:"hosts, paths, variables or project ids to take away, as the task shows them; all takes away everything" cli:"flag=drop"`

	Memory    *int `json:"memory,omitempty" min:"-1" max:"16777216" jsonschema:"MiB of memory that its cage may take; 0: any amount, -1: as the setting cage.memory says"`
	Processes *int `json:"processes,omitempty" min:"-1" max:"1000000" jsonschema:"processes and threads that its cage may have; 0: any number, -1: as the setting cage.processes says"`
	CPUWeight *int `json:"cpu_weight,omitempty" min:"-1" max:"10000" jsonschema:"its cage's share of the processors, 1 to 10000, everything else has 100; 0: like everything else, -1: as the setting cage.cpu_weight says"`

	DryRun  bool `json:"dry_run,omitempty" jsonschema:"show what it would end and what the task could touch then, and change nothing"`
	Confirm bool `json:"confirm,omitempty" jsonschema:"yes: end what runs in the task and start its tabs again in the changed cage"`
}

// Target implements registry.Targeted.
func (in CageEditIn) Target() registry.Target {
	return registry.Target{Task: in.Task, Projects: in.Projects}
}

// CageEditOut is the result of cage_edit.
type CageEditOut struct {
	Task Task `json:"task" jsonschema:"the task"`
	// Can says in words what the task can really touch on this machine.
	Can       []string `json:"can" jsonschema:"what the task can touch on this machine now, in words; with dry_run what it could touch then"`
	Ends      string   `json:"ends,omitempty" jsonschema:"what the change would end, in words; with dry_run only"`
	Restarted []string `json:"restarted" jsonschema:"tabs that were ended and started again"`
	Narrowed  []string `json:"narrowed" jsonschema:"names of the tasks that it made, or that those made, and that were narrowed with it, since they could do more"`
	Failed    []string `json:"failed" jsonschema:"tabs and tasks that were ended and could not be started again"`
}

var CageEdit = registry.Define[CageEditIn, CageEditOut](registry.Verb{
	Name:    "cage_edit",
	Summary: "change a task's cage",
	Doc: "Changes what a task may touch. Taking the control plane away (mcp false) acts at once and ends nothing. Every other change ends all that runs in the task and starts its tabs again, with a new token: " +
		"it is refused until confirm is given, and says what it would end. What is taken from a task is taken from those that descend from it in the same act.",
	Class:    registry.Write,
	Scope:    registry.Full,
	Audience: registry.ForCLI,
	Reach:    registry.ReachAct,
	Refusals: []refusal.Code{refusal.NotFound, refusal.Ambiguous, refusal.Conflict, refusal.Unsupported, refusal.BadInput},
	CLI:      registry.Command{Path: "cage", Example: "cage fix-login --host packages.example.org --confirm"},
})

// ProjectDefaults are what new tasks of a project get unless told otherwise.
type ProjectDefaults struct {
	Cage            string   `json:"cage" enum:"off,monitor,enforce-fs,enforce" jsonschema:"mode of the cage of new tasks"`
	MCP             bool     `json:"mcp" jsonschema:"whether caged agents may use the control plane"`
	Projects        []string `json:"projects" jsonschema:"ids of the projects besides this one that they may create tasks in"`
	Hosts           []string `json:"hosts" jsonschema:"hosts that cages let through"`
	Read            []string `json:"read" jsonschema:"paths that cages let be read"`
	Write           []string `json:"write" jsonschema:"paths that cages let be written"`
	Env             []string `json:"env" jsonschema:"variables of the person's environment that cages pass"`
	IsolatedHistory bool     `json:"isolated_history" jsonschema:"whether a cage sees the history of its base only, and not every object of the project"`
}

// ProjectSettingsIn are the arguments of project_settings.
type ProjectSettingsIn struct {
	Project         string   `json:"project" min:"1" jsonschema:"project: name, unique prefix or id" cli:"arg"`
	Cage            string   `json:"cage,omitempty" enum:"off,monitor,enforce-fs,enforce" jsonschema:"mode of the cage of new tasks; default: as it is"`
	MCP             *bool    `json:"mcp,omitempty" jsonschema:"let caged agents use the control plane; default: as it is"`
	Projects        []string `json:"projects,omitempty" max:"64" jsonschema:"more projects that they may create tasks in" cli:"split"`
	Hosts           []string `json:"hosts,omitempty" max:"256" jsonschema:"more hosts that cages let through" cli:"flag=host"`
	Read            []string `json:"read,omitempty" max:"256" jsonschema:"more paths that cages let be read" cli:"flag=read,abs"`
	Write           []string `json:"write,omitempty" max:"256" jsonschema:"more paths that cages let be written" cli:"flag=write,abs"`
	Env             []string `json:"env,omitempty" max:"64" jsonschema:"more variables of the person's environment that cages pass" cli:"flag=env"`
	IsolatedHistory *bool    `json:"isolated_history,omitempty" jsonschema:"show cages the history of their base only; default: as it is"`
	Drop            []string `json:"drop,omitempty" max:"256" jsonschema:"hosts, paths, variables or project ids to take away; all takes away everything" cli:"flag=drop"`
}

// Target implements registry.Targeted.
func (in ProjectSettingsIn) Target() registry.Target {
	return registry.Target{Project: in.Project, Projects: in.Projects}
}

// ProjectSettingsOut is the result of project_settings.
type ProjectSettingsOut struct {
	Defaults   ProjectDefaults `json:"defaults" jsonschema:"what the person chose for new tasks of the project"`
	Repository RepoSettings    `json:"repository" jsonschema:"what the repository's .termic.toml and the person's own file beside it say"`
}

var ProjectSettings = registry.Define[ProjectSettingsIn, ProjectSettingsOut](registry.Verb{
	Name:     "project_settings",
	Summary:  "show or change what new tasks of a project get",
	Doc:      "Shows, and with flags changes, the cage that new tasks of a project get unless told otherwise. Tasks that there are keep what they have. Also shows what the repository's .termic.toml on the default branch says, what of it counts, and where each value comes from: it only narrows, and its commands run only once the person has trusted exactly that file.",
	Class:    registry.Write,
	Scope:    registry.Full,
	Audience: registry.ForCLI,
	Reach:    registry.ReachSelf,
	Refusals: []refusal.Code{refusal.NotFound, refusal.Ambiguous, refusal.BadInput, refusal.Unsupported},
	CLI:      registry.Command{Path: "project settings", Example: "project settings shop --cage enforce --host packages.example.org"},
})
