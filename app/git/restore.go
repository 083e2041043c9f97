package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// RestoreOptions say what to bring back, and where.
type RestoreOptions struct {
	Archived Archived
	Dir      string // absolute; must not exist
	// Branch is checked out instead of the archived one, and must be new. Empty
	// means the archived branch: made again when it is gone, and refused with
	// ErrRefMoved when it is no longer at the archived commit.
	Branch string
	Reason string // why the worktree is locked
	Plain  bool   // as in AddOptions
}

// Restore brings an archived checkout back in a new worktree: the same commit on
// its branch (or detached), the same staged state, files, untracked files and
// operation in progress. Archived files are written byte for byte; files that
// were as committed are checked out with the person's configuration, as at first,
// or without any filter (Plain).
// On any failure nothing is left, as with AddWorktree.
func (r *Repo) Restore(ctx context.Context, o RestoreOptions) error {
	if err := r.restore(ctx, o); err != nil {
		return fmt.Errorf("restore %s to %s: %w", o.Archived.ID, o.Dir, err)
	}
	return nil
}

func (r *Repo) restore(ctx context.Context, o RestoreOptions) error {
	a := &o.Archived
	if err := a.check(); err != nil {
		return err
	}
	st, err := r.openStore(ctx, a.Store)
	if err != nil {
		return err
	}
	state, err := st.readArchive(ctx, a)
	if err != nil {
		return err
	}
	plan := addPlan{dir: o.Dir, branch: a.Branch, head: a.Head, reason: o.Reason, plain: o.Plain}
	if o.Branch != "" {
		plan.branch = o.Branch
	}
	if plan.branch != "" {
		if err := r.git.CheckBranchName(ctx, plan.branch); err != nil {
			return err
		}
		if err := r.placeBranch(ctx, a, o, &plan); err != nil {
			return err
		}
	}
	if a.Head == "" {
		plan.orphan = true
		if plan.head, err = r.anyCommit(ctx); err != nil {
			return err
		}
	}
	plan.branches, err = r.lostBranches(ctx, a, plan.branch)
	if err != nil {
		return err
	}
	plan.populate = func(ctx context.Context, w linked) error { return state.writeBefore(w.record) }
	plan.fill = func(ctx context.Context, w linked) error { return r.fill(ctx, st, a, state, w) }
	return r.add(ctx, plan)
}

// check refuses a record that cannot have come from Archive.
func (a *Archived) check() error {
	if a.Version != archiveVersion {
		return fmt.Errorf("archive record of version %d: %w", a.Version, ErrUnsupported)
	}
	for _, oid := range []OID{a.Index, a.Worktree, a.State, a.IndexTree, a.WorktreeTree, a.StateTree} {
		if !oid.Valid() {
			return errors.New("archive record is damaged")
		}
	}
	if a.Head != "" && !a.Head.Valid() || a.Head == "" && a.Branch == "" {
		return errors.New("archive record is damaged")
	}
	return checkID(a.ID)
}

// placeBranch decides whether the branch is made or used.
func (r *Repo) placeBranch(ctx context.Context, a *Archived, o RestoreOptions, plan *addPlan) error {
	now, err := r.readRef(ctx, "refs/heads/"+plan.branch)
	if err != nil {
		return err
	}
	switch {
	case now == "":
		plan.createAt = a.Head
	case o.Branch != "" && o.Branch != a.Branch:
		return fmt.Errorf("branch %q: %w", plan.branch, ErrBranchExists)
	case now != a.Head:
		return fmt.Errorf("branch %q is at %s, was at %q (name another branch): %w", plan.branch, now, a.Head, ErrRefMoved)
	}
	return nil
}

// anyCommit returns a commit to register a worktree at whose own branch has none.
func (r *Repo) anyCommit(ctx context.Context) (OID, error) {
	out, err := r.git.run(ctx, call{at: r.Root, limit: 4 << 10, args: []string{"for-each-ref", "--count=1", "--format=%(objectname)", "refs/heads", "refs/remotes"}})
	if err != nil {
		return "", err
	}
	oid := strings.TrimSpace(string(out))
	if oid == "" {
		oid = "HEAD"
	}
	return r.Resolve(ctx, oid)
}

// lostBranches returns the archived branches that are gone, apart from the one
// that is checked out: a rebase in progress needs the branch that it will move.
func (r *Repo) lostBranches(ctx context.Context, a *Archived, current string) ([]Branch, error) {
	var lost []Branch
	for name, oid := range a.Branches {
		if name == current || !oid.Valid() {
			continue
		}
		if err := r.git.CheckBranchName(ctx, name); err != nil {
			return nil, err
		}
		now, err := r.readRef(ctx, "refs/heads/"+name)
		if err != nil {
			return nil, err
		}
		if now == "" {
			lost = append(lost, Branch{Name: name, OID: oid})
		}
	}
	return lost, nil
}

// fill turns the fresh checkout of Head into the archived one.
func (r *Repo) fill(ctx context.Context, st *store, a *Archived, state *savedState, w linked) error {
	cfg, err := r.effectiveConfig(ctx, view{dir: w.dir, gitDir: w.record})
	if err != nil {
		return err
	}
	sc, err := r.bareScratch(st.temp(), a.Head, exact, cfg)
	if err != nil {
		return err
	}
	defer sc.remove()
	sc.work = w.dir
	if err := sc.borrow(filepath.Join(st.dir, "objects")); err != nil {
		return err
	}
	root, err := os.OpenRoot(w.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	over, err := sc.overlay(ctx, a, state.written)
	if err != nil {
		return err
	}
	if err := sc.writeFiles(ctx, root, a, over); err != nil {
		return err
	}
	for _, d := range state.emptyDirs {
		if err := root.MkdirAll(filepath.FromSlash(d), 0o755); err != nil {
			return err
		}
	}
	to, err := openSources(w.dir, w.record)
	if err != nil {
		return err
	}
	defer to.close()
	if err := st.writeBeside(ctx, to, a); err != nil {
		return err
	}
	if err := r.restoreIndex(ctx, sc, a, state, w); err != nil {
		return err
	}
	if err := state.writeAfter(w.record); err != nil {
		return err
	}
	over.except(a, state.emptyDirs)
	if err := over.verify(root, r.sha256, cfg["core.filemode"] != "false"); err != nil {
		return err
	}
	return state.setModes(root)
}

// borrow adds another object directory.
func (s *scratch) borrow(objects string) error {
	f, err := os.OpenFile(filepath.Join(s.dir, "objects", "info", "alternates"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(objects + "\n")
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// restoreIndex gives the worktree's own index the archived staged state. Entries
// that are as in Head keep what the checkout noted about their files, so that
// they need not be read (and filtered) again.
func (r *Repo) restoreIndex(ctx context.Context, sc *scratch, a *Archived, state *savedState, w linked) error {
	if err := r.importIndex(ctx, sc, a, state); err != nil {
		return err
	}
	own := func(stdin string, args ...string) error {
		_, err := r.git.run(ctx, call{gitDir: w.record, workTree: w.dir, write: true, timeout: archiveTimeout, args: args,
			config: []string{"core.splitIndex=false", "core.untrackedCache=false"}, stdin: strings.NewReader(stdin)})
		return err
	}
	args := []string{"read-tree", "-i", "-m", string(a.Head), string(a.IndexTree)}
	if a.Head == "" {
		args = []string{"read-tree", string(a.IndexTree)}
	}
	if err := own("", args...); err != nil {
		return fmt.Errorf("restore the index: %w", err)
	}
	out, err := r.git.run(ctx, call{gitDir: w.record, workTree: w.dir, args: []string{"write-tree", "--missing-ok"}, write: true})
	if err != nil {
		return fmt.Errorf("read the index back: %w", err)
	}
	if got := OID(strings.TrimSpace(string(out))); got != a.IndexTree {
		return fmt.Errorf("restored index is %s, not %s", got, a.IndexTree)
	}
	if len(state.unmerged) > 0 {
		var in strings.Builder
		for _, rec := range splitNUL(state.unmerged) { // drop the plain entry first
			_, path, _ := strings.Cut(rec, "\t")
			fmt.Fprintf(&in, "0 %s\t%s\x00", r.none(), path)
		}
		in.Write(state.unmerged)
		if err := own(in.String(), "update-index", "-z", "--index-info"); err != nil {
			return fmt.Errorf("restore conflicts: %w", err)
		}
	}
	if len(state.intended) > 0 {
		if err := own(string(joinNUL(state.intended)), "add", "--intent-to-add", "--force", "--pathspec-from-file=-", "--pathspec-file-nul"); err != nil {
			return fmt.Errorf("restore intent to add: %w", err)
		}
	}
	if len(state.assumed) > 0 {
		if err := own(string(joinNUL(state.assumed)), "update-index", "-z", "--assume-unchanged", "--stdin"); err != nil {
			return fmt.Errorf("restore assume-unchanged: %w", err)
		}
	}
	return nil
}

// smallPack is the number of objects up to which they are unpacked one by one,
// as git's own transfer.unpackLimit has it.
const smallPack = 100

// importIndex brings the objects of the staged state into the project: its own
// worktree's index must not depend on our store.
func (r *Repo) importIndex(ctx context.Context, sc *scratch, a *Archived, state *savedState) error {
	list, err := sc.objectsOf(ctx, []string{string(a.IndexTree)}, a.Head)
	if err != nil {
		return err
	}
	for _, oid := range state.stages {
		list += oid + "\n"
	}
	return r.importObjects(ctx, sc, list)
}
