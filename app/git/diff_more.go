package git

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

func (o DiffOptions) check() error {
	if o.Path == "" {
		return nil
	}
	if strings.Contains(o.Path, "\x00") || strings.HasPrefix(o.Path, "/") || strings.HasPrefix(o.Path, "../") || o.Path == ".." {
		return fmt.Errorf("%q: %w", clip(o.Path, 80), ErrBadPath)
	}
	return nil
}

// states is how a checkout stands besides its commits, before the stand-in's index follows the files.
type states struct {
	index              OID // tree of what is staged; a conflict counts as its first side
	staged, conflicted map[string]bool
}

func (s *scratch) states(ctx context.Context, head OID) (states, error) {
	st := states{staged: map[string]bool{}, conflicted: map[string]bool{}}
	list, err := s.stagedAgainst(ctx, head)
	if err != nil {
		return st, err
	}
	for _, c := range list {
		st.staged[c.path] = true
	}
	unmerged, err := s.run(ctx, call{args: []string{"ls-files", "--unmerged", "-z"}})
	if err != nil {
		return st, err
	}
	for _, rec := range splitNUL(unmerged) {
		_, path, _ := strings.Cut(rec, "\t")
		st.conflicted[path] = true
		delete(st.staged, path)
	}
	var env []string
	if len(unmerged) > 0 {
		merged := filepath.Join(s.dir, "index.states")
		if err := copyFile(filepath.Join(s.dir, "index"), merged); err != nil {
			return st, err
		}
		env = []string{"GIT_INDEX_FILE=" + merged}
		if _, err := s.run(ctx, call{args: []string{"update-index", "-z", "--index-info"}, env: env, stdin: strings.NewReader(pickSides(unmerged, s.none))}); err != nil {
			return st, err
		}
	}
	out, err := s.run(ctx, call{args: []string{"write-tree", "--missing-ok"}, env: env, timeout: archiveTimeout})
	st.index = OID(strings.TrimSpace(string(out)))
	return st, err
}

// mark says of each file where it differs. The stand-in's index is the state of the files by now.
func (s *scratch) mark(ctx context.Context, before states, plan stagePlan, d *Diff) error {
	now, err := s.treeNames(ctx, before.index)
	if err != nil {
		return err
	}
	untracked := map[string]bool{}
	for _, path := range plan.untracked {
		untracked[path] = true
	}
	for i := range d.Files {
		f := &d.Files[i]
		for _, path := range []string{f.Path, f.OldPath} {
			if path == "" {
				continue
			}
			left, skipped := plan.left[path]
			f.Staged = f.Staged || before.staged[path]
			f.Conflicted = f.Conflicted || before.conflicted[path]
			f.Untracked = f.Untracked || untracked[path] || skipped && !left.tracked
			f.Unstaged = f.Unstaged || now[path] && !untracked[path] || skipped && left.tracked || before.conflicted[path]
		}
	}
	return nil
}

// treeNames returns the paths at which the index differs from a tree.
func (s *scratch) treeNames(ctx context.Context, tree OID) (map[string]bool, error) {
	out, err := s.run(ctx, call{args: []string{"diff-index", "--cached", "-z", "--name-only", "--no-renames", "--ignore-submodules=dirty", string(tree)}})
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, path := range splitNUL(out) {
		names[path] = true
	}
	return names, nil
}

// treeOf returns the tree of a commit; the empty one for none.
func (s *scratch) treeOf(ctx context.Context, commit OID) (OID, error) {
	args := []string{"mktree"} // of nothing
	if commit != "" {
		args = []string{"rev-parse", "--verify", string(commit) + "^{tree}"}
	}
	out, err := s.run(ctx, call{args: args})
	return OID(strings.TrimSpace(string(out))), err
}

// sinceTip returns a tree with which the checkout is compared to show what a tip has not: that of the last common commit, with
// the files that are as the tip has them taken from the checkout.
func (r *Repo) sinceTip(ctx context.Context, sc *scratch, v view, tip OID) (OID, error) {
	fork, err := r.MergeBase(ctx, tip, v.head.oid)
	if err != nil {
		return "", err
	}
	ours, err := sc.treeNames(ctx, fork)
	if err != nil {
		return "", err
	}
	theirs, err := sc.treeNames(ctx, tip)
	if err != nil {
		return "", err
	}
	entries, _, err := sc.entries(ctx)
	if err != nil {
		return "", err
	}
	same := map[string]string{}
	for path := range ours {
		if !theirs[path] {
			same[path] = entries[path]
		}
	}
	if len(same) == 0 {
		return fork, nil
	}
	env := "GIT_INDEX_FILE=" + filepath.Join(sc.dir, "index.tip")
	if _, err := sc.run(ctx, call{args: []string{"read-tree", string(fork)}, env: []string{env}}); err != nil {
		return "", err
	}
	if err := sc.setEntries(ctx, same, env); err != nil {
		return "", err
	}
	out, err := sc.run(ctx, call{args: []string{"write-tree", "--missing-ok"}, env: []string{env}})
	return OID(strings.TrimSpace(string(out))), err
}

// MergeBase returns the last commit that both have; ErrUnrelated when there is none.
func (r *Repo) MergeBase(ctx context.Context, a, b OID) (OID, error) {
	if !a.Valid() || !b.Valid() {
		return "", fmt.Errorf("merge base of %q and %q: %w", clip(string(a), 80), clip(string(b), 80), ErrBadRef)
	}
	out, err := r.git.run(ctx, call{at: r.Root, args: []string{"merge-base", string(a), string(b)}})
	if exitCode(err) == 1 {
		return "", fmt.Errorf("%s and %s: %w", a, b, ErrUnrelated)
	}
	if err != nil {
		return "", fmt.Errorf("merge base: %w", err)
	}
	oid := OID(strings.TrimSpace(string(out)))
	if !oid.Valid() {
		return "", fmt.Errorf("merge base: unexpected answer %q", clip(string(out), 80))
	}
	return oid, nil
}

// DiffCommit returns what a commit changed against its first parent. It looks at no checkout.
func (r *Repo) DiffCommit(ctx context.Context, commit OID, o DiffOptions) (Diff, error) {
	d, err := r.diffCommit(ctx, commit, o)
	if err != nil {
		return Diff{}, fmt.Errorf("diff of commit %s: %w", clip(string(commit), 80), err)
	}
	return d, nil
}

func (r *Repo) diffCommit(ctx context.Context, commit OID, o DiffOptions) (Diff, error) {
	if !commit.Valid() {
		return Diff{}, ErrBadRef
	}
	if err := o.check(); err != nil {
		return Diff{}, err
	}
	sc, err := r.bareScratch(r.git.inherited["TMPDIR"], "", asPerson, config{"core.bare": "true"})
	if err != nil {
		return Diff{}, err
	}
	defer sc.remove()
	if err := r.copyShallow(sc); err != nil {
		return Diff{}, err
	}
	out, err := sc.run(ctx, call{args: []string{"rev-list", "--parents", "--max-count=1", string(commit)}})
	if err != nil {
		return Diff{}, err
	}
	f := strings.Fields(string(out))
	if len(f) == 0 || f[0] != string(commit) {
		return Diff{}, ErrRefNotFound // an object of another kind
	}
	parent := OID("")
	if len(f) > 1 {
		parent = OID(f[1])
	}
	from, err := sc.treeOf(ctx, parent)
	if err != nil {
		return Diff{}, err
	}
	d, err := r.diffRange(ctx, sc, span{from: from, to: commit}, o, func(*Diff) {})
	if parent != "" {
		d.From = parent
	}
	return d, err
}
