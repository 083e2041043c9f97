//go:build unix

package gitview

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"termic/app/git"
)

// follow moves the host's branch to tip when nothing of the person's is lost by it: forward, or away from the very
// commit at which both views last were the same. The index goes with it; files are shared and not touched.
func (t Task) follow(ctx context.Context, tip git.OID, got *Imported) error {
	w, err := t.host(ctx)
	if err != nil {
		return err
	}
	p, err := t.pins(ctx)
	if err != nil {
		return err
	}
	got.Old = w.Head
	switch {
	case w.Branch != t.Branch || w.Head == "":
		got.Outcome = Elsewhere
		return nil
	case w.Head == tip:
		got.Outcome = UpToDate
		if p.last == tip {
			return nil
		}
		_, _, _, last, _ := t.refs()
		return t.Repo.UpdateRefs(ctx, "termic: import", []git.RefChange{{Name: last, To: tip, From: p.last}})
	case w.InProgress != "":
		got.Outcome = Busy
		return nil
	}
	if twice, err := t.elsewhere(ctx); err != nil || twice {
		got.Outcome = Elsewhere
		return err
	}
	forward, err := t.Repo.IsAncestor(ctx, w.Head, tip)
	if err != nil {
		return err
	}
	if !forward && w.Head != p.last {
		got.Outcome = Diverged
		behind, err := t.Repo.IsAncestor(ctx, tip, w.Head)
		if behind {
			got.Outcome = Behind
		}
		return err
	}
	err = t.Repo.CarryIndex(ctx, w, w.Head, tip, true)
	if errors.Is(err, git.ErrStaged) {
		got.Outcome = Staged
		return nil
	}
	if err != nil {
		return err
	}
	got.Outcome, got.Rewritten = Moved, !forward
	return t.move(ctx, w, tip, p)
}

// elsewhere reports whether another worktree has the branch checked out: its index would not follow.
func (t Task) elsewhere(ctx context.Context) (bool, error) {
	list, err := t.Repo.Worktrees(ctx)
	if err != nil {
		return false, err
	}
	n := 0
	for _, other := range list {
		if other.Branch == t.Branch {
			n++
		}
	}
	return n > 1, nil
}

// move is one transaction on the refs and then the index. The moving ref says between the two that the index is
// still to come, so that a crash leaves work for Finish and not a status full of changes that nobody made.
func (t Task) move(ctx context.Context, w git.Linked, tip git.OID, p pins) error {
	_, _, _, last, moving := t.refs()
	changes := []git.RefChange{{Name: t.branchRef(), To: tip, From: w.Head}, {Name: moving, To: w.Head}}
	if p.last != tip {
		changes = append(changes, git.RefChange{Name: last, To: tip, From: p.last})
	}
	if !slices.Contains(p.all, w.Head) { // what the branch leaves may be kept by nothing else
		changes = append(changes, git.RefChange{Name: t.tipRef(w.Head), To: w.Head})
	}
	if err := t.Repo.UpdateRefs(ctx, "termic: import", changes); err != nil {
		return err
	}
	return t.Finish(context.WithoutCancel(ctx))
}

// Finish completes an import that a crash, or a lock of the person's git, left between branch and index. It does
// nothing when there is none; Import calls it first.
func (t Task) Finish(ctx context.Context) error {
	p, err := t.pins(ctx)
	if err != nil {
		return err
	}
	if p.moving == "" {
		return nil
	}
	w, err := t.host(ctx)
	if err != nil {
		return err
	}
	if w.Branch == t.Branch && w.Head != "" {
		if err := t.Repo.CarryIndex(ctx, w, p.moving, w.Head, false); err != nil {
			return fmt.Errorf("%w: bring the index of %s to %s: %w", ErrUnsettled, t.Dir, w.Head, err)
		}
	}
	_, _, _, _, moving := t.refs()
	return t.Repo.UpdateRefs(ctx, "termic: import", []git.RefChange{{Name: moving, From: p.moving}})
}
