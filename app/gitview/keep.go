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

// Kept is what an archive knows of a private git directory: enough to make another one with the same refs. Its commits
// are in the project and pinned there. It is plain data: the caller keeps it.
type Kept struct {
	// Head is the branch that was checked out, in full; "" when HEAD was detached or had no commit.
	Head string `json:"head,omitempty"`
	// Branch is where the task's own branch was; "" when the agent had deleted it.
	Branch git.OID `json:"branch,omitempty"`
	// Commit is where HEAD was; "" when it had no commit.
	Commit git.OID `json:"commit,omitempty"`
	// Index is a commit of what was staged; "" where it was as in Commit, or held conflicts.
	Index git.OID `json:"index,omitempty"`
	// Refs are all others, by name.
	Refs []KeptRef `json:"refs,omitempty"`
	// Stashes are the stashes, the newest first.
	Stashes []KeptStash `json:"stashes,omitempty"`
	// NotKept are refs to what is neither a commit nor a tag of one.
	NotKept []string `json:"not_kept,omitempty"`
}

// KeptRef is one ref of a private directory.
type KeptRef struct {
	Name string  `json:"name"`
	OID  git.OID `json:"oid"`
}

// KeptStash is one stash of a private directory.
type KeptStash struct {
	OID     git.OID `json:"oid"`
	Message string  `json:"message"`
}

const (
	maxStashes = 1000
	maxMessage = 500 // bytes of a stash's message
)

// Everything is a private directory that was kept whole.
type Everything struct {
	Kept   Kept
	Synced Synced
	// Print is the Fingerprint of what was kept: the directory may go when it still has that after the cage's end.
	Print string
}

// keepRounds is how often Keep looks again when the agent's git was at work meanwhile.
const keepRounds = 4

// Keep imports everything of a private directory: the task's branch as Sync does, all other refs, HEADs, stashes and
// the staged state. When it returns without an error, all of that is pinned in the project. Errors are those of Sync,
// and ErrRestless when the agent's git does not stop changing it.
func (t Task) Keep(ctx context.Context, run Runner, lim Limits) (*Everything, error) {
	lim = lim.filled()
	ctx, cancel := context.WithTimeoutCause(ctx, lim.Time, ErrNoAnswer)
	defer cancel()
	e, err := t.keepAll(ctx, run, lim)
	if err != nil {
		if ctx.Err() != nil && errors.Is(context.Cause(ctx), ErrNoAnswer) {
			err = errors.Join(ErrNoAnswer, err)
		}
		return nil, fmt.Errorf("keep everything of %s: %w", t.ID, err)
	}
	return e, nil
}

func (t Task) keepAll(ctx context.Context, run Runner, lim Limits) (*Everything, error) {
	for range keepRounds {
		// It notes the trees in the index, which is a change that Fingerprint would see.
		if _, err := (Command{Args: []string{"git", "write-tree"}}).ask(ctx, run); err != nil && ctx.Err() != nil {
			return nil, err
		}
		before, err := Fingerprint(t.Private)
		if err != nil {
			return nil, err
		}
		kept, got, err := t.keep(ctx, run, lim)
		if err != nil {
			return nil, err
		}
		after, err := Fingerprint(t.Private)
		if err != nil {
			return nil, err
		}
		if before == after {
			return &Everything{*kept, *got, after}, nil
		}
	}
	return nil, ErrRestless
}

func (t Task) keep(ctx context.Context, run Runner, lim Limits) (*Kept, *Synced, error) {
	k, claim, err := t.list(ctx, run)
	if err != nil {
		return nil, nil, err
	}
	p, err := t.pins(ctx)
	if err != nil {
		return nil, nil, err
	}
	var fresh []git.OID // what no pin keeps yet
	for _, oid := range claim {
		if !slices.Contains(p.all, oid) {
			fresh = append(fresh, oid)
		}
	}
	if len(fresh) > 0 {
		if _, err := t.pull(ctx, run, Claim{Keep: fresh}, lim); err != nil {
			return nil, nil, err
		}
	}
	got := &Synced{}
	err = t.sync(ctx, run, lim, got)
	if errors.Is(err, ErrNoBranch) || errors.Is(err, ErrNotTaken) { // every commit is kept all the same
		err = nil
	}
	return k, got, err
}

// list asks the cage for all that it has, and returns the objects to claim.
func (t Task) list(ctx context.Context, run Runner) (*Kept, []git.OID, error) {
	k := &Kept{}
	claim, stash, err := t.listRefs(ctx, run, k)
	if err != nil {
		return nil, nil, err
	}
	if stash {
		if err := k.listStashes(ctx, run); err != nil {
			return nil, nil, err
		}
		for _, s := range k.Stashes {
			claim = append(claim, s.OID)
		}
	}
	heads, err := k.listHeads(ctx, run)
	if err != nil {
		return nil, nil, err
	}
	claim = append(claim, heads...)
	if err := k.listIndex(ctx, run); err != nil {
		return nil, nil, err
	}
	if k.Index != "" {
		claim = append(claim, k.Index)
	}
	return k, claim, nil
}

// listRefs lists refs of commits and of tags of commits; stash says that there are stashes.
func (t Task) listRefs(ctx context.Context, run Runner, k *Kept) (claim []git.OID, stash bool, err error) {
	c := Command{Args: []string{"git", "for-each-ref", "--format=%(objectname) %(objecttype) [%(*objecttype)] %(refname)"}}
	out, err := c.ask(ctx, run)
	if err != nil {
		return nil, false, err
	}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) != 4 || !git.OID(f[0]).Valid() || !plainRef(f[3]) {
			return nil, false, fmt.Errorf("the cage lists a ref as %.200q: %w", line, ErrBadClaim)
		}
		oid, name := git.OID(f[0]), f[3]
		switch {
		case f[1] != "commit" && (f[1] != "tag" || f[2] != "[commit]" && f[2] != "[tag]"):
			k.NotKept = append(k.NotKept, name)
			continue
		case name == "refs/stash":
			stash = true
		case name == t.branchRef():
			k.Branch = oid
		default:
			k.Refs = append(k.Refs, KeptRef{name, oid})
		}
		claim = append(claim, oid)
	}
	return claim, stash, nil
}

// plainRef reports whether a name is a ref's and can stand in a file of refs (git-check-ref-format(1)).
func plainRef(name string) bool {
	if !strings.HasPrefix(name, "refs/") || len(name) > 500 || strings.Contains(name, "..") || strings.Contains(name, "@{") {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") || strings.HasSuffix(part, ".") {
			return false
		}
	}
	return !strings.ContainsFunc(name, func(c rune) bool { return c <= 0x20 || c == 0x7f || strings.ContainsRune(`~^:?*[\`, c) })
}

func (k *Kept) listStashes(ctx context.Context, run Runner) error {
	c := Command{Args: []string{"git", "log", "--no-color", "--no-show-signature", "--no-patch", "--walk-reflogs",
		fmt.Sprintf("--max-count=%d", maxStashes), "--format=tformat:%H %gs", "refs/stash", "--"}}
	out, err := c.ask(ctx, run)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(out)) {
		oid, message, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !git.OID(oid).Valid() {
			return fmt.Errorf("the cage lists a stash as %.200q: %w", line, ErrBadClaim)
		}
		k.Stashes = append(k.Stashes, KeptStash{git.OID(oid), message[:min(len(message), maxMessage)]})
	}
	return nil
}

// listHeads lists where HEAD is, and those of worktrees that the agent made.
func (k *Kept) listHeads(ctx context.Context, run Runner) ([]git.OID, error) {
	c := Command{Args: []string{"git", "worktree", "list", "--porcelain", "-z"}}
	out, err := c.ask(ctx, run)
	if err != nil {
		return nil, err
	}
	var heads []git.OID
	for i, record := range strings.Split(string(out), "\x00\x00") {
		for attr := range strings.SplitSeq(record, "\x00") {
			key, value, _ := strings.Cut(attr, " ")
			switch oid := git.OID(value); {
			case key == "HEAD" && oid.Valid():
				heads = append(heads, oid)
				if i == 0 { // the main one, which is the checkout
					k.Commit = oid
				}
			case key == "branch" && i == 0 && plainRef(value):
				k.Head = value
			}
		}
	}
	return heads, nil
}

// listIndex makes a commit of what is staged, where that is not HEAD's tree. An index with conflicts makes no tree;
// their sides are in commits.
func (k *Kept) listIndex(ctx context.Context, run Runner) error {
	if k.Commit == "" {
		return nil
	}
	out, err := Command{Args: []string{"git", "write-tree"}}.ask(ctx, run)
	if err != nil {
		return ctx.Err()
	}
	staged := strings.TrimSuffix(string(out), "\n")
	if out, err = (Command{Args: []string{"git", "rev-parse", "--verify", "--end-of-options", string(k.Commit) + "^{tree}"}}).ask(ctx, run); err != nil {
		return err
	}
	if strings.TrimSuffix(string(out), "\n") == staged {
		return nil
	}
	if !git.OID(staged).Valid() {
		return fmt.Errorf("the cage says that %.80q is staged: %w", staged, ErrBadClaim)
	}
	out, err = Command{Args: []string{"git", "-c", "user.name=termic", "-c", "user.email=termic@localhost", "-c", "commit.gpgSign=false",
		"commit-tree", "-p", string(k.Commit), "-m", "staged", staged}}.ask(ctx, run)
	if err != nil {
		return err
	}
	list, err := ParseClaims(out)
	if err != nil || len(list) != 1 {
		return errors.Join(fmt.Errorf("the cage says that the staged state is %.80q: %w", out, ErrBadClaim), err)
	}
	k.Index = list[0]
	return nil
}
