package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// What a file system can do with names. A test takes it away.
var (
	exchangeNames = exchange
	renameToNew   = renameNew
	linkToNew     = func(dir *os.File, from, to string) error {
		return unix.Linkat(int(dir.Fd()), from, int(dir.Fd()), to, 0)
	}
)

// ErrNoExchange is a file system on which a file cannot be replaced without a moment in which another program's change of
// it would be lost: it can neither exchange two names nor link a file.
var ErrNoExchange = errors.New("the file system can neither exchange names nor link files")

// WrittenError is ErrBusy with the files that somebody changed while they were about to be replaced. They are as
// they were left.
type WrittenError struct{ Paths []string }

func (e *WrittenError) Error() string {
	return fmt.Sprintf("changed at the same moment: %q", e.Paths[:min(len(e.Paths), 10)])
}

func (e *WrittenError) Is(target error) bool { return target == ErrBusy }

// seen is how a file was when it was looked at; the zero value is no file.
type seen struct {
	info  os.FileInfo
	state FileState
}

// look returns how a file is now.
func look(root *os.Root, path string) (seen, error) {
	state, info, err := keepState(root, path, "")
	return seen{info, state}, err
}

// still reports whether what has a name now, which may be another one, is the file that was seen, unchanged. A rename
// changes none of what is compared. The bytes are, since a time says nothing of two changes within one tick of the clock.
func (s seen) still(dir *os.Root, name string) (bool, error) {
	info, err := dir.Lstat(name)
	if absent(err) {
		return s.info == nil, nil
	}
	if err != nil {
		return false, err
	}
	if s.info == nil || !os.SameFile(s.info, info) || s.info.Size() != info.Size() || s.info.Mode() != info.Mode() || !s.info.ModTime().Equal(info.ModTime()) {
		return false, nil
	}
	state, _, err := keepState(dir, name, "")
	if errors.Is(err, ErrBusy) || errors.Is(err, ErrUnkeepable) {
		return false, nil
	}
	return err == nil && state.Kind == s.state.Kind && state.Sum == s.state.Sum, err
}

// spot is a name in a directory that is held open, whatever becomes of the directory's own name.
type spot struct {
	dir  *os.Root
	fd   *os.File // the same directory
	name string
	path string // for messages
}

// openSpot opens the directory of a path. One that is not there, or that a link or a file has taken the place of, is
// fs.ErrNotExist or ENOTDIR (absent).
func openSpot(root *os.Root, path string) (spot, error) {
	p := spot{name: filepath.Base(filepath.FromSlash(path)), path: path}
	parts := strings.Split(path, "/")
	for _, part := range append([]string{"."}, parts[:len(parts)-1]...) {
		from := p.dir
		if from == nil {
			from = root
		}
		next, err := openDirIn(from, part)
		p.close()
		if err != nil {
			return spot{}, err
		}
		p.dir = next
	}
	var err error
	if p.fd, err = p.dir.Open("."); err != nil {
		p.close()
		return spot{}, err
	}
	return p, nil
}

// openDirIn opens a directory of another one, and no link.
func openDirIn(dir *os.Root, name string) (*os.Root, error) {
	info, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, unix.ENOTDIR
	}
	in, err := dir.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if now, err := in.Stat("."); err != nil || !os.SameFile(now, info) {
		return nil, errors.Join(in.Close(), err, ErrBusy)
	}
	return in, nil
}

func (p *spot) close() {
	if p.dir != nil {
		p.dir.Close()
	}
	if p.fd != nil {
		p.fd.Close()
	}
	p.dir, p.fd = nil, nil
}

// written is the error of a place whose file somebody changed; beside names another version of it that is beside it.
func (p spot) written(beside ...string) error {
	paths := []string{p.path}
	for _, name := range beside {
		paths = append(paths, filepath.ToSlash(filepath.Join(filepath.Dir(p.path), name)))
	}
	return &WrittenError{Paths: paths}
}

// cannot reports whether an error says that the file system, or the kernel, cannot do a thing at all.
func cannot(err error) bool {
	return errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EOPNOTSUPP)
}

// moveNew gives a file a name that nothing has; fs.ErrExist otherwise.
func (p spot) moveNew(from, to string) error {
	err := renameToNew(p.fd, from, to)
	if !cannot(err) {
		return err
	}
	info, err := p.dir.Lstat(from)
	if err != nil {
		return err
	}
	if info.IsDir() { // renaming one replaces nothing but an empty directory
		return unix.Renameat(int(p.fd.Fd()), from, int(p.fd.Fd()), to)
	}
	err = linkToNew(p.fd, from, to)
	if cannot(err) || errors.Is(err, unix.EPERM) || errors.Is(err, unix.EMLINK) {
		return fmt.Errorf("%s: %w", p.path, ErrNoExchange)
	}
	if err != nil {
		return err
	}
	return p.dir.Remove(from) // both are names of one file
}

// setAside moves what is at the place to a name of ours, if it is what was seen there; else it is back, and the error is
// a WrittenError. Where it cannot go back, since somebody made another one at once, it stays under that name.
func (p spot) setAside(aside string, was seen) error {
	err := renameToNew(p.fd, p.name, aside)
	if cannot(err) {
		if err := p.canLink(aside); err != nil {
			return err
		}
		err = unix.Renameat(int(p.fd.Fd()), p.name, int(p.fd.Fd()), aside)
	}
	if absent(err) {
		return p.written()
	}
	if err != nil {
		return err
	}
	step("aside " + p.path)
	same, err := was.still(p.dir, aside)
	if err == nil && same {
		return nil
	}
	back := p.moveNew(aside, p.name)
	if errors.Is(back, fs.ErrExist) {
		return errors.Join(p.written(aside), err)
	}
	return errors.Join(p.written(), err, back)
}

// canLink returns ErrNoExchange unless files can be linked here: what was set aside could not be put back without
// the danger that something is overwritten. The name aside must be free.
func (p spot) canLink(aside string) error {
	try := aside + ".try"
	if err := p.dir.WriteFile(try, nil, 0o600); err != nil {
		return err
	}
	err := p.moveNew(try, aside)
	if err == nil {
		return p.dir.Remove(aside)
	}
	return errors.Join(err, p.dir.Remove(try))
}

// replace puts the file called with into the place of the one that was seen there, which is then called aside. If there is
// another one by now, or a changed one, it stays or comes back, and the error is a WrittenError.
func (p spot) replace(with, aside string, was seen) error {
	made, err := look(p.dir, with)
	if err != nil {
		return err
	}
	if err := p.moveNew(with, aside); err != nil {
		return err
	}
	step("exchange " + p.path)
	err = exchangeNames(p.fd, aside, p.name)
	if cannot(err) {
		return errors.Join(p.moveNew(aside, with), p.replaceByLink(with, aside, was))
	}
	if absent(err) {
		return errors.Join(p.written(), p.dir.Remove(aside))
	}
	if err != nil {
		return errors.Join(err, p.dir.Remove(aside))
	}
	step("exchanged " + p.path)
	same, err := was.still(p.dir, aside)
	if err == nil && same {
		return nil
	}
	return errors.Join(p.exchangeBack(aside, made), err)
}

// exchangeBack undoes an exchange that brought out what is not ours, and returns the WrittenError. made is what we put there.
func (p spot) exchangeBack(aside string, made seen) error {
	err := exchangeNames(p.fd, aside, p.name)
	if absent(err) { // somebody removed ours meanwhile
		err = p.moveNew(aside, p.name)
	}
	if err != nil {
		return errors.Join(p.written(aside), err)
	}
	step("exchanged back " + p.path)
	ours, err := made.still(p.dir, aside)
	if absent(err) || err == nil && ours {
		err = p.dir.Remove(aside)
		if absent(err) {
			err = nil
		}
		return errors.Join(p.written(), err)
	}
	// Two came within the moment. The younger one, or what was written into ours, keeps the place; the other is beside it.
	return errors.Join(p.written(aside), err, exchangeNames(p.fd, aside, p.name))
}

// replaceByLink is replace where names cannot be exchanged: for a moment nothing is at the place. What is made there
// meanwhile stays.
func (p spot) replaceByLink(with, aside string, was seen) error {
	if err := p.setAside(aside, was); err != nil {
		return err
	}
	step("linking " + p.path)
	err := p.moveNew(with, p.name)
	if errors.Is(err, fs.ErrExist) {
		return p.written()
	}
	return err
}

// removeDir removes a directory if it is empty. A file that took its place stays.
func (p spot) removeDir() error {
	return unix.Unlinkat(int(p.fd.Fd()), p.name, unix.AT_REMOVEDIR)
}

// removeEmptyDirs removes the directories above a path that are empty, as git does, except those that stay says.
func removeEmptyDirs(root *os.Root, path string, stays func(dir string) bool) {
	for dir := filepath.ToSlash(filepath.Dir(filepath.FromSlash(path))); dir != "." && !stays(dir); dir = filepath.ToSlash(filepath.Dir(dir)) {
		p, err := openSpot(root, dir)
		if absent(err) {
			continue // its parent may be there
		}
		if err != nil {
			return
		}
		err = p.removeDir()
		p.close()
		if err != nil && !absent(err) { // not empty
			return
		}
	}
}
