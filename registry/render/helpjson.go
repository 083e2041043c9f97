package render

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"

	"termic/registry"
	"termic/registry/refusal"
)

// The documents of help --json. Field names are stable; new ones may be added.
type (
	helpDocument struct {
		Version  int           `json:"version"`
		Verbs    []helpVerb    `json:"verbs"`
		Builtins []Builtin     `json:"builtins"`
		Flags    []Flag        `json:"common_flags"`
		Refusals []helpRefusal `json:"refusals"`
		Exits    []Exit        `json:"exits"`
	}
	helpVerb struct {
		Name       string             `json:"verb"`
		Command    string             `json:"command,omitempty"`
		Usage      string             `json:"usage,omitempty"`
		Example    string             `json:"example,omitempty"`
		Summary    string             `json:"summary"`
		Doc        string             `json:"doc"`
		Class      string             `json:"class"`
		Scope      string             `json:"scope"`
		Audience   []string           `json:"audience"`
		Reach      string             `json:"reach"`
		Idempotent bool               `json:"idempotent"`
		OpenWorld  bool               `json:"open_world"`
		Bounded    bool               `json:"bounded,omitempty"`
		Stream     bool               `json:"stream,omitempty"`
		Undone     bool               `json:"undone_with_caller,omitempty"`
		Arguments  []helpArgument     `json:"arguments"`
		Flags      []Flag             `json:"flags,omitempty"`
		Then       string             `json:"wait_verb,omitempty"`
		Refusals   []refusal.Code     `json:"refusals"`
		Exits      map[string]int     `json:"outcome_exits,omitempty"`
		In         *jsonschema.Schema `json:"input_schema"`
		Out        *jsonschema.Schema `json:"output_schema"`
	}
	helpArgument struct {
		Name       string   `json:"name"`
		Kind       Kind     `json:"kind"`
		Doc        string   `json:"doc"`
		Required   bool     `json:"required"`
		Values     []string `json:"values,omitempty"`
		Max        int      `json:"max,omitempty"`
		Positional bool     `json:"positional,omitempty"`
		Rest       bool     `json:"rest,omitempty"`
		Flag       string   `json:"flag,omitempty"`
		Short      string   `json:"short,omitempty"`
		Stdin      bool     `json:"stdin,omitempty"`
		Split      bool     `json:"split,omitempty"`
		Repeated   bool     `json:"repeated,omitempty"`
		Duration   bool     `json:"duration,omitempty"`
	}
	helpRefusal struct {
		Code  refusal.Code `json:"code"`
		Exit  int          `json:"exit"`
		Means string       `json:"means"`
	}
)

// HelpJSON returns everything that the command line can do as one indented JSON document: every verb, also
// those without a command, the built-in commands, refusals and exit statuses.
func HelpJSON(verbs []*registry.Verb) ([]byte, error) {
	forms, err := Forms(verbs)
	if err != nil {
		return nil, err
	}
	document := helpDocument{Version: registry.Version, Builtins: Builtins(), Flags: CommonFlags(), Exits: Exits()}
	for _, form := range forms {
		document.Verbs = append(document.Verbs, newHelpVerb(form))
	}
	for _, info := range refusal.Codes() {
		document.Refusals = append(document.Refusals, helpRefusal{info.Code, info.Exit, info.Means})
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(document); err != nil {
		return nil, fmt.Errorf("encode help: %w", err)
	}
	return b.Bytes(), nil
}

func newHelpVerb(form *Form) helpVerb {
	v := form.Verb
	help := helpVerb{
		Name: v.Name, Summary: v.Summary, Doc: v.Doc,
		Class: v.Class.String(), Scope: v.Scope.String(), Audience: v.Audience.Names(), Reach: v.Reach.String(),
		Idempotent: v.Idempotent, OpenWorld: v.OpenWorld, Bounded: v.Bounded, Stream: v.Stream, Undone: v.Undone,
		Arguments: []helpArgument{}, Then: v.CLI.Then, Refusals: refusalsOf(form), Exits: v.CLI.Exits,
		In: v.InSchema(), Out: v.OutSchema(),
	}
	if v.CLI.Path != "" {
		help.Command, help.Usage, help.Example = v.CLI.Path, "termic "+form.Usage(), "termic "+v.CLI.Example
	}
	help.Flags = form.OwnFlags()
	for _, a := range form.Arguments {
		help.Arguments = append(help.Arguments, helpArgument{
			Name: a.Name, Kind: a.Kind, Doc: a.Doc, Required: a.Required, Values: a.Enum, Max: a.Max,
			Positional: a.Positional, Rest: a.Rest, Flag: a.Flag, Short: a.Short, Stdin: a.Stdin, Split: a.Split,
			Repeated: a.Offered && a.Kind == Strings && !a.Split, Duration: a.Duration,
		})
	}
	return help
}

// refusalsOf returns the codes that a verb may be refused with, its own and the router's, in the order of
// documentation.
func refusalsOf(form *Form) []refusal.Code {
	known := map[refusal.Code]bool{}
	for _, code := range append(RouterRefusals(), form.Verb.Refusals...) {
		known[code] = true
	}
	var codes []refusal.Code
	for _, info := range refusal.Codes() {
		if known[info.Code] {
			codes = append(codes, info.Code)
		}
	}
	return codes
}
