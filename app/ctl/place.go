package ctl

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/google/renameio/v2"
)

// maxSocketPath is the longest path that we bind. sun_path has 108 bytes on Linux and 104 on macOS, the final
// NUL included.
const maxSocketPath = 100

// ownerError says that a file or directory is another user's, or open to others.
type ownerError struct{ reason string }

func (e *ownerError) Error() string { return e.reason }

// socketPath returns where the socket of a data directory is bound, and whether that is outside of it.
func socketPath(dir string) (path string, outside bool, err error) {
	if path = filepath.Join(dir, socketName); len(path) <= maxSocketPath {
		return path, false, nil
	}
	sum := sha256.Sum256([]byte(dir))
	name := hex.EncodeToString(sum[:8]) + ".sock"
	for _, short := range shortDirs() {
		if path = filepath.Join(short, name); len(path) > maxSocketPath {
			continue
		}
		if err = os.Mkdir(short, 0o700); err == nil || errors.Is(err, fs.ErrExist) {
			err = checkPrivate(short, os.Lstat)
		}
		if err == nil {
			return path, true, nil
		}
	}
	return "", false, fmt.Errorf("find a short place for the socket of %s: %w", dir, err)
}

// shortDirs are the directories that may hold a socket whose own place is too long. /tmp is sticky, so nobody
// else can replace a directory there once it is ours; that it is ours is checked.
func shortDirs() []string {
	tmp := "/tmp/termic-" + strconv.Itoa(os.Geteuid())
	if runtime := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(runtime) {
		return []string{filepath.Join(runtime, "termic"), tmp}
	}
	return []string{tmp}
}

// checkPrivate returns nil when the directory is ours and closed to everyone else. stat is os.Lstat where a
// link must not stand in for it.
func checkPrivate(dir string, stat func(string) (fs.FileInfo, error)) error {
	info, err := stat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return &ownerError{dir + " is not a directory"}
	case !ours(info):
		return &ownerError{dir + " belongs to another user"}
	case info.Mode().Perm()&0o077 != 0:
		return &ownerError{fmt.Sprintf("%s is open to other users (mode %04o)", dir, info.Mode().Perm())}
	}
	return nil
}

func ours(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int64(stat.Uid) == int64(os.Geteuid())
}

// findSocket returns the path of the socket that the app listens on for this data directory. An error that
// matches fs.ErrNotExist means that nothing listens.
func findSocket(dir string) (string, error) {
	if err := checkPrivate(dir, os.Stat); err != nil {
		return "", err
	}
	path := filepath.Join(dir, socketName)
	recorded, err := readPrivate(filepath.Join(dir, pathName))
	if err == nil {
		path = strings.TrimSuffix(recorded, "\n")
		if !filepath.IsAbs(path) {
			return "", &ownerError{pathName + " does not hold an absolute path"}
		}
		if err := checkPrivate(filepath.Dir(path), os.Lstat); err != nil {
			return "", err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return path, checkSocket(path)
}

// checkSocket returns nil when path is a socket of ours.
func checkSocket(path string) error {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return &ownerError{path + " is not a socket"}
	case !ours(info):
		return &ownerError{path + " belongs to another user"}
	}
	return nil
}

// maxPrivate bounds the small files that we read: a path or a token.
const maxPrivate = 4096

// readPrivate returns the content of a small regular file that is ours and that nobody else may read.
func readPrivate(path string) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular(), !ours(info), info.Mode().Perm()&0o077 != 0:
		return "", &ownerError{path + " is not a private file of ours"}
	}
	data, err := io.ReadAll(io.LimitReader(f, maxPrivate))
	return string(data), err
}

// writePrivate makes text the content of a 0600 file, at once: a reader sees the old content or the new.
func writePrivate(path, text string) error {
	return renameio.WriteFile(path, []byte(text), 0o600, renameio.WithStaticPermissions(0o600),
		renameio.WithTempDir(filepath.Dir(path)))
}
