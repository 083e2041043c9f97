//go:build unix

package gitview

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"termic/app/git"
)

// Command is one program to run inside the cage, in the checkout. Its output and its exit code are the agent's words.
type Command struct {
	Args  []string
	Stdin string
}

// TipCommand asks for the commit of the task's branch. Its output goes to ParseClaims.
func (t Task) TipCommand() Command {
	return Command{Args: []string{"git", "rev-parse", "--verify", "--quiet", "--end-of-options", t.branchRef() + "^{commit}"}}
}

// KeepCommands ask for every commit that an archive keeps besides the tip: all refs, all stashes, HEAD. The stash
// command fails where there is none. Their outputs go to ParseClaims.
func KeepCommands() []Command {
	return []Command{
		{Args: []string{"git", "for-each-ref", "--format=%(if:equals=commit)%(objecttype)%(then)%(objectname)%(else)%(*objectname)%(end)"}},
		{Args: []string{"git", "rev-list", "--walk-reflogs", "--max-count=10000", "refs/stash", "--"}},
		{Args: []string{"git", "rev-parse", "--verify", "--quiet", "--end-of-options", "HEAD^{commit}"}},
	}
}

// PackCommand writes the pack of what the project lacks of a claim to its standard output.
func (t Task) PackCommand(ctx context.Context, c Claim) (Command, error) {
	tips, err := c.check(t.Repo.SHA256())
	if err != nil {
		return Command{}, err
	}
	p, err := t.pins(ctx)
	if err != nil {
		return Command{}, err
	}
	var in strings.Builder
	for _, oid := range tips {
		fmt.Fprintf(&in, "%s\n", oid)
	}
	for _, oid := range slices.Compact(slices.Sorted(slices.Values(p.all))) {
		fmt.Fprintf(&in, "^%s\n", oid)
	}
	return Command{Args: []string{"git", "pack-objects", "--revs", "--stdout", "--thin", "--delta-base-offset", "-q"}, Stdin: in.String()}, nil
}

// Claim is what the cage says that it has: nothing of it is believed.
type Claim struct {
	Tip  git.OID   // where the task's branch is; "" to leave the branch alone
	Keep []git.OID // more commits to keep in the project
}

// maxKeep bounds how many refs one claim can make in the project.
const maxKeep = 10_000

// check returns every commit of the claim once, the tip first, when each has the form of an id.
func (c Claim) check(sha256 bool) ([]git.OID, error) {
	digits := 40
	if sha256 {
		digits = 64
	}
	var all []git.OID
	if c.Tip != "" {
		all = append(all, c.Tip)
	}
	all = append(all, c.Keep...)
	if len(all) == 0 || len(all) > maxKeep {
		return nil, fmt.Errorf("%d commits: %w", len(all), ErrBadClaim)
	}
	seen := map[git.OID]bool{}
	var once []git.OID
	for _, oid := range all {
		if !oid.Valid() || len(oid) != digits {
			return nil, fmt.Errorf("%.80q: %w", string(oid), ErrBadClaim)
		}
		if !seen[oid] {
			seen[oid] = true
			once = append(once, oid)
		}
	}
	return once, nil
}

// ParseClaims reads the output of a command that lists commits, one a line; empty lines are passed over. Anything
// else is ErrBadClaim.
func ParseClaims(out []byte) ([]git.OID, error) {
	var list []git.OID
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		oid := git.OID(lines.Text())
		if oid == "" {
			continue
		}
		if !oid.Valid() || len(list) == maxKeep {
			return nil, fmt.Errorf("%.80q: %w", string(oid), ErrBadClaim)
		}
		list = append(list, oid)
	}
	if lines.Err() != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadClaim, lines.Err())
	}
	return list, nil
}

// Offer is the host's commit of the task's branch on its way into the cage.
type Offer struct {
	Commit git.OID
	// Apply are run one after the other while each succeeds; the first fails, changing nothing, when the agent has
	// moved its branch too.
	Apply []Command
	// Show is run when the first of Apply failed: the agent sees the commit as refs/remotes/project/<branch>.
	Show Command
}

// Offer pins the commit that the host's branch is at, so that the cage may borrow it, and returns the commands that
// bring it there; nil when the cage has it. Run Synced once Apply has succeeded. The files are shared: what the
// person committed is in them already, and the commands bring ref and index after it.
func (t Task) Offer(ctx context.Context) (*Offer, error) {
	o, err := t.offer(ctx)
	if err != nil {
		return nil, fmt.Errorf("offer commits of %s: %w", t.Dir, err)
	}
	return o, nil
}

func (t Task) offer(ctx context.Context) (*Offer, error) {
	w, err := t.host(ctx)
	if err != nil {
		return nil, err
	}
	p, err := t.pins(ctx)
	if err != nil {
		return nil, err
	}
	if w.Branch != t.Branch || w.Head == "" || w.Head == p.last {
		return nil, nil
	}
	if err := t.pinTips(ctx, []git.OID{w.Head}); err != nil {
		return nil, err
	}
	o := &Offer{Commit: w.Head, Apply: []Command{
		{Args: []string{"git", "update-ref", "-m", "from the project", t.branchRef(), string(w.Head), string(p.last)}},
		{Args: []string{"git", "read-tree", "-i", "-m", string(p.last), string(w.Head)}},
	}}
	o.Show = Command{Args: []string{"git", "update-ref", "-m", "from the project", "refs/remotes/project/" + t.Branch, string(w.Head)}}
	return o, nil
}

// Synced notes that the cage has taken an offered commit: from now on a rewritten branch of the agent may replace it.
func (t Task) Synced(ctx context.Context, o *Offer) error {
	p, err := t.pins(ctx)
	if err != nil {
		return err
	}
	if !slices.Contains(p.tips, o.Commit) {
		return fmt.Errorf("%s was not offered: %w", o.Commit, ErrBadTask)
	}
	_, _, _, last, _ := t.refs()
	return t.Repo.UpdateRefs(ctx, "termic: synced", []git.RefChange{{Name: last, To: o.Commit, From: p.last}})
}
