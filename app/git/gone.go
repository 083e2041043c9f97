package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// LockedWith returns the directory of the linked worktree of a repository that is locked with reason, as the repository's
// own record of it says; "" when there is none. git is not asked, and nothing need be in that place.
func LockedWith(commonDir, reason string) string {
	records := filepath.Join(commonDir, "worktrees")
	entries, err := os.ReadDir(records)
	if err != nil { // a repository without linked worktrees, or none at all
		return ""
	}
	for _, e := range entries {
		record := filepath.Join(records, e.Name())
		lock, err := readSmall(filepath.Join(record, "locked"), 8<<10)
		if err != nil || strings.TrimSpace(string(lock)) != reason {
			continue
		}
		if target, err := recordTarget(record); err == nil {
			return filepath.Dir(target)
		}
	}
	return ""
}

// ArchiveGone keeps what git still has of a checkout whose directory is not there any more: commits, as Archive does, the
// staged state, and an operation in progress. What was in the files alone is lost; a restored checkout has them as they were
// staged, or as in the last commit where git has no record of the checkout either. ErrDirExists when something is in its
// place; ErrRefNotFound when git has none of the branches and not the base.
func (r *Repo) ArchiveGone(ctx context.Context, o ArchiveOptions) (Archived, error) {
	a, err := r.archiveGone(ctx, o)
	if err != nil {
		return Archived{}, fmt.Errorf("archive what is left of %s: %w", o.Dir, err)
	}
	return a, nil
}

func (r *Repo) archiveGone(ctx context.Context, o ArchiveOptions) (Archived, error) {
	if err := checkID(o.ID); err != nil {
		return Archived{}, err
	}
	dir, err := cleanPath(o.Dir)
	if err != nil {
		return Archived{}, err
	}
	if dir = realPath(dir); exists(dir) {
		return Archived{}, ErrDirExists
	}
	v, state, err := r.left(ctx, dir, o)
	if err != nil {
		return Archived{}, err
	}
	st, err := r.openStore(ctx, o.Store)
	if err != nil {
		return Archived{}, err
	}
	a := Archived{Version: archiveVersion, ID: o.ID, Dir: dir, Store: st.dir, When: time.Now().UTC().Truncate(time.Second),
		Record: v.gitDir, Branch: v.head.branch, Head: v.head.oid, Gone: true}
	if v.gitDir != "" {
		if a.InProgress, err = v.inProgress(); err != nil {
			return Archived{}, err
		}
		a.Submodules = r.ownModules(v)
	}
	if err := r.pinAll(ctx, o, v, state, &a); err != nil {
		return Archived{}, err
	}
	return a, r.takeLeft(ctx, st, v, state, &a)
}

// left finds what git has of a checkout that is gone: its record, else the first of the branches that there is, else the
// base. The view has no git directory when there is no record.
func (r *Repo) left(ctx context.Context, dir string, o ArchiveOptions) (view, map[string][]byte, error) {
	record, err := r.recordOf(dir)
	if err != nil {
		return view{}, nil, err
	}
	if record != "" {
		v := view{gitDir: record}
		v.head, err = r.readHead(ctx, record)
		if err == nil {
			state, err := readState(record)
			return v, state, err
		}
		if len(o.Branches) == 0 { // a HEAD that cannot be read: what the task knows is all there is
			return view{}, nil, err
		}
	}
	for _, branch := range o.Branches {
		oid, err := r.readRef(ctx, "refs/heads/"+branch)
		if err != nil {
			return view{}, nil, err
		}
		if oid != "" {
			return view{head: head{oid: oid, branch: branch}}, nil, nil
		}
	}
	if !o.Base.Valid() || len(o.Branches) == 0 {
		return view{}, nil, fmt.Errorf("neither a record of it nor its branch: %w", ErrRefNotFound)
	}
	oid, err := r.Resolve(ctx, string(o.Base))
	return view{head: head{oid: oid, branch: o.Branches[0]}}, nil, err
}

// recordOf returns the record that names the checkout at dir, "" when there is none.
func (r *Repo) recordOf(dir string) (string, error) {
	names, err := r.records()
	if err != nil {
		return "", err
	}
	for _, name := range names {
		record := filepath.Join(r.CommonDir, "worktrees", name)
		if target, err := recordTarget(record); err == nil && target == filepath.Join(dir, ".git") {
			return record, nil
		}
	}
	return "", nil
}

// takeLeft keeps the staged state, and submodules' repositories, of a checkout without files.
func (r *Repo) takeLeft(ctx context.Context, st *store, v view, state map[string][]byte, a *Archived) error {
	work, err := os.MkdirTemp(st.temp(), "gone-") // of a checkout without files
	if err != nil {
		return err
	}
	defer os.Remove(work) //nolint:errcheck // what stays is swept
	v.dir = work
	sc, err := r.scratchOf(ctx, st, v)
	if err != nil {
		return err
	}
	defer sc.remove()
	extra, err := sc.keepIndex(ctx, a)
	if err != nil {
		return err
	}
	extra.intended = nil // of files that are not there
	a.WorktreeTree = a.IndexTree
	if a.Worktree, err = sc.commitOf(ctx, a.WorktreeTree, a, "worktree"); err != nil {
		return err
	}
	if err := sc.keepState(ctx, state, extra, a); err != nil {
		return err
	}
	if len(a.Submodules) > 0 {
		if a.Beside, err = st.keepBeside(ctx, v, a.ID, besidePaths(a.Submodules)); err != nil {
			return err
		}
	}
	if err := st.take(ctx, sc, a); err != nil {
		return err
	}
	return errors.Join(r.verifyArchive(ctx, st, a), st.sweepBeside(a))
}

// scratchOf makes a stand-in with the index of the record, or with that of the commit where there is none.
func (r *Repo) scratchOf(ctx context.Context, st *store, v view) (*scratch, error) {
	if v.gitDir != "" && exists(filepath.Join(v.gitDir, "index")) {
		return r.newScratchIn(ctx, st.temp(), v, exact)
	}
	sc, err := r.bareScratch(st.temp(), v.head.oid, exact, config{})
	if err != nil {
		return nil, err
	}
	sc.work = v.dir
	args := []string{"read-tree", "--empty"}
	if v.head.oid != "" {
		args = []string{"read-tree", "HEAD"}
	}
	if _, err := sc.run(ctx, call{args: args}); err != nil {
		sc.remove()
		return nil, err
	}
	return sc, nil
}
