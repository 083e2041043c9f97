package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// mergeFiles are what a conflicted merge leaves in the git directory.
var mergeFiles = []string{"MERGE_HEAD", "MERGE_MODE", "MERGE_MSG"}

// backUp records how everything is that the landing will change, and copies the contents.
func (p *LandPlan) backUp(how LandHow) error {
	l := &p.Landed
	if err := os.MkdirAll(filepath.Join(p.keep, "before"), 0o700); err != nil {
		return err
	}
	p.remove = map[string]bool{}
	for _, c := range p.Changes {
		if c.Gitlink() { // its directory is nothing that a landing writes
			continue
		}
		if c.NewMode == modeNone {
			p.remove[c.Path] = true
		}
		l.Files = append(l.Files, LandedFile{Path: Path(c.Path)})
	}
	if how == LandMerge && len(l.Conflicts) > 0 {
		for _, name := range mergeFiles {
			l.Files = append(l.Files, LandedFile{Path: Path(name), Git: true})
		}
	}
	roots, err := openRoots(l)
	if err != nil {
		return err
	}
	defer roots.close()
	dirs := map[string]uint32{}
	p.stats = make([]os.FileInfo, len(l.Files))
	for i := range l.Files {
		f := &l.Files[i]
		root := roots.of(*f)
		if f.Before, p.stats[i], err = keepState(root, string(f.Path), p.before(i)); err != nil {
			return fmt.Errorf("copy %s: %w", f.Path, err)
		}
		if !f.Git {
			noteDirs(root, string(f.Path), dirs)
		}
	}
	for path, mode := range dirs {
		l.Dirs = append(l.Dirs, LandedDir{Path: Path(path), Mode: mode})
	}
	slices.SortFunc(l.Dirs, func(a, b LandedDir) int { return strings.Compare(string(a.Path), string(b.Path)) })
	if len(l.Files) > syncEach {
		unix.Sync()
	}
	return nil
}

// modeNone is git's mode of a file that is not there.
const modeNone = "000000"

// syncEach is up to how many copies each is forced onto the disk; more of them at once (sync(2)).
const syncEach = 500

func (p *LandPlan) before(i int) string { return filepath.Join(p.keep, "before", strconv.Itoa(i)) }

// noteDirs records the directories above a path that there are.
func noteDirs(root *os.Root, path string, dirs map[string]uint32) {
	for dir := filepath.Dir(path); dir != "."; dir = filepath.Dir(dir) {
		if _, known := dirs[dir]; known {
			return
		}
		if info, err := root.Lstat(dir); err == nil && info.IsDir() {
			dirs[dir] = uint32(info.Mode().Perm())
		}
	}
}

// roots are the two directories that a landing writes in, held open.
type roots struct{ work, git *os.Root }

func openRoots(l *Landed) (roots, error) {
	work, err := os.OpenRoot(l.Root)
	if err != nil {
		return roots{}, err
	}
	git, err := os.OpenRoot(l.GitDir)
	if err != nil {
		work.Close()
		return roots{}, err
	}
	return roots{work, git}, nil
}

func (r roots) close() { r.work.Close(); r.git.Close() }

func (r roots) of(f LandedFile) *os.Root {
	if f.Git {
		return r.git
	}
	return r.work
}

// keepState returns how a file is, and copies its bytes to a file when that is named. Nothing, a directory, and a path below
// something that is no directory count as no file.
func keepState(root *os.Root, path, copyTo string) (FileState, os.FileInfo, error) {
	info, err := lstatBeneath(root, path)
	if err != nil || info == nil || info.IsDir() {
		return FileState{}, nil, err
	}
	s := FileState{Mode: uint32(info.Mode().Perm()), Time: info.ModTime()}
	var src io.Reader
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := root.Readlink(filepath.FromSlash(path))
		if err != nil {
			return FileState{}, nil, err
		}
		s.Kind, src = "link", strings.NewReader(to)
	case info.Mode().IsRegular():
		f, err := root.OpenFile(filepath.FromSlash(path), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
		if err != nil {
			return FileState{}, nil, err
		}
		defer f.Close()
		if opened, err := f.Stat(); err != nil || !os.SameFile(opened, info) {
			return FileState{}, nil, errors.Join(ErrBusy, err)
		}
		s.Kind, src = "file", f
	default:
		return FileState{}, nil, &UnkeepableError{Paths: []string{path}}
	}
	s.Sum, err = copyHashed(src, copyTo)
	return s, info, err
}

// lstatBeneath is Lstat of a path whose parents are directories and no links; nil when there is none.
func lstatBeneath(root *os.Root, path string) (os.FileInfo, error) {
	for i, c := range path {
		if c != '/' {
			continue
		}
		info, err := root.Lstat(filepath.FromSlash(path[:i]))
		if absent(err) || err == nil && !info.IsDir() {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
	info, err := root.Lstat(filepath.FromSlash(path))
	if absent(err) {
		return nil, nil
	}
	return info, err
}

// absent reports whether an error says that there is no such file.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR)
}

// copyHashed returns the SHA-256 of what src has, and writes it to a new file, "" for none.
func copyHashed(src io.Reader, to string) (string, error) {
	h := sha256.New()
	if to == "" {
		_, err := io.Copy(h, src)
		return hex.EncodeToString(h.Sum(nil)), err
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(io.MultiWriter(h, f), src)
	if n, e := strconv.Atoi(filepath.Base(to)); err == nil && (e != nil || n < syncEach) {
		err = f.Sync()
	}
	return hex.EncodeToString(h.Sum(nil)), errors.Join(err, f.Close())
}

// copySum copies a regular file with its time and returns the SHA-256 of its bytes; "" and no copy when there is none.
func copySum(from, to string) (string, error) {
	err := copyFile(from, to)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return sumOf(to)
}

// sumOf returns the SHA-256 of a regular file; "" when there is none.
func sumOf(path string) (string, error) {
	f, err := openRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	return copyHashed(f, "")
}

// checkOverlap returns *OverlapError when the landing would overwrite something that is in no commit.
func (p *LandPlan) checkOverlap(ctx context.Context, ps *scratch, how LandHow) error {
	out, err := ps.run(ctx, call{args: []string{"status", "--porcelain=v2", "-z", "--untracked-files=no", "--ignore-submodules=all", "--no-ahead-behind", "--no-renames"}})
	if err != nil {
		return err
	}
	st, err := parseStatus(string(out))
	if err != nil {
		return err
	}
	if err := p.repo.dropSame(ctx, ps, &st); err != nil {
		return err
	}
	dirty, staged := map[string]bool{}, []string{}
	for _, f := range st.Files {
		dirty[f.Path] = true
		if f.Code[0] != '.' {
			staged = append(staged, f.Path)
		}
	}
	switch {
	case st.Conflicted > 0:
		return &UnfinishedError{Dir: p.Landed.Root, Operation: "merge"}
	case how == LandMerge && st.Staged > 0:
		return &OverlapError{Paths: staged, Staged: true}
	case st.Truncated:
		return &OverlapError{Paths: staged}
	}
	root, err := os.OpenRoot(p.Landed.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	var over []string
	for _, c := range p.Changes {
		taken, err := p.taken(root, c)
		if err != nil {
			return err
		}
		if dirty[c.Path] || taken {
			over = append(over, c.Path)
		}
	}
	if len(over) > 0 {
		return &OverlapError{Paths: over}
	}
	return nil
}

// taken reports whether something that is in no commit stands where a change goes: an untracked or ignored file, one in
// the place of a directory, files in a directory that a file replaces.
func (p *LandPlan) taken(root *os.Root, c LandChange) (bool, error) {
	if c.Gitlink() {
		return false, nil
	}
	for dir := filepath.Dir(c.Path); dir != "."; dir = filepath.Dir(dir) {
		info, err := lstatBeneath(root, dir)
		if err != nil {
			return false, err
		}
		if info != nil && !info.IsDir() && !p.remove[dir] {
			return true, nil
		}
	}
	info, err := lstatBeneath(root, c.Path)
	switch {
	case err != nil || info == nil:
		return false, err
	case info.IsDir():
		return othersIn(root, c.Path, p.remove)
	}
	return c.OldMode == modeNone, nil
}

// othersIn reports whether a directory holds anything but what is removed.
func othersIn(root *os.Root, dir string, remove map[string]bool) (bool, error) {
	found := false
	err := fs.WalkDir(root.FS(), filepath.FromSlash(dir), func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && !remove[filepath.ToSlash(path)] {
			found = true
			return fs.SkipAll
		}
		return err
	})
	return found, err
}

// stageFiles writes what the landing brings into a directory of ours, as git would check it out, without any filter.
func (p *LandPlan) stageFiles(ctx context.Context, ps *scratch, tree OID) error {
	stage := filepath.Join(p.keep, "stage")
	if err := os.MkdirAll(stage, 0o700); err != nil {
		return err
	}
	alone := *ps
	alone.work = stage
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(ps.dir, "index.stage")}
	if _, err := alone.run(ctx, call{args: []string{"read-tree", string(tree)}, env: env}); err != nil {
		return fmt.Errorf("read the merged files: %w", err)
	}
	var list strings.Builder
	for _, c := range p.Changes {
		if !c.Gitlink() && c.NewMode != modeNone {
			list.WriteString(c.Path + "\x00")
		}
	}
	if list.Len() > 0 {
		_, err := alone.run(ctx, call{args: []string{"checkout-index", "-z", "--force", "--ignore-skip-worktree-bits", "--stdin"}, env: env,
			stdin: strings.NewReader(list.String()), timeout: archiveTimeout})
		if err != nil {
			return fmt.Errorf("write the merged files: %w", err)
		}
	}
	return p.afterStates(stage, false)
}

// afterStates records how the staged files are. A file that was there keeps its permission bits, apart from those to
// execute it.
func (p *LandPlan) afterStates(stage string, git bool) error {
	root, err := os.OpenRoot(stage)
	if err != nil {
		return err
	}
	defer root.Close()
	for i := range p.Landed.Files {
		f := &p.Landed.Files[i]
		if f.Git != git || p.remove[string(f.Path)] && !git {
			continue
		}
		if f.After, _, err = keepState(root, string(f.Path), ""); err != nil {
			return err
		}
		if f.After.Kind == "" {
			return fmt.Errorf("git wrote no %q", string(f.Path))
		}
		if f.Before.Kind == "file" && f.After.Kind == "file" {
			exec := uint32(0)
			if f.After.Mode&0o100 != 0 {
				exec = f.Before.Mode & 0o444 >> 2 // whoever may read it
			}
			f.After.Mode = f.Before.Mode&^0o111 | exec
		}
	}
	return nil
}
