package git

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// editRounds is how often an edit of an index is made anew when another git was quicker.
const editRounds = 5

// editIndex changes the index of the checkout at dir. edit works on a stand-in (package comment) and returns the objects
// that the new entries name, one a line; "" and no change of the stand-in's index leaves the checkout's as it is. The new
// index takes the place of the old one in one step, and only where nobody changed that meanwhile; else edit is called
// again. It returns ErrNotWorktree, *UnfinishedError, ErrIndexLocked, and ErrIndexChanged when another git is always
// quicker.
func (r *Repo) editIndex(ctx context.Context, dir string, edit func(v view, sc *scratch) (objects string, err error)) error {
	return r.editIndexWhile(ctx, dir, view.finished, edit)
}

// editIndexWhile is editIndex of a checkout about which admit returns no error.
func (r *Repo) editIndexWhile(ctx context.Context, dir string, admit func(view) error, edit func(v view, sc *scratch) (objects string, err error)) error {
	for round := 1; ; round++ {
		err := r.editOnce(ctx, dir, admit, edit)
		if !errors.Is(err, ErrIndexChanged) || round == editRounds {
			return err
		}
	}
}

func (r *Repo) editOnce(ctx context.Context, dir string, admit func(view) error, edit func(v view, sc *scratch) (string, error)) error {
	v, err := r.view(ctx, dir)
	if err != nil {
		return err
	}
	unlock, err := repoLocks.lock(ctx, v.gitDir)
	if err != nil {
		return err
	}
	defer unlock()
	if err := admit(v); err != nil {
		return err
	}
	index := filepath.Join(v.gitDir, "index")
	before, err := sumOf(index) // before it is copied: what changes in between shows at the end
	if err != nil {
		return err
	}
	sc, err := r.newScratch(ctx, v, asPerson)
	if err != nil {
		return err
	}
	defer sc.remove()
	objects, err := edit(v, sc)
	if err != nil {
		return err
	}
	if err := sc.assumeAgain(ctx); err != nil {
		return err
	}
	after, err := sumOf(filepath.Join(sc.dir, "index"))
	if err != nil || after == before {
		return err
	}
	if err := r.importObjects(ctx, sc, objects); err != nil {
		return err
	}
	// Begun, it is finished: the rest takes no time.
	return installIndex(context.WithoutCancel(ctx), v.gitDir, filepath.Join(sc.dir, "index"), before)
}

// assumeAgain gives the assume-unchanged bits back that the stand-in dropped: they are of whoever set them.
func (s *scratch) assumeAgain(ctx context.Context) error {
	if len(s.assumed) == 0 {
		return nil
	}
	there, _, err := s.entries(ctx)
	if err != nil {
		return err
	}
	var paths strings.Builder
	for _, p := range s.assumed {
		if there[p] != "" {
			paths.WriteString(p + "\x00")
		}
	}
	_, err = s.run(ctx, call{args: []string{"update-index", "-z", "--assume-unchanged", "--stdin"}, stdin: strings.NewReader(paths.String())})
	return err
}

// ownIndex begins the names of files that are about to be the index of a git directory; the number of our process and
// something random follow.
const ownIndex = "index.termic-edit-"

// installIndex puts a copy of the index file from in the place of a git directory's, holding its lock as any git would. It
// returns ErrIndexLocked while another git holds that, and ErrIndexChanged when the index is not the one with the digest
// before.
func installIndex(ctx context.Context, gitDir, from, before string) error {
	index, lock := filepath.Join(gitDir, "index"), filepath.Join(gitDir, "index.lock")
	if err := dropDeadLocks(gitDir, lock); err != nil {
		return err
	}
	own := filepath.Join(gitDir, ownIndex+strconv.Itoa(os.Getpid())+"-"+rand.Text()[:8])
	if err := copyFile(from, own); err != nil { // with its time: git tells by that which files it must look at again
		return fmt.Errorf("write the index: %w", err)
	}
	defer os.Remove(own) //nolint:errcheck // dropDeadLocks removes what stays
	mode := os.FileMode(0o644)
	if info, err := os.Stat(index); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.Chmod(own, mode); err != nil {
		return err
	}
	// A link is made whole or not at all, and is the same file as own: a lock that a crash leaves is known as ours.
	step("link")
	if err := linkLock(ctx, own, lock); err != nil {
		return err
	}
	held := true
	defer func() {
		if held {
			os.Remove(lock) //nolint:errcheck // git names a lock that stays, with what to do
		}
	}()
	now, err := sumOf(index)
	if err == nil && now != before {
		err = ErrIndexChanged
	}
	if err == nil {
		step("install")
		err = os.Rename(lock, index)
		held = err != nil
	}
	return err
}

// linkLock links own to lock as soon as no other git holds it.
func linkLock(ctx context.Context, own, lock string) error {
	deadline := time.Now().Add(lockWait)
	for {
		err := os.Link(own, lock)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, fs.ErrExist):
			return fmt.Errorf("lock the index: %w", err)
		case time.Now().After(deadline):
			return ErrIndexLocked
		}
		timer := time.NewTimer(retryFirst)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// dropDeadLocks removes what processes of ours left that ended in the middle of an edit: their files, and the lock where
// it is one of them.
func dropDeadLocks(gitDir, lock string) error {
	left, err := filepath.Glob(filepath.Join(globEscape(gitDir), ownIndex+"*"))
	if err != nil {
		return err
	}
	for _, path := range left {
		number, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(path), ownIndex), "-")
		pid, err := strconv.Atoi(number)
		if err != nil || pid <= 0 || pid != os.Getpid() && unix.Kill(pid, 0) != unix.ESRCH {
			continue // it may be at work; in our own process the caller is the only one
		}
		own, err := os.Lstat(path)
		if err != nil {
			continue
		}
		if held, err := os.Lstat(lock); err == nil && os.SameFile(own, held) {
			if err := os.Remove(lock); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// entryLines are lines for `update-index --index-info` that give paths the entries "<mode> <oid>"; an empty one removes the
// path.
func (s *scratch) entryLines(entries map[string]string) string {
	var b strings.Builder
	for path, e := range entries { // what goes, first: a file may stand where a directory is to be
		if e == "" {
			fmt.Fprintf(&b, "0 %s\t%s\x00", s.none, path)
		}
	}
	for path, e := range entries {
		if e != "" {
			fmt.Fprintf(&b, "%s\t%s\x00", e, path)
		}
	}
	return b.String()
}

// setEntries gives paths of the index entries.
func (s *scratch) setEntries(ctx context.Context, entries map[string]string, env ...string) error {
	if len(entries) == 0 {
		return nil
	}
	_, err := s.run(ctx, call{args: []string{"update-index", "-z", "--index-info"}, env: env, stdin: strings.NewReader(s.entryLines(entries))})
	if err != nil {
		return fmt.Errorf("change the index: %w", err)
	}
	return nil
}

// settleIndex has the index of a checkout know again of the files that we wrote in it, whatever is unfinished there: git
// merge --abort, for one, refuses files that it does not know. That it cannot is no failure of what was done.
func (r *Repo) settleIndex(ctx context.Context, dir string) {
	_ = r.editIndexWhile(ctx, dir, func(view) error { return nil }, func(_ view, sc *scratch) (string, error) { return "", sc.refresh(ctx) })
}
