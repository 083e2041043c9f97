package git

import (
	"os"

	"golang.org/x/sys/unix"
)

// exchange makes two names of a directory change places in one step (renameatx_np(2), RENAME_SWAP).
func exchange(dir *os.File, a, b string) error {
	return unix.RenameatxNp(int(dir.Fd()), a, int(dir.Fd()), b, unix.RENAME_SWAP)
}

// renameNew renames to a name that nothing has; fs.ErrExist otherwise.
func renameNew(dir *os.File, from, to string) error {
	return unix.RenameatxNp(int(dir.Fd()), from, int(dir.Fd()), to, unix.RENAME_EXCL)
}
