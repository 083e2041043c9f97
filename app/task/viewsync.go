package task

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"termic/app/gitview"
	"termic/registry/ident"
)

// SyncGit brings both views of a caged task's git together, as far as that goes now: the agent's commits into the
// project, the person's into the cage. It does nothing for a task without a running cage. What keeps the views apart
// is no error of the caller's: GitNote has it.
func (s *Tasks) SyncGit(ctx context.Context, id ident.Task) {
	s.mu.RLock()
	t := s.tasks[id]
	s.mu.RUnlock()
	if t != nil {
		s.syncGit(ctx, t)
	}
}

// GitNote says in words for the person what keeps the views of a caged task's git apart; empty when they are one.
func (s *Tasks) GitNote(id ident.Task) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if t := s.tasks[id]; t != nil {
		return t.view.note
	}
	return ""
}

func (s *Tasks) syncGit(ctx context.Context, t *task) {
	if s.cageOf(t) == nil || !t.view.turn.take(ctx) {
		return
	}
	defer t.view.turn.pass()
	record, ok := s.Get(t.record().ID)
	if !ok || time.Now().Before(t.view.rests) {
		return
	}
	g, err := s.viewOf(ctx, record)
	if err != nil {
		s.noteGit(t, "", err)
		return
	}
	lim, err := s.limits(t)
	if err != nil {
		s.noteGit(t, "", err)
		return
	}
	got, err := g.Sync(ctx, s.inCage(t), lim)
	if ctx.Err() != nil || s.cageOf(t) == nil { // its end says nothing of the commits
		return
	}
	if errors.Is(err, gitview.ErrNoAnswer) {
		t.view.rests = time.Now().Add(restTime)
	}
	if errors.Is(err, gitview.ErrRefused) {
		if got.Tip == t.view.refused {
			return // what there was to say of it is said
		}
		t.view.refused = got.Tip
	}
	s.noteGit(t, apart(got, record.Branch), err)
}

// restTime is how long a cage's git that did not answer is not asked again: whoever wants a diff must not wait for it
// each time.
const restTime = 30 * time.Second

// inCage runs programs in a task's cage.
func (s *Tasks) inCage(t *task) gitview.Runner {
	return func(ctx context.Context, argv []string, stdin io.Reader, stdout io.Writer) error {
		return s.runCaged(ctx, t, argv, stdin, stdout)
	}
}

func (s *Tasks) limits(t *task) (gitview.Limits, error) {
	dir, err := s.incoming()
	return gitview.Limits{Temp: dir, Refused: t.view.refused}, err
}

// noteGit keeps what there is to say of a task's git, and logs what is new of it.
func (s *Tasks) noteGit(t *task, note string, err error) {
	if err != nil {
		note = gitTrouble(err)
	}
	s.mu.Lock()
	changed := note != t.view.note
	t.view.note = note
	s.mu.Unlock()
	if changed && err != nil {
		s.Log.Warn("a cage's git was not taken over", "task", t.record().ID, "cause", err)
	}
}

// apart says why the host's branch is not the agent's.
func apart(got *gitview.Synced, branch string) string {
	switch got.Outcome {
	case gitview.Diverged:
		return fmt.Sprintf("you and the agent both committed to %s: merge refs/remotes/project/%s in the task, or %s outside", branch, branch, short(string(got.Tip)))
	case gitview.Elsewhere:
		return fmt.Sprintf("outside the cage the checkout is not at %s, or the branch is checked out twice: the agent's commits are kept, and the branch waits", branch)
	case gitview.Busy:
		return "a merge, rebase or the like is unfinished outside the cage: the agent's commits are kept, and the branch waits"
	case gitview.Staged:
		return "what is staged outside the cage is in the way of the agent's commits: they are kept, and the branch waits"
	}
	for _, n := range got.Notes {
		if n.Rule == gitview.NoteLarge {
			return "a large file that the agent's commits name is not in its storage: the project has only its pointer"
		}
	}
	return ""
}

func short(oid string) string { return oid[:min(len(oid), 12)] }

// gitTrouble says what went wrong, without the agent's words.
func gitTrouble(err error) string {
	var refused *gitview.RefusedError
	switch {
	case errors.As(err, &refused) && refused.Rule == gitview.RuleGitlink:
		return "the agent's commits hold a new submodule, which git outside would look into: they were not taken over"
	case errors.As(err, &refused):
		return fmt.Sprintf("the agent's commits were not taken over (%s): they would hurt whoever lists or checks them out", refused.Rule)
	case errors.Is(err, gitview.ErrBadClaim):
		return "the agent's git says of its branch what cannot be: nothing was taken over"
	case errors.Is(err, gitview.ErrNoBranch):
		return "the agent's git no longer has the task's branch: nothing was taken over"
	case errors.Is(err, gitview.ErrNotTaken):
		return "the agent's staged changes are in the way of a commit from outside: it sees it as refs/remotes/project/…"
	case errors.Is(err, gitview.ErrNoAnswer):
		return "the agent's git did not answer in time: nothing was taken over"
	}
	return "the agent's commits could not be taken over: see the log"
}

// cageStarted begins to follow the git of a cage that now runs.
func (s *Tasks) cageStarted(t *task) {
	ctx, cancel := context.WithCancel(context.Background())
	s.mu.Lock()
	if t.view.stop != nil {
		t.view.stop()
	}
	t.view.stop = cancel
	s.mu.Unlock()
	s.following.Go(func() { s.followGit(ctx, t) })
}

// followGit brings the views together now and whenever the agent's branch changes, until ctx ends.
func (s *Tasks) followGit(ctx context.Context, t *task) {
	record, ok := s.Get(t.record().ID)
	if !ok {
		return
	}
	g, err := s.viewOf(ctx, record)
	if err == nil {
		s.syncGit(ctx, t)
		err = g.Watch(ctx, func() { s.syncGit(ctx, t) })
	}
	if err != nil && ctx.Err() == nil {
		s.Log.Warn("a cage's git is not watched: its commits are taken over when somebody looks", "task", t.record().ID, "cause", err)
	}
}

// timeToEnd bounds what is done before a cage is killed: the app's end waits for it.
const timeToEnd = 20 * time.Second

// cageEnds takes over what the agent committed last, before its cage is killed.
func (s *Tasks) cageEnds(t *task) {
	s.unfollow(t)
	if s.cageOf(t) == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeToEnd)
	defer cancel()
	s.syncGit(ctx, t)
}

// unfollow ends the watch of a task's git.
func (s *Tasks) unfollow(t *task) {
	s.mu.Lock()
	stop := t.view.stop
	t.view.stop = nil
	s.mu.Unlock()
	if stop != nil {
		stop()
	}
}
