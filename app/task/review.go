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
	Done bool `json:"done"`
	// Number says which of a task's discards came first.
	Number    int           `json:"number"`
	Discarded git.Discarded `json:"discarded"`
}

// discardFiles keeps one file a discard, <task>_<id>: one of 20,000 files is as large as a data file may be. The copies lie in
// the directory discard/<task>/<id>.
var discardFiles = store.DefineCollection[discarded]("discards", 1)

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
		return s.discardNow(ctx, repo, record, plan, entry)
	})
	return out, err
}

// discardNow makes a discard true: what undoing needs is on disk first. Begun, it is finished.
func (s *Tasks) discardNow(ctx context.Context, repo *git.Repo, record Record, plan *git.DiscardPlan, entry discarded) error {
	ctx = context.WithoutCancel(ctx)
	list, err := s.loadDiscards(record.ID)
	if err != nil {
		return err
	}
	if len(list) > 0 {
		entry.Number = list[len(list)-1].Number + 1
	}
	if err := s.saveDiscard(record.ID, entry); err != nil {
		return err
	}
	if err := plan.Apply(ctx); err != nil {
		var half *git.HalfError
		if errors.As(err, &half) { // an undoing, or the next start, tries again
			return err
		}
		return errors.Join(err, s.dropDiscard(ctx, repo, record.ID, entry)) // Apply has taken it back
	}
	entry.Done = true
	if err := s.saveDiscard(record.ID, entry); err != nil {
		return errors.Join(err, s.takeDiscardBack(ctx, repo, record, entry))
	}
	return s.pruneDiscards(ctx, repo, record.ID)
}

// UndoDiscard brings back what a discard took; "" for the last one. What was changed since is not overwritten:
// *git.EditedError.
func (s *Tasks) UndoDiscard(ctx context.Context, id ident.Task, which string) (out Discard, err error) {
	err = s.review(ctx, id, false, func(record Record, repo *git.Repo) error {
		list, err := s.loadDiscards(id)
		if err != nil {
			return err
		}
		at := len(list) - 1
		if which != "" {
			at = slices.IndexFunc(list, func(d discarded) bool { return d.id() == which })
		}
		switch {
		case at < 0 && which != "":
			return refusal.New(refusal.NotFound, "no such discard can be undone", "see: termic discards")
		case at < 0:
			return refusal.New(refusal.Conflict, "nothing was discarded in this task that could be brought back", "")
		}
		out = list[at].describe()
		return s.takeDiscardBack(ctx, repo, record, list[at])
	})
	return out, err
}

// takeDiscardBack undoes a discard and forgets it.
func (s *Tasks) takeDiscardBack(ctx context.Context, repo *git.Repo, record Record, d discarded) error {
	keep, err := s.Store.Path(discardDir, string(record.ID), d.id())
	if err != nil {
		return err
	}
	done := d.Done
	if d.Done = false; done { // begun, it is finished, at the next start if need be
		if err := s.saveDiscard(record.ID, d); err != nil {
			return err
		}
	}
	if err := repo.UndoDiscard(ctx, record.Dir, d.Discarded, keep); err != nil {
		var half *git.HalfError
		if d.Done = true; done && !errors.As(err, &half) {
			err = errors.Join(err, s.saveDiscard(record.ID, d))
		}
		return err
	}
	return s.dropDiscard(context.WithoutCancel(ctx), repo, record.ID, d)
}

// Discards lists what can be undone in a task, the latest first.
func (s *Tasks) Discards(id ident.Task) ([]Discard, error) {
	list, err := s.loadDiscards(id)
	if err != nil {
		return nil, err
	}
	var out []Discard
	for _, d := range slices.Backward(list) {
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

// loadDiscards returns what is kept of a task's discards, the oldest first.
func (s *Tasks) loadDiscards(id ident.Task) ([]discarded, error) {
	names, err := discardFiles.IDs(s.Store)
	if err != nil {
		return nil, err
	}
	var list []discarded
	for _, name := range names {
		if owner, _ := discardOf(name); owner != id {
			continue
		}
		file, err := discardFiles.File(name)
		if err != nil {
			return nil, err
		}
		d, err := file.Load(s.Store)
		if err != nil {
			return nil, err
		}
		if d.Discarded.Version != 0 { // 0: the store set a damaged file aside and reports it
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(a, b discarded) int { return a.Number - b.Number })
	return list, nil
}

// discardOf returns the task and the id in the name of a file.
func discardOf(name string) (ident.Task, string) {
	at := strings.LastIndexByte(name, '_')
	return ident.Task(name[:max(at, 0)]), name[at+1:]
}

func (s *Tasks) discardFile(id ident.Task, which string) (store.File[discarded], error) {
	return discardFiles.File(string(id) + "_" + which)
}

func (s *Tasks) saveDiscard(id ident.Task, d discarded) error {
	file, err := s.discardFile(id, d.id())
	if err == nil {
		err = file.Save(s.Store, d)
	}
	if err != nil {
		return fmt.Errorf("save discard: %w", err)
	}
	return nil
}

// dropDiscard forgets a discard: the record first, so that what is left of its copies is never thought whole.
func (s *Tasks) dropDiscard(ctx context.Context, repo *git.Repo, id ident.Task, d discarded) error {
	file, err := s.discardFile(id, d.id())
	if err != nil {
		return err
	}
	if err := file.Remove(s.Store); err != nil {
		return err
	}
	if err := repo.ForgetDiscard(ctx, d.Discarded); err != nil {
		return err
	}
	keep, err := s.Store.Path(discardDir, string(id), d.id())
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
	for i, d := range list {
		if d.Done && (len(list)-i > maxDiscards || time.Since(d.Discarded.When) > discardAge) {
			if err := s.dropDiscard(ctx, repo, id, d); err != nil {
				return err
			}
		}
	}
	return nil
}

// forgetDiscards removes all that is kept of a task's discards but refs: the task is destroyed.
func (s *Tasks) forgetDiscards(id ident.Task) error {
	list, err := s.loadDiscards(id)
	if err != nil {
		return err
	}
	for _, d := range list {
		file, err := s.discardFile(id, d.id())
		if err == nil {
			err = file.Remove(s.Store)
		}
		if err != nil {
			return err
		}
	}
	dir, err := s.Store.Path(discardDir, string(id))
	if err != nil {
		return err
	}
	return git.RemoveTree(dir)
}

// recoverDiscards takes back what a crash interrupted, forgets what is too old, and removes copies that no record names.
func (s *Tasks) recoverDiscards(ctx context.Context) error {
	names, err := discardFiles.IDs(s.Store)
	if err != nil {
		return err
	}
	known, owners := map[string]bool{}, map[ident.Task]bool{}
	for _, name := range names {
		owner, which := discardOf(name)
		known[filepath.Join(string(owner), which)], owners[owner] = true, true
	}
	for owner := range owners {
		record, ok := s.Get(owner)
		if !ok || record.Stage != Live { // an archived one has no checkout; its discards come back with it
			continue
		}
		if err := s.recoverDiscard(ctx, record); err != nil {
			s.Log.Error("an interrupted discard was not taken back", "task", owner, "cause", err)
		}
	}
	dir, err := s.Store.Path(discardDir)
	if err != nil {
		return err
	}
	left, err := filepath.Glob(filepath.Join(globEscape(dir), "*", "*"))
	for _, path := range left {
		if rel, e := filepath.Rel(dir, path); e == nil && !known[rel] {
			err = errors.Join(err, git.RemoveTree(path))
		}
	}
	return err
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
	for _, d := range list {
		if !d.Done {
			if err := s.takeDiscardBack(ctx, repo, record, d); err != nil {
				return err
			}
		}
	}
	return s.pruneDiscards(ctx, repo, record.ID)
}
