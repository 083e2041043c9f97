package render

import (
	"fmt"
	"slices"
	"strings"
)

// TimedOut is the outcome with which a bounded verb says that it may be asked again.
const TimedOut = "timeout"

// check returns the first thing that forms of one command line contradict each other or themselves in.
func check(forms []*Form) error {
	paths := map[string]string{}
	for _, form := range forms {
		for _, rule := range []func(*Form) error{checkNames, checkPositional, checkOutcome, checkThen, checkResult} {
			if err := rule(form); err != nil {
				return fmt.Errorf("verb %s: %w", form.Verb.Name, err)
			}
		}
		path := form.Verb.CLI.Path
		if path == "" {
			continue
		}
		if other, taken := paths[path]; taken {
			return fmt.Errorf("verbs %s and %s are both the command %q", other, form.Verb.Name, path)
		}
		for _, builtin := range Builtins() {
			if strings.Fields(path)[0] == builtin.Name {
				return fmt.Errorf("verb %s: the command %q is built in", form.Verb.Name, builtin.Name)
			}
		}
		paths[path] = form.Verb.Name
	}
	return nil
}

// checkNames refuses a flag that is there twice or is everybody's.
func checkNames(form *Form) error {
	taken := map[string]bool{"-h": true, "--help": true}
	for _, flag := range CommonFlags() {
		taken["--"+flag.Name] = true
	}
	for _, flag := range form.OwnFlags() {
		taken["--"+flag.Name] = true
	}
	stdin := 0
	for _, a := range form.Arguments {
		for _, name := range []string{"--" + a.Flag, "-" + a.Short} {
			if taken[name] {
				return fmt.Errorf("argument %s: the flag %s is taken", a.Name, name)
			}
			taken[name] = strings.Trim(name, "-") != ""
		}
		if a.Stdin {
			stdin++
		}
	}
	if stdin > 1 {
		return fmt.Errorf("%d arguments read standard input", stdin)
	}
	return nil
}

// checkPositional refuses what could not be told apart by position.
func checkPositional(form *Form) error {
	var last Argument
	for _, a := range form.Positional() {
		switch {
		case last.Rest:
			return fmt.Errorf("argument %s comes after %s, which takes the rest", a.Name, last.Name)
		case last.Name != "" && !last.Required && a.Required:
			return fmt.Errorf("argument %s is required and comes after %s, which is not", a.Name, last.Name)
		}
		last = a
	}
	return nil
}

// checkOutcome: a bounded verb has its one time limit and says when that was over; exit statuses are for
// outcomes that there are.
func checkOutcome(form *Form) error {
	var outcomes []string
	if m := Find(form.Result, "outcome"); m != nil {
		outcomes = m.Enum
	}
	for outcome, status := range form.Verb.CLI.Exits {
		if !slices.Contains(outcomes, outcome) {
			return fmt.Errorf("exit status %d is for outcome %q, which the result cannot have", status, outcome)
		}
		if _, ok := ExitMeaning(status); !ok {
			return fmt.Errorf("exit status %d of outcome %q has no meaning", status, outcome)
		}
	}
	limits := 0
	for _, a := range form.Arguments {
		if a.Duration {
			limits++
		}
	}
	if form.Verb.Bounded && (limits != 1 || !slices.Contains(outcomes, TimedOut)) {
		return fmt.Errorf("is bounded, but has not exactly one duration or no outcome %s", TimedOut)
	}
	return nil
}

// checkThen: what --wait calls is there, is bounded, and takes nothing but the task and tab that the first
// verb's result names.
func checkThen(form *Form) error {
	name := form.Verb.CLI.Then
	if name == "" {
		return nil
	}
	switch then := form.Then; {
	case then == nil:
		return fmt.Errorf("--wait calls %s, which is not a verb here", name)
	case !then.Verb.Bounded:
		return fmt.Errorf("--wait calls %s, which is not bounded", name)
	default:
		for _, a := range then.Arguments {
			if a.Required && a.Name != "task" {
				return fmt.Errorf("--wait calls %s, which needs %s", name, a.Name)
			}
		}
	}
	task := Find(form.Result, "task")
	if task == nil || task.Kind == Object && Find(task.Members, "id") == nil {
		return fmt.Errorf("--wait needs a task in the result")
	}
	for _, taken := range []string{"wait", "refusal"} {
		if Find(form.Result, taken) != nil {
			return fmt.Errorf("the result's %q is what --wait adds", taken)
		}
	}
	return nil
}

// checkResult: one raw text at most, and a stream names its ticket.
func checkResult(form *Form) error {
	raw := 0
	for _, m := range form.Result {
		if m.Raw || m.Said {
			raw++
		}
	}
	if raw > 1 {
		return fmt.Errorf("%d members of the result are raw", raw)
	}
	if ticket := Find(form.Result, "ticket"); form.Verb.Stream && (ticket == nil || ticket.Kind != String) {
		return fmt.Errorf("is a stream, but its result has no ticket")
	}
	return nil
}
