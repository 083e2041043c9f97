package handlers

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"termic/app/tab"
	"termic/registry"
	"termic/registry/refusal"
	"termic/registry/verbs"
)

// maxTargets bounds a call for several tabs; each is a call of its own.
const maxTargets = 32

// splitTarget reads TASK or TASK:TAB. Names of tasks and tabs hold no colon.
func splitTarget(target string) (task, tab string) {
	task, tab, _ = strings.Cut(target, ":")
	return task, tab
}

// each makes one call for every target at once, as the caller's own: the router decides, holds and records each by itself.
func each[In, Out any](ctx context.Context, s Services, call registry.Call, verb registry.Spec[In, Out], args []In, done func(i int, out Out, err error)) {
	var all sync.WaitGroup
	for i, in := range args {
		all.Go(func() {
			var out Out
			raw, err := json.Marshal(in)
			if err == nil {
				raw, err = s.Call(ctx, call.Caller, verb.Verb().Name, raw)
			}
			if err == nil {
				err = json.Unmarshal(raw, &out)
			}
			done(i, out, err)
		})
	}
	all.Wait()
}

func (s Services) taskBroadcast(ctx context.Context, call registry.Call, in verbs.TaskBroadcastIn) (verbs.TaskBroadcastOut, error) {
	if len(in.Targets) == 0 {
		return verbs.TaskBroadcastOut{}, refusal.New(refusal.BadInput, "no target given", "name tabs as TASK or TASK:TAB")
	}
	text, err := s.compose(call, in.PromptID, in.Text) // once, not at each target
	if err != nil {
		return verbs.TaskBroadcastOut{}, err
	}
	if tab.Blank(text) {
		return verbs.TaskBroadcastOut{}, tab.ErrEmpty
	}
	args := make([]verbs.TaskSendIn, len(in.Targets))
	for i, target := range in.Targets {
		args[i] = verbs.TaskSendIn{Text: in.Text, PromptID: in.PromptID}
		args[i].Task, args[i].Tab = splitTarget(target)
	}
	out := verbs.TaskBroadcastOut{Results: make([]verbs.Broadcast, len(args))}
	each(ctx, s, call, verbs.TaskSend, args, func(i int, sent verbs.TaskSendOut, err error) {
		result := verbs.Broadcast{Target: in.Targets[i], Task: sent.Task, Tab: sent.Tab, Text: sent.Text, Delivery: sent.Delivery, Why: sent.Why}
		if err != nil {
			no := refusal.Of(err)
			result.Delivery, result.Why, result.Code = "refused", no.Reason, string(no.Code)
		}
		out.Results[i] = result
	})
	for _, result := range out.Results {
		if result.Delivery != "refused" {
			out.Sent++
		}
	}
	switch out.Sent {
	case 0:
		out.Outcome = "none"
	case len(out.Results):
		out.Outcome = "all"
	default:
		out.Outcome = "some"
	}
	return out, nil
}

// waitForSeveral waits for several tabs, each by a call of its own.
func (s Services) waitForSeveral(ctx context.Context, call registry.Call, in verbs.TaskWaitIn) (verbs.TaskWaitOut, error) {
	if in.Text != "" {
		return verbs.TaskWaitOut{}, refusal.New(refusal.BadInput, "a text is in one tab", "leave text or the other tabs out")
	}
	targets, err := s.waitTargets(call, in)
	if err != nil {
		return verbs.TaskWaitOut{}, err
	}
	args := make([]verbs.TaskWaitIn, len(targets))
	for i, target := range targets {
		args[i] = verbs.TaskWaitIn{TimeoutMS: int(waitOf(in).Milliseconds())}
		args[i].Task, args[i].Tab = splitTarget(target)
	}
	ctx, enough := context.WithCancel(ctx)
	defer enough()
	var mu sync.Mutex
	results := make([]verbs.TaskWaitOut, len(args))
	waited := make([]verbs.Waited, len(args))
	first := -1 // that settled, for any
	each(ctx, s, call, verbs.TaskWait, args, func(i int, out verbs.TaskWaitOut, err error) {
		mu.Lock()
		defer mu.Unlock()
		results[i], waited[i] = out, waitedOf(targets[i], out, err)
		if in.Until == "any" && first < 0 && err == nil && out.Outcome != string(tab.TimedOut) {
			first = i
			enough()
		}
	})
	if in.Until == "any" {
		return s.anyOf(results, waited, first)
	}
	return s.allOf(results, waited)
}

// waitTargets returns the tabs that a wait names, as TASK:TAB.
func (s Services) waitTargets(call registry.Call, in verbs.TaskWaitIn) ([]string, error) {
	var targets []string
	if in.Tab != verbs.AllTabs {
		targets = append(targets, string(call.Subject.Task)+":"+string(call.Subject.Tab))
	} else {
		record, err := s.record(call.Subject.Task)
		if err != nil {
			return nil, err
		}
		for _, one := range s.taskFor(call, record).Tabs {
			targets = append(targets, string(call.Subject.Task)+":"+one.ID)
		}
	}
	for _, target := range in.Also {
		if !slices.Contains(targets, target) {
			targets = append(targets, target)
		}
	}
	switch {
	case len(targets) == 0:
		return nil, refusal.New(refusal.NotFound, "the task has no open tab", "open one in it first")
	case len(targets) > maxTargets:
		return nil, refusal.Newf(refusal.BadInput, "name fewer", "a wait is for at most %d tabs", maxTargets)
	}
	return targets, nil
}

func waitedOf(target string, out verbs.TaskWaitOut, err error) verbs.Waited {
	if err != nil {
		no := refusal.Of(err)
		return verbs.Waited{Target: target, Outcome: "refused", Why: no.Reason}
	}
	return verbs.Waited{Target: target, Outcome: out.Outcome, State: out.State, Signal: out.Signal, Guess: out.Guess, Why: out.Why}
}

// anyOf is the answer of a wait for any tab: of the first that settled, else that time is over.
func (s Services) anyOf(results []verbs.TaskWaitOut, waited []verbs.Waited, first int) (verbs.TaskWaitOut, error) {
	if first >= 0 {
		out := results[first]
		for _, w := range waited { // those that were given up when the first came say nothing
			if w.Outcome != "refused" && w.Outcome != string(tab.TimedOut) {
				out.Each = append(out.Each, w)
			}
		}
		return out, nil
	}
	return s.allOf(results, waited)
}

// badness orders outcomes from the best: what a wait for all comes to is the worst of them.
var badness = []string{"done", "idle", "timeout", "needs_input", "exited", "not_delivered"}

// allOf is the answer of a wait for all tabs. Tabs that the caller may not wait for count for nothing, and are named.
func (s Services) allOf(results []verbs.TaskWaitOut, waited []verbs.Waited) (verbs.TaskWaitOut, error) {
	worst := -1
	for i, w := range waited {
		if w.Outcome == "refused" {
			continue
		}
		if worst < 0 || slices.Index(badness, w.Outcome) > slices.Index(badness, waited[worst].Outcome) {
			worst = i
		}
	}
	if worst < 0 {
		return verbs.TaskWaitOut{}, refusal.New(refusal.NotFound, "none of the tabs can be waited for", "look at the list of what there is")
	}
	out := results[worst]
	out.Each = waited
	return out, nil
}
