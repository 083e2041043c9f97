package task

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"termic/app/git"
	"termic/app/gitview"
	"termic/app/store"
	"termic/registry/ident"
	"termic/registry/refusal"
)

// What the person does with the changes of a task's checkout. All of it acts on the view outside of a cage
// (docs/decisions/0043-the-person-stages-outside.md).

// discarded is one discard that can be undone.
type discarded struct {
	// Done is false until all of it was in place: what a crash finds so is taken back at the next start.
	Done      bool          `json:"done"`
	Discarded git.Discarded `json:"discarded"`
}

// discardFile is what is kept of a task's discards, the oldest first. The copies lie in the directory discard/<task>/<id>.
type discardFile struct {
	Entries []discarded `json:"entries"`
}

var discardFiles = store.DefineCollection[discardFile]("discards", 1)

const discardDir = "discard"

// Bounds of what can be undone, of one task.
const (
	maxDiscards = 20
	discardAge  = 30 * 24 * time.Hour
)

// Discard is a discard of a task's changes.
type Discard struct {
	ID      string
	When    time.Time
	Paths   []string
	LeftOut []git.Path
}

func (d discarded) describe() Discard {
	l := d.Discarded.Landed
	out := Discard{ID: d.id(), When: l.When, LeftOut: l.LeftOut}
	for _, f := range l.Files {
		out.Paths = append(out.Paths, string(f.Path))
	}
	return out
}

func (d discarded) id() string { return strings.ToLower(d.Discarded.Nonce) }

// Stage stages files of a task's checkout.
func (s *Tasks) Stage(ctx context.Context, id ident.Task, sel git.Selection) (out git.Staged, err error) {
	err = s.review(ctx, id, false, func(record Record, repo *git.Repo) error {
		out, err = repo.Stage(ctx, record.Dir, sel)
		return err
	})
	return out, err
}

// Unstage takes files out of what is staged.
func (s *Tasks) Unstage(ctx context.Context, id ident.Task, sel git.Selection) (out git.Staged, err error) {
	err = s.review(ctx, id, false, func(record Record, repo *git.Repo) error {
		out, err = repo.Unstage(ctx, record.Dir, sel)
		return err
	})
	return out, err
}

// Commit commits what is staged, as the person. A caged task's agent is given the commit.
func (s *Tasks) Commit(ctx context.Context, id ident.Task, message string, all bool) (out git.Committed, err error) {
	err = s.review(ctx, id, true, func(record Record, repo *git.Repo) error {
		out, err = repo.Commit(ctx, git.CommitOptions{Dir: record.Dir, Message: message, All: all})
		return err
	})
	if err == nil {
		s.SyncGit(ctx, id)
	}
	return out, err
}

// Discard brings files back to the last commit, after what they hold was copied.
func (s *Tasks) Discard(ctx context.Context, id ident.Task, sel git.Selection) (out Discard, err error) {
	err = s.review(ctx, id, true, func(record Record, repo *git.Repo) error {
		dir, err := s.Store.Subdir(discardDir, string(id))
		if err != nil {
			return err
		}
		next := filepath.Join(dir, "next")
		if err := errors.Join(git.RemoveTree(next), os.Mkdir(next, 0o700)); err != nil {
			return err
		}
		plan, err := repo.PlanDiscard(ctx, git.DiscardOptions{Dir: record.Dir, ID: string(id), Selection: sel, Keep: next})
		if err != nil {
			return errors.Join(err, git.RemoveTree(next))
		}
		entry := discarded{Discarded: plan.Discarded}
		out = entry.describe()
		kept := filepath.Join(dir, out.ID)
		if err := os.Rename(next, kept); err != nil {
			return err
		}
		plan.MoveKeep(kept)
		return s.discardNow(ctx, repo, id, plan, entry)
	})
	return out, err
}

// discardNow makes a discard true: what undoing needs is on disk first. Begun, it is finished.
func (s *Tasks) discardNow(ctx context.Context, repo *git.Repo, id ident.Task, plan *git.DiscardPlan, entry discarded) error {
	ctx = context.WithoutCancel(ctx)
	list, err := s.loadDiscards(id)
	if err != nil {
		return err
	}
	list.Entries = append(list.Entries, entry)
	if err := s.saveDiscards(id, list); err != nil {
		return err
	}
	if err := plan.Apply(ctx); err != nil {
		return errors.Join(err, s.dropDiscard(ctx, repo, id, entry.id())) // Apply has taken it back
	}
	list.Entries[len(list.Entries)-1].Done = true
	if err := s.saveDiscards(id, list); err != nil {
		return err // it is done, and taken back at the next start: nothing is lost
	}
	return s.pruneDiscards(ctx, repo, id)
}

// UndoDiscard brings back what a discard took; "" for the last one. What was changed since is not overwritten:
// *git.EditedError.
func (s *Tasks) UndoDiscard(ctx context.Context, id ident.Task, which string) (out Discard, err error) {
	err = s.review(ctx, id, false, func(record Record, repo *git.Repo) error {
		list, err := s.loadDiscards(id)
		if err != nil {
			return err
		}
		at := len(list.Entries) - 1
		if which != "" {
			at = slices.IndexFunc(list.Entries, func(d discarded) bool { return d.id() == which })
		}
		switch {
		case at < 0 && which != "":
			return refusal.New(refusal.NotFound, "no such discard can be undone", "see: termic discards")
		case at < 0:
			return refusal.New(refusal.Conflict, "nothing was discarded in this task that could be brought back", "")
		}
		out = list.Entries[at].describe()
		return s.takeDiscardBack(ctx, repo, record, list.Entries[at])
	})
	return out, err
}

// takeDiscardBack undoes a discard and forgets it.
func (s *Tasks) takeDiscardBack(ctx context.Context, repo *git.Repo, record Record, d discarded) error {
	keep, err := s.Store.Path(discardDir, string(record.ID), d.id())
	if err != nil {
		return err
	}
	if err := repo.UndoDiscard(ctx, record.Dir, d.Discarded, keep); err != nil {
		return err
	}
	return s.dropDiscard(context.WithoutCancel(ctx), repo, record.ID, d.id())
}

// Discards lists what can be undone in a task, the latest first.
func (s *Tasks) Discards(id ident.Task) ([]Discard, error) {
	list, err := s.loadDiscards(id)
	if err != nil {
		return nil, err
	}
	var out []Discard
	for _, d := range slices.Backward(list.Entries) {
		out = append(out, d.describe())
	}
	return out, nil
}

// review does something with the checkout of a live task, while its life is locked and no commit comes in or goes out.
// together tells that it must not happen while both views of a caged task's git are apart.
func (s *Tasks) review(ctx context.Context, id ident.Task, together bool, do func(Record, *git.Repo) error) error {
	s.SyncGit(ctx, id) // before life is locked: its order is life, then turn
	t, err := s.find(id)
	if err != nil {
		return err
	}
	defer t.life.Unlock()
	record := s.follow(t)
	if record.Stage != Live {
		return refusal.New(refusal.Conflict, "the task is "+string(record.Stage), "restore it first")
	}
	if !t.view.turn.take(ctx) {
		return ctx.Err()
	}
	defer t.view.turn.pass()
	if note := s.GitNote(id); together && note != "" {
		return refusal.New(refusal.Conflict, "not all of the agent's commits are in the project: "+note, "put that right first")
	}
	if err := s.agentFinished(record); err != nil {
		return err
	}
	repo, err := s.repo(ctx, record)
	if err != nil {
		return err
	}
	return do(record, repo)
}

// agentFinished refuses while the agent of a caged task is in the middle of a merge, a rebase or the like: what lies in
// the files then is neither what was nor what is to be.
func (s *Tasks) agentFinished(record Record) error {
	if !record.Mode.Caged() {
		return nil // both have one index, and git says it there
	}
	dir, err := s.viewDir(record.ID)
	if err != nil {
		return err
	}
	operation, err := gitview.Unfinished(filepath.Join(dir, viewGit))
	if err != nil {
		return fmt.Errorf("look for an operation of the agent's: %w", err)
	}
	if operation != "" {
		return refusal.Newf(refusal.Conflict, "wait until it is done, or ask the agent to finish or abort it", "the agent is in the middle of a %s", operation)
	}
	return nil
}

func (s *Tasks) loadDiscards(id ident.Task) (discardFile, error) {
	file, err := discardFiles.File(string(id))
	if err != nil {
		return discardFile{}, err
	}
	return file.Load(s.Store)
}

func (s *Tasks) saveDiscards(id ident.Task, list discardFile) error {
	file, err := discardFiles.File(string(id))
	if err != nil {
		return err
	}
	if len(list.Entries) == 0 {
		return file.Remove(s.Store)
	}
	if err := file.Save(s.Store, list); err != nil {
		return fmt.Errorf("save discards: %w", err)
	}
	return nil
}

// dropDiscard forgets a discard: the record first, so that what is left of its copies is never thought whole. repo may be
// nil where the repository is gone.
func (s *Tasks) dropDiscard(ctx context.Context, repo *git.Repo, id ident.Task, which string) error {
	list, err := s.loadDiscards(id)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(list.Entries, func(d discarded) bool { return d.id() == which })
	if at < 0 {
		return nil
	}
	entry := list.Entries[at]
	list.Entries = slices.Delete(list.Entries, at, at+1)
	if err := s.saveDiscards(id, list); err != nil {
		return err
	}
	if repo != nil {
		if err := repo.ForgetDiscard(ctx, entry.Discarded); err != nil {
			return err
		}
	}
	keep, err := s.Store.Path(discardDir, string(id), which)
	if err != nil {
		return err
	}
	return git.RemoveTree(keep)
}

// pruneDiscards forgets what is too old to be undone, or too much.
func (s *Tasks) pruneDiscards(ctx context.Context, repo *git.Repo, id ident.Task) error {
	list, err := s.loadDiscards(id)
	if err != nil {
		return err
	}
	for i, d := range list.Entries {
		if d.Done && (len(list.Entries)-i > maxDiscards || time.Since(d.Discarded.When) > discardAge) {
			if err := s.dropDiscard(ctx, repo, id, d.id()); err != nil {
				return err
			}
		}
	}
	return nil
}

// forgetDiscards removes all that is kept of a task's discards but refs: the task is destroyed.
func (s *Tasks) forgetDiscards(id ident.Task) error {
	dir, err := s.Store.Path(discardDir, string(id))
	if err != nil {
		return err
	}
	return errors.Join(s.saveDiscards(id, discardFile{}), git.RemoveTree(dir))
}

// recoverDiscards takes back what a crash interrupted, and forgets what is too old.
func (s *Tasks) recoverDiscards(ctx context.Context) error {
	ids, err := discardFiles.IDs(s.Store)
	if err != nil {
		return err
	}
	for _, id := range ids {
		record, ok := s.Get(ident.Task(id))
		if !ok {
			continue
		}
		if err := s.recoverDiscard(ctx, record); err != nil {
			s.Log.Error("an interrupted discard was not taken back", "task", id, "cause", err)
		}
	}
	return nil
}

func (s *Tasks) recoverDiscard(ctx context.Context, record Record) error {
	list, err := s.loadDiscards(record.ID)
	if err != nil {
		return err
	}
	repo, err := s.repo(ctx, record)
	if err != nil {
		return err
	}
	for _, d := range list.Entries {
		if !d.Done {
			if err := s.takeDiscardBack(ctx, repo, record, d); err != nil {
				return err
			}
		}
	}
	return s.pruneDiscards(ctx, repo, record.ID)
}
