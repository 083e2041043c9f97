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
	"time"

	"golang.org/x/sys/unix"
)

// landStep, when set by a test, is told the name of each step of a landing and of its undoing before it is taken.
var landStep func(step string)

func step(name string) {
	if landStep != nil {
		landStep(name)
	}
}

// Apply makes the planned landing true. Landed must be on disk by then: from here on, whatever ends this process,
// UndoLanding brings everything back. On an error it has done so already, except that of *HalfError. It returns
// ErrIndexLocked, ErrIndexChanged, ErrRefMoved, *WrittenError when something of the main worktree changed since the plan was
// made, whenever that was: no file is overwritten that is not the one that was copied. ErrNoExchange where that cannot be had.
func (p *LandPlan) Apply(ctx context.Context) error {
	if err := p.apply(ctx); err != nil {
		return fmt.Errorf("land %s: %w", p.Landed.ID, err)
	}
	if p.Landed.How != LandBranch {
		p.repo.settleIndex(context.WithoutCancel(ctx), p.Landed.Root)
	}
	return nil
}

func (p *LandPlan) apply(ctx context.Context) error {
	l, r := &p.Landed, p.repo
	if l.How == LandBranch {
		step("branch")
		unlock, err := repoLocks.lock(ctx, r.CommonDir)
		if err != nil {
			return err
		}
		defer unlock()
		if err := r.checkFree(ctx, l.New); err != nil {
			return err
		}
		return r.SetRef(ctx, "refs/heads/"+l.New, l.NewHead, "")
	}
	unlock, err := l.lockIndex(ctx, p.keep, l.IndexAfterSum)
	if err != nil {
		return err
	}
	defer unlock()
	step("locked")
	if err := p.stillThere(ctx); err != nil {
		return err
	}
	roots, err := openRoots(l)
	if err != nil {
		return err
	}
	defer roots.close()
	err = p.write(roots)
	if err == nil && p.mergeTo != "" {
		step("head")
		err = r.moveHead(ctx, p.mergeTo, l.Head, "termic: merge "+l.ID)
	}
	if err == nil && l.IndexAfterSum != "" {
		step("index")
		err = os.Rename(filepath.Join(l.GitDir, "index.lock"), filepath.Join(l.GitDir, "index"))
	}
	if err != nil {
		// What was begun is brought back whole, though whoever asked may be gone.
		return errors.Join(err, p.takeBack(context.WithoutCancel(ctx), roots))
	}
	step("done")
	return errors.Join(os.RemoveAll(filepath.Join(p.keep, "stage")), os.RemoveAll(filepath.Join(p.keep, "stage.git")))
}

// takeBack brings back what an interrupted apply replaced. What somebody changed meanwhile stays; *HalfError names it when it
// had been replaced already, so that there is something left to bring back.
func (p *LandPlan) takeBack(ctx context.Context, roots roots) error {
	l := p.Landed
	l.lateWrites(p.keep)
	done, err := p.repo.bringBack(ctx, &l, p.keep, roots, p.written)
	var half []string
	for _, i := range done.left {
		half = append(half, string(l.Files[i].Path))
	}
	if err != nil || len(half) > 0 {
		return &HalfError{Paths: half, Cause: err}
	}
	return nil
}

// moveHead moves HEAD, and the branch that it is on, in one step, if it is at old.
func (r *Repo) moveHead(ctx context.Context, to, old OID, why string) error {
	err := r.retryLocked(ctx, func() error {
		_, err := r.git.run(ctx, call{at: r.Root, write: true, config: refTimeouts,
			args: []string{"update-ref", "-m", why, "--end-of-options", "HEAD", string(to), string(old)}})
		return err
	})
	if err != nil {
		return fmt.Errorf("move HEAD: %w", refError(err))
	}
	return nil
}

// lockIndex holds the index of the main worktree, as any git does, and returns how to let go. What is in the lock says
// that it is ours: the index that is to be ("index.after" of the directory keep), else a line of our own. A lock that a
// process of ours left when it was killed is ours to take.
func (l *Landed) lockIndex(ctx context.Context, keep, content string) (func(), error) {
	own := filepath.Join(l.GitDir, "index.termic-"+l.Nonce)
	lock := filepath.Join(l.GitDir, "index.lock")
	if err := os.Remove(own); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var err error
	switch content {
	case "":
		err = os.WriteFile(own, []byte(l.lockLine()), 0o600)
	case l.IndexAfterSum:
		err = copyFile(filepath.Join(keep, "index.after"), own)
	default:
		err = copyFile(filepath.Join(keep, "index.before"), own)
	}
	if err != nil {
		return nil, fmt.Errorf("lock the index: %w", err)
	}
	defer os.Remove(own) //nolint:errcheck // the next one removes it
	if err := errors.Join(l.dropOwnLock(lock), dropDeadLocks(l.GitDir, lock)); err != nil {
		return nil, err
	}
	deadline := time.Now().Add(lockWait)
	for {
		// A link is made whole or not at all: a lock of ours always says that it is.
		if err = os.Link(own, lock); !errors.Is(err, fs.ErrExist) {
			break
		}
		if time.Now().After(deadline) {
			return nil, ErrIndexLocked
		}
		timer := time.NewTimer(retryFirst)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("lock the index: %w", err)
	}
	mode := os.FileMode(0o644)
	if info, err := os.Stat(filepath.Join(l.GitDir, "index")); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.Chmod(lock, mode); err != nil {
		return nil, errors.Join(err, os.Remove(lock))
	}
	return func() { l.dropOwnLock(lock) }, nil //nolint:errcheck // git names a lock that stays, with what to do
}

// lockWait is how long a git of the person's may hold the index: a commit takes less.
var lockWait = 5 * time.Second // a test makes it shorter

func (l *Landed) lockLine() string { return "termic " + l.ID + " " + l.Nonce + "\n" }

// dropOwnLock removes the lock if it is one of this landing.
func (l *Landed) dropOwnLock(lock string) error {
	sum, err := sumOf(lock)
	if err != nil || sum == "" {
		return err
	}
	line := sha256.Sum256([]byte(l.lockLine()))
	if sum == hex.EncodeToString(line[:]) || sum == l.IndexAfterSum || sum == l.IndexSum {
		return os.Remove(lock)
	}
	return nil
}

// stillThere returns an error unless HEAD, index and files are as they were when the plan was made.
func (p *LandPlan) stillThere(ctx context.Context) error {
	l := &p.Landed
	h, err := p.repo.readHead(ctx, l.GitDir)
	if err != nil {
		return err
	}
	if h.oid != l.Head || h.branch != l.At {
		return fmt.Errorf("HEAD: %w", ErrRefMoved)
	}
	sum, err := sumOf(filepath.Join(l.GitDir, "index"))
	if err != nil {
		return err
	}
	if sum != l.IndexSum {
		return ErrIndexChanged
	}
	return nil
}

// write replaces the files: first what goes, then what comes.
func (p *LandPlan) write(roots roots) error {
	l := &p.Landed
	p.written = make([]bool, len(l.Files))
	for _, i := range slices.Backward(l.order()) {
		f := l.Files[i]
		if f.After.Kind != "" || f.Before.Kind == "" {
			continue
		}
		if err := p.unchanged(roots.of(f), i); err != nil {
			return err
		}
		step("remove " + string(f.Path))
		err := l.removeFile(roots.of(f), i, p.seen(i), replaced(p.keep, i))
		p.written[i] = !errors.Is(err, ErrBusy) // that is somebody's, as they left it
		if err != nil {
			return fmt.Errorf("remove %s: %w", f.Path, err)
		}
	}
	for _, i := range l.order() {
		f := l.Files[i]
		if f.After.Kind == "" {
			continue
		}
		if err := p.unchanged(roots.of(f), i); err != nil {
			return err
		}
		from := filepath.Join(p.keep, "stage", filepath.FromSlash(string(f.Path)))
		if f.Git {
			from = filepath.Join(p.keep, "stage.git", string(f.Path))
		}
		if f.After.is(f.Before) && f.After.Mode == f.Before.Mode {
			continue // only what is staged of it changes
		}
		step("write " + string(f.Path))
		want := f.After
		want.Time = time.Time{} // it is written now
		err := l.putFile(roots.of(f), i, newFile{from: from, want: want}, p.seen(i), replaced(p.keep, i))
		p.written[i] = !errors.Is(err, ErrBusy)
		if err != nil {
			return fmt.Errorf("write %s: %w", f.Path, err)
		}
	}
	return nil
}

// seen is how a file was when it was copied.
func (p *LandPlan) seen(i int) seen { return seen{p.stats[i], p.Landed.Files[i].Before} }

// order returns the numbers of the files by path, so that what is in a directory comes after it.
func (l *Landed) order() []int {
	list := make([]int, len(l.Files))
	for i := range list {
		list[i] = i
	}
	slices.SortFunc(list, func(a, b int) int { return strings.Compare(string(l.Files[a].Path), string(l.Files[b].Path)) })
	return list
}

// unchanged returns ErrBusy when a file is not the one that was copied.
func (p *LandPlan) unchanged(root *os.Root, i int) error {
	path := string(p.Landed.Files[i].Path)
	info, err := lstatBeneath(root, path)
	if err != nil {
		return err
	}
	was := p.stats[i]
	switch {
	case was == nil && (info == nil || info.IsDir()):
		return nil
	case was != nil && info != nil && os.SameFile(was, info) && was.Size() == info.Size() && was.ModTime().Equal(info.ModTime()) && was.Mode() == info.Mode():
		return nil
	}
	return &WrittenError{Paths: []string{path}}
}

// attic is where a file goes that was replaced: the file itself, as far as it can be moved there, so that what a program
// that has it open still writes is kept too; else a copy, if it must be kept.
type attic struct {
	path string
	must bool
}

// replaced is the attic of a landing, which has a copy of each file already.
func replaced(keep string, i int) attic {
	return attic{path: filepath.Join(keep, "replaced", strconv.Itoa(i))}
}

// landed is that of an undoing.
func landed(keep string, i int) attic {
	return attic{path: filepath.Join(keep, "landed", strconv.Itoa(i)), must: true}
}

// removeFile removes file number i if it still is what was seen, and the directories above it that are empty then, as git
// does. What it removes is kept at to. It returns a WrittenError.
func (l *Landed) removeFile(root *os.Root, i int, was seen, to attic) error {
	path := string(l.Files[i].Path)
	p, err := openSpot(root, path)
	if absent(err) { // its directory went
		return &WrittenError{Paths: []string{path}}
	}
	if err != nil {
		return err
	}
	defer p.close()
	if err := p.setAside(l.aside(i), was); err != nil {
		return err
	}
	if err := p.retire(l.aside(i), to); err != nil {
		return err
	}
	removeEmptyDirs(root, path, func(string) bool { return false })
	return nil
}

// newFile is what a file is to be: the bytes of the file from, with the kind, mode and, unless it is zero, time of want.
type newFile struct {
	from string
	want FileState
	same bool // from is the very file, which is linked where that can be
}

// putFile puts a new file into the place of file number i in one step, if that still is what was seen. What it replaces is kept
// at to. It returns a WrittenError.
func (l *Landed) putFile(root *os.Root, i int, c newFile, was seen, to attic) error {
	path := string(l.Files[i].Path)
	if dir := filepath.Dir(filepath.FromSlash(path)); dir != "." {
		if err := root.MkdirAll(dir, 0o777); err != nil {
			return err
		}
	}
	p, err := openSpot(root, path)
	if absent(err) {
		return &WrittenError{Paths: []string{path}}
	}
	if err != nil {
		return err
	}
	defer p.close()
	half, aside := l.half(i), l.aside(i)
	if err := p.dir.Remove(half); err != nil && !absent(err) {
		return err
	}
	err = p.make(half, c)
	if err == nil && was.info == nil {
		err = p.putNew(half)
	} else if err == nil {
		err = p.replace(half, aside, was)
	}
	if err != nil {
		if e := p.dir.Remove(half); !absent(e) {
			err = errors.Join(err, e)
		}
		return err
	}
	if was.info == nil {
		return nil
	}
	return p.retire(aside, to)
}

// putNew gives a file of ours the place, where nothing is but perhaps an empty directory.
func (p spot) putNew(half string) error {
	if info, err := p.dir.Lstat(p.name); err == nil && info.IsDir() {
		if err := p.removeDir(); err != nil {
			return errors.Join(p.written(), err)
		}
	}
	step("place " + p.path)
	err := p.moveNew(half, p.name)
	if errors.Is(err, fs.ErrExist) {
		return p.written()
	}
	return err
}

// make makes the file half.
func (p spot) make(half string, c newFile) error {
	if c.same && unix.Linkat(unix.AT_FDCWD, c.from, int(p.fd.Fd()), half, 0) == nil {
		return nil
	}
	err := makeCopy(p.dir, half, c.from, c.want)
	if err == nil && c.want.Kind == "file" && !c.want.Time.IsZero() {
		err = p.dir.Chtimes(half, c.want.Time, c.want.Time)
	}
	return err
}

// retire takes away what was set aside.
func (p spot) retire(aside string, to attic) error {
	step("retire " + p.path)
	if err := os.MkdirAll(filepath.Dir(to.path), 0o700); err != nil {
		return err
	}
	moved := unix.Renameat(int(p.fd.Fd()), aside, unix.AT_FDCWD, to.path) == nil
	if !moved && to.must {
		if err := os.Remove(to.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := p.copyOut(aside, to.path); err != nil {
			return err
		}
	}
	// Where both were names of one file already, the rename did nothing (rename(2)).
	if err := p.dir.Remove(aside); err != nil && (!moved || !absent(err)) {
		return err
	}
	return nil
}

// copyOut copies a file or link to a path, with mode and time.
func (p spot) copyOut(name, to string) error {
	info, err := p.dir.Lstat(name)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		text, err := p.dir.Readlink(name)
		if err != nil {
			return err
		}
		return os.Symlink(text, to)
	}
	src, err := p.dir.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer src.Close()
	if _, err := copyHashed(src, to); err != nil {
		return err
	}
	return errors.Join(os.Chmod(to, info.Mode().Perm()), os.Chtimes(to, info.ModTime(), info.ModTime()))
}

// Beside file number i there are two names of ours. Half is what is being made: of no worth to anyone. Aside is a whole
// file: ours until the exchange, and then what was at the place, which may be somebody's (settle).
func (l *Landed) half(i int) string { return l.aside(i) + ".new" }

func (l *Landed) aside(i int) string { return ".termic-" + l.Nonce + "-" + strconv.Itoa(i) }

// makeCopy makes a new file like from. A link may come as one, or as a file that holds its text.
func makeCopy(root *os.Root, name, from string, want FileState) error {
	if want.Kind == "link" {
		to, err := os.Readlink(from)
		if errors.Is(err, unix.EINVAL) {
			var text []byte
			text, err = readSmall(from, 64<<10)
			to = string(text)
		}
		if err != nil {
			return err
		}
		return root.Symlink(to, name)
	}
	src, err := openRegular(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	if err == nil {
		err = dst.Chmod(os.FileMode(want.Mode))
	}
	return errors.Join(err, dst.Close())
}
