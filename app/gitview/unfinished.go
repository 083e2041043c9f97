//go:build unix

package gitview

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"termic/app/git"
)

// Unfinished returns the name of the operation that git has left unfinished in a private directory, "" for none. It looks
// at names only, beneath the directory: nothing is read, and what the agent plants there can at most claim one.
func Unfinished(private string) (string, error) {
	root, err := os.OpenRoot(private)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer root.Close()
	return git.Unfinished(func(name string) (bool, error) {
		_, err := root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
			return false, nil
		}
		return err == nil, err
	})
}
