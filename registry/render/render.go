// Package render turns verbs into what callers see of them: the command line's arguments and help, help
// --json, the Markdown reference, the window's TypeScript client, and MCP tools. It is pure: the same verbs
// give the same bytes, and nothing is read or written (package gen does that).
package render

import (
	"fmt"

	"termic/registry"
)

// Kind is the shape of one field, as far as any surface tells them apart.
type Kind string

const (
	String  Kind = "string"
	Integer Kind = "integer"
	Boolean Kind = "boolean"
	Strings Kind = "strings"
	Object  Kind = "object"
	Objects Kind = "objects"
)

// Argument is one argument of a verb, and how the command line asks for it.
type Argument struct {
	// Name is the argument's name in JSON; Doc is its one description.
	Name, Doc string
	Kind      Kind
	Required  bool
	// Enum are the allowed values, of the items for Strings; none means any.
	Enum []string
	// Max is the longest string, the longest list or the largest number; 0 means no bound.
	Max int

	// Offered: the command line has it, as a positional argument or as a flag.
	Offered    bool
	Positional bool
	// Flag is the long name without dashes, Short one letter or empty; both empty for a positional argument.
	Flag, Short string
	// Rest: it takes all remaining words, joined with spaces.
	Rest bool
	// Stdin: the value "-" stands for what standard input holds.
	Stdin bool
	// Split: a list is given as A,B. Other lists repeat the flag.
	Split bool
	// Duration: a Go duration on the command line, milliseconds in JSON.
	Duration bool
	// Absolute: a path, made absolute before it is sent.
	Absolute bool
}

// Member is one field of a result, and how the command line shows it as text.
type Member struct {
	Name, Doc string
	Kind      Kind
	// Optional: it may be absent.
	Optional bool
	Enum     []string
	// Column: a column where its parent is shown as a table.
	Column bool
	// Raw: printed as it is, and nothing else with it.
	Raw bool
	// Said: what an agent or its programs wrote: printed alone, harmless for a terminal wherever it goes, as it is with --raw.
	Said bool
	// Text: several lines, shown as they are below everything else.
	Text bool
	// Note: of an item of a list, said below the table.
	Note bool
	// Hidden: only in --json.
	Hidden bool
	// Members are the fields of an Object, or of each item of Objects.
	Members []Member
}

// Form is a verb with what the command line asks and shows.
type Form struct {
	Verb      *registry.Verb
	Arguments []Argument
	Result    []Member
	// Then is the form of the verb that --wait calls; nil where there is no --wait.
	Then *Form
}

// Forms returns the form of every verb, in the order given. An error says which verb contradicts itself.
func Forms(verbs []*registry.Verb) ([]*Form, error) {
	forms := make([]*Form, 0, len(verbs))
	byName := map[string]*Form{}
	for _, verb := range verbs {
		form, err := newForm(verb)
		if err != nil {
			return nil, fmt.Errorf("verb %s: %w", verb.Name, err)
		}
		forms = append(forms, form)
		byName[verb.Name] = form
	}
	for _, form := range forms {
		if then := form.Verb.CLI.Then; then != "" {
			form.Then = byName[then]
		}
	}
	if err := check(forms); err != nil {
		return nil, err
	}
	return forms, nil
}

func newForm(verb *registry.Verb) (*Form, error) {
	arguments, err := argumentsOf(verb)
	if err != nil {
		return nil, err
	}
	result, err := membersOf(verb.OutType(), verb.OutSchema())
	if err != nil {
		return nil, err
	}
	return &Form{Verb: verb, Arguments: arguments, Result: result}, nil
}

// Argument returns the argument of that JSON name, or nil.
func (f *Form) Argument(name string) *Argument {
	for i := range f.Arguments {
		if f.Arguments[i].Name == name {
			return &f.Arguments[i]
		}
	}
	return nil
}

// Positional returns the positional arguments in order.
func (f *Form) Positional() []Argument {
	return f.pick(func(a Argument) bool { return a.Offered && a.Positional })
}

// Flags returns the arguments that are flags, in order.
func (f *Form) Flags() []Argument {
	return f.pick(func(a Argument) bool { return a.Offered && !a.Positional })
}

func (f *Form) pick(which func(Argument) bool) []Argument {
	var picked []Argument
	for _, a := range f.Arguments {
		if which(a) {
			picked = append(picked, a)
		}
	}
	return picked
}

// Find returns the member of that name, or nil.
func Find(members []Member, name string) *Member {
	for i := range members {
		if members[i].Name == name {
			return &members[i]
		}
	}
	return nil
}
