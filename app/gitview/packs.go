//go:build unix

package gitview

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"golang.org/x/sys/unix"
)

// packFileRE are the files that index-pack makes; nothing else is moved.
var packFileRE = regexp.MustCompile(`^pack-(?:[0-9a-f]{40}|[0-9a-f]{64})\.(pack|rev|idx)$`)

// movePacks moves what index-pack made into a project's pack directory. The index comes last, since a git that runs
// there sees a pack by its index. A pack that is there already has the same contents: its name is their hash.
func movePacks(from, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, suffix := range []string{"pack", "rev", "idx"} {
		for _, e := range entries {
			if m := packFileRE.FindStringSubmatch(e.Name()); m == nil || m[1] != suffix || !e.Type().IsRegular() {
				continue
			}
			if err := moveFile(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
				return err
			}
		}
	}
	dir, err := os.Open(to)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

// moveFile renames, or where the quarantine is on another file system copies to a temporary name (git removes old
// files that begin with "tmp_") and renames that.
func moveFile(from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return os.Remove(from)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Chmod(from, 0o444); err != nil { // as git has it
		return err
	}
	err := os.Rename(from, to)
	if !errors.Is(err, unix.EXDEV) {
		return err
	}
	return copyAcross(from, to)
}

func copyAcross(from, to string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	half := filepath.Join(filepath.Dir(to), "tmp_termic_"+rand.Text())
	dst, err := os.OpenFile(half, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	if err == nil {
		err = dst.Chmod(0o444)
	}
	if err == nil {
		err = dst.Sync()
	}
	if e := dst.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(half, to)
	}
	if err != nil {
		return errors.Join(err, os.Remove(half))
	}
	return os.Remove(from)
}
