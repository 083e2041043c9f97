package render

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"termic/registry"
	"termic/registry/refusal"
	"termic/registry/verbs"
)

type nothing struct{}

type ticket struct {
	Ticket string `json:"ticket" jsonschema:"a ticket"`
}

type waited struct {
	Outcome string `json:"outcome" enum:"done,timeout" jsonschema:"how it ended"`
}

// define returns a verb of those types that is right in everything that this package does not check.
func define[In, Out any](change func(*registry.Verb)) *registry.Verb {
	v := registry.Verb{
		Name: "thing_do", Summary: "do a thing", Doc: "Does a thing.", Class: registry.Write, Scope: registry.Full,
		Audience: registry.ForCLI, Reach: registry.ReachSelf, CLI: registry.Command{Path: "do", Example: "do"},
	}
	if change != nil {
		change(&v)
	}
	return registry.Define[In, Out](v).Verb()
}

func arguments[In any](verbs ...*registry.Verb) []*registry.Verb {
	return append(verbs, define[In, nothing](nil))
}

func result[Out any](change func(*registry.Verb)) []*registry.Verb {
	return []*registry.Verb{define[nothing, Out](change)}
}

func TestEveryVerbHasAForm(t *testing.T) {
	forms, err := Forms(verbs.All())
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range forms {
		if form.Verb.CLI.Path != "" && form.Verb.CLI.Example == "" {
			t.Errorf("%s: a command without an example", form.Verb.Name)
		}
		if !strings.HasPrefix(form.Verb.CLI.Example, form.Verb.CLI.Path) {
			t.Errorf("%s: the example %q is of another command", form.Verb.Name, form.Verb.CLI.Example)
		}
	}
}

// Each row is one contradiction; the twin of all rows is TestEveryVerbHasAForm and the row that wants nothing.
func TestContradictionsAreNamed(t *testing.T) {
	type waitIn struct {
		Task    string `json:"task" jsonschema:"t" cli:"arg"`
		Timeout int    `json:"timeoutMs,omitempty" jsonschema:"t" cli:"flag=timeout,duration"`
	}
	bounded := func(v *registry.Verb) { v.Name, v.CLI.Path, v.Bounded = "thing_wait", "hold", true }
	waiter := define[waitIn, waited](bounded)
	then := func(v *registry.Verb) { v.CLI.Then = "thing_wait" }
	type withTask struct {
		Task string `json:"task" jsonschema:"t"`
	}
	rows := []struct {
		name  string
		verbs []*registry.Verb
		want  string
	}{
		{"nothing is wrong", []*registry.Verb{waiter, define[nothing, withTask](then)}, ""},
		{"an unknown word", arguments[struct {
			A string `json:"a" jsonschema:"a" cli:"argh"`
		}](), `unknown, repeated or misplaced word "argh"`},
		{"a word twice", arguments[struct {
			A string `json:"a" jsonschema:"a" cli:"arg,arg"`
		}](), `"arg" twice`},
		{"an empty flag name", arguments[struct {
			A string `json:"a" jsonschema:"a" cli:"flag="`
		}](), "misplaced word"},
		{"a long short flag", arguments[struct {
			A string `json:"a" jsonschema:"a" cli:"short=ab"`
		}](), "misplaced word"},
		{"a word of results on an argument", arguments[struct {
			A string `json:"a" jsonschema:"a" cli:"col"`
		}](), "misplaced word"},
		{"a word of arguments on a result", result[struct {
			A string `json:"a" jsonschema:"a" cli:"arg"`
		}](nil), "misplaced word"},
		{"positional and a flag", arguments[struct {
			A string `json:"a" jsonschema:"a" cli:"arg,flag=b"`
		}](), "positional and a flag"},
		{"a positional number", arguments[struct {
			A int `json:"a" jsonschema:"a" cli:"arg"`
		}](), "positional but no string"},
		{"the rest as a flag", arguments[struct {
			A string `json:"a" jsonschema:"a" cli:"rest"`
		}](), "takes the rest but is not positional"},
		{"something after the rest", arguments[struct {
			A string `json:"a" jsonschema:"a" cli:"arg,rest"`
			B string `json:"b" jsonschema:"b" cli:"arg"`
		}](), "comes after a, which takes the rest"},
		{"required after optional", arguments[struct {
			A string `json:"a,omitempty" jsonschema:"a" cli:"arg"`
			B string `json:"b" jsonschema:"b" cli:"arg"`
		}](), "required and comes after a"},
		{"required and not offered", arguments[struct {
			A string `json:"a" jsonschema:"a" cli:"-"`
		}](), "required but not offered"},
		{"not offered and yet a flag", arguments[struct {
			A string `json:"a,omitempty" jsonschema:"a" cli:"-,short=x"`
		}](), "not offered, and yet"},
		{"a list from standard input", arguments[struct {
			A []string `json:"a,omitempty" jsonschema:"a" cli:"stdin"`
		}](), "standard input but is no string"},
		{"two from standard input", arguments[struct {
			A string `json:"a,omitempty" jsonschema:"a" cli:"stdin"`
			B string `json:"b,omitempty" jsonschema:"b" cli:"stdin"`
		}](), "2 arguments read standard input"},
		{"a split string", arguments[struct {
			A string `json:"a,omitempty" jsonschema:"a" cli:"split"`
		}](), "split but is no list"},
		{"a duration that is text", arguments[struct {
			A string `json:"a,omitempty" jsonschema:"a" cli:"duration"`
		}](), "duration but no integer"},
		{"a path that is a number", arguments[struct {
			A int `json:"a,omitempty" jsonschema:"a" cli:"abs"`
		}](), "path but neither"},
		{"a path from standard input", arguments[struct {
			A string `json:"a,omitempty" jsonschema:"a" cli:"abs,stdin"`
		}](), "path and read from standard input"},
		{"objects as a flag", arguments[struct {
			A []nothing `json:"a,omitempty" jsonschema:"a"`
		}](), "no flag can give"},
		{"a kind that nothing shows", arguments[struct {
			A float64 `json:"a,omitempty" jsonschema:"a"`
		}](), "no surface can show"},
		{"the same flag twice", arguments[struct {
			A string `json:"a,omitempty" jsonschema:"a" cli:"flag=x"`
			B string `json:"b,omitempty" jsonschema:"b" cli:"flag=x"`
		}](), "flag --x is taken"},
		{"the same letter twice", arguments[struct {
			A string `json:"a,omitempty" jsonschema:"a" cli:"short=x"`
			B string `json:"b,omitempty" jsonschema:"b" cli:"short=x"`
		}](), "flag -x is taken"},
		{"a flag of every command", arguments[struct {
			JSON string `json:"json,omitempty" jsonschema:"a"`
		}](), "flag --json is taken"},
		{"the letter of help", arguments[struct {
			A string `json:"a,omitempty" jsonschema:"a" cli:"short=h"`
		}](), "flag -h is taken"},
		{"a flag of --wait", []*registry.Verb{waiter, define[waitIn, withTask](then)}, "flag --timeout is taken"},
		{"one command for two verbs", []*registry.Verb{
			define[nothing, nothing](nil), define[nothing, nothing](func(v *registry.Verb) { v.Name = "thing_redo" }),
		}, `both the command "do"`},
		{"a command that is built in", result[nothing](func(v *registry.Verb) { v.CLI.Path = "help me" }), "is built in"},
		{"raw that is no text", result[struct {
			A int `json:"a" jsonschema:"a" cli:"raw"`
		}](nil), "raw but no string"},
		{"raw twice", result[struct {
			A string `json:"a" jsonschema:"a" cli:"raw"`
			B string `json:"b" jsonschema:"b" cli:"raw"`
		}](nil), "2 members of the result are raw"},
		{"column and hidden", result[struct {
			A string `json:"a" jsonschema:"a" cli:"col,hide"`
		}](nil), "more than one of"},
		{"a column of objects", result[struct {
			A []nothing `json:"a" jsonschema:"a" cli:"col"`
		}](nil), "column but holds objects"},
		{"an exit for an outcome that there is not", result[waited](func(v *registry.Verb) {
			v.CLI.Exits = map[string]int{"eaten": 3}
		}), `outcome "eaten", which the result cannot have`},
		{"an exit without a meaning", result[waited](func(v *registry.Verb) {
			v.CLI.Exits = map[string]int{"done": 99}
		}), "has no meaning"},
		{"bounded without a limit", result[waited](func(v *registry.Verb) { v.Bounded = true }), "is bounded, but"},
		{"bounded without an outcome", []*registry.Verb{define[waitIn, nothing](bounded)}, "is bounded, but"},
		{"a wait for a verb that there is not", []*registry.Verb{define[nothing, withTask](then)}, "not a verb here"},
		{"a wait for a verb that is not bounded", []*registry.Verb{
			define[nothing, nothing](func(v *registry.Verb) { v.Name, v.CLI.Path = "thing_wait", "hold" }), define[nothing, withTask](then),
		}, "not bounded"},
		{"a wait without a task", []*registry.Verb{waiter, define[nothing, waited](then)}, "needs a task in the result"},
		{"a result that --wait would overwrite", []*registry.Verb{waiter, define[nothing, struct {
			Task string `json:"task" jsonschema:"t"`
			Wait string `json:"wait" jsonschema:"w"`
		}](then)}, "is what --wait adds"},
		{"a stream without a ticket", result[nothing](func(v *registry.Verb) { v.Stream = true }), "no ticket"},
		{"a stream with a ticket", result[ticket](func(v *registry.Verb) { v.Stream = true }), ""},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			_, err := Forms(row.verbs)
			switch {
			case row.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case row.want != "" && err == nil:
				t.Errorf("accepted; want an error with %q", row.want)
			case row.want != "" && !strings.Contains(err.Error(), row.want):
				t.Errorf("error %q does not say %q", err, row.want)
			}
		})
	}
}

func TestEveryRefusalsExitStatusHasAMeaning(t *testing.T) {
	for _, info := range refusal.Codes() {
		if _, ok := ExitMeaning(info.Exit); !ok {
			t.Errorf("%s exits with %d, which has no meaning", info.Code, info.Exit)
		}
	}
	if _, ok := ExitMeaning(13); ok {
		t.Error("13 has a meaning, and no code")
	}
}

func TestSurfacesAreDeterministicAndComplete(t *testing.T) {
	for name, surface := range map[string]func([]*registry.Verb) ([]byte, error){
		"Markdown": Markdown, "HelpJSON": HelpJSON, "TypeScript": TypeScript,
	} {
		first, err := surface(verbs.All())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for range 3 {
			if again, _ := surface(verbs.All()); !bytes.Equal(first, again) {
				t.Errorf("%s: two renderings differ", name)
			}
		}
		for _, verb := range verbs.All() {
			if !bytes.Contains(first, []byte(verb.Name)) {
				t.Errorf("%s does not have %s", name, verb.Name)
			}
		}
	}
}

func TestHelpJSONSaysEveryFlag(t *testing.T) {
	text, err := HelpJSON(verbs.All())
	if err != nil {
		t.Fatal(err)
	}
	var help struct {
		Verbs []struct {
			Verb      string
			Arguments []struct {
				Name, Doc, Flag string
				Positional      bool
			}
		}
		Exits []Exit
	}
	if err := json.Unmarshal(text, &help); err != nil {
		t.Fatal(err)
	}
	forms, err := Forms(verbs.All())
	if err != nil {
		t.Fatal(err)
	}
	for i, form := range forms {
		for j, a := range form.Arguments {
			got := help.Verbs[i].Arguments[j]
			if got.Name != a.Name || got.Doc == "" || a.Offered && got.Flag == "" && !got.Positional {
				t.Errorf("%s %s: help has %+v", form.Verb.Name, a.Name, got)
			}
		}
	}
	if len(help.Exits) != len(Exits()) {
		t.Errorf("help has %d exit statuses, there are %d", len(help.Exits), len(Exits()))
	}
}

func TestTypeScriptNamesNothingOfAPage(t *testing.T) {
	text, err := TypeScript(verbs.All())
	if err != nil {
		t.Fatal(err)
	}
	if found := regexp.MustCompile(`\b(window|document|globalThis|fetch)\b\s*[.(\[]`).Find(text); found != nil {
		t.Errorf("the client uses %q; it must know only its transport", found)
	}
}

func TestTypeScriptRefusesTwoTypesOfOneName(t *testing.T) {
	first := define[nothing, waited](nil)
	type waited struct {
		Other string `json:"other" jsonschema:"o"`
	}
	second := define[nothing, waited](func(v *registry.Verb) { v.Name, v.CLI.Path = "thing_redo", "redo" })
	if _, err := TypeScript([]*registry.Verb{first}); err != nil {
		t.Errorf("one alone: %v", err)
	}
	if _, err := TypeScript([]*registry.Verb{first, second}); err == nil {
		t.Error("two types named waited are one interface")
	}
}

func TestFlagNames(t *testing.T) {
	for in, want := range map[string]string{"base": "base", "timeoutMs": "timeout-ms", "default_branch": "default-branch"} {
		if got := kebab(in); got != want {
			t.Errorf("kebab(%q) is %q, want %q", in, got, want)
		}
	}
}
