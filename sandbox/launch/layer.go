package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// RemoveLayer deletes the directories of a cache's layer, after the end of the cage. Overlayfs leaves a directory in
// work that not even its owner may enter, which defeats other ways to delete it. What is in a layer was written by the
// cage: it may be deleted, and nothing else.
func RemoveLayer(upper, work string) error {
	if err := unlock(work); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove layer: %w", err)
	}
	for _, dir := range []string{work, upper} {
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("remove layer: %w", err)
		}
	}
	return nil
}

func unlock(work string) error {
	root, err := os.OpenRoot(work)
	if err != nil {
		return err
	}
	defer root.Close()
	return root.Chmod("work", 0o700)
}
