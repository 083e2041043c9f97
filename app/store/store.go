// Package store is termic's data directory: who may touch it, one instance at a time, and files in it that are whole or absent.
//
// Every file is replaced, never edited: a reader or a crash sees the old content or the new one. What cannot be
// understood is moved aside and reported, and what a newer termic wrote is left alone; nothing is overwritten with
// defaults. The package knows nothing of what the files mean.
package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
	"syscall"
)

// Store is the data directory of the one running instance.
type Store struct {
	Layout
	root *os.Root
	lock *os.File

	open   sync.RWMutex // held shared by every write, so that Close waits for those that have begun
	closed bool

	mu       sync.Mutex // guards what follows
	files    map[string]*fileState
	problems []Problem
}

// Open creates dir with mode 0700 where it is missing (parents too), checks it, and takes the instance lock.
//
// ErrUnsafe when somebody else owns dir, when group or others may write it, or when it is a symbolic link: whoever can change
// the link chooses where tokens go, and the rules of cages name this path, not where it leads. Parents may be links.
// ErrLocked when another instance has it, ErrReadOnly and ErrNoSpace when it cannot be written.
// A mode that lets others look but not write is narrowed to 0700. Temporary files of a crash are removed.
func Open(dir string) (*Store, error) {
	s, err := open(dir)
	if err != nil {
		return nil, fmt.Errorf("open data directory: %w", err)
	}
	return s, nil
}

func open(dir string) (_ *Store, err error) {
	if err := create(dir); err != nil {
		return nil, err
	}
	root, err := openDir(dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			root.Close()
		}
	}()
	lock, err := takeLock(root, dir)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(narrow(root), removeTemps(root)); err != nil {
		lock.Close()
		return nil, classify(err)
	}
	return &Store{Layout: Layout{dir}, root: root, lock: lock, files: map[string]*fileState{}}, nil
}

// Close waits for writes that have begun, then gives up the lock. Later writes are ErrClosed. It may be called twice.
func (s *Store) Close() error {
	s.open.Lock()
	defer s.open.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	return errors.Join(releaseLock(s.lock), s.root.Close())
}

// writing returns the end of a write, or ErrClosed.
func (s *Store) writing() (done func(), err error) {
	s.open.RLock()
	if s.closed {
		s.open.RUnlock()
		return nil, ErrClosed
	}
	return s.open.RUnlock, nil
}

// Subdir creates a directory of the data directory with mode 0700, parents too, and returns its path.
func (s *Store) Subdir(elem ...string) (string, error) {
	rel, err := join(elem)
	if err != nil {
		return "", fmt.Errorf("create directory: %w", err)
	}
	done, err := s.writing()
	if err != nil {
		return "", fmt.Errorf("create directory %s: %w", rel, err)
	}
	defer done()
	if err := s.mkdir(rel); err != nil {
		return "", fmt.Errorf("create directory %s: %w", rel, classify(err))
	}
	return filepath.Join(s.dir, rel), nil
}

// mkdir creates rel and its parents durably; one that exists is left as it is.
func (s *Store) mkdir(rel string) error {
	if rel == "." {
		return nil
	}
	if fi, err := s.root.Stat(rel); err == nil && fi.IsDir() {
		return nil
	}
	parent := path.Dir(rel)
	if err := s.mkdir(parent); err != nil {
		return err
	}
	if err := s.root.Mkdir(rel, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(s.root, parent)
}

// create makes dir and its parents. The parents are not ours, yet nobody else has a use for them: XDG too says 0700.
func create(dir string) error {
	if !filepath.IsAbs(dir) {
		return fmt.Errorf("%s: %w", dir, ErrRelative)
	}
	if _, err := os.Lstat(dir); err == nil {
		return nil
	}
	return classify(os.MkdirAll(dir, 0o700))
}

// openDir opens an existing data directory that passes the checks named at Open. The checks are made on what was
// opened, not on what the path means a moment later.
func openDir(dir string) (*os.Root, error) {
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("%s: %w", dir, ErrRelative)
	}
	link, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	if link.Mode()&fs.ModeSymlink != 0 {
		return nil, &UnsafeError{dir, "is a symbolic link", "set " + EnvDir + " to the directory itself"}
	}
	if !link.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: syscall.ENOTDIR}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	self, err := root.Open(".")
	if err != nil {
		root.Close()
		return nil, err
	}
	defer self.Close()
	err = checkOwner(self, dir, 0o022)
	if err == nil {
		if fi, e := self.Stat(); e != nil || !os.SameFile(fi, link) {
			err = &UnsafeError{dir, "was replaced while it was opened", "find out by whom"}
		}
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return root, nil
}

// checkOwner returns an UnsafeError unless this user owns f and none of the permission bits in deny are set.
func checkOwner(f *os.File, name string, deny fs.FileMode) error {
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok || int(st.Uid) != os.Geteuid() {
		return &UnsafeError{name, "belongs to another user", "run termic as its owner, or set " + EnvDir + " to a directory of your own"}
	}
	perm := fi.Mode().Perm()
	if perm&deny == 0 {
		return nil
	}
	reason, remedy := "can be written by others", "check what is in it, then run: chmod 700 "+name
	if !fi.IsDir() {
		reason, remedy = "can be read or written by others", "remove it and restart termic"
	}
	return &UnsafeError{name, fmt.Sprintf("%s (mode %04o)", reason, perm), remedy}
}

// narrow takes from others what they may still do in our directory. Nobody could have written there (openDir), so
// nothing has to be looked at first.
func narrow(root *os.Root) error {
	fi, err := root.Stat(".")
	if err != nil || fi.Mode().Perm() == 0o700 {
		return err
	}
	return root.Chmod(".", 0o700)
}
