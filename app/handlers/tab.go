package handlers

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"termic/app/prompt"
	"termic/app/settle"
	"termic/app/tab"
	"termic/app/task"
	"termic/registry"
	"termic/registry/grant"
	"termic/registry/ident"
	"termic/registry/refusal"
	"termic/registry/verbs"
)

func (s Services) bindTabs(r *registry.Router) {
	bind(r, verbs.TaskBroadcast, s.taskBroadcast)
	bind(r, verbs.QueueList, s.queueList)
	bind(r, verbs.QueueEdit, s.queueEdit)
	bind(r, verbs.QueueCancel, s.queueCancel)
	bind(r, verbs.Prompts, s.prompts)
	bind(r, verbs.TaskSend, s.taskSend)
	bind(r, verbs.TaskWait, s.taskWait)
	bind(r, verbs.TaskLog, s.taskLog)
	bind(r, verbs.TaskResult, s.taskResult)
	bind(r, verbs.TaskTab, s.taskTab)
	bind(r, verbs.TabOutside, s.tabOutside)
	bind(r, verbs.TaskTabClose, s.taskTabClose)
	bind(r, verbs.TaskAttach, s.taskAttach)
}

func (s Services) taskSend(ctx context.Context, call registry.Call, in verbs.TaskSendIn) (verbs.TaskSendOut, error) {
	open, err := s.Tasks.Tab(call.Subject.Tab)
	if err != nil {
		return verbs.TaskSendOut{}, err
	}
	text, err := s.compose(call, in.PromptID, in.Text)
	if err != nil {
		return verbs.TaskSendOut{}, err
	}
	receipt, err := open.Send(ctx, tab.Message{Text: text, Times: in.Repeat, Sender: senderOf(call), Still: call.Still})
	if err != nil {
		return verbs.TaskSendOut{}, err
	}
	out := verbs.TaskSendOut{
		Task: string(call.Subject.Task), Tab: string(call.Subject.Tab), Text: string(receipt.ID), Delivery: string(receipt.Fate),
		Why: string(receipt.Hold), By: receipt.By,
	}
	if receipt.Fate == "" {
		out.Delivery = "queued"
	}
	return out, nil
}

// senderOf is who sends a text, as the queue keeps it.
func senderOf(call registry.Call) tab.Sender {
	sender := tab.Sender{Name: call.Caller.Name, Task: call.Caller.Task}
	sender.Later, _ = json.Marshal(call.Later) // of strings and names only
	return sender
}

// compose returns the text of a saved prompt with the sender's own below it.
func (s Services) compose(call registry.Call, id, text string) (string, error) {
	if id == "" {
		return text, nil
	}
	saved, err := s.Prompts.Get(id, call.Caller.Scope != registry.Full)
	if err != nil {
		return "", err
	}
	return prompt.Compose(saved.Text, text), nil
}

// defaultWait is how long a wait lasts unless the caller says otherwise; the schema says so too.
const defaultWait = time.Minute

func (s Services) taskWait(ctx context.Context, call registry.Call, in verbs.TaskWaitIn) (verbs.TaskWaitOut, error) {
	if in.Tab == verbs.AllTabs || len(in.Also) > 0 {
		return s.waitForSeveral(ctx, call, in)
	}
	open, err := s.Tasks.Tab(call.Subject.Tab)
	if err != nil {
		return verbs.TaskWaitOut{}, err
	}
	outcome, why, err := waitTelling(ctx, open, waitOf(in), ident.Text(in.Text))
	if err != nil {
		return verbs.TaskWaitOut{}, err
	}
	s.syncGit(ctx, call.Subject.Task, glance)
	info := open.Info()
	return verbs.TaskWaitOut{
		Task: string(call.Subject.Task), Tab: string(call.Subject.Tab), Outcome: string(outcome),
		State: info.State.String(), Signal: info.Signal.String(), Guess: info.Guess, Why: why,
	}, nil
}

// waitOf is how long a wait may last.
func waitOf(in verbs.TaskWaitIn) time.Duration {
	if in.TimeoutMS > 0 {
		return time.Duration(in.TimeoutMS) * time.Millisecond
	}
	return defaultWait
}

// tellEvery is how often a waiting caller is told what the agent is doing, where it listens.
const tellEvery = 2 * time.Second

// waitTelling waits like Wait and tells the caller how it goes: what its answer would say now. why is the rule by which a text was not
// delivered, in words for callers.
func waitTelling(ctx context.Context, open *tab.Tab, timeout time.Duration, text ident.Text) (outcome tab.Outcome, why string, err error) {
	for left := timeout; ; left -= tellEvery {
		outcome, err := open.Wait(ctx, min(left, tellEvery), text)
		if outcome == tab.NotDelivered {
			return outcome, whyNot(err), nil
		}
		if outcome != tab.TimedOut || err != nil || left <= tellEvery {
			return outcome, "", err
		}
		info := open.Info()
		registry.Progress(ctx, fmt.Sprintf("the agent is %s (%s), %d queued", info.State, info.Signal, info.Queued))
	}
}

// whyNot says why a text did not arrive, without what the error holds of the inside.
func whyNot(err error) string {
	if no, ok := refusal.From(explain(err)); ok {
		return no.Reason
	}
	return "it was not delivered"
}

// defaultBytes is how much of a message is shown unless the caller says otherwise; the schema says so too.
const defaultBytes = 64 << 10

func (s Services) taskResult(ctx context.Context, call registry.Call, in verbs.TaskResultIn) (verbs.TaskResultOut, error) {
	result, err := s.Tasks.Result(ctx, call.Subject.Task, call.Subject.Tab)
	if err != nil {
		return verbs.TaskResultOut{}, err
	}
	out := verbs.TaskResultOut{Tab: string(call.Subject.Tab), Session: result.Session, Text: strings.ToValidUTF8(result.Text, "\uFFFD")}
	limit := cmp.Or(in.Bytes, defaultBytes)
	if len(out.Text) > limit {
		for limit > 0 && !utf8.RuneStart(out.Text[limit]) {
			limit--
		}
		out.Text, out.Truncated = out.Text[:limit], true
	}
	return out, nil
}

// defaultLines is how much a log shows unless the caller says otherwise; the schema says so too.
const defaultLines = 200

func (s Services) taskLog(_ context.Context, call registry.Call, in verbs.TaskLogIn) (verbs.TaskLogOut, error) {
	open, err := s.Tasks.Tab(call.Subject.Tab)
	if err != nil {
		return verbs.TaskLogOut{}, err
	}
	lines := in.Lines
	if lines == 0 {
		lines = defaultLines
	}
	log, err := open.ReadLog(tab.LogOptions{Lines: lines, Since: in.Since, Styled: in.Raw, Blank: grant.Blank})
	if err != nil {
		return verbs.TaskLogOut{}, err
	}
	return verbs.TaskLogOut{Tab: string(call.Subject.Tab), Text: log.Text, Truncated: log.More, Mark: log.Mark}, nil
}

func (s Services) taskTab(ctx context.Context, call registry.Call, in verbs.TaskTabIn) (verbs.TabOut, error) {
	text, err := s.compose(call, in.PromptID, in.Prompt)
	if err != nil {
		return verbs.TabOut{}, err
	}
	notice := s.noticing(ctx, cmp.Or(in.Agent, "shell"))
	open, _, err := s.Tasks.OpenTab(ctx, call.Subject.Task, task.NewTab{
		Agent: cmp.Or(in.Agent, "shell"), Name: in.Name, Fresh: in.Fresh, Opener: call.Caller.Task, Prompt: text, Sender: senderOf(call), Still: call.Still,
	})
	if err != nil {
		return verbs.TabOut{}, err
	}
	said := notice()
	return verbs.TabOut{Tab: renderTab(open.Info()), Notice: said}, nil
}

func (s Services) tabOutside(ctx context.Context, call registry.Call, in verbs.TabOutsideIn) (verbs.TabOutsideOut, error) {
	open, executes, err := s.Tasks.OpenOutside(ctx, call.Subject.Task, cmp.Or(in.Agent, "shell"), in.Name, in.Seen)
	if err != nil {
		return verbs.TabOutsideOut{}, err
	}
	out := verbs.TabOutsideOut{Unseen: executes.Unseen}
	for _, found := range executes.Found {
		out.Files = append(out.Files, verbs.ExecutedFile{Path: found.Path, Change: string(found.Kind)})
	}
	if open != nil {
		out.Opened, out.Tab = true, renderTab(open.Info())
	}
	return out, nil
}

func (s Services) taskTabClose(_ context.Context, call registry.Call, _ verbs.TaskTabCloseIn) (verbs.None, error) {
	return verbs.None{}, s.Tasks.CloseTab(call.Subject.Task, call.Subject.Tab, call.Still)
}

func (s Services) taskAttach(_ context.Context, call registry.Call, _ verbs.TaskAttachIn) (verbs.TaskAttachOut, error) {
	open, err := s.Tasks.Tab(call.Subject.Tab)
	if err != nil {
		return verbs.TaskAttachOut{}, err
	}
	if open.Info().State == settle.Exited {
		return verbs.TaskAttachOut{}, tab.ErrExited
	}
	return verbs.TaskAttachOut{Tab: string(call.Subject.Tab), Ticket: s.Streams.Ticket(open)}, nil
}

// renderTab renders a tab for callers.
func renderTab(info tab.Info) verbs.Tab {
	return verbs.Tab{
		ID: string(info.ID), Name: info.Name, Agent: info.Agent,
		State: info.State.String(), Signal: info.Signal.String(), Since: info.Since.UTC().Format(time.RFC3339),
		Queued: info.Queued, Dropped: info.Dropped, Outside: info.Outside, Exit: info.Exit.Code,
	}
}
