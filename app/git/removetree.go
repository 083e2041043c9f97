package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// RemoveTree removes dir and everything below it. No link is followed: each directory is opened in the one that it was
// seen in, and nothing is removed of another file system (ErrMounted) or of a directory that took its place (ErrOther).
// Directories that their owner made unwritable (module caches) are opened first. One that is not there is no error.
func RemoveTree(dir string) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return removeTree(dir, info)
}

// removeTree is RemoveTree if dir still is what was seen there.
func removeTree(dir string, seen fs.FileInfo) error {
	parent, err := os.OpenRoot(filepath.Dir(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer parent.Close()
	now, err := parent.Lstat(filepath.Base(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !os.SameFile(now, seen) {
		return fmt.Errorf("%s: %w", dir, ErrOther)
	}
	return removeIn(parent, filepath.Base(dir), now, deviceOf(now))
}

// removeIn removes one entry of an open directory. It goes on after a failure, so that as little as can be is left, and
// returns the first.
func removeIn(parent *os.Root, name string, info fs.FileInfo, device uint64) error {
	if !info.IsDir() {
		return gone(parent.Remove(name))
	}
	if deviceOf(info) != device {
		return fmt.Errorf("%s: %w", filepath.Join(parent.Name(), name), ErrMounted)
	}
	if info.Mode().Perm()&0o700 != 0o700 {
		if err := parent.Chmod(name, 0o700); err != nil {
			return gone(err)
		}
	}
	inner := emptyIn(parent, name, info, device)
	if inner != nil {
		return inner
	}
	return gone(parent.Remove(name))
}

// emptyIn removes everything in a directory.
func emptyIn(parent *os.Root, name string, info fs.FileInfo, device uint64) error {
	dir, err := parent.OpenRoot(name)
	if err != nil {
		return gone(err)
	}
	defer dir.Close()
	if now, err := dir.Stat("."); err != nil || !os.SameFile(now, info) {
		return errors.Join(err, fmt.Errorf("%s: %w", filepath.Join(parent.Name(), name), ErrOther))
	}
	list, err := dir.Open(".")
	if err != nil {
		return err
	}
	names, err := list.Readdirnames(-1)
	list.Close()
	for _, n := range names {
		entry, e := dir.Lstat(n)
		if e == nil {
			e = removeIn(dir, n, entry, device)
		}
		if e := gone(e); err == nil {
			err = e
		}
	}
	return err
}

// gone forgives that something is not there any more: somebody else was faster.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// deviceOf is the file system that something is in.
func deviceOf(info fs.FileInfo) uint64 {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	return uint64(st.Dev) //nolint:unconvert // an int32 on other systems
}
