package stage

import (
	"fmt"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// noLinks is how every path is opened while the cage is built: beneath a held directory, and through no symbolic
// link. A link that an earlier run planted leads nowhere.
const noLinks = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS

// openBeneath opens a path below a directory as a handle (O_PATH). name is absolute, and means below root.
func openBeneath(root int, name string) (int, error) {
	rel := strings.TrimPrefix(path.Clean(name), "/")
	if rel == "" {
		rel = "."
	}
	for {
		fd, err := unix.Openat2(root, rel, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW, Resolve: noLinks})
		if err == unix.EAGAIN || err == unix.EINTR { // a rename somewhere raced with the walk; openat2(2)
			continue
		}
		if err != nil {
			return -1, &os.PathError{Op: "open", Path: name, Err: err}
		}
		return fd, nil
	}
}

// identity is a file, whatever it is called.
type identity struct{ dev, ino uint64 }

func identify(fd int) (identity, uint32, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return identity{}, 0, fmt.Errorf("stat: %w", err)
	}
	return identity{st.Dev, st.Ino}, st.Mode & unix.S_IFMT, nil
}

// mountPoint opens a path of the cage's root to mount on. What is missing is made, but only on file systems that the
// stage itself made: nothing is ever made on the host.
func (r *root) mountPoint(name string, dir bool) (int, error) {
	at, err := r.parent(name)
	if err != nil {
		return -1, err
	}
	base := path.Base(name)
	fd, err := openBeneath(at, base)
	if os.IsNotExist(err) {
		if err = r.ours(at); err == nil {
			err = makeEntry(at, base, dir)
		}
		if err == nil {
			fd, err = openBeneath(at, base)
		}
	}
	_ = unix.Close(at)
	if err != nil {
		return -1, fmt.Errorf("mount point %q: %w", name, err)
	}
	if _, kind, err := identify(fd); err != nil || (kind == unix.S_IFDIR) != dir || kind == unix.S_IFLNK {
		_ = unix.Close(fd)
		return -1, fmt.Errorf("mount point %q is of another kind than what is mounted there (%#o): %w", name, kind, unix.ENOTDIR)
	}
	return fd, nil
}

// parent opens the directory of a path of the cage's root, and makes it and those above on the cage's own file
// systems.
func (r *root) parent(name string) (int, error) {
	at, err := unix.FcntlInt(uintptr(r.new), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("duplicate root: %w", err)
	}
	for _, element := range strings.Split(strings.Trim(path.Dir(name), "/"), "/") {
		if element == "" {
			continue
		}
		next, err := openBeneath(at, element)
		if os.IsNotExist(err) {
			if err = r.ours(at); err == nil {
				err = makeEntry(at, element, true)
			}
			if err == nil {
				next, err = openBeneath(at, element)
			}
		}
		_ = unix.Close(at)
		if err != nil {
			return -1, fmt.Errorf("directory of %q: %w", name, err)
		}
		at = next
	}
	return at, nil
}

// ours returns an error for a directory that is not on a file system which the stage made.
func (r *root) ours(dir int) error {
	id, _, err := identify(dir)
	if err != nil {
		return err
	}
	if !r.made[id.dev] {
		return fmt.Errorf("it is missing on the host, where nothing is made: %w", unix.ENOENT)
	}
	return nil
}

func makeEntry(dir int, name string, isDir bool) error {
	if isDir {
		return unix.Mkdirat(dir, name, 0o755)
	}
	fd, err := unix.Openat(dir, name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0o444)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}
