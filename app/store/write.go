package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"syscall"

	"github.com/google/renameio/v2"
)

// replace makes data the content of rel with mode 0600, whole and durable when it returns nil; on an error the old
// content is whole. The caller holds the lock of that file.
//
// renameio writes a temporary file in the data directory itself (with WithRoot always at the root, also for a file in a
// subdirectory), calls fsync on it and renames it; it removes it on an error. Added here: fsync of the directory, without which a
// power cut may undo the rename; and the class of the error. Temporary files of a crash go at Open (removeTemps).
func (s *Store) replace(rel string, data []byte) error {
	parent := path.Dir(rel)
	if err := s.mkdir(parent); err != nil {
		return classify(err)
	}
	f, err := renameio.NewPendingFile(rel, renameio.WithRoot(s.root), renameio.WithStaticPermissions(0o600))
	if err != nil {
		return classify(err)
	}
	if _, err := f.Write(data); err != nil {
		return classify(errors.Join(err, f.Cleanup()))
	}
	if err := f.CloseAtomicallyReplace(); err != nil {
		return classify(errors.Join(err, f.Cleanup()))
	}
	return classify(syncDir(s.root, parent))
}

// remove deletes rel durably. One that is absent is no error.
func (s *Store) remove(rel string) error {
	err := s.root.Remove(rel)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return classify(err)
	}
	return classify(syncDir(s.root, path.Dir(rel)))
}

// syncDir makes the names in a directory durable.
func syncDir(root *os.Root, rel string) error {
	d, err := root.Open(rel)
	if err != nil {
		return err
	}
	defer d.Close()
	// fsync(2): EINVAL means that this file system cannot do it for a directory. There is nothing better to call then.
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) {
		return fmt.Errorf("sync directory: %w", err)
	}
	return nil
}

// removeTemps deletes what writes of a killed instance left. It needs the lock. Only the data directory itself is
// looked at (see replace) and only names that replace makes, should somebody have pointed us at a directory in use.
func removeTemps(root *os.Root) error {
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	entries, err := d.ReadDir(-1)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !tempName.MatchString(e.Name()) {
			continue
		}
		if err := root.Remove(e.Name()); err != nil {
			return err
		}
	}
	return nil
}
