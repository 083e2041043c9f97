package task

import (
	"context"

	"termic/app/gitview"
	"termic/app/tab"
	"termic/registry/ident"
	"termic/registry/refusal"
)

// OpenOutside opens a terminal beside a caged task's cage, in its checkout. What programs execute there by themselves and
// the cage may have written is returned and nothing opened, unless there is nothing, or the person has seen it.
func (s *Tasks) OpenOutside(ctx context.Context, id ident.Task, agentID, name string, seen bool) (*tab.Tab, *gitview.Executes, error) {
	record, ok := s.Get(id)
	switch {
	case !ok:
		return nil, nil, noSuchTask()
	case !record.Mode.Caged():
		return nil, nil, refusal.New(refusal.Conflict, "the task has no cage", "open a tab as usual")
	}
	executes, err := s.AutoExec(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	if !seen && (len(executes.Found) > 0 || len(executes.Unseen) > 0) {
		return nil, executes, nil
	}
	opened, _, err := s.openWish(ctx, id, agentID, tabWish{name: name, outside: true, still: func() error { return nil }})
	return opened, executes, err
}
