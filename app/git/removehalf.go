package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// RemoveHalf removes what a crash left of a worktree that was being made at dir, and its record: only one that is locked
// with reason, or a directory in which there is nothing yet. Anything else there is somebody else's: ErrOther. A
// directory that is not there is no error.
func (r *Repo) RemoveHalf(ctx context.Context, dir, reason string) error {
	err := r.removeHalf(ctx, dir, reason)
	if err != nil {
		return fmt.Errorf("remove half a worktree %s: %w", dir, err)
	}
	return nil
}

func (r *Repo) removeHalf(ctx context.Context, dir, reason string) error {
	dir, err := cleanPath(dir)
	if err != nil {
		return err
	}
	dir = filepath.Join(realPath(filepath.Dir(dir)), filepath.Base(dir))
	list, err := r.Worktrees(ctx)
	if err != nil {
		return err
	}
	ours := slices.ContainsFunc(list, func(w Worktree) bool {
		return filepath.Join(realPath(filepath.Dir(w.Dir)), filepath.Base(w.Dir)) == dir && w.Reason == reason
	})
	if ours {
		err := r.removeWorktree(ctx, dir, nil)
		if !errors.Is(err, ErrMainWorktree) {
			return err
		}
	}
	unlock, err := repoLocks.lock(ctx, r.CommonDir)
	if err != nil {
		return err
	}
	defer unlock()
	if err := r.removeRecordsOf(dir, reason); err != nil {
		return err
	}
	return removeEmpty(dir, r.CommonDir)
}

// removeRecordsOf removes records that are locked with reason and name dir or, where git was killed early, nothing yet.
func (r *Repo) removeRecordsOf(dir, reason string) error {
	names, err := r.records()
	if err != nil {
		return err
	}
	for _, name := range names {
		record := filepath.Join(r.CommonDir, "worktrees", name)
		rest, ok := strings.CutPrefix(name, filepath.Base(dir))
		named := ok && recordSuffix.MatchString(rest)
		if named {
			os.Remove(record) //nolint:errcheck // only when empty: git was killed before it wrote the lock
		}
		lock, err := readSmall(filepath.Join(record, "locked"), 8<<10)
		ours := err == nil && strings.TrimSpace(string(lock)) == reason
		// Git writes the lock first of all, so that a record without one that leads nowhere is one that it was killed removing.
		half := named && errors.Is(err, fs.ErrNotExist) && exists(record) && !exists(filepath.Join(record, "gitdir"))
		if !ours && !half {
			continue
		}
		if target, err := recordTarget(record); err == nil && target != filepath.Join(dir, ".git") {
			continue
		}
		if err := RemoveTree(record); err != nil {
			return err
		}
	}
	os.Remove(filepath.Join(r.CommonDir, "worktrees")) //nolint:errcheck // as git does: only when empty
	return nil
}

// removeEmpty removes a directory in which there is nothing but, perhaps, the .git file of a worktree of ours.
func removeEmpty(dir, common string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrOther, err)
	}
	for _, e := range entries {
		file := filepath.Join(dir, e.Name())
		text, err := readSmall(file, 8<<10)
		record, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
		if e.Name() != ".git" || err != nil || len(text) > 0 && (!ok || !within(realPath(record), filepath.Join(common, "worktrees"))) {
			return ErrOther
		}
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	return os.Remove(dir)
}
