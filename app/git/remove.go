package git

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// removeTimeout bounds a removal once it has begun; 100,000 files took 10 s.
const removeTimeout = 15 * time.Minute

// RemoveWorktree removes a linked worktree of this repository with everything in
// it; keep its work with Archive first. The main worktree, a directory that is
// no linked worktree of this repository, and a link to one are refused with
// ErrMainWorktree; one that holds another worktree or the repository itself with
// *NestedRepositoryError. A directory that is gone already is no error: its
// record is removed. Once begun, the removal is finished even when ctx ends.
func (r *Repo) RemoveWorktree(ctx context.Context, dir string) error {
	if err := r.removeWorktree(ctx, dir, nil); err != nil {
		return fmt.Errorf("remove worktree %s: %w", dir, err)
	}
	return nil
}

// RemoveArchived removes the worktree that a was made of, as RemoveWorktree does,
// if it still is what was archived; else ErrChanged, and nothing is changed. The
// comparison happens after the checkout has been moved aside, so that what is
// written in between is not lost with it. A checkout that was gone when it was archived may still be: only git's record of
// it is removed then.
func (r *Repo) RemoveArchived(ctx context.Context, a Archived) error {
	err := r.removeWorktree(ctx, a.Dir, func(ctx context.Context, moved, record string) error {
		return r.compareArchived(ctx, &a, moved, record)
	})
	if a.Gone && errors.Is(err, ErrMainWorktree) && !exists(a.Dir) { // git had no record of it either
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove archived worktree %s: %w", a.Dir, err)
	}
	return nil
}

// compareArchived returns ErrChanged unless the checkout, now at moved, makes the
// same trees as the archive.
func (r *Repo) compareArchived(ctx context.Context, a *Archived, moved, record string) error {
	if err := a.check(); err != nil {
		return err
	}
	st, err := r.openStore(ctx, a.Store)
	if err != nil {
		return err
	}
	if err := r.verifyArchive(ctx, st, a); err != nil {
		return err
	}
	v := view{dir: moved, gitDir: record}
	if v.head, err = r.readHead(ctx, record); err != nil {
		return err
	}
	state, err := readState(record)
	if err != nil {
		return err
	}
	sc, err := r.newScratchIn(ctx, st.temp(), v, exact)
	if err != nil {
		return err
	}
	defer sc.remove()
	now := Archived{ID: a.ID, Dir: a.Dir, Head: v.head.oid}
	beside, err := sc.keep(ctx, ArchiveOptions{LeaveOut: a.LeftOut, Ignored: a.keptIgnored()}, r.ownModules(v), state, &now)
	if err != nil {
		return err
	}
	if err := sameBeside(v, beside, a.Beside); err != nil {
		return err
	}
	if v.head != (head{a.Head, a.Branch}) || now.IndexTree != a.IndexTree || now.WorktreeTree != a.WorktreeTree || now.StateTree != a.StateTree {
		return ErrChanged
	}
	return nil
}

// removeWorktree moves the checkout aside, so that it vanishes in one step, asks
// check about it there, removes the record and then the files. When a step
// before that fails, the checkout is moved back.
func (r *Repo) removeWorktree(ctx context.Context, dir string, check func(ctx context.Context, moved, record string) error) error {
	dir, err := cleanPath(dir)
	if err != nil {
		return err
	}
	unlock, err := repoLocks.lock(ctx, r.CommonDir)
	if err != nil {
		return err
	}
	defer unlock()
	dir = filepath.Join(realPath(filepath.Dir(dir)), filepath.Base(dir))
	if err := r.checkRemovable(ctx, dir); err != nil {
		return err
	}
	if err := r.moveBack(dir); err != nil {
		return err
	}
	if err := noMountBelow(dir); err != nil {
		return err
	}
	record, err := r.linkedDir(dir)
	gone := errors.Is(err, fs.ErrNotExist) && !exists(dir)
	if err != nil && !gone {
		return err
	}

	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
	defer cancel()
	moved := ""
	var which fs.FileInfo // the directory that we move, and may remove
	if !gone {
		if which, err = os.Lstat(dir); err != nil {
			return err
		}
		moved = movedPrefix(dir) + rand.Text()
		if err := os.Rename(dir, moved); err != nil {
			return err
		}
	}
	back := func(err error) error {
		if moved == "" {
			return err
		}
		if exists(dir) {
			return fmt.Errorf("%w (the checkout is now at %s)", err, moved)
		}
		return errors.Join(err, os.Rename(moved, dir))
	}
	if check != nil && !gone {
		if err := check(ctx, moved, record); err != nil {
			return back(err)
		}
	}
	err = r.retryLocked(ctx, func() error {
		_, err := r.git.run(ctx, call{at: r.Root, write: true, timeout: time.Minute,
			args: []string{"worktree", "remove", "--force", "--force", "--end-of-options", dir}})
		return err
	})
	// A git that failed after it had removed the record has removed the worktree.
	if err != nil && (gone || exists(record)) {
		return back(err)
	}
	unlock() // the repository is done with; files can take long
	if gone {
		return nil
	}
	if err := removeTree(moved, which); err != nil {
		return fmt.Errorf("its record is gone, its files are at %s: %w", moved, err)
	}
	return nil
}

// movedPrefix begins the name that a checkout has while it is being removed: in
// the same directory, so that moving it is one step.
func movedPrefix(dir string) string {
	return filepath.Join(filepath.Dir(dir), ".removed-"+clip(filepath.Base(dir), 150)+"-") // a name has 255 bytes at most
}

// moveBack finishes what a crash left between moving a checkout aside and removing
// its record: the checkout is put back, if it really is that of dir.
func (r *Repo) moveBack(dir string) error {
	if exists(dir) {
		return nil
	}
	left, err := filepath.Glob(globEscape(movedPrefix(dir)) + "*")
	if err != nil {
		return err
	}
	for _, m := range left {
		text, err := readSmall(filepath.Join(m, ".git"), 8<<10)
		if err != nil {
			continue
		}
		record := realPath(strings.TrimSpace(strings.TrimPrefix(string(text), "gitdir: ")))
		back, err := recordTarget(record)
		if err == nil && filepath.Dir(record) == filepath.Join(r.CommonDir, "worktrees") && back == filepath.Join(dir, ".git") {
			return os.Rename(m, dir)
		}
	}
	return nil
}

// checkRemovable refuses what git does not list as a linked worktree at dir, and
// a directory that holds more than that worktree.
func (r *Repo) checkRemovable(ctx context.Context, dir string) error {
	list, err := r.Worktrees(ctx)
	if err != nil {
		return err
	}
	found := false
	var inside []string
	for _, w := range list {
		at := filepath.Join(realPath(filepath.Dir(w.Dir)), filepath.Base(w.Dir))
		switch {
		case at == dir && w.Main:
			return fmt.Errorf("the main worktree: %w", ErrMainWorktree)
		case at == dir:
			found = true
		case within(at, dir):
			inside = append(inside, at)
		}
	}
	for _, p := range []string{r.Root, r.CommonDir} {
		if within(p, dir) {
			inside = append(inside, p)
		}
	}
	switch {
	case !found:
		return fmt.Errorf("git lists no worktree there: %w", ErrMainWorktree)
	case len(inside) > 0:
		return &NestedRepositoryError{Paths: inside}
	}
	return nil
}

// NestedRepositoryError names repositories inside a checkout whose contents
// would be lost with it: git does not keep one repository inside another.
type NestedRepositoryError struct{ Paths []string }

// ErrNestedRepository is what errors.Is finds in a *NestedRepositoryError.
var ErrNestedRepository = errors.New("checkout holds another repository")

func (e *NestedRepositoryError) Error() string {
	return fmt.Sprintf("%v: %q", ErrNestedRepository, e.Paths)
}

// Is makes errors.Is(err, ErrNestedRepository) true.
func (e *NestedRepositoryError) Is(target error) bool { return target == ErrNestedRepository }

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
