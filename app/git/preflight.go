package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// PreflightOptions say what is asked about.
type PreflightOptions struct {
	Dir     string // the checkout
	Branch  string // the task's branch; HEAD may be elsewhere
	Base    OID    // where it began
	Ignored func(path string) bool
}

// Preflight is what a checkout holds that is nowhere else, before it is archived.
type Preflight struct {
	Status Status
	// Unpushed are the commits since Base that no remote-tracking branch has; Unbranched those of a detached HEAD that no
	// branch and no tag has.
	Unpushed, Unbranched int
	// Stashes are those that were made on the branch, and Tags those on its commits; both belong to the repository.
	Stashes, Tags []string
	// Nested are repositories in the checkout, Submodules those of submodules that are checked out. Unkeepable stops an archive.
	Nested, Submodules, Unkeepable []string
	TooDeep                        string // a directory below which a path is too long, which stops an archive too; "" for none
	// Ignored files that go with the checkout, and their bytes; More when counting stopped early.
	IgnoredFiles int
	IgnoredBytes int64
	IgnoredMore  bool
	Special      []string // sockets and devices, which hold nothing
}

// Preflight looks at a checkout and changes nothing.
func (r *Repo) Preflight(ctx context.Context, o PreflightOptions) (Preflight, error) {
	p, err := r.preflight(ctx, o)
	if err != nil {
		return Preflight{}, fmt.Errorf("look at %s: %w", o.Dir, err)
	}
	return p, nil
}

func (r *Repo) preflight(ctx context.Context, o PreflightOptions) (p Preflight, err error) {
	if p.Status, err = r.status(ctx, o.Dir); err != nil {
		return p, err
	}
	v, err := r.view(ctx, o.Dir)
	if err != nil {
		return p, err
	}
	if p.Unpushed, err = r.countCommits(ctx, v, "HEAD", "--not", string(o.Base), "--remotes"); err != nil {
		return p, err
	}
	if v.head.branch == "" {
		if p.Unbranched, err = r.countCommits(ctx, v, "HEAD", "--not", "--branches", "--tags"); err != nil {
			return p, err
		}
	}
	if p.Stashes, err = r.stashesOn(ctx, o.Branch); err != nil {
		return p, err
	}
	if p.Tags, err = r.tagsOn(ctx, v, o.Base); err != nil {
		return p, err
	}
	return p, r.lookAround(ctx, o, v, &p)
}

// lookAround fills in what is not of git.
func (r *Repo) lookAround(ctx context.Context, o PreflightOptions, v view, p *Preflight) error {
	sc, err := r.newScratch(ctx, v, exact)
	if err != nil {
		return err
	}
	defer sc.remove()
	var lost *UnkeepableError
	var deep *TooDeepError
	found, err := sc.survey(ctx, ArchiveOptions{Ignored: o.Ignored})
	if errors.As(err, &deep) {
		p.TooDeep = deep.Below
		return nil
	}
	if errors.As(err, &lost) {
		p.Unkeepable = lost.Paths
		return nil
	}
	if err != nil {
		return err
	}
	p.Nested, p.Submodules, p.Special = found.nested, r.ownModules(v), found.special
	p.IgnoredFiles, p.IgnoredBytes, p.IgnoredMore = found.ignoredFiles, found.ignoredBytes, found.ignoredMore
	changed, err := sc.changed(ctx)
	if err != nil {
		return err
	}
	for path, l := range sc.plan(changed, limits{file: bigFile}).left {
		if (l.why == unreadable || l.why == refused) && !covered(p.Nested, path) {
			p.Unkeepable = append(p.Unkeepable, path)
		}
	}
	slices.Sort(p.Unkeepable)
	return nil
}

// countCommits counts what rev-list lists; 0 for a branch without commits.
func (r *Repo) countCommits(ctx context.Context, v view, args ...string) (int, error) {
	if v.head.oid == "" {
		return 0, nil
	}
	out, err := r.git.run(ctx, call{gitDir: v.gitDir, limit: 4 << 10, args: append([]string{"rev-list", "--count"}, args...)})
	if err != nil {
		return 0, fmt.Errorf("count commits: %w", err)
	}
	return strconv.Atoi(strings.TrimSpace(string(out)))
}

// maxListed bounds the stashes and tags that are named.
const maxListed = 100

// stashesOn returns the messages of the stashes that were made on a branch, the newest first. git writes them as
// "WIP on BRANCH: …" or "On BRANCH: …" (git-stash(1)).
func (r *Repo) stashesOn(ctx context.Context, branch string) ([]string, error) {
	list, err := r.stashes(ctx, branch)
	var messages []string
	for _, s := range list[:min(maxListed, len(list))] {
		messages = append(messages, s.message)
	}
	return messages, err
}

type stash struct {
	oid     OID
	message string
}

func (r *Repo) stashes(ctx context.Context, branch string) ([]stash, error) {
	there, err := r.readRef(ctx, "refs/stash")
	if err != nil || there == "" || branch == "" {
		return nil, err
	}
	out, err := r.git.run(ctx, call{gitDir: r.CommonDir, args: []string{"log", "--walk-reflogs", "--format=%H %gs", "-z", "refs/stash", "--"}})
	if err != nil {
		return nil, fmt.Errorf("list stashes: %w", err)
	}
	var list []stash
	for _, rec := range splitNUL(out) {
		oid, message, _ := strings.Cut(rec, " ")
		on := strings.TrimPrefix(strings.TrimPrefix(message, "WIP on "), "On ")
		if on != message && strings.HasPrefix(on, branch+":") && OID(oid).Valid() {
			list = append(list, stash{OID(oid), message})
		}
	}
	return list, nil
}

// tagsOn returns the tags of commits that HEAD has and base has not.
func (r *Repo) tagsOn(ctx context.Context, v view, base OID) ([]string, error) {
	if v.head.oid == "" || base == "" {
		return nil, nil
	}
	out, err := r.git.run(ctx, call{gitDir: r.CommonDir, args: []string{"for-each-ref", "--count=" + strconv.Itoa(maxListed), "--format=%(refname:lstrip=2)",
		"--merged=" + string(v.head.oid), "--no-merged=" + string(base), "refs/tags"}})
	if err != nil {
		return nil, fmt.Errorf("list tags: %w", err)
	}
	return strings.Fields(string(out)), nil
}
