package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
)

// settle brings in order what an interrupted step left beside the files: what we made goes, what somebody wrote goes back to its
// place. *EditedError names what has none, since there is another version of it by now.
func (l *Landed) settle(roots roots) error {
	var strays []string
	for i, f := range l.Files {
		p, err := openSpot(roots.of(f), string(f.Path))
		if absent(err) {
			continue
		}
		if err != nil {
			return err
		}
		stray, err := l.settleAt(p, i)
		p.close()
		if err != nil {
			return err
		}
		if stray {
			strays = append(strays, filepath.ToSlash(filepath.Join(filepath.Dir(string(f.Path)), l.aside(i))))
		}
	}
	if len(strays) > 0 {
		return &EditedError{Paths: strays}
	}
	return nil
}

// settleAt settles one file; stray says that what was set aside has no place.
func (l *Landed) settleAt(p spot, i int) (stray bool, err error) {
	aside := l.aside(i)
	for _, name := range []string{l.half(i), aside + ".try"} {
		if err := p.dir.Remove(name); err != nil && !absent(err) {
			return false, err
		}
	}
	info, err := p.dir.Lstat(aside)
	if absent(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	step("settle " + p.path)
	now, err := p.dir.Lstat(p.name)
	switch {
	case absent(err): // it was taken away, and no more
		return false, p.moveNew(aside, p.name)
	case err != nil:
		return false, err
	case os.SameFile(info, now): // moved by a link, where nothing else can be had
		return false, p.dir.Remove(aside)
	case l.known(p.dir, aside, i, true):
		return false, p.dir.Remove(aside)
	case !l.known(p.dir, p.name, i, false):
		return true, nil
	}
	// Killed between an exchange and the look at what came out of it.
	if err := exchangeNames(p.fd, aside, p.name); err != nil {
		return cannot(err), ignoreCannot(err)
	}
	if l.known(p.dir, aside, i, true) {
		return false, p.dir.Remove(aside)
	}
	return true, nil
}

func ignoreCannot(err error) error {
	if cannot(err) {
		return nil
	}
	return err
}

// known reports whether a file holds what file number i held before or what landed, so that nothing is lost with it. With
// exact its permissions before are the same, too.
func (l *Landed) known(dir *os.Root, name string, i int, exact bool) bool {
	state, info, err := keepState(dir, name, "")
	if err != nil || info == nil {
		return false
	}
	f := l.Files[i]
	return state.is(f.Before) && (!exact || state.Mode == f.Before.Mode) || state.is(f.After)
}

// lateWrites takes what a program that had a replaced file open wrote to it since for how that file was before.
func (l *Landed) lateWrites(keep string) {
	l.Files = slices.Clone(l.Files) // the caller's record stays as it is
	for i := range l.Files {
		f := &l.Files[i]
		if state, ok := fileState(replaced(keep, i).path); ok && f.Before.Kind == "file" {
			f.Before = state
		}
	}
}

// isStill reports whether there is a file, or a link, in a state.
func isStill(path string, want FileState) bool {
	state, ok := fileState(path)
	return ok && state.is(want) && state.Mode == want.Mode
}

// fileState returns how a file of a directory of ours is; false for none, and for what is too large to be brought back.
func fileState(path string) (FileState, bool) {
	dir, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return FileState{}, false
	}
	defer dir.Close()
	info, err := dir.Lstat(filepath.Base(path))
	if err != nil || info.Size() > MaxLandFile {
		return FileState{}, false
	}
	state, _, err := keepState(dir, filepath.Base(path), "")
	return state, err == nil && state.Kind != ""
}

// undoWhole takes a landing back, or leaves it as it was: when somebody changes a file in the middle, or on an error, what was
// undone is done again.
func (r *Repo) undoWhole(ctx context.Context, l *Landed, keep string, roots roots) error {
	u, err := r.bringBack(ctx, l, keep, roots, nil)
	if err == nil && len(u.left) == 0 {
		return nil
	}
	if len(u.left) > 0 {
		busy := &WrittenError{}
		for _, i := range u.left {
			busy.Paths = append(busy.Paths, string(l.Files[i].Path))
		}
		err = errors.Join(busy, err)
	}
	if again := r.redo(context.WithoutCancel(ctx), l, keep, roots, u); again != nil {
		return errors.Join(err, again)
	}
	return err
}

// redo makes what an undoing took back land again.
func (r *Repo) redo(ctx context.Context, l *Landed, keep string, roots roots, u undone) error {
	half := &HalfError{}
	for _, done := range slices.Backward(u.files) {
		f := l.Files[done.i]
		now, err := look(roots.of(f), string(f.Path))
		step("redo " + string(f.Path))
		switch {
		case err != nil:
		case !now.state.is(f.Before):
			err = &WrittenError{Paths: []string{string(f.Path)}}
		case done.was.info == nil:
			err = l.removeFile(roots.of(f), done.i, now, replaced(keep, done.i))
		default:
			from := landed(keep, done.i).path
			err = l.putFile(roots.of(f), done.i, newFile{from: from, want: done.was.state, same: true}, now, replaced(keep, done.i))
			if err == nil {
				err = os.Remove(from) // the file has one name again
			}
		}
		if err != nil {
			half.Paths, half.Cause = append(half.Paths, string(f.Path)), errors.Join(half.Cause, err)
		}
	}
	if u.head {
		step("redo head")
		half.Cause = errors.Join(half.Cause, r.moveHead(ctx, l.NewHead, l.Head, "termic: merge "+l.ID))
	}
	if half.Cause != nil {
		return half
	}
	return nil
}
