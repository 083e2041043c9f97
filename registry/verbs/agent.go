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
	Notice    string `json:"notice,omitempty" jsonschema:"why this version is not supported; it runs all the same" cli:"col"`
}

// TaskAgentsOut is the result of task_agents.
type TaskAgentsOut struct {
	Agents  []Agent `json:"agents" jsonschema:"the agents that there are"`
	Default string  `json:"default" jsonschema:"the one that task_new starts unless told otherwise" cli:"hide"`
	// Faults is empty for agents in cages.
	Faults []string `json:"faults,omitempty" jsonschema:"files in the directory agents that define none, and where they are wrong"`
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

// AgentTestIn are the arguments of agent_test.
type AgentTestIn struct {
	ID        string `json:"id" min:"1" max:"32" jsonschema:"id of the agent" cli:"arg"`
	Prompt    string `json:"prompt,omitempty" max:"65536" jsonschema:"text to send to it once it rests; without one no model is asked" cli:"short=p,stdin"`
	TimeoutMS int    `json:"timeoutMs,omitempty" min:"1000" max:"600000" jsonschema:"give up after so long; default one minute" cli:"duration,flag=timeout"`
}

// AgentStep is one step of a test.
type AgentStep struct {
	Step  string `json:"step" jsonschema:"what was looked at" cli:"col"`
	State string `json:"state" enum:"ok,warning,failed,skipped" jsonschema:"how it is" cli:"col"`
	Saw   string `json:"saw" jsonschema:"what was seen" cli:"col"`
	MS    int    `json:"ms" jsonschema:"how long it took" cli:"col"`
}

// AgentTestOut is the result of agent_test.
type AgentTestOut struct {
	Outcome string      `json:"outcome" enum:"works,fails" jsonschema:"fails: a step failed"`
	Steps   []AgentStep `json:"steps" jsonschema:"what was looked at, in order"`
	Screen  string      `json:"screen,omitempty" jsonschema:"the last lines that it showed" cli:"text"`
}

// AgentTest is a read since it leaves nothing: it ends with its caller, as a wait does, where a write would go on.
var AgentTest = registry.Define[AgentTestIn, AgentTestOut](registry.Verb{
	Name:      "agent_test",
	Summary:   "start an agent for a look and say what was seen of it",
	Doc:       "Starts an agent outside of any task and cage, in an empty directory that it is told to trust, and says step by step what was seen: its program, its version, by which signal it rests, its input box, with a prompt how it was taken, its hooks, its end. Then it is ended with all that it started.",
	Class:     registry.Read,
	Scope:     registry.Full,
	Audience:  registry.ForCLI,
	Reach:     registry.ReachSelf,
	OpenWorld: true,
	Refusals:  []refusal.Code{refusal.NotFound, refusal.BadInput, refusal.Busy},
	CLI:       registry.Command{Path: "agent test", Example: "agent test claude", Exits: map[string]int{"fails": 1}},
})
