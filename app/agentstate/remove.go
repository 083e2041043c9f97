package agentstate

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"termic/sandbox/launch"
)

// removeTree deletes what a cage wrote, without reading it. A cage can take its owner's rights from its directories, and
// module caches have none to write: they are given back first, which only an ordinary user needs.
func removeTree(name string) error {
	err := os.RemoveAll(name)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	if err := loosen(filepath.Dir(name), filepath.Base(name)); err != nil {
		return err
	}
	return os.RemoveAll(name)
}

// loosen gives the owner all rights on a directory and those below. It goes into nothing that is not a directory.
func loosen(parent, name string) error {
	root, err := os.OpenRoot(parent)
	if err != nil {
		return err
	}
	defer root.Close()
	info, err := root.Lstat(name)
	if err != nil || !info.IsDir() {
		return err
	}
	return loosenIn(root, name, info)
}

func loosenIn(root *os.Root, name string, info fs.FileInfo) error {
	if info.Mode().Perm()&0o700 != 0o700 {
		if err := root.Chmod(name, 0o700); err != nil {
			return err
		}
	}
	dir, err := root.OpenRoot(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	self, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer self.Close()
	for {
		entries, err := self.ReadDir(1024)
		if len(entries) == 0 {
			return ignoreEOF(err)
		}
		for _, entry := range entries {
			if !entry.IsDir() {
				continue
			}
			below, err := dir.Lstat(entry.Name())
			if err == nil {
				err = loosenIn(dir, entry.Name(), below)
			}
			if err != nil {
				return err
			}
		}
	}
}

// removeCaches deletes the layers of all caches of a task.
func removeCaches(dir string) error {
	entries, err := os.ReadDir(filepath.Join(dir, cacheDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var faults []error
	for _, entry := range entries {
		faults = append(faults, removeLayer(filepath.Join(dir, cacheDir, entry.Name())))
	}
	if err := errors.Join(append(faults, err)...); err != nil {
		return err
	}
	return os.RemoveAll(filepath.Join(dir, cacheDir))
}

func removeLayer(dir string) error {
	upper, work := filepath.Join(dir, "upper"), filepath.Join(dir, "work")
	err := launch.RemoveLayer(upper, work)
	if errors.Is(err, fs.ErrPermission) {
		if err = removeTree(upper); err == nil {
			err = launch.RemoveLayer(upper, work)
		}
	}
	return errors.Join(err, removeTree(dir))
}

// emptyDir deletes what is in a directory of ours.
func emptyDir(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, entry.Name())))
	}
	return err
}
