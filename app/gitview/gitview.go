//go:build unix

// Package gitview gives a caged task a git of its own. One checkout has two views: the host's is an ordinary
// locked linked worktree of the project; the cage's is a private git directory that borrows the project's objects
// and that the agent may write as it likes. Create writes the private directory, Import takes commits over from it
// as a pack, and the commands of commands.go are what is run inside the cage for both.
//
// The one rule: nothing on the host ever opens the private directory as a repository. After Create this package
// does not even read it; what comes from the cage are the bytes of a pack and object ids, and both are claims.
package gitview

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"termic/app/git"
)

// Task is a caged task's checkout as the host knows it. All fields are the app's own records, never the cage's words.
type Task struct {
	Repo   *git.Repo
	ID     string // names the pins, refs/termic/<ID>/…
	Dir    string // the checkout: a locked linked worktree of Repo
	Branch string // the branch that it was made with
	// Private is the private git directory. Where it is set, large files that imported commits name are taken from it.
	Private string
	// Store is the base store of isolated history (MakeStore); "" when the cage borrows the project's objects.
	Store string
}

// What callers tell apart. Each is wrapped with the operation and its operand.
var (
	ErrBadTask   = errors.New("not a caged task's checkout")
	ErrExists    = errors.New("private git directory exists already")
	ErrBadClaim  = errors.New("the cage names no usable commit")
	ErrRefused   = errors.New("commits refused")
	ErrRaced     = errors.New("the project lost objects while commits came in")
	ErrNoAnswer  = errors.New("the pack did not come in time")
	ErrUnsettled = errors.New("an earlier import could not be finished")
	ErrNoBranch  = errors.New("the cage has no such branch")
	ErrRestless  = errors.New("the cage's git kept changing")
	ErrNotTaken  = errors.New("the cage did not take the project's commit")
)

// UnsupportedError says what of a project the private view cannot have. Nothing was created.
type UnsupportedError struct {
	What   string // "filter", "line break in path", "detached HEAD", …
	Detail string
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("a private git view does not support %s: %s", e.What, e.Detail)
}

// Is makes errors.Is(err, git.ErrUnsupported) true.
func (e *UnsupportedError) Is(target error) bool { return target == git.ErrUnsupported }

var idRE = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// host reads the record of the checkout, which has to be ours and locked.
func (t Task) host(ctx context.Context) (git.Linked, error) {
	if t.Repo == nil || !idRE.MatchString(t.ID) || t.Branch == "" {
		return git.Linked{}, fmt.Errorf("id %q, branch %q: %w", t.ID, t.Branch, ErrBadTask)
	}
	w, err := t.Repo.Linked(ctx, t.Dir)
	if err != nil {
		return git.Linked{}, fmt.Errorf("%w: %w", ErrBadTask, err)
	}
	if !w.Locked {
		return git.Linked{}, fmt.Errorf("%s is not locked: `git worktree prune` could remove it: %w", t.Dir, ErrBadTask)
	}
	return w, nil
}

// Names of the refs that keep a task's commits in the project; all go with git.DropPins.
func (t Task) ref(name string) string    { return "refs/termic/" + t.ID + "/" + name }
func (t Task) branchRef() string         { return "refs/heads/" + t.Branch }
func (t Task) tipRef(oid git.OID) string { return t.ref("tip/" + string(oid)) }
func (t Task) refs() (base, copies, tips, last, moving string) {
	return t.ref("base"), t.ref("ref"), t.ref("tip"), t.ref("last"), t.ref("moving")
}

// pins are what the project keeps for a task.
type pins struct {
	base   git.OID
	last   git.OID   // where both views last were the same
	moving git.OID   // set while the branch is being moved: where the host's index was
	tips   []git.OID // every imported or offered commit
	all    []git.OID // everything that is kept and was looked at: base, copied refs, tips
}

// pins reads them; a task without a base pin was not made by Create.
func (t Task) pins(ctx context.Context) (pins, error) {
	base, copies, tips, last, moving := t.refs()
	list, err := t.Repo.Refs(ctx, base, copies, tips, last, moving)
	if err != nil {
		return pins{}, err
	}
	var p pins
	for _, r := range list {
		switch {
		case r.Name == base:
			p.base = r.OID
		case r.Name == last:
			p.last = r.OID
			continue
		case r.Name == moving:
			p.moving = r.OID
			continue
		case r.Name == t.tipRef(r.OID):
			p.tips = append(p.tips, r.OID)
		case !strings.HasPrefix(r.Name, copies+"/"):
			continue // a tip that does not name itself is nobody's
		}
		p.all = append(p.all, r.OID)
	}
	if p.base == "" || p.last == "" {
		return pins{}, fmt.Errorf("no pins of %s: %w", t.ID, ErrBadTask)
	}
	return p, nil
}
