package handlers

import (
	"context"
	"time"

	"termic/app/tab"
	"termic/registry"
	"termic/registry/ident"
	"termic/registry/refusal"
	"termic/registry/verbs"
)

func (s Services) queueList(_ context.Context, call registry.Call, _ verbs.QueueListIn) (verbs.QueueListOut, error) {
	open, err := s.Tasks.Tab(call.Subject.Tab)
	if err != nil {
		return verbs.QueueListOut{}, err
	}
	waiting, hold, past := open.Queue()
	if len(waiting) == 0 {
		hold = tab.HoldNone // nothing is held
	}
	out := verbs.QueueListOut{Tab: string(call.Subject.Tab), Hold: string(hold), Texts: []verbs.QueuedText{}, Past: []verbs.PastText{}}
	for i, q := range waiting {
		out.Texts = append(out.Texts, verbs.QueuedText{
			ID: string(q.ID), Place: i, Times: q.Times, From: q.Sender.Name, Task: string(q.Sender.Task), At: q.At.UTC().Format(time.RFC3339), Text: q.Text,
		})
	}
	for _, p := range past {
		why := p.Why
		if p.Fate == tab.Failed || p.Fate == tab.Dropped {
			why = reasonOf(p.Fate) // the error itself may hold what only the log does
		}
		out.Past = append(out.Past, verbs.PastText{ID: string(p.ID), Fate: string(p.Fate), At: p.At.UTC().Format(time.RFC3339), Why: why})
	}
	return out, nil
}

// reasonOf says for callers what a fate means.
func reasonOf(fate tab.Fate) string {
	if fate == tab.Dropped {
		return "its sender may no longer send it"
	}
	return "the agent's prompt did not show it, or a question came; Enter was not pressed"
}

func (s Services) queueEdit(_ context.Context, call registry.Call, in verbs.QueueEditIn) (verbs.None, error) {
	open, err := s.Tasks.Tab(call.Subject.Tab)
	if err != nil {
		return verbs.None{}, err
	}
	change := tab.Change{Place: in.Place}
	if in.Text != "" {
		change.Text = &tab.Message{Text: in.Text, Sender: senderOf(call), Still: call.Still}
	}
	if in.Times > 0 {
		change.Times = &in.Times
	}
	if change == (tab.Change{}) {
		return verbs.None{}, refusal.New(refusal.BadInput, "nothing to change", "give a text, a place or times")
	}
	return verbs.None{}, open.Edit(ident.Text(in.ID), change)
}

func (s Services) queueCancel(_ context.Context, call registry.Call, in verbs.QueueCancelIn) (verbs.QueueCancelOut, error) {
	if (in.ID == "") != in.All {
		return verbs.QueueCancelOut{}, refusal.New(refusal.BadInput, "give either an id or all", "see: termic queue")
	}
	open, err := s.Tasks.Tab(call.Subject.Tab)
	if err != nil {
		return verbs.QueueCancelOut{}, err
	}
	n, err := open.Cancel(ident.Text(in.ID))
	return verbs.QueueCancelOut{Cancelled: n}, err
}

func (s Services) prompts(_ context.Context, call registry.Call, in verbs.PromptsIn) (verbs.PromptsOut, error) {
	agents := call.Caller.Scope != registry.Full
	out := verbs.PromptsOut{Prompts: []verbs.Prompt{}}
	if in.ID != "" {
		p, err := s.Prompts.Get(in.ID, agents)
		if err != nil {
			return out, err
		}
		out.Prompts, out.Text = append(out.Prompts, verbs.Prompt{ID: p.ID, Name: p.Name, Description: p.Description, Agents: p.Agents, Builtin: p.Builtin}), p.Text
		return out, nil
	}
	list, faults := s.Prompts.List()
	for _, p := range list {
		if p.Agents || !agents {
			out.Prompts = append(out.Prompts, verbs.Prompt{ID: p.ID, Name: p.Name, Description: p.Description, Agents: p.Agents, Builtin: p.Builtin})
		}
	}
	for _, fault := range faults {
		if !agents {
			out.Faults = append(out.Faults, fault.Error())
		}
	}
	return out, nil
}
