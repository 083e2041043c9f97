package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"termic/app/git"
	"termic/app/gitview"
	"termic/app/store"
	"termic/registry/ident"
	"termic/registry/refusal"
)

// landing is the last landing of a task, as long as it can be taken back.
type landing struct {
	Project ident.Project `json:"project"`
	// Done is false until all of it was in place: what a crash finds so is taken back at the next start.
	Done   bool       `json:"done"`
	Landed git.Landed `json:"landed"`
	// Caged tells that the work came from a cage.
	Caged bool `json:"caged,omitzero"`
}

// landings keeps one file a task. What undoing needs besides lies in the directory landing/<task>.
var landings = store.DefineCollection[landing]("landings", 1)

const landingDir = "landing"

// Land says what is to become of a task's work.
type Land struct {
	How git.LandHow
	// Branch is the name of the branch to make; empty for the task's name.
	Branch string
	// Message is the first line of commits that are made; empty for one that names the task.
	Message string
	// Preview changes nothing.
	Preview bool
	// Confirm is Landing.Confirm of an earlier call: the person has seen what it showed.
	Confirm string
}

// Landing is what a landing did, or would do.
type Landing struct {
	Landed  git.Landed
	Changes []git.LandChange
	// Obeyed are changed files that programs run by themselves or that instruct agents. They are listed when the work came from a
	// cage; Confirm then stands for exactly this work.
	Obeyed  []gitview.Obeyed
	Confirm string
}

// MustBeSeenError is work from a cage that is not to be taken out before the person has seen what in it programs obey.
type MustBeSeenError struct {
	Obeyed  []gitview.Obeyed
	Confirm string
}

func (e *MustBeSeenError) Error() string {
	return fmt.Sprintf("%d files that programs obey were not confirmed", len(e.Obeyed))
}

// FromCage tells that a task holds work that a cage may have written and that has not landed.
func (r Record) FromCage() bool { return (r.Mode.Caged() || r.WasCaged) && !r.Landed }

// Land puts a task's work into the project: as uncommitted changes of its checkout, as a merge there, or as a branch. The
// task itself stays as it is. What came from a cage is landed only when the person has seen what in it programs obey
// (*MustBeSeenError).
func (s *Tasks) Land(ctx context.Context, id ident.Task, want Land) (Landing, error) {
	s.SyncGit(ctx, id) // before life is locked: its order is life, then turn
	t, err := s.find(id)
	if err != nil {
		return Landing{}, err
	}
	defer t.life.Unlock()
	record := s.follow(t)
	if err := s.admitLanding(record, want); err != nil {
		return Landing{}, err
	}
	s.landing.Lock()
	defer s.landing.Unlock()
	if err := s.endInterrupted(ctx, id); err != nil {
		return Landing{}, err
	}
	repo, err := s.repo(ctx, record)
	if err != nil {
		return Landing{}, err
	}
	keep, err := s.newKeep(id)
	if err != nil {
		return Landing{}, err
	}
	earlier, err := s.landedBefore(record)
	if err != nil {
		return Landing{}, err
	}
	plan, err := repo.PlanLanding(ctx, git.LandOptions{
		Earlier: earlier,
		Dir:     record.Dir, ID: string(id), How: want.How, Base: record.Base, Label: record.Branch, Branch: cmp.Or(want.Branch, record.Name),
		Subject: cmp.Or(want.Message, "Merge task "+record.Name), Uncommitted: cmp.Or(want.Message, "Uncommitted work of task "+record.Name), Keep: keep,
	})
	if err != nil {
		return Landing{}, errors.Join(err, os.RemoveAll(keep))
	}
	out := Landing{Landed: plan.Landed, Changes: plan.Changes}
	if record.FromCage() {
		out.Obeyed = obeyedIn(plan.Changes, gitview.HooksInside(ctx, repo, git.Linked{Dir: plan.Landed.Root, GitDir: plan.Landed.GitDir}))
		out.Confirm = confirmation(string(want.How), string(plan.Landed.Tree), out.Obeyed)
	}
	switch {
	case want.Preview:
		return out, os.RemoveAll(keep)
	case len(out.Obeyed) > 0 && want.Confirm != out.Confirm:
		return Landing{}, errors.Join(&MustBeSeenError{out.Obeyed, out.Confirm}, os.RemoveAll(keep))
	}
	return out, s.landNow(ctx, t, record, plan, keep)
}

// admitLanding refuses what cannot be landed, before anything is looked at.
func (s *Tasks) admitLanding(record Record, want Land) error {
	switch {
	case record.Stage != Live:
		return refusal.New(refusal.Conflict, "the task is "+string(record.Stage), "restore it first")
	case !record.OwnCheckout:
		return refusal.New(refusal.Conflict, "the task works in the project's own checkout: its work is there already", "")
	case want.Branch != "" && want.How != git.LandBranch:
		return refusal.New(refusal.BadInput, "a branch is made only when landing as a branch", "add --as branch, or leave branch out")
	}
	if note := s.GitNote(record.ID); note != "" && want.How != git.LandChanges {
		return refusal.New(refusal.Conflict, "not all of the agent's commits are in the project: "+note, "put that right, or land as changes: the files are as the agent has them")
	}
	return nil
}

// newKeep makes an empty directory for what undoing a landing will need. That of an earlier landing stays until the new
// one is sure to happen.
func (s *Tasks) newKeep(id ident.Task) (string, error) {
	dir, err := s.Store.Subdir(landingDir, string(id))
	if err != nil {
		return "", err
	}
	keep := filepath.Join(dir, "next")
	if err := os.RemoveAll(keep); err != nil {
		return "", err
	}
	return keep, os.Mkdir(keep, 0o700)
}

// landNow makes a landing true: what undoing needs is on disk first. It replaces the record of the task's last landing,
// which cannot be taken back any more.
func (s *Tasks) landNow(ctx context.Context, t *task, record Record, plan *git.LandPlan, keep string) error {
	file, err := landings.File(string(record.ID))
	if err != nil {
		return err
	}
	// A record of an earlier landing names the same directory: it goes before that does.
	if err := file.Remove(s.Store); err != nil {
		return err
	}
	kept := filepath.Join(filepath.Dir(keep), "last")
	if err := errors.Join(os.RemoveAll(kept), os.Rename(keep, kept)); err != nil {
		return err
	}
	plan.MoveKeep(kept)
	entry := landing{Project: record.Project, Landed: plan.Landed, Caged: record.FromCage()}
	if err := file.Save(s.Store, entry); err != nil {
		return fmt.Errorf("save landing: %w", err)
	}
	if err := plan.Apply(ctx); err != nil {
		var half *git.HalfError
		if errors.As(err, &half) { // an undoing, or the next start, tries again
			return err
		}
		return errors.Join(err, s.forgetLanding(record.ID)) // Apply has taken it back
	}
	entry.Done = true
	if err := file.Save(s.Store, entry); err != nil {
		return errors.Join(fmt.Errorf("save landing: %w", err), s.takeBack(context.WithoutCancel(ctx), record.ID, entry))
	}
	if err := s.keepLanded(ctx, record, plan.Landed); err != nil { // it landed all the same; the next one may meet conflicts
		s.Log.Warn("what landed is not kept for the next landing", "task", record.ID, "cause", err)
	}
	// While its cage runs, its agent may write on: that has not landed.
	if s.cageOf(t) == nil {
		_, err = s.save(t, func(r *Record) { r.Landed = true })
	}
	return err
}

// landedBefore is what landed of the task the last time, as far as it was not taken back.
func (s *Tasks) landedBefore(record Record) (git.EarlierLanding, error) {
	file, err := landings.File(string(record.ID))
	if err != nil {
		return git.EarlierLanding{}, err
	}
	entry, err := file.Load(s.Store)
	if err != nil || !entry.Done || entry.Project != record.Project {
		return git.EarlierLanding{}, err
	}
	return git.EarlierLanding{Work: entry.Landed.Tree, Result: entry.Landed.Result}, nil
}

// keepLanded keeps the trees of a landing in the project, and no others.
func (s *Tasks) keepLanded(ctx context.Context, record Record, l git.Landed) error {
	repo, err := s.repo(ctx, record)
	if err != nil {
		return err
	}
	return repo.KeepLanded(context.WithoutCancel(ctx), string(record.ID), l)
}

// Unland takes a task's last landing back. What was changed since is not overwritten: *git.EditedError.
func (s *Tasks) Unland(ctx context.Context, id ident.Task) (git.Landed, error) {
	t, err := s.find(id)
	if err != nil {
		return git.Landed{}, err
	}
	defer t.life.Unlock()
	s.landing.Lock()
	defer s.landing.Unlock()
	file, err := landings.File(string(id))
	if err != nil {
		return git.Landed{}, err
	}
	entry, err := file.Load(s.Store)
	if err != nil {
		return git.Landed{}, err
	}
	if entry.Landed.Version == 0 {
		return git.Landed{}, refusal.New(refusal.Conflict, "nothing of this task has landed that could be taken back", "")
	}
	if entry.Caged { // before it is undone: what is not landed any more must never count as landed
		if _, err := s.save(t, func(r *Record) { r.Landed, r.WasCaged = false, true }); err != nil {
			return git.Landed{}, err
		}
	}
	return entry.Landed, s.takeBack(ctx, id, entry)
}

// endInterrupted takes back what is left of a landing that did not end, before another one. Where there are commits on it by now
// it stays, and the next one is all that can be taken back.
func (s *Tasks) endInterrupted(ctx context.Context, id ident.Task) error {
	file, err := landings.File(string(id))
	if err != nil {
		return err
	}
	entry, err := file.Load(s.Store)
	if err != nil || entry.Done || entry.Landed.Version == 0 {
		return err
	}
	if err := s.takeBack(ctx, id, entry); !errors.Is(err, git.ErrRefMoved) {
		return err
	}
	return nil
}

// takeBack undoes a landing and forgets it. Begun, it is finished, at the next start if need be; unless it is refused, when
// all is as it was.
func (s *Tasks) takeBack(ctx context.Context, id ident.Task, entry landing) error {
	repo, err := s.Projects.Repo(ctx, entry.Project)
	if err != nil {
		return err
	}
	dir, err := s.Store.Path(landingDir, string(id))
	if err != nil {
		return err
	}
	file, err := landings.File(string(id))
	if err != nil {
		return err
	}
	done := entry.Done
	if entry.Done = false; done {
		if err := file.Save(s.Store, entry); err != nil {
			return fmt.Errorf("save landing: %w", err)
		}
	}
	if err := repo.UndoLanding(ctx, entry.Landed, filepath.Join(dir, "last")); err != nil {
		var half *git.HalfError
		if entry.Done = true; done && !errors.As(err, &half) {
			err = errors.Join(err, file.Save(s.Store, entry))
		}
		return err
	}
	if err := repo.KeepLanded(context.WithoutCancel(ctx), string(id), git.Landed{}); err != nil {
		return err
	}
	return s.forgetLanding(id)
}

// forgetLanding forgets a landing that was taken back.
func (s *Tasks) forgetLanding(id ident.Task) error {
	file, err := landings.File(string(id))
	if err == nil {
		err = file.Remove(s.Store)
	}
	if err != nil {
		return fmt.Errorf("forget a landing that was taken back: %w", err)
	}
	dir, err := s.Store.Path(landingDir, string(id))
	if err != nil {
		return err
	}
	return git.RemoveTree(dir)
}

// recoverLandings takes back what a crash interrupted, and says so where that cannot be.
func (s *Tasks) recoverLandings(ctx context.Context) error {
	ids, err := landings.IDs(s.Store)
	if err != nil {
		return err
	}
	for _, id := range ids {
		file, err := landings.File(id)
		if err != nil {
			return err
		}
		entry, err := file.Load(s.Store)
		if err != nil {
			return err
		}
		if entry.Done || entry.Landed.Version == 0 { // 0: the store set a damaged file aside and reports it
			continue
		}
		if err := s.takeBack(ctx, ident.Task(id), entry); err != nil {
			s.Log.Error("an interrupted landing was not taken back", "task", id, "cause", err)
			if t := s.tasks[ident.Task(id)]; t != nil {
				_, err := s.save(t, func(r *Record) {
					r.Trouble = "landing it in the project was interrupted, and could not be taken back: termic apply --undo says why"
				})
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}
