package git

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// CommitOptions say what to commit, and how it is told.
type CommitOptions struct {
	Dir string // the checkout
	// Message is the whole message; lines that begin with # are part of it. Space at its ends goes.
	Message string
	// All stages every change first, untracked files included.
	All bool
}

// Committed is a commit that was made.
type Committed struct {
	OID    OID
	Branch string // "" where HEAD is detached
	Files  int    // that differ from its parent
	// LeftOut is that of Staged, with All.
	LeftOut []string
}

// What a commit can meet.
var (
	ErrNothingStaged = errors.New("nothing is staged")
	ErrNoMessage     = errors.New("the message is empty, or holds a NUL or no UTF-8")
)

// Commit commits what is staged in the checkout at dir, as the person, and moves the branch that it is on. No hook runs
// and nothing is signed: both are programs that a checkout or a configuration may name. It returns ErrNothingStaged,
// ErrNoMessage, *UnfinishedError, ErrRefMoved when HEAD moved meanwhile, and with All the errors of Stage.
func (r *Repo) Commit(ctx context.Context, o CommitOptions) (Committed, error) {
	c, err := r.commit(ctx, o)
	if err != nil {
		return Committed{}, fmt.Errorf("commit in %s: %w", o.Dir, err)
	}
	return c, nil
}

func (r *Repo) commit(ctx context.Context, o CommitOptions) (Committed, error) {
	message := strings.TrimSpace(o.Message)
	if message == "" || !utf8.ValidString(message) || strings.Contains(message, "\x00") {
		return Committed{}, ErrNoMessage
	}
	var staged Staged
	if o.All { // a step of its own: what ends us after it leaves everything staged, and nothing half
		var err error
		if staged, err = r.Stage(ctx, o.Dir, Selection{All: true}); err != nil {
			return Committed{}, err
		}
	}
	// HEAD is read before the index: whoever stages and commits meanwhile moves HEAD, and then ours does not.
	v, err := r.view(ctx, o.Dir)
	if err != nil {
		return Committed{}, err
	}
	if err := v.finished(); err != nil {
		return Committed{}, err
	}
	sc, err := r.newScratch(ctx, v, asPerson)
	if err != nil {
		return Committed{}, err
	}
	defer sc.remove()
	if err := sc.settledIndex(ctx, Selection{All: true}); err != nil {
		return Committed{}, err
	}
	changes, err := sc.stagedAgainst(ctx, v.head.oid)
	switch {
	case err != nil:
		return Committed{}, err
	case len(changes) == 0:
		return Committed{}, ErrNothingStaged
	}
	oid, err := r.commitIndex(ctx, v, sc, message)
	if err != nil {
		return Committed{}, err
	}
	return Committed{OID: oid, Branch: v.head.branch, Files: len(changes), LeftOut: staged.LeftOut}, nil
}

// commitIndex makes a commit of a stand-in's index and moves HEAD to it.
func (r *Repo) commitIndex(ctx context.Context, v view, sc *scratch, message string) (OID, error) {
	ident, err := r.identity(ctx)
	if err != nil {
		return "", err
	}
	out, err := sc.run(ctx, call{args: []string{"write-tree", "--missing-ok"}, timeout: archiveTimeout})
	if err != nil {
		return "", err
	}
	tree := OID(strings.TrimSpace(string(out)))
	args := []string{"commit-tree", string(tree), "-F", "-"}
	if v.head.oid != "" {
		args = append(args, "-p", string(v.head.oid))
	}
	out, err = sc.run(ctx, call{args: args, env: ident, stdin: strings.NewReader(message + "\n")})
	if err != nil {
		return "", err
	}
	oid := OID(strings.TrimSpace(string(out)))
	if !tree.Valid() || !oid.Valid() {
		return "", fmt.Errorf("unexpected answer %q of git commit-tree", clip(string(oid), 80))
	}
	list, err := sc.objectsOf(ctx, []string{string(tree)}, v.head.oid)
	if err != nil {
		return "", err
	}
	if err := r.importObjects(ctx, sc, list+string(oid)+"\n"); err != nil {
		return "", err
	}
	old := string(v.head.oid)
	if old == "" {
		old = r.none()
	}
	subject, _, _ := strings.Cut(message, "\n")
	step("commit")
	err = r.retryLocked(ctx, func() error {
		_, err := r.git.run(ctx, call{gitDir: v.gitDir, write: true, config: append([]string{"core.fsync=all"}, refTimeouts...),
			args: []string{"update-ref", "-m", "commit: " + subject, "--end-of-options", "HEAD", string(oid), old}})
		return err
	})
	if err != nil {
		return "", fmt.Errorf("move HEAD: %w", refError(err))
	}
	return oid, nil
}
