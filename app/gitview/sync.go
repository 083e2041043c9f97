//go:build unix

package gitview

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"termic/app/git"
)

// Synced is what a Sync did.
type Synced struct {
	Imported
	Tip   git.OID // where the cage's branch was
	Given git.OID // the person's commit that the cage took; "" for none
}

// Sync brings both views of a task's branch together through its cage: the agent's commits into the project, then the
// person's into the cage. It is bounded by lim.Time as a whole. The error is that of Import, ErrNoBranch when the cage
// has no such branch, ErrNotTaken when the cage would not take the person's commit, or what the runner said. Only one
// Sync or Keep of a task may run at a time.
func (t Task) Sync(ctx context.Context, run Runner, lim Limits) (*Synced, error) {
	lim = lim.filled()
	ctx, cancel := context.WithTimeoutCause(ctx, lim.Time, ErrNoAnswer)
	defer cancel()
	got := &Synced{}
	err := t.sync(ctx, run, lim, got)
	if err != nil {
		if ctx.Err() != nil && errors.Is(context.Cause(ctx), ErrNoAnswer) {
			err = errors.Join(ErrNoAnswer, err)
		}
		return got, fmt.Errorf("bring both views of %s together: %w", t.ID, err)
	}
	return got, nil
}

func (t Task) sync(ctx context.Context, run Runner, lim Limits, got *Synced) error {
	tip, err := t.askTip(ctx, run)
	if err != nil {
		return err
	}
	got.Tip = tip
	if tip == lim.Refused {
		return fmt.Errorf("%s again: %w", tip, ErrRefused)
	}
	in, err := t.take(ctx, run, tip, lim)
	if err != nil {
		return err
	}
	got.Imported = *in
	return t.give(ctx, run, tip, got)
}

// askTip returns where the cage says that the task's branch is.
func (t Task) askTip(ctx context.Context, run Runner) (git.OID, error) {
	out, err := t.TipCommand().ask(ctx, run)
	if err != nil {
		return "", err
	}
	list, err := ParseClaims(out)
	if err != nil {
		return "", err
	}
	if len(list) != 1 {
		return "", fmt.Errorf("%s: %w", t.branchRef(), ErrNoBranch)
	}
	return list[0], nil
}

// take imports the branch where it is new. What the project has already is not asked for again.
func (t Task) take(ctx context.Context, run Runner, tip git.OID, lim Limits) (*Imported, error) {
	p, err := t.pins(ctx)
	if err != nil {
		return nil, err
	}
	if p.moving == "" && tip == p.last {
		return &Imported{Outcome: UpToDate, Old: tip}, nil
	}
	if !slices.Contains(p.all, tip) {
		return t.pull(ctx, run, Claim{Tip: tip}, lim)
	}
	got := &Imported{}
	if err := t.Finish(ctx); errors.Is(err, git.ErrStaged) {
		got.Outcome = Staged
		return got, nil
	} else if err != nil {
		return nil, err
	}
	return got, t.follow(ctx, tip, got)
}

// pull has the cage pack a claim, and imports the pack.
func (t Task) pull(ctx context.Context, run Runner, claim Claim, lim Limits) (*Imported, error) {
	cmd, err := t.PackCommand(ctx, claim)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r, w := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.CloseWithError(cmd.stream(ctx, run, w))
	}()
	got, err := t.Import(ctx, r, claim, lim)
	cancel() // a program that still runs packs for nobody
	r.Close()
	<-ended
	return got, err
}

// stream runs a command whose output is not bounded here.
func (c Command) stream(ctx context.Context, run Runner, w io.Writer) error {
	if err := run(ctx, c.Args, strings.NewReader(c.Stdin), w); err != nil {
		return fmt.Errorf("in the cage: git %s: %w", c.Args[1], err)
	}
	return nil
}
