package verbs

import (
	"termic/registry"
	"termic/registry/refusal"
)

// Agent is an agent definition as callers see it.
type Agent struct {
	ID        string `json:"id" jsonschema:"id to give to task_new and task_tab" cli:"col"`
	Title     string `json:"title" jsonschema:"name for people" cli:"col"`
	Builtin   bool   `json:"builtin" jsonschema:"comes with termic"`
	Installed bool   `json:"installed" jsonschema:"its program was found in the PATH of new tabs" cli:"col"`
	Version   string `json:"version,omitempty" jsonschema:"what the program says of its version" cli:"col"`
}

// TaskAgentsOut is the result of task_agents.
type TaskAgentsOut struct {
	Agents  []Agent `json:"agents" jsonschema:"the agents that there are"`
	Default string  `json:"default" jsonschema:"the one that task_new starts unless told otherwise" cli:"hide"`
}

var TaskAgents = registry.Define[None, TaskAgentsOut](registry.Verb{
	Name:       "task_agents",
	Summary:    "list the agents that a task can run",
	Doc:        "Lists the agents that tasks and tabs can run, and which of them are installed.",
	Class:      registry.Read,
	Scope:      registry.Scoped,
	Audience:   registry.Everyone,
	Reach:      registry.ReachSelf,
	Idempotent: true,
	CLI:        registry.Command{Path: "agents", Example: "agents"},
})

// AgentAddIn are the arguments of agent_add.
type AgentAddIn struct {
	ID      string   `json:"id" min:"1" max:"32" jsonschema:"id of the new agent: lower-case letters, digits, hyphen" cli:"arg"`
	Command string   `json:"command" min:"1" max:"4096" jsonschema:"program to run: a name in PATH or an absolute path"`
	Args    []string `json:"args,omitempty" max:"64" jsonschema:"arguments of the program" cli:"flag=arg"`
	Title   string   `json:"title,omitempty" max:"64" jsonschema:"name for people; default: the id"`
}

// AgentOut is the result of agent_add.
type AgentOut struct {
	Agent Agent `json:"agent" jsonschema:"the agent"`
}

var AgentAdd = registry.Define[AgentAddIn, AgentOut](registry.Verb{
	Name:     "agent_add",
	Summary:  "define an agent of your own",
	Doc:      "Defines an agent: any program that is driven in a terminal. Its state is read from progress and title sequences, else from silence.",
	Class:    registry.Write,
	Scope:    registry.Full,
	Audience: registry.ForCLI,
	Reach:    registry.ReachSelf,
	Refusals: []refusal.Code{refusal.BadInput, refusal.Conflict},
	CLI:      registry.Command{Path: "agent add", Example: "agent add aider --command aider --arg --no-auto-commits"},
})

// AgentRemoveIn are the arguments of agent_remove.
type AgentRemoveIn struct {
	ID string `json:"id" min:"1" max:"32" jsonschema:"id of the agent" cli:"arg"`
}

var AgentRemove = registry.Define[AgentRemoveIn, None](registry.Verb{
	Name:     "agent_remove",
	Summary:  "remove an agent of your own",
	Doc:      "Removes an agent that was defined with agent_add. Tabs that run it go on.",
	Class:    registry.Destructive,
	Scope:    registry.Full,
	Audience: registry.ForCLI,
	Reach:    registry.ReachSelf,
	Refusals: []refusal.Code{refusal.NotFound, refusal.Conflict},
	CLI:      registry.Command{Path: "agent remove", Example: "agent remove aider"},
})
