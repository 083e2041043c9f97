package app

import (
	"encoding/json"

	"termic/registry"
	"termic/registry/ident"
	"termic/registry/refusal"
	"termic/registry/verbs"
)

// recheck asks the guard whether the sender of a text that waited over a restart may still send it. Only the person's grants outlive
// the app: a token that was issued in an earlier run stands for nothing.
func (a *app) recheck(kept json.RawMessage, id ident.Task, tab ident.Tab) error {
	later, err := laterOf(kept)
	if err != nil {
		return refusal.New(refusal.NotPermitted, "not allowed", "").Because(err)
	}
	return a.router.Recheck(later, verbs.TaskSend.Verb().Name, id, tab)
}

// lost records that a text which waited will not be delivered.
func (a *app) lost(kept json.RawMessage, id ident.Task, tab ident.Tab, why string) {
	later, err := laterOf(kept)
	if err != nil {
		a.Log.Error("kept text without its sender", "task", id, "cause", err)
		return
	}
	a.router.Lost(later, verbs.TaskSend.Verb().Name, id, tab, why)
}

func laterOf(kept json.RawMessage) (registry.Later, error) {
	var later registry.Later
	if err := json.Unmarshal(kept, &later); err != nil {
		return later, err
	}
	return later, later.Check()
}
