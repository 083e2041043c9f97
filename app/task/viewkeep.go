package task

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"termic/app/gitview"
	"termic/registry/ident"
	"termic/registry/refusal"
)

// keepGit imports everything of a task's private git directory, through its cage, which is started when it does not
// run. It returns nil when the task has no such directory. The task's life is locked.
func (s *Tasks) keepGit(ctx context.Context, t *task) (*KeptGit, *gitview.Synced, error) {
	record, _ := s.Get(t.record().ID)
	g, err := s.viewOf(ctx, record)
	if err != nil || !exists(g.Private) {
		return nil, nil, err
	}
	if !record.Mode.Caged() { // turned off: it was kept then, and nothing can have written it since
		if record.Kept == nil {
			return nil, nil, fmt.Errorf("%s was not kept when the cage was turned off", g.Private)
		}
		return record.Kept, &gitview.Synced{}, nil
	}
	if _, err := s.ensureCage(ctx, t); err != nil {
		return nil, nil, err
	}
	if !t.view.turn.take(ctx) {
		return nil, nil, ctx.Err()
	}
	defer t.view.turn.pass()
	lim, err := s.limits(t)
	if err != nil {
		return nil, nil, err
	}
	lim.Time, lim.Refused = timeToKeep, ""
	e, err := g.Keep(ctx, s.inCage(t), lim)
	if err != nil {
		s.noteGit(t, "", err)
		return nil, nil, err
	}
	s.noteGit(t, apart(&e.Synced, record.Branch), nil)
	return &KeptGit{e.Kept, e.Print}, &e.Synced, nil
}

// provedKept tells whether a private directory still is what was kept of it; its cage does not run.
func (s *Tasks) provedKept(record Record, kept *KeptGit) bool {
	dir, err := s.viewDir(record.ID)
	if err != nil || kept == nil {
		return false
	}
	aside, err := filepath.Glob(filepath.Join(globEscape(dir), viewGit+viewAside+"*"))
	if err != nil || len(aside) > 0 { // of what is in those, nothing is known
		return false
	}
	now, err := gitview.Fingerprint(filepath.Join(dir, viewGit))
	return err == nil && now == kept.Print
}

// enterView makes the private directory of a task that is to be caged, so that what cannot be is refused before
// anything has ended.
func (s *Tasks) enterView(ctx context.Context, record Record) error {
	_, err := s.gitOwn(ctx, record)
	return err
}

// leaveView takes everything over from a cage that is to be turned off: the agent goes on in the project's view, so
// its branch has to be there. The private directory stays, for the day when the cage is turned on again.
func (s *Tasks) leaveView(ctx context.Context, t *task) error {
	kept, got, err := s.keepGit(ctx, t)
	if err != nil {
		return refusal.New(refusal.Conflict, "the cage stays on, since what the agent committed could not be taken over: "+gitTrouble(err), "see: termic doctor").Because(err)
	}
	if kept == nil {
		return nil
	}
	switch got.Outcome {
	case gitview.UpToDate, gitview.Moved, gitview.Behind:
	default:
		return refusal.New(refusal.Conflict, "the cage stays on: "+apart(got, t.record().Branch), "put that right first")
	}
	_, err = s.save(t, func(r *Record) { r.Kept = kept })
	return err
}

// left tells whether what leaveView took over is still all that there is; the cage has ended.
func (s *Tasks) left(t *task) bool {
	record, _ := s.Get(t.record().ID)
	dir, err := s.viewDir(record.ID)
	if err == nil && !exists(filepath.Join(dir, viewGit)) {
		return true
	}
	return s.provedKept(record, record.Kept)
}

// AutoExec lists what in a task's checkout programs outside a cage run by themselves, and what of it is new or changed
// since the task's base. It is for whoever is about to start something outside: an outside tab, an editor, landing.
func (s *Tasks) AutoExec(ctx context.Context, id ident.Task) (*gitview.Executes, error) {
	record, ok := s.Get(id)
	if !ok {
		return nil, noSuchTask()
	}
	if record.Stage != Live || !record.OwnCheckout {
		return nil, refusal.New(refusal.Conflict, "the task has no checkout of its own", "")
	}
	g, err := s.viewOf(ctx, record)
	if err != nil {
		return nil, err
	}
	return g.AutoExec(ctx, record.Base)
}

// unproved is the trouble of an archived task whose own git could not be taken over whole.
func unproved(err error) string {
	why := "it changed while it was archived"
	if err != nil {
		why = gitTrouble(err)
	}
	return "the agent's own git could not be taken over whole (" + why + "); it is kept as it is, and comes back with the task"
}

var errUnproved = errors.New("the agent's git changed after it was kept")
