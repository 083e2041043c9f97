package grant

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"termic/registry"
	"termic/registry/refusal"
	"termic/registry/verbs"
)

// selecting are the arguments, by name, in which callers name things that somebody may not see. A verb's own target says
// which of them count.
var selecting = []string{"task", "tab", "project", "projects"}

// targetOf makes arguments of a verb in which some name what is given and everything else is as short as its schema allows,
// and returns their target; ok is false for a verb that names nothing.
func targetOf(t *testing.T, verb *registry.Verb, named map[string]any) (target registry.Target, ok bool) {
	t.Helper()
	value := reflect.New(verb.InType())
	if _, ok := value.Interface().(registry.Targeted); !ok {
		return target, false
	}
	arguments := map[string]any{}
	for name, property := range verb.InSchema().Properties {
		if given, ok := named[name]; ok {
			arguments[name] = given
		} else if slices.Contains(verb.InSchema().Required, name) {
			arguments[name] = least(t, verb.Name+"."+name, property)
		}
	}
	raw, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	resolved, err := verb.InSchema().Resolve(nil)
	if err == nil {
		err = resolved.Validate(arguments)
	}
	if err == nil {
		err = json.Unmarshal(raw, value.Interface())
	}
	if err != nil {
		t.Fatalf("%s: no arguments can be made for it, say how here: %v", verb.Name, err)
	}
	return value.Interface().(registry.Targeted).Target(), true
}

// least returns the least value that fits a property.
func least(t *testing.T, name string, s *jsonschema.Schema) any {
	t.Helper()
	switch {
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Type == "string" && s.MinLength != nil:
		return strings.Repeat("x", *s.MinLength)
	case s.Type == "string":
		return ""
	case s.Type == "integer" && s.Minimum != nil:
		return *s.Minimum
	case s.Type == "integer":
		return 0.0
	case s.Type == "boolean":
		return false
	case s.Type == "array":
		return []any{}
	}
	t.Fatalf("%s: no value can be made for it, say how here", name)
	return nil
}

// named tells whether a target is what these arguments made it: the others name nothing here.
func named(target registry.Target, argument, selector string) bool {
	switch argument {
	case "task":
		return target.Task == selector
	case "tab":
		return target.Tab == selector
	case "project":
		return target.Project == selector
	}
	return slices.Contains(target.Projects, selector)
}

// work is what the guard asked of the model.
type work struct{ tasks, projects, support int }

// answer is all that a caller, and who measures the work, can tell of a decision.
type answer struct {
	code           refusal.Code
	reason, remedy string
	work           work
}

// TestEveryVerbIsBlindToWhatIsHidden calls every verb that names something (what a scoped caller is offered and what it is
// not) at things that are not there and at things that are there and hidden. All answers are one answer, after the same
// counted work; the log tells them apart. A verb that comes is in this table by itself.
func TestEveryVerbIsBlindToWhatIsHidden(t *testing.T) {
	absent := []any{"nothing", "t-nothing", "alpha/nothing", strings.Repeat("x", 300)}
	// For each argument: what the others name, what is hidden, and what is there to be seen.
	cases := map[string]struct {
		others  map[string]any
		hidden  []any
		logged  []any // of those, what the log knows
		visible any
	}{
		"task":     {others: map[string]any{"tab": "claude"}, hidden: []any{"a1", "t-a1", "alpha/a1", "t-free", "free", "fre", "gone", "t-gone", "alpha/t-a1/inner"}, logged: []any{"a1", "t-a1", "t-free", "free", "gone", "t-gone"}, visible: "w1"},
		"tab":      {others: map[string]any{"task": "w1"}, hidden: []any{"outside", "b-out", "b-a1", "b-free", "b-w2"}, visible: "claude"},
		"project":  {hidden: []any{"alpha", "p-a", "alp"}, logged: []any{"alpha", "p-a"}, visible: "gamma"},
		"projects": {others: map[string]any{"task": "w1", "project": "gamma"}, hidden: []any{"alpha", "p-a", "alp"}, logged: []any{"alpha", "p-a"}, visible: "gamma"},
	}
	tried := map[string]int{}
	for _, verb := range verbs.All() {
		for _, argument := range selecting {
			if verb.InSchema().Properties[argument] == nil {
				continue
			}
			c := cases[argument]
			ask := func(selector any) (answer, string, bool) {
				given := map[string]any{argument: selector}
				if verb.InSchema().Properties[argument].Type == "array" {
					given[argument] = []any{selector}
				}
				for name, value := range c.others {
					given[name] = value
				}
				target, ok := targetOf(t, verb, given)
				if !ok || !named(target, argument, selector.(string)) {
					return answer{}, "", false
				}
				got, why := decided(t, verb, target)
				return got, why, true
			}
			if _, _, ok := ask(absent[0]); !ok {
				continue // its handler looks it up for the person
			}
			tried[argument]++
			first, why, _ := ask(absent[0])
			if first.code != refusal.NotFound || why != "there is no such thing" && argument != "tab" {
				t.Errorf("%s: what is not there as its %s: %+v, in the log %q", verb.Name, argument, first, why)
			}
			for _, selector := range append(slices.Clone(absent[1:]), c.hidden...) {
				got, why, _ := ask(selector)
				if got != first {
					t.Errorf("%s: %v as its %s: %+v; what is not there: %+v", verb.Name, selector, argument, got, first)
				}
				if slices.Contains(c.logged, selector) && why == "there is no such thing" {
					t.Errorf("%s: %v as its %s: the log does not tell that it is there", verb.Name, selector, argument)
				}
			}
			if got, _, _ := ask(c.visible); got.code == refusal.NotFound && !wantsArchived(t, verb) {
				t.Errorf("twin: %s: %v as its %s: %+v", verb.Name, c.visible, argument, got)
			}
		}
		if verb.Scope == registry.Scoped {
			unseen(t, verb)
		}
	}
	if tried["task"] < 30 || tried["tab"] < 8 || tried["project"] < 2 || tried["projects"] < 2 {
		t.Errorf("only so many verbs were tried: %v", tried)
	}
}

// decided has a fresh guard decide for the orchestrator of the world, and returns what can be told of it and what the log says.
func decided(t *testing.T, verb *registry.Verb, target registry.Target) (got answer, why string) {
	t.Helper()
	w, book := newFakeWorld(), NewBook()
	gone := *w.task("t-a1")
	gone.ID, gone.Name, gone.Archived, gone.Tabs = "t-gone", "gone", true, nil
	inner := *w.task("t-a1")
	inner.ID, inner.Name, inner.Namespace, inner.Parents = "t-inner", "inner", "t-a1", append(inner.Parents, "t-a1")
	w.tasks = append(w.tasks, gone, inner)
	caller := scopedCaller(t, w, book, "t-b1")
	before := work{w.asked, w.askedProjects, w.askedSupport}
	d := check(NewGuard(book, w), caller, verb, target)
	got.work = work{w.asked - before.tasks, w.askedProjects - before.projects, w.askedSupport - before.support}
	if d.Refusal != nil {
		got.code, got.reason, got.remedy = d.Refusal.Code, d.Refusal.Reason, d.Refusal.Remedy
	}
	return got, d.Why
}

func wantsArchived(t *testing.T, verb *registry.Verb) bool {
	t.Helper()
	target, _ := targetOf(t, verb, map[string]any{"task": "w1"})
	return target.Tasks == registry.ArchivedTasks
}

// unseen fails for an argument of a scoped caller's verb that names something and that the guard does not find: its handler
// would look it up past the guard. Those that are known here are calls of their own for each thing that they name.
func unseen(t *testing.T, verb *registry.Verb) {
	t.Helper()
	known := map[string]string{"task_broadcast.targets": "task_send", "task_wait.also": "task_wait"}
	for name, property := range verb.InSchema().Properties {
		names := strings.HasPrefix(property.Description, "task:") || strings.HasPrefix(property.Description, "tab:") ||
			strings.Contains(property.Description, "TASK") || slices.Contains(selecting, name)
		if !names || known[verb.Name+"."+name] != "" {
			continue
		}
		given := any("selector")
		if property.Type == "array" {
			given = []any{"selector"}
		}
		if target, ok := targetOf(t, verb, map[string]any{name: given}); !ok || !slices.Contains(selecting, name) || !named(target, name, "selector") {
			t.Errorf("%s: its argument %s names something, and the guard is not told", verb.Name, name)
		}
	}
}
