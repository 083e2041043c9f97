// Package registry says what may be asked of termic and carries each call from its way in to its handler.
//
// A verb is data: names, classes, audiences, and the Go types of what goes in and comes out. Everything that
// a caller sees of it (CLI help, MCP tools, documentation, the window's client) is rendered from that data,
// so surfaces cannot drift apart. Router.Dispatch is the one path by which a verb is executed.
package registry

import (
	"fmt"
	"regexp"

	"termic/registry/refusal"
)

// Version counts the changes to the verbs' contract that a caller can notice. One dated line each.
//
//	1  2026-11-29  first: projects, tasks, tabs, settings, agents, doctor
const Version = 1

// Verb is one thing that a caller may ask.
type Verb struct {
	// Name is noun_verb in lower case, and the name of the MCP tool.
	Name string
	// Summary is one line without a period; Doc is for people who have read it.
	Summary, Doc string
	Class        Class
	// Scope is the least scope that may call it. It must agree with Audience.
	Scope    Scope
	Audience Audience
	Reach    Reach
	// Idempotent: calling it again with the same arguments changes nothing more.
	Idempotent bool
	// OpenWorld: it reaches things outside this machine's termic (an agent that talks to its vendor).
	OpenWorld bool
	// Always marks what takes power away: it needs neither the audit log nor a free disk (I14).
	Always bool
	// Bounded: it waits for at most its timeoutMs and answers with an outcome; "timeout" may be asked again.
	Bounded bool
	// Undone: when its caller goes away before it is done, a begun call is rolled back whole; other writes are finished (I11).
	// Its handler's context then ends, and the handler says by its outcome which of the two it was.
	Undone bool
	// Stream: its result names a stream that the way in then opens (task_attach).
	Stream bool
	// Refusals are the codes that it is known to answer with besides the router's own.
	Refusals []refusal.Code
	// CLI is how the command line offers it; the zero value means not at all.
	CLI Command

	in, out *shape
}

// Command is how the command line offers a verb. Arguments and flags come from the tags of the In type.
type Command struct {
	// Path is the words after `termic`: "project add".
	Path string
	// Then is the verb that --wait calls on the task that this verb answered with.
	Then string
	// Exits maps values of the result's field "outcome" to exit statuses; others are 0.
	Exits map[string]int
	// Example is one line as a person would type it, without the leading `termic`.
	Example string
}

var verbName = regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)

// check returns what is wrong with the verb's own data, so that a mistake stops the program at start.
func (v *Verb) check() error {
	switch {
	case !verbName.MatchString(v.Name):
		return fmt.Errorf("verb %q: not a lower-case name", v.Name)
	case v.Summary == "" || v.Doc == "":
		return fmt.Errorf("verb %s: no summary or no doc", v.Name)
	case v.Class == ClassNone:
		return fmt.Errorf("verb %s: no class", v.Name)
	case v.Reach == ReachUnset:
		return fmt.Errorf("verb %s: does not say what it reaches", v.Name)
	case v.Scope == ScopeNone:
		return fmt.Errorf("verb %s: no scope", v.Name)
	case (v.Scope == Scoped) != (v.Audience&ForScoped != 0):
		return fmt.Errorf("verb %s: scope %s, but its audience says otherwise", v.Name, v.Scope)
	case v.Undone && v.Class == Read:
		return fmt.Errorf("verb %s: reads leave nothing that could be undone", v.Name)
	case v.CLI.Path != "" && v.Audience&ForCLI == 0:
		return fmt.Errorf("verb %s: has a command but is not for the CLI", v.Name)
	}
	return nil
}

// Spec ties a verb to the Go types of its arguments and its result.
type Spec[In, Out any] struct{ verb *Verb }

// Verb returns the verb's data.
func (s Spec[In, Out]) Verb() *Verb { return s.verb }

// Define makes a verb from its data and the types of its arguments and result. It panics on a verb that
// contradicts itself: verbs are package variables, and a wrong one must not start.
func Define[In, Out any](v Verb) Spec[In, Out] {
	in, err := newShape[In](v.Name + " arguments")
	if err == nil {
		v.in = in
		v.out, err = newShape[Out](v.Name + " result")
	}
	if err == nil {
		err = v.check()
	}
	if err != nil {
		panic("registry: " + err.Error())
	}
	return Spec[In, Out]{&v}
}
