package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"termic/app/ctl"
	"termic/registry/refusal"
	"termic/registry/render"
)

// waitSlice is how long one call of a wait lasts at most. It is well below what the app allows, and short
// enough that a wait notices a restarted app soon.
const waitSlice = time.Minute

// perform calls the verb, waits where that was asked for, and prints what came of it.
func (s *session) perform(cmd *cobra.Command, form *render.Form, arguments map[string]any, flags map[string]*given) error {
	client, err := s.client()
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	s.asIs = isOn(flags[ownFlag+render.RawFlag]) || isOn(flags[render.RawFlag])
	if form.Verb.Bounded {
		return s.performWait(ctx, client, form, arguments)
	}
	if form.Verb.Stream {
		return s.attach(ctx, cmd, client, form, arguments)
	}
	waits, limit, err := waitFlags(cmd, form, flags)
	if err != nil {
		return err
	}
	raw, err := encode(arguments)
	if err != nil {
		return err
	}
	result, err := client.CallTold(ctx, form.Verb.Name, raw, s.telling())
	s.told()
	if err != nil {
		if form.Verb.Undone && ctx.Err() != nil {
			return &undone{err}
		}
		return err
	}
	if follows, _ := arguments["follow"].(bool); follows {
		return s.follow(ctx, client, form, arguments, result)
	}
	if !waits {
		status, err := exitOf(form, result)
		if err != nil {
			return err
		}
		return s.ended(s.result(form, result), status)
	}
	return s.thenWait(ctx, client, form, result, limit)
}

// isOn tells whether a switch was given, the last time as true.
func isOn(g *given) bool {
	return g != nil && len(g.values) > 0 && g.values[len(g.values)-1] == "true"
}

// follow prints a result and then, again and again, what came after it: a verb with the argument follow waits for that,
// and says in next from where to go on. With --json each answer is a document of its own.
func (s *session) follow(ctx context.Context, client *ctl.Client, form *render.Form, arguments map[string]any, result json.RawMessage) error {
	for {
		values, err := decode(result)
		if err != nil {
			return fmt.Errorf("read the result of %s: %w", form.Verb.CLI.Path, err)
		}
		if news := !emptyLists(values); news {
			if err := s.result(form, result); err != nil {
				return err
			}
		}
		arguments["after"] = values["next"]
		raw, err := encode(arguments)
		if err != nil {
			return err
		}
		if result, err = client.Call(ctx, form.Verb.Name, raw); err != nil {
			return err
		}
	}
}

// emptyLists tells that a result lists nothing.
func emptyLists(values map[string]any) bool {
	for _, value := range values {
		if list, ok := value.([]any); ok && len(list) > 0 {
			return false
		}
	}
	return true
}

// waitFlags reads --wait and --timeout; a limit of 0 is none.
func waitFlags(cmd *cobra.Command, form *render.Form, flags map[string]*given) (waits bool, limit time.Duration, err error) {
	if form.Then == nil {
		return false, 0, nil
	}
	values := map[string]any{}
	for _, flag := range render.WaitFlags() {
		if g := flags[ownFlag+flag.Name]; len(g.values) > 0 {
			last := g.values[len(g.values)-1]
			if flag.Value != "" {
				values[flag.Name], _ = milliseconds(last)
			} else {
				values[flag.Name] = last == "true"
			}
		}
	}
	waits, _ = values["wait"].(bool)
	millis, limited := values["timeout"].(int64)
	if limited && !waits {
		return false, 0, &usageError{command: cmd, reason: "--timeout without --wait", hint: "add --wait"}
	}
	return waits, time.Duration(millis) * time.Millisecond, nil
}

// performWait is a bounded verb as a command: it is asked again until the time limit of the command line.
func (s *session) performWait(ctx context.Context, client *ctl.Client, form *render.Form, arguments map[string]any) error {
	var limit time.Duration
	for _, a := range form.Arguments {
		if millis, ok := arguments[a.Name].(int64); ok && a.Duration {
			limit = time.Duration(millis) * time.Millisecond
		}
	}
	result, status, err := s.wait(ctx, client, form, arguments, limit)
	if err != nil {
		return err
	}
	return s.ended(s.result(form, result), status)
}

// thenWait waits for the task that a result names. With --json both results are one document.
func (s *session) thenWait(ctx context.Context, client *ctl.Client, form *render.Form, result json.RawMessage, limit time.Duration) error {
	if !s.json {
		if err := s.result(form, result); err != nil {
			return err
		}
	}
	arguments, err := waitFor(form, result)
	if err != nil {
		return err
	}
	waited, status, err := s.wait(ctx, client, form.Then, arguments, limit)
	if err != nil {
		return &stopped{refusal.Of(err), result}
	}
	if s.json {
		return s.ended(s.document(withMember(result, "wait", waited)), status)
	}
	return s.ended(s.result(form.Then, waited), status)
}

// waitFor returns the arguments of the wait after a result: its task, and its tab where it names one.
func waitFor(form *render.Form, result json.RawMessage) (map[string]any, error) {
	values, err := decode(result)
	if err != nil {
		return nil, fmt.Errorf("read the result of %s: %w", form.Verb.CLI.Path, err)
	}
	task := values["task"]
	if inner, ok := task.(map[string]any); ok {
		task = inner["id"]
	}
	arguments := map[string]any{"task": task}
	if tab, ok := values["tab"].(string); ok && form.Then.Argument("tab") != nil {
		arguments["tab"] = tab
	}
	if text, ok := values["text"].(string); ok && text != "" && form.Then.Argument("text") != nil {
		arguments["text"] = text
	}
	return arguments, nil
}

// wait calls a bounded verb until it has another outcome than timeout or limit is over (0: never), and
// returns its last result with the exit status of its outcome.
func (s *session) wait(ctx context.Context, client *ctl.Client, form *render.Form, arguments map[string]any, limit time.Duration) (json.RawMessage, int, error) {
	var timeout string
	for _, a := range form.Arguments {
		if a.Duration {
			timeout = a.Name
		}
	}
	s.progress("waiting; ctrl-c ends the wait, and the task goes on")
	for end := time.Now().Add(limit); ; {
		slice := waitSlice
		if limit > 0 {
			slice = min(slice, max(time.Until(end), time.Millisecond))
		}
		arguments[timeout] = max(slice.Milliseconds(), 1)
		raw, err := encode(arguments)
		if err != nil {
			return nil, 0, err
		}
		result, err := client.Call(ctx, form.Verb.Name, raw)
		if err != nil {
			return nil, 0, err
		}
		values, err := decode(result)
		if err != nil {
			return nil, 0, fmt.Errorf("read the result of %s: %w", form.Verb.CLI.Path, err)
		}
		outcome, _ := values["outcome"].(string)
		if outcome != render.TimedOut || limit > 0 && time.Until(end) <= 0 {
			return result, form.Verb.CLI.Exits[outcome], nil
		}
	}
}

// exitOf returns the exit status that a verb gives the outcome in its result; 0 where it gives none.
func exitOf(form *render.Form, result json.RawMessage) (int, error) {
	if len(form.Verb.CLI.Exits) == 0 {
		return 0, nil
	}
	values, err := decode(result)
	if err != nil {
		return 0, fmt.Errorf("read the result of %s: %w", form.Verb.CLI.Path, err)
	}
	outcome, _ := values["outcome"].(string)
	return form.Verb.CLI.Exits[outcome], nil
}

// ended returns the error that carries an exit status, once printing went well.
func (s *session) ended(err error, status int) error {
	if err != nil || status == 0 {
		return err
	}
	return &outcome{status}
}
