package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// UndoLanding takes a landing back, whole or interrupted at any point: files with their permission bits and times, index,
// HEAD, and the branch that it made are as before. keep is LandOptions.Keep. What was changed since is not
// overwritten: *EditedError names it, or ErrRefMoved says that there are new commits, and nothing is done then. It may be
// interrupted and called again. Reflogs and objects stay.
func (r *Repo) UndoLanding(ctx context.Context, l Landed, keep string) error {
	if err := r.undoLanding(ctx, &l, keep); err != nil {
		return fmt.Errorf("undo the landing of %s: %w", l.ID, err)
	}
	return nil
}

func (r *Repo) undoLanding(ctx context.Context, l *Landed, keep string) error {
	if l.Version != landVersion {
		return fmt.Errorf("record of version %d: %w", l.Version, ErrUnsupported)
	}
	if l.How == LandBranch {
		now, err := r.readRef(ctx, "refs/heads/"+l.New)
		if err != nil || now == "" { // it was never made, or the person removed it
			return err
		}
		if now != l.NewHead {
			return fmt.Errorf("branch %s: %w", l.New, ErrRefMoved)
		}
		return r.DeleteBranch(ctx, l.New, l.NewHead)
	}
	if realPath(r.Root) != l.Root {
		return fmt.Errorf("it landed in %s: %w", l.Root, ErrNotWorktree)
	}
	unlock, err := l.lockIndex(ctx, keep, l.restoreSum())
	if err != nil {
		return err
	}
	defer unlock()
	roots, err := openRoots(l)
	if err != nil {
		return err
	}
	defer roots.close()
	if err := l.settle(roots); err != nil {
		return err
	}
	l.lateWrites(keep)
	if err := r.checkUnedited(ctx, l, roots); err != nil {
		return err
	}
	return r.undoWhole(ctx, l, keep, roots)
}

// restoreSum is the digest of the index that an undoing puts back, "" when the landing left the index alone.
func (l *Landed) restoreSum() string {
	if l.IndexAfterSum == "" {
		return ""
	}
	return l.IndexSum
}

// checkUnedited returns an error when what is there is neither what was before nor what landed.
func (r *Repo) checkUnedited(ctx context.Context, l *Landed, roots roots) error {
	h, err := r.readHead(ctx, l.GitDir)
	if err != nil {
		return err
	}
	if l.How == LandMerge && (h.branch != l.At || h.oid != l.Head && h.oid != l.NewHead) {
		return fmt.Errorf("HEAD: %w", ErrRefMoved)
	}
	edited, err := l.editedFiles(roots)
	if err != nil {
		return err
	}
	sc, err := r.newScratch(ctx, view{dir: l.Root, gitDir: l.GitDir, head: h}, asPerson)
	if err != nil {
		return err
	}
	defer sc.remove()
	entries, sum, err := sc.entries(ctx)
	if err != nil {
		return err
	}
	if l.IndexAfterSum != "" && sum != l.Entries && sum != l.EntriesAfter {
		edited = append(edited, "(what is staged)")
	}
	if l.IndexAfterSum == "" {
		for _, f := range l.Files {
			if !f.Git && entries[string(f.Path)] != f.Entry && !slices.Contains(edited, string(f.Path)) {
				edited = append(edited, string(f.Path)) // staged or committed since
			}
		}
	}
	if len(edited) > 0 {
		return &EditedError{Paths: edited}
	}
	return nil
}

// editedFiles returns the files that are neither as before nor as they were made, and what stands in the way of one that is
// to come back.
func (l *Landed) editedFiles(roots roots) (edited []string, err error) {
	came := map[string]bool{}
	for _, f := range l.Files {
		if f.Before.Kind == "" && !f.Git {
			came[string(f.Path)] = true
		}
	}
	for _, f := range l.Files {
		now, _, err := keepState(roots.of(f), string(f.Path), "")
		if err != nil {
			return nil, err
		}
		way := ""
		if f.Before.Kind != "" && now.Kind == "" {
			if way, err = inTheWay(roots.of(f), string(f.Path), came); err != nil {
				return nil, err
			}
		}
		if way == "" && !now.is(f.Before) && !now.is(f.After) {
			way = string(f.Path)
		}
		if way != "" && !slices.Contains(edited, way) {
			edited = append(edited, way)
		}
	}
	return edited, nil
}

// undone is what one undoing did, in this order, and the files that it left since somebody changed them.
type undone struct {
	head  bool
	files []undoneFile
	left  []int
}

type undoneFile struct {
	i   int
	was seen // before it was undone
}

// bringBack makes everything as it was, step by step the reverse of a landing. Each step may have been done already. What is
// neither as it was nor as it landed is left, and so is a file that only says was not written; nil stands for all of them.
// The index is locked.
func (r *Repo) bringBack(ctx context.Context, l *Landed, keep string, roots roots, only []bool) (u undone, err error) {
	if err := l.settle(roots); err != nil {
		return u, err
	}
	h, err := r.readHead(ctx, l.GitDir)
	if err != nil {
		return u, err
	}
	if l.NewHead != "" && h.oid == l.NewHead {
		step("undo head")
		if err := r.moveHead(ctx, l.Head, l.NewHead, "termic: undo merge "+l.ID); err != nil {
			return u, err
		}
		u.head = true
	}
	for _, i := range slices.Backward(l.order()) { // what came
		if l.Files[i].Before.Kind == "" && (only == nil || only[i]) {
			if err := l.bringBackFile(roots, i, keep, &u); err != nil {
				return u, err
			}
		}
	}
	for _, f := range l.Files {
		if f.Before.Kind == "" && !f.Git { // directories that were made for it
			removeEmptyDirs(roots.work, string(f.Path), l.hadDir)
		}
	}
	if err := l.bringBackDirs(roots.work); err != nil {
		return u, err
	}
	for _, i := range l.order() { // what went, or changed
		if l.Files[i].Before.Kind != "" && (only == nil || only[i]) {
			if err := l.bringBackFile(roots, i, keep, &u); err != nil {
				return u, err
			}
		}
	}
	return u, l.bringBackIndex(keep)
}

func (l *Landed) hadDir(dir string) bool {
	_, ok := slices.BinarySearchFunc(l.Dirs, dir, func(d LandedDir, s string) int { return strings.Compare(string(d.Path), s) })
	return ok
}

// bringBackDirs makes the directories again that went.
func (l *Landed) bringBackDirs(root *os.Root) error {
	for _, d := range l.Dirs { // by path: a parent comes first
		err := root.Mkdir(filepath.FromSlash(string(d.Path)), os.FileMode(d.Mode))
		if err == nil {
			err = root.Chmod(filepath.FromSlash(string(d.Path)), os.FileMode(d.Mode))
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// bringBackFile makes one file as it was, if it is as it landed.
func (l *Landed) bringBackFile(roots roots, i int, keep string, u *undone) error {
	f := l.Files[i]
	root := roots.of(f)
	now, err := look(root, string(f.Path))
	if errors.Is(err, ErrUnkeepable) || errors.Is(err, ErrBusy) {
		u.left = append(u.left, i)
		return nil
	}
	if err != nil {
		return err
	}
	switch {
	// Whatever its time is: a copy in its place would take what a program that has it open writes now.
	case now.state.is(f.Before) && now.state.Mode == f.Before.Mode:
		return nil
	case !now.state.is(f.Before) && !now.state.is(f.After): // somebody's
		u.left = append(u.left, i)
		return nil
	}
	step("undo " + string(f.Path))
	if f.Before.Kind == "" {
		err = l.removeFile(root, i, now, landed(keep, i))
	} else {
		err = l.putFile(root, i, l.before(keep, i), now, landed(keep, i))
	}
	if errors.Is(err, ErrBusy) {
		u.left = append(u.left, i)
		return nil
	}
	if err != nil {
		return fmt.Errorf("bring back %s: %w", f.Path, err)
	}
	u.files = append(u.files, undoneFile{i, now})
	return nil
}

// before is what file number i is to be again: the very file where that was kept.
func (l *Landed) before(keep string, i int) newFile {
	f := l.Files[i]
	if at := replaced(keep, i).path; isStill(at, f.Before) {
		return newFile{from: at, want: f.Before, same: true}
	}
	return newFile{from: filepath.Join(keep, "before", strconv.Itoa(i)), want: f.Before}
}

// bringBackIndex puts the index back, byte for byte, unless it is as it was or the landing left it alone.
func (l *Landed) bringBackIndex(keep string) error {
	index := filepath.Join(l.GitDir, "index")
	if l.IndexAfterSum == "" {
		return nil
	}
	now, err := sumOf(index)
	if err != nil || now == l.IndexSum {
		return err
	}
	step("undo index")
	if l.IndexSum == "" {
		return os.Remove(index)
	}
	temp := index + ".termic-" + l.Nonce + "-undo"
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := copyFile(filepath.Join(keep, "index.before"), temp); err != nil {
		return err
	}
	if info, err := os.Stat(index); err == nil {
		if err := os.Chmod(temp, info.Mode().Perm()); err != nil {
			return err
		}
	}
	return os.Rename(temp, index)
}
