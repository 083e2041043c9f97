//go:build unix

package gitview

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"termic/app/git"
)

// Outcome is what an import did to the task's branch on the host. Whatever it is, the commits are in the project
// and stay there.
type Outcome string

const (
	OnlyKept  Outcome = "kept" // the claim named no tip: the commits were only kept
	UpToDate  Outcome = "up-to-date"
	Moved     Outcome = "moved"     // branch and index follow the agent's
	Behind    Outcome = "behind"    // the host has everything that the agent has, and more
	Diverged  Outcome = "diverged"  // both sides have commits of their own
	Elsewhere Outcome = "elsewhere" // the host view is at another branch, or the branch is checked out twice
	Busy      Outcome = "busy"      // the person is in the middle of a merge, rebase or the like in the host view
	Staged    Outcome = "staged"    // what the person staged in the host view is in the way
)

// Imported is what came in.
type Imported struct {
	Outcome Outcome
	Old     git.OID // where the host's branch was
	Commits int     // new ones
	// Rewritten says that the branch moved to a commit that does not have Old as an ancestor. Old is kept.
	Rewritten bool
	Notes     []Note // at most maxNotes
}

// Import takes the commits of a claim over from the cage: source is the pack that PackCommand wrote there. The pack
// goes into a quarantine, is checked by git and then by us, and only then moved into the project and pinned; then
// the branch follows, when it is where we left it. A refusal is a *RefusedError or ErrBadClaim, and leaves the
// project as it was. Reading from source ends with the import: one that can be closed is closed then.
func (t Task) Import(ctx context.Context, source io.Reader, claim Claim, lim Limits) (*Imported, error) {
	lim = lim.filled()
	ctx, cancel := context.WithTimeoutCause(ctx, lim.Time, ErrNoAnswer)
	defer cancel()
	got, err := t.imported(ctx, source, claim, lim)
	if err != nil {
		if ctx.Err() != nil && errors.Is(context.Cause(ctx), ErrNoAnswer) {
			err = errors.Join(ErrNoAnswer, err)
		}
		return nil, fmt.Errorf("import commits of %s: %w", t.ID, err)
	}
	return got, nil
}

func (t Task) imported(ctx context.Context, source io.Reader, claim Claim, lim Limits) (*Imported, error) {
	tips, err := claim.check(t.Repo.SHA256())
	if err != nil {
		return nil, err
	}
	unfinished := t.Finish(ctx)
	if unfinished != nil && !errors.Is(unfinished, git.ErrStaged) { // then the commits come in, and the branch waits
		return nil, unfinished
	}
	p, err := t.pins(ctx)
	if err != nil {
		return nil, err
	}
	q, err := t.Repo.Quarantine(ctx, lim.Temp)
	if err != nil {
		return nil, err
	}
	defer q.Remove()
	in := &incoming{Task: t, q: q, lim: lim, pins: p, tip: claim.Tip, tips: tips}
	if err := in.receive(ctx, source); err != nil {
		return nil, err
	}
	if err := in.examine(ctx); err != nil {
		return nil, err
	}
	if err := in.findPointers(ctx); err != nil {
		return nil, err
	}
	if err := in.accept(ctx); err != nil {
		return nil, err
	}
	if err := in.takeLarge(ctx); err != nil {
		return nil, err
	}
	got := &Imported{Outcome: OnlyKept, Commits: len(in.commits), Notes: in.notes}
	switch {
	case unfinished != nil:
		got.Outcome = Staged
	case claim.Tip != "":
		return got, t.follow(ctx, claim.Tip, got)
	}
	return got, nil
}

// incoming is one import on its way.
type incoming struct {
	Task
	q       *git.Quarantine
	lim     Limits
	pins    pins
	tip     git.OID // "" for none
	tips    []git.OID
	commits []commit // new ones, newest first
	notes   []Note
	large   []pointer // that they name
}

type commit struct{ oid, tree git.OID }

var packLineRE = regexp.MustCompile(`^(?:pack|keep)\t([0-9a-f]{40}|[0-9a-f]{64})\n$`)

// run runs git in the quarantine with every bound.
func (in *incoming) run(ctx context.Context, c git.Sealed) ([]byte, error) {
	c.Timeout = in.lim.Time
	c.Bounds = git.Bounds{Object: in.lim.Object, Memory: in.lim.Memory, File: in.lim.Pack, CPU: in.lim.Time}
	return in.q.Run(ctx, c)
}

// receive puts the pack into the quarantine. It is a file first: git sees junk behind a pack only in a file, and
// what the other end of a pipe does is then nobody's wait but ours.
func (in *incoming) receive(ctx context.Context, source io.Reader) error {
	path := filepath.Join(in.q.Dir(), "incoming")
	if err := spool(ctx, path, source, in.lim.Pack); err != nil {
		return err
	}
	pack, err := os.Open(path)
	if err != nil {
		return err
	}
	defer pack.Close()
	// One thread: the bound of memory is for the process.
	out, err := in.run(ctx, git.Sealed{Stdin: pack, Limit: 1 << 20, Args: []string{"index-pack", "--stdin", "--fix-thin", "--strict",
		"--threads=1", fmt.Sprintf("--max-input-size=%d", in.lim.Pack)}})
	if err != nil {
		return refuse(ctx, RulePack, "git does not take the pack", err)
	}
	if !packLineRE.Match(out) {
		return &RefusedError{Rule: RulePack, Detail: fmt.Sprintf("git said %.80q of the pack", out)}
	}
	return os.Remove(path)
}

// spool copies source to a file, at most limit bytes. A read that hangs is left behind when ctx ends; closing the
// source, where that is possible, ends it.
func spool(ctx context.Context, path string, source io.Reader, limit int64) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	type result struct {
		n   int64
		err error
	}
	done := make(chan result, 1)
	go func() {
		n, err := io.Copy(f, io.LimitReader(source, limit+1))
		done <- result{n, errors.Join(err, f.Close())}
	}()
	defer func() {
		if c, ok := source.(io.Closer); ok {
			c.Close() //nolint:errcheck // it was only read
		}
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case r := <-done:
		if r.err != nil {
			return fmt.Errorf("read the pack: %w", r.err)
		}
		if r.n > limit {
			return &RefusedError{Rule: RuleSize, Detail: fmt.Sprintf("the pack is larger than %d bytes", limit)}
		}
		return nil
	}
}

// refuse turns git's refusal into ours. A git that did not run, or an end of ctx, is no refusal of the commits.
func refuse(ctx context.Context, rule Rule, what string, err error) error {
	var exit *git.ExitError
	if ctx.Err() == nil && (errors.As(err, &exit) || errors.Is(err, git.ErrTooLarge)) {
		return &RefusedError{Rule: rule, Detail: what, Err: err}
	}
	return err
}

// examine lets git and then us look at every commit that is new.
func (in *incoming) examine(ctx context.Context) error {
	var ask strings.Builder
	for _, oid := range in.tips {
		suffix := "^{commit}" // what is only kept may be a tag of one
		if oid == in.tip {
			suffix = ""
		}
		fmt.Fprintf(&ask, "%s%s\n", oid, suffix)
	}
	out, err := in.run(ctx, git.Sealed{Stdin: strings.NewReader(ask.String()), Args: []string{"cat-file", "--batch-check=%(objecttype)"}})
	if err != nil {
		return refuse(ctx, RuleClaim, "a claimed commit cannot be read", err)
	}
	kinds := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	for i, oid := range in.tips {
		if i >= len(kinds) || kinds[i] != "commit" {
			return &RefusedError{Rule: RuleClaim, Detail: fmt.Sprintf("%s is no commit", oid)}
		}
	}
	if err := in.listCommits(ctx); err != nil {
		return err
	}
	if err := in.walk(ctx); err != nil {
		return err
	}
	if err := in.connected(ctx); err != nil {
		return refuse(ctx, RuleMissing, "objects are missing", err)
	}
	return nil
}

// revisions is the input that means: what the tips reach and nothing that is kept reaches.
func (in *incoming) revisions() io.Reader {
	var b strings.Builder
	for _, oid := range in.tips {
		fmt.Fprintf(&b, "%s\n", oid)
	}
	for _, oid := range in.pins.all {
		fmt.Fprintf(&b, "^%s\n", oid)
	}
	return strings.NewReader(b.String())
}

func (in *incoming) listCommits(ctx context.Context) error {
	out, err := in.run(ctx, git.Sealed{Stdin: in.revisions(), Args: []string{"rev-list", "--no-commit-header", "--format=%H %T",
		fmt.Sprintf("--max-count=%d", in.lim.Commits+1), "--stdin"}})
	if err != nil {
		return refuse(ctx, RuleMissing, "commits cannot be walked", err)
	}
	for line := range strings.Lines(string(out)) {
		oid, tree, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !git.OID(oid).Valid() || !git.OID(tree).Valid() {
			return &RefusedError{Rule: RuleTree, Detail: fmt.Sprintf("git lists a commit as %.100q", line)}
		}
		in.commits = append(in.commits, commit{git.OID(oid), git.OID(tree)})
	}
	if len(in.commits) > in.lim.Commits {
		return &RefusedError{Rule: RuleCommits, Detail: fmt.Sprintf("more than %d new commits", in.lim.Commits)}
	}
	return nil
}

// connected returns an error unless every object that the tips reach is there, in the quarantine or the project.
func (in *incoming) connected(ctx context.Context) error {
	_, err := in.run(ctx, git.Sealed{Stdin: in.revisions(), Args: []string{"rev-list", "--objects", "--quiet", "--stdin"}})
	return err
}

// accept moves the pack into the project and pins the tips. Objects that the project had but nothing kept may have
// been collected since we looked, so the tips are looked at once more when they are pinned.
func (in *incoming) accept(ctx context.Context) error {
	objects, err := in.Repo.ObjectDir(ctx)
	if err != nil {
		return err
	}
	if err := movePacks(filepath.Join(in.q.Dir(), "objects", "pack"), filepath.Join(objects, "pack")); err != nil {
		return fmt.Errorf("move the pack into the project: %w", err)
	}
	if err := in.pinTips(ctx, in.tips); err != nil {
		return err
	}
	if err := in.connected(ctx); err != nil { // the quarantine is empty now: these are the project's objects
		undo := in.unpinTips(context.WithoutCancel(ctx))
		return errors.Join(ErrRaced, err, undo)
	}
	return nil
}

// pinTips keeps commits in the project, each under a name that holds its id, so that none is ever moved.
func (t Task) pinTips(ctx context.Context, tips []git.OID) error {
	p, err := t.pins(ctx)
	if err != nil {
		return err
	}
	var changes []git.RefChange
	for _, oid := range tips {
		if !slices.Contains(p.tips, oid) {
			changes = append(changes, git.RefChange{Name: t.tipRef(oid), To: oid})
		}
	}
	return t.Repo.UpdateRefs(ctx, "termic: pin", changes)
}

// unpinTips takes back the pins of this import.
func (in *incoming) unpinTips(ctx context.Context) error {
	var changes []git.RefChange
	for _, oid := range in.tips {
		if !slices.Contains(in.pins.tips, oid) {
			changes = append(changes, git.RefChange{Name: in.tipRef(oid), From: oid})
		}
	}
	return in.Repo.UpdateRefs(ctx, "termic: unpin", changes)
}
