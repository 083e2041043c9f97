//go:build unix

package gitview

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"termic/app/git"
)

// Offer is the host's commit of the task's branch on its way into the cage.
type Offer struct {
	Commit git.OID
	At     git.OID // where the cage's branch has to be
	// Branch brings the cage's branch there, and fails, changing nothing, when the agent has moved it; Back undoes it.
	Branch, Back Command
	// TryIndex fails where something that the agent staged is in the way; Index is the same done. For a cage in which
	// the branch is checked out.
	TryIndex, Index Command
	// Show lets the agent see the commit as refs/remotes/project/<branch>, whatever it has itself.
	Show Command
}

// offer pins the commit that the host's branch is at, so that the cage may borrow it, and returns the commands that
// bring it into a cage whose branch is at the commit at; nil when the cage has it. The files are shared: what the
// person committed is in them already, and the commands bring ref and index after it.
func (t Task) offer(ctx context.Context, at git.OID) (*Offer, error) {
	w, err := t.host(ctx)
	if err != nil {
		return nil, err
	}
	if w.Branch != t.Branch || w.Head == "" || w.Head == at {
		return nil, nil
	}
	if err := t.pinTips(ctx, []git.OID{w.Head}); err != nil {
		return nil, err
	}
	if err := t.Lend(ctx, w.Head); err != nil {
		return nil, err
	}
	readTree := func(flags ...string) Command {
		return Command{Args: append(append([]string{"git", "read-tree"}, flags...), "-i", "-m", string(at), string(w.Head))}
	}
	updateRef := func(name string, to ...git.OID) Command {
		c := Command{Args: []string{"git", "update-ref", "-m", "from the project", name}}
		for _, oid := range to {
			c.Args = append(c.Args, string(oid))
		}
		return c
	}
	return &Offer{Commit: w.Head, At: at,
		Branch: updateRef(t.branchRef(), w.Head, at), Back: updateRef(t.branchRef(), at, w.Head),
		TryIndex: readTree("-n"), Index: readTree(),
		Show: updateRef("refs/remotes/project/"+t.Branch, w.Head),
	}, nil
}

// give brings what the person committed on the host view into a cage whose branch is at the commit at, which the
// project has. Where both sides have commits of their own, the agent only gets to see the person's.
func (t Task) give(ctx context.Context, run Runner, at git.OID, got *Synced) error {
	o, err := t.offer(ctx, at)
	if err != nil || o == nil {
		return err
	}
	p, err := t.pins(ctx)
	if err != nil {
		return err
	}
	if at != p.last { // else the agent has nothing that the host lacks, whatever the person made of the branch
		behind, err := t.Repo.IsAncestor(ctx, at, o.Commit)
		if err != nil {
			return err
		}
		if !behind {
			_, err := o.Show.ask(ctx, run)
			return err
		}
	}
	inCage := Command{Args: []string{"git", "rev-parse", "--symbolic-full-name", "HEAD"}}
	head, err := inCage.ask(ctx, run)
	if err != nil {
		return err
	}
	checkedOut := strings.TrimSuffix(string(head), "\n") == t.branchRef()
	if err := o.apply(ctx, run, checkedOut); err != nil {
		if ctx.Err() != nil {
			return err
		}
		_, e := o.Show.ask(ctx, run)
		return errors.Join(fmt.Errorf("%w: %w", ErrNotTaken, err), e)
	}
	got.Given = o.Commit
	return t.synced(ctx, o)
}

// apply runs the commands. The index follows the branch or the branch goes back.
func (o *Offer) apply(ctx context.Context, run Runner, checkedOut bool) error {
	if checkedOut {
		if _, err := o.TryIndex.ask(ctx, run); err != nil {
			return err
		}
	}
	if _, err := o.Branch.ask(ctx, run); err != nil {
		return err
	}
	if !checkedOut {
		return nil
	}
	if _, err := o.Index.ask(ctx, run); err != nil {
		_, e := o.Back.ask(context.WithoutCancel(ctx), run)
		return errors.Join(err, e)
	}
	return nil
}

// synced notes that the cage has taken an offered commit: from now on a rewritten branch of the agent may replace it.
func (t Task) synced(ctx context.Context, o *Offer) error {
	p, err := t.pins(ctx)
	if err != nil {
		return err
	}
	if !slices.Contains(p.tips, o.Commit) {
		return fmt.Errorf("%s was not offered: %w", o.Commit, ErrBadTask)
	}
	if p.last == o.Commit {
		return nil
	}
	_, _, _, last, _ := t.refs()
	return t.Repo.UpdateRefs(ctx, "termic: synced", []git.RefChange{{Name: last, To: o.Commit, From: p.last}})
}
