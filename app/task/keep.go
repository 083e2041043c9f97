package task

import (
	"context"
	"errors"
	"path/filepath"

	"termic/app/git"
	"termic/app/gitview"
	"termic/app/project"
	"termic/registry/ident"
	"termic/registry/refusal"
)

// Preflight looks at what a live task holds, before it is archived, and returns which of its tabs still work.
func (s *Tasks) Preflight(ctx context.Context, id ident.Task) (git.Preflight, []string, error) {
	record, ok := s.Located(id)
	if !ok {
		return git.Preflight{}, nil, noSuchTask()
	}
	if record.Stage != Live {
		return git.Preflight{}, nil, refusal.New(refusal.Conflict, "the task is "+string(record.Stage), "")
	}
	busy := s.working(id)
	if !record.OwnCheckout { // nothing of it is touched
		return git.Preflight{}, busy, nil
	}
	repo, err := s.repo(ctx, record)
	if err != nil {
		return git.Preflight{}, busy, err
	}
	p, err := repo.Preflight(ctx, git.PreflightOptions{Dir: record.Dir, Branch: record.Branch, Base: record.Base})
	return p, busy, err
}

// OwnStashes returns what the agent of a caged task stashed in its own git.
func (s *Tasks) OwnStashes(id ident.Task) ([]gitview.KeptStash, error) {
	dir, err := s.viewDir(id)
	if err != nil {
		return nil, err
	}
	return gitview.Stashes(filepath.Join(dir, viewGit))
}

// Remains looks at what an archived task's archive holds.
func (s *Tasks) Remains(ctx context.Context, id ident.Task) (Record, git.Remains, error) {
	record, ok := s.Get(id)
	if !ok {
		return Record{}, git.Remains{}, noSuchTask()
	}
	if record.Stage != Archived {
		return Record{}, git.Remains{}, refusal.New(refusal.Conflict, "the task is not archived", "archive it first")
	}
	if record.Archived == nil {
		return record, git.Remains{}, nil
	}
	repo, err := s.repo(ctx, record)
	if errors.Is(err, project.ErrGone) { // what is in the store of ours is all that there is
		return record, git.Remains{Bytes: record.Archived.Left(), Unknown: true}, nil
	}
	if err != nil {
		return Record{}, git.Remains{}, err
	}
	remains, err := repo.Remains(ctx, record.Archived)
	return record, remains, err
}

// Purge destroys an archived task for good. Its record goes last, so that what a crash interrupts can be purged again.
func (s *Tasks) Purge(ctx context.Context, id ident.Task) error {
	t, err := s.find(id)
	if err != nil {
		return err
	}
	defer t.life.Unlock()
	record, _ := s.Get(id)
	if record.Stage != Archived {
		return refusal.New(refusal.Conflict, "the task is not archived", "archive it first")
	}
	if record.Archived != nil {
		repo, err := s.repo(ctx, record)
		if errors.Is(err, project.ErrGone) {
			repo, err = s.Projects.Absent(record.Project)
		}
		if err != nil {
			return err
		}
		// Once begun it is finished, whatever its caller does.
		if err := repo.Purge(context.WithoutCancel(ctx), record.Archived, s.otherArchives(record)); err != nil {
			return err
		}
	}
	if err := errors.Join(s.removeView(id), s.State.Archive(id), s.forgetDiscards(id)); err != nil {
		return err
	}
	s.forget(t)
	return nil
}

// otherArchives are those of the other tasks of a task's project.
func (s *Tasks) otherArchives(record Record) (others []*git.Archived) {
	for _, r := range s.List() {
		if r.ID != record.ID && r.Project == record.Project && r.Archived != nil {
			others = append(others, r.Archived)
		}
	}
	return others
}

// ArchiveSpace returns how many tasks are archived and what their archives take, in bytes; restored is what is left of
// those of tasks that are live again: their next archive takes its place.
func (s *Tasks) ArchiveSpace() (tasks int, bytes, restored int64) {
	for _, r := range s.List() {
		if r.Stage == Archived {
			tasks++
		}
		switch {
		case r.Archived == nil:
		case r.Stage == Archived:
			bytes += r.Archived.Bytes
		default:
			restored += r.Archived.Left()
		}
	}
	return tasks, bytes, restored
}
