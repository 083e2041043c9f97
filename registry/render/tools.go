package render

import (
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"termic/registry"
)

// jsonSchemaDialect is the dialect of every schema that we show (MCP 2026-07-28, basic, "JSON Schema Usage").
const jsonSchemaDialect = "https://json-schema.org/draft/2020-12/schema"

// Tool is a verb as an MCP tool (MCP 2026-07-28, schema.json, Tool).
type Tool struct {
	Name         string             `json:"name"`
	Title        string             `json:"title"`
	Description  string             `json:"description"`
	InputSchema  *jsonschema.Schema `json:"inputSchema"`
	OutputSchema *jsonschema.Schema `json:"outputSchema"`
	Annotations  ToolAnnotations    `json:"annotations"`
	Meta         ToolMeta           `json:"_meta"`
}

// ToolAnnotations are hints: clients show them and nothing of ours decides by them. All four are stated,
// since the specification's defaults are the widest.
type ToolAnnotations struct {
	ReadOnly    bool `json:"readOnlyHint"`
	Destructive bool `json:"destructiveHint"`
	Idempotent  bool `json:"idempotentHint"`
	OpenWorld   bool `json:"openWorldHint"`
}

// ToolMeta is what we say of a tool besides what MCP has a place for.
type ToolMeta struct {
	Class registry.Class `json:"termic/class"`
	// AskPerson asks the client to put every call before a person. Claude Code honours the key; others
	// ignore it.
	AskPerson bool `json:"anthropic/requiresUserInteraction,omitempty"`
	// Disabled tells that the caller's ceiling is below the class.
	Disabled bool `json:"termic/disabled,omitempty"`
}

// Tools returns verbs as MCP tools, in the same order. The same verbs always give the same tools.
func Tools(verbs []*registry.Verb) []Tool {
	tools := make([]Tool, 0, len(verbs))
	for _, verb := range verbs {
		tools = append(tools, Tool{
			Name:         verb.Name,
			Title:        strings.ToUpper(verb.Summary[:1]) + verb.Summary[1:],
			Description:  verb.Doc,
			InputSchema:  withDialect(verb.InSchema()),
			OutputSchema: withDialect(verb.OutSchema()),
			Annotations: ToolAnnotations{
				ReadOnly:    verb.Class == registry.Read,
				Destructive: verb.Class == registry.Destructive,
				Idempotent:  verb.Idempotent,
				OpenWorld:   verb.OpenWorld,
			},
			Meta: ToolMeta{Class: verb.Class, AskPerson: verb.Class == registry.Destructive},
		})
	}
	return tools
}

// Disabled returns the tool as it is listed for a caller whose ceiling is below its class: it is there, says that
// it cannot be called, and is refused when it is.
func (t Tool) Disabled() Tool {
	t.Description = "Disabled for you: it is of class " + t.Meta.Class.String() + ", above your ceiling. " + t.Description
	t.Meta.Disabled = true
	return t
}

// withDialect returns a copy of a verb's schema that names its dialect; the verb keeps its own.
func withDialect(schema *jsonschema.Schema) *jsonschema.Schema {
	named := *schema
	named.Schema = jsonSchemaDialect
	return &named
}
