package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"termic/app/git"
	"termic/app/settle"
	"termic/app/store"
	"termic/registry/ident"
	"termic/registry/refusal"
)

// PutAway says how a task is archived.
type PutAway struct {
	// Force archives although an agent works, or texts wait to be delivered.
	Force bool
	// Confirm is CheckoutGoneError.Confirm: the person knows that there are no files left to be kept.
	Confirm string
	// Progress, when set, is told in a few words how far it has come.
	Progress func(string)
}

// PuttingAway is what archiving a task came to.
type PuttingAway struct {
	Record Record
	// Unsent counts the texts that waited in its tabs, which are not delivered.
	Unsent int
	// Commands says what went wrong with the project's archive commands; empty when nothing did.
	Commands string
}

// Archive ends a task: its token, its tabs, its checkout. All work in it is kept first. Unless forced it is refused while
// an agent works. A checkout that is gone is *CheckoutGoneError, unless confirmed.
func (s *Tasks) Archive(ctx context.Context, id ident.Task, want PutAway) (PuttingAway, error) {
	t, err := s.find(id)
	if err != nil {
		return PuttingAway{}, err
	}
	defer t.life.Unlock()
	record := s.follow(t)
	if record.Stage != Live {
		return PuttingAway{}, refusal.New(refusal.Conflict, "the task is "+string(record.Stage), "")
	}
	if busy := s.working(id); len(busy) > 0 && !want.Force {
		return PuttingAway{}, refusal.New(refusal.Conflict, "still working: "+strings.Join(busy, ", "), "wait for it, or archive with force")
	}
	out := PuttingAway{Unsent: s.unsent(id)}
	if !record.OwnCheckout {
		shown := s.shownTabs(t, record)
		s.end(t)
		s.saveShown(id, shown)
		out.Record, err = s.save(t, func(r *Record) { r.Stage = Archived })
		return out, err
	}
	repo, err := s.repo(ctx, record)
	if err != nil {
		return PuttingAway{}, err
	}
	out.Record, out.Commands, err = s.archive(ctx, t, repo, record, want)
	return out, err
}

// unsent counts the texts that wait in the tabs of a task.
func (s *Tasks) unsent(id ident.Task) (n int) {
	for _, open := range s.Tabs(id) {
		n += open.Info().Queued
	}
	return n
}

// archive archives a task that has a checkout of its own. commands is as in PuttingAway.
func (s *Tasks) archive(ctx context.Context, t *task, repo *git.Repo, record Record, want PutAway) (_ Record, commands string, _ error) {
	id, gone := record.ID, record.lacksCheckout()
	if gone && want.Confirm != goneWord(record) {
		return Record{}, "", &CheckoutGoneError{goneWord(record)}
	}
	say := func(text string) {
		if want.Progress != nil {
			want.Progress(text)
		}
	}
	// Once while the tabs live: what cannot be kept is then refused before anything has ended.
	first, err := s.keep(ctx, repo, record, want.Progress)
	if err != nil && !errors.Is(err, git.ErrBusy) {
		return Record{}, commands, err
	}
	if !gone {
		say("running the project's archive commands")
		commands = s.lastCommands(ctx, t)
	}
	shown := s.shownTabs(t, record)
	say("ending its tabs")
	own, trouble := s.endKept(ctx, t, record)
	kept, err := s.keep(ctx, repo, record, want.Progress)
	if err != nil {
		s.showAgain(t, shown)
		return Record{}, commands, err
	}
	note := ""
	if gone {
		note = "its checkout was gone when it was archived: it comes back with what was committed or staged, and nothing else"
	}
	if _, err = s.save(t, func(r *Record) { r.Stage, r.Archived, r.Kept = Archiving, &kept, own }); err != nil {
		return Record{}, commands, err
	}
	if err := repo.RemoveArchived(ctx, kept); err != nil {
		if _, again := s.save(t, func(r *Record) { r.Stage = Live }); again != nil {
			s.Log.Error("task neither archived nor live again", "task", id, "cause", again)
		}
		s.showAgain(t, shown)
		return Record{}, commands, err
	}
	s.saveShown(id, shown)
	s.discard(ctx, repo, &kept, &first, record.Archived)
	record, err = s.archived(t, trouble, note)
	return record, commands, err
}

// discard frees what earlier archives of the task take in the store, now that kept holds everything.
func (s *Tasks) discard(ctx context.Context, repo *git.Repo, kept *git.Archived, earlier ...*git.Archived) {
	for _, old := range earlier {
		if old == nil || old.ID == "" {
			continue
		}
		if err := repo.Discard(ctx, old, kept); err != nil { // it takes room, and nothing else
			s.Log.Warn("an earlier archive was not removed", "task", old.ID, "cause", err)
		}
	}
}

// archived is the last step of archiving: the task's own git goes when all of it is kept, without trouble. note is what
// else is to be said of it.
func (s *Tasks) archived(t *task, trouble, note string) (Record, error) {
	if trouble == "" {
		if err := s.removeView(t.record().ID); err != nil {
			return Record{}, err
		}
	}
	if err := s.State.Archive(t.record().ID); err != nil { // what is left takes room, and nothing else
		s.Log.Error("state of an archived task's agents not removed", "task", t.record().ID, "cause", err)
	}
	return s.save(t, func(r *Record) { r.Stage, r.Trouble = Archived, cmp.Or(trouble, note) })
}

// endKept takes everything of the task's own git over and ends its tabs and its cage. What could not be taken over whole
// stays where it is, and is said.
func (s *Tasks) endKept(ctx context.Context, t *task, record Record) (own *KeptGit, trouble string) {
	s.Credentials.Revoke(record.ID)
	s.closeTabs(t)
	own, _, err := s.keepGit(ctx, t)
	s.end(t)
	if err == nil && own != nil && !s.provedKept(record, own) {
		err = errUnproved
	}
	if err != nil {
		s.Log.Warn("a task's own git was not taken over whole", "task", record.ID, "cause", err)
		return nil, unproved(err)
	}
	return own, ""
}

// end takes a task's token and ends its tabs and its cage.
func (s *Tasks) end(t *task) {
	s.Credentials.Revoke(t.record().ID)
	s.closeTabs(t)
	s.cageEnds(t)
	s.killCage(t)
}

// working names the tabs whose agents have not settled.
func (s *Tasks) working(id ident.Task) []string {
	var names []string
	for _, open := range s.Tabs(id) {
		info := open.Info()
		if info.State == settle.Working || info.Queued > 0 {
			names = append(names, info.Name)
		}
	}
	return names
}

// keep stores all work of the checkout: in the project's repository by refs, and what no commit holds in an
// archive store of ours.
func (s *Tasks) keep(ctx context.Context, repo *git.Repo, record Record, progress func(string)) (git.Archived, error) {
	dir, err := s.Store.Subdir("archive")
	if err != nil {
		return git.Archived{}, fmt.Errorf("archive store: %w", err)
	}
	o := git.ArchiveOptions{
		Dir: record.Dir, ID: string(record.ID), Store: filepath.Join(dir, string(record.Project)+".git"),
		Branches: []string{record.Branch}, // HEAD is elsewhere during a rebase
		Base:     record.Base, Progress: progress,
	}
	if record.lacksCheckout() {
		return repo.ArchiveGone(ctx, o)
	}
	return repo.Archive(ctx, o)
}

// Restore brings an archived task's checkout back as it was, on a new branch when that is named: its own may have gone on
// or be somebody else's by now (*BranchMovedError). Tabs are not reopened.
func (s *Tasks) Restore(ctx context.Context, id ident.Task, branch string) (Record, error) {
	t, err := s.find(id)
	if err != nil {
		return Record{}, err
	}
	defer t.life.Unlock()
	record, _ := s.Get(id)
	if record.Stage != Archived {
		return Record{}, refusal.New(refusal.Conflict, "the task is not archived", "")
	}
	if !record.OwnCheckout {
		record, err := s.claim(t, record.Name, func(r *Record) { r.Stage = Live })
		if err == nil {
			s.Credentials.Allow(id)
			s.restoreTabs(t)
		}
		return record, err
	}
	repo, err := s.repo(ctx, record)
	if err != nil {
		return Record{}, err
	}
	if _, err := s.claim(t, record.Name, func(r *Record) { r.Stage = Restoring }); err != nil {
		return Record{}, err
	}
	s.Credentials.Allow(id)
	if err := s.restore(ctx, repo, record, branch); err != nil {
		if _, again := s.save(t, func(r *Record) { r.Stage = Archived }); again != nil {
			s.Log.Error("task neither restored nor archived again", "task", id, "cause", again)
		}
		return Record{}, err
	}
	record.Branch = cmp.Or(branch, record.Branch)
	copied := s.copyAgain(ctx, repo, record)
	trouble := ""
	if record.Mode.Caged() {
		if err := s.enterView(ctx, record); err != nil {
			s.Log.Warn("a restored task has no git of its own yet", "task", id, "cause", err)
			trouble = "the task's own git could not be made again: its cage will say why when it starts"
		}
	}
	record, err = s.save(t, func(r *Record) {
		r.Stage, r.Trouble, r.Branch = Live, trouble, record.Branch
		if r.Namespace == "" && copied != nil { // what a caged task made keeps what it was compared by
			r.Copied = copied
		}
	})
	if err == nil {
		s.dropCopies(ctx, repo, record)
	}
	s.restoreTabs(t)
	return record, err
}

// dropCopies removes the archive's copies of large files once they are back. The rest of the archive stays until the next
// one takes its place.
func (s *Tasks) dropCopies(ctx context.Context, repo *git.Repo, record Record) {
	if err := repo.DropCopies(ctx, record.Archived); err != nil { // they take room, which doctor says, and nothing else
		s.Log.Warn("copies of a restored task's large files were not removed", "task", record.ID, "cause", err)
	}
}

// BranchMovedError is a branch that is not where it was when its task was archived, or is checked out elsewhere.
type BranchMovedError struct {
	Branch string
	At     git.OID // where it was
	Err    error
}

func (e *BranchMovedError) Error() string { return fmt.Sprintf("branch %s: %v", e.Branch, e.Err) }

func (e *BranchMovedError) Unwrap() error { return e.Err }

// restore brings the checkout back: without the person's filters when a cage may have committed to it.
func (s *Tasks) restore(ctx context.Context, repo *git.Repo, record Record, branch string) error {
	last, err := repo.Refs(ctx, "refs/termic/"+string(record.ID)+"/last")
	if err != nil {
		return err
	}
	err = repo.Restore(ctx, git.RestoreOptions{
		Archived: *record.Archived, Dir: record.Dir, Branch: branch, Reason: lockReason(record.ID), Plain: len(last) > 0,
	})
	if branch == "" && (errors.Is(err, git.ErrRefMoved) || errors.Is(err, git.ErrBranchInUse)) {
		return &BranchMovedError{Branch: record.Archived.Branch, At: record.Archived.Head, Err: err}
	}
	return err
}

// sweep removes what a crash left in the archive stores' scratch directories. Nobody else uses them: the data
// directory is ours alone.
func sweep(s *store.Store) error {
	dir, err := s.Subdir("archive")
	if err != nil {
		return err
	}
	left, err := filepath.Glob(filepath.Join(dir, "*.git", "scratch", "*"))
	for _, path := range left {
		err = errors.Join(err, os.RemoveAll(path))
	}
	return err
}

// recover puts a task right that a crash met in the middle of a step. What it removes was never worked in;
// whatever may hold work is left where it is, and said.
func (s *Tasks) recover(ctx context.Context, t *task) error {
	record := t.record()
	switch record.Stage {
	case Creating:
		return s.recoverCreating(ctx, t)
	case Archiving:
		if exists(record.Dir) {
			_, err := s.save(t, func(r *Record) {
				r.Stage = Live
				r.Trouble = "archiving was interrupted; what it had kept by then is safe, and the checkout is where it was"
			})
			return err
		}
		return s.finishArchiving(ctx, t)
	case Restoring:
		return s.recoverRestoring(ctx, t)
	}
	return nil
}

// finishArchiving ends an archiving whose checkout had left its place: what is still there of it, and git's record,
// go. Everything was kept before that began.
func (s *Tasks) finishArchiving(ctx context.Context, t *task) error {
	repo, err := s.repo(ctx, t.record())
	if err == nil {
		err = dropWorktree(ctx, repo, t.record())
	}
	if err != nil {
		return err
	}
	trouble := ""
	if dir, err := s.viewDir(t.record().ID); err != nil || exists(dir) && !s.provedKept(t.record(), t.record().Kept) {
		trouble = unproved(errUnproved)
	}
	_, err = s.archived(t, trouble, "")
	return err
}

// dropWorktree removes what is left of a task's checkout, and git's record of it. A git that was killed while it wrote or
// removed the record leaves one that it does not list.
func dropWorktree(ctx context.Context, repo *git.Repo, record Record) error {
	err := repo.RemoveWorktree(ctx, record.Dir)
	if errors.Is(err, git.ErrMainWorktree) {
		err = repo.RemoveHalf(ctx, record.Dir, lockReason(record.ID))
	}
	return err
}

// recoverCreating undoes a creation that never reached the agent. Directory and branch were free when the intent
// was put on disk, so whatever there is of them is ours, and nobody has worked in it.
func (s *Tasks) recoverCreating(ctx context.Context, t *task) error {
	record := t.record()
	if record.OwnCheckout && record.Dir != "" {
		repo, err := s.repo(ctx, record)
		if err != nil {
			return err
		}
		if err := s.dropView(ctx, repo, record.ID); err != nil {
			return err
		}
		err = repo.RemoveHalf(ctx, record.Dir, lockReason(record.ID))
		if errors.Is(err, git.ErrOther) { // somebody made it since: it is theirs
			s.Log.Warn("the directory of a task that did not come to be is somebody else's by now", "task", record.ID, "dir", record.Dir)
			err = nil
		}
		if err == nil {
			err = repo.DeleteBranch(ctx, record.Branch, record.Base)
		}
		if err != nil && !errors.Is(err, git.ErrRefMoved) {
			return err
		}
	}
	s.forget(t)
	return nil
}

// recoverRestoring makes an interrupted restoring as if it had not begun: the archive still holds everything. What it had
// written is moved aside, and removed when all of it is in the archive; else it stays there, since somebody wrote into it.
func (s *Tasks) recoverRestoring(ctx context.Context, t *task) error {
	record := t.record()
	repo, err := s.repo(ctx, record)
	if err != nil {
		return err
	}
	trouble := ""
	if exists(record.Dir) {
		aside := fmt.Sprintf("%s.interrupted-%d", record.Dir, time.Now().Unix())
		if err := os.Rename(record.Dir, aside); err != nil {
			return fmt.Errorf("move an interrupted restore aside: %w", err)
		}
		if !s.removedHalf(ctx, repo, record, aside) {
			trouble = "restoring was interrupted; restore it again, then remove what it had written, in " + aside
		}
	}
	if err := dropWorktree(ctx, repo, record); err != nil {
		return err
	}
	_, err = s.save(t, func(r *Record) { r.Stage, r.Trouble = Archived, trouble })
	return err
}

// removedHalf removes what an interrupted restore had written, and reports whether it did.
func (s *Tasks) removedHalf(ctx context.Context, repo *git.Repo, record Record, dir string) bool {
	if record.Archived == nil {
		return false
	}
	removed, err := repo.RemoveHalfRestored(ctx, *record.Archived, dir)
	if err != nil {
		s.Log.Warn("what an interrupted restore wrote was not removed", "task", record.ID, "cause", err)
	}
	return removed
}
