package verbs

import (
	"termic/registry"
	"termic/registry/refusal"
)

// Prompt is a saved prompt as callers see it.
type Prompt struct {
	ID          string `json:"id" jsonschema:"id to give as promptId" cli:"col"`
	Name        string `json:"name" jsonschema:"name for people" cli:"col"`
	Description string `json:"description,omitempty" jsonschema:"what it is for" cli:"col"`
	Agents      bool   `json:"agents" jsonschema:"agents in cages may use it" cli:"col"`
	Builtin     bool   `json:"builtin" jsonschema:"comes with termic" cli:"col"`
}

// PromptsIn are the arguments of prompts.
type PromptsIn struct {
	ID string `json:"id,omitempty" max:"64" jsonschema:"show the text of this one" cli:"arg"`
}

// PromptsOut is the result of prompts.
type PromptsOut struct {
	Prompts []Prompt `json:"prompts" jsonschema:"the prompts that there are, or the one that was asked for"`
	Text    string   `json:"text,omitempty" jsonschema:"the text of the one that was asked for" cli:"text"`
	Faults  []string `json:"faults,omitempty" jsonschema:"files that are no prompts, and why"`
}

var Prompts = registry.Define[PromptsIn, PromptsOut](registry.Verb{
	Name:       "prompts",
	Summary:    "list saved prompts, or show one",
	Doc:        "Lists the prompts that come with termic and your own, which are Markdown files in the directory prompts of the data directory. An agent in a cage sees those that are marked for agents.",
	Class:      registry.Read,
	Scope:      registry.Scoped,
	Audience:   registry.Everyone,
	Reach:      registry.ReachSelf,
	Idempotent: true,
	Refusals:   []refusal.Code{refusal.NotFound},
	CLI:        registry.Command{Path: "prompts", Example: "prompts review"},
})
