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

// attach mounts a detached tree on a path of the cage, and closes it. On the stage's own file systems, which nobody else
// can reach, the mount point is new: it is made and named, and needs no look at what it is.
func (r *root) attach(tree int, name string, dir bool) error {
	defer unix.Close(tree)
	parent, err := r.parent(name)
	if err != nil {
		return err
	}
	if r.lastOwn {
		switch err := makeEntry(parent, path.Base(name), dir); err {
		case nil:
			if err := unix.MoveMount(tree, "", parent, path.Base(name), unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
				return fmt.Errorf("mount on %q: %w", name, err)
			}
			return nil
		case unix.EEXIST:
		default:
			return fmt.Errorf("mount point %q: %w", name, err)
		}
	}
	at, err := r.mountPoint(name, dir)
	if err != nil {
		return err
	}
	defer unix.Close(at)
	return attachAt(tree, at, name)
}

func makeEntry(dir int, name string, isDir bool) error {
	if isDir {
		return unix.Mkdirat(dir, name, 0o755)
	}
	return unix.Mknodat(dir, name, unix.S_IFREG|0o444, 0)
}

// mountPoint opens a path of the cage's root to mount on. What is missing is made, but only on file systems that the
// stage itself made: nothing is ever made on the host.
func (r *root) mountPoint(name string, dir bool) (int, error) {
	at, err := r.parent(name)
	if err != nil {
		return -1, err
	}
	fd, err := r.enterOrMake(at, path.Base(name), dir)
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
// systems. The handle is r's, which keeps the last one: mounts come in an order in which neighbours have the same, and
// in which nothing is mounted over a directory once something lies below it.
func (r *root) parent(name string) (int, error) {
	dir := path.Dir(name)
	if dir == r.lastDir {
		return r.last, nil
	}
	at, err := unix.FcntlInt(uintptr(r.new), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("duplicate root: %w", err)
	}
	for _, element := range strings.Split(strings.Trim(dir, "/"), "/") {
		if element == "" {
			continue
		}
		next, err := r.enterOrMake(at, element, true)
		_ = unix.Close(at)
		if err != nil {
			return -1, fmt.Errorf("directory of %q: %w", name, err)
		}
		at = next
	}
	id, _, err := identify(at)
	if err != nil {
		_ = unix.Close(at)
		return -1, err
	}
	r.forget()
	r.last, r.lastDir, r.lastOwn = at, dir, r.made[id.dev]
	return at, nil
}

// forget closes the directory that parent keeps.
func (r *root) forget() {
	if r.lastDir != "" {
		_ = unix.Close(r.last)
		r.lastDir = ""
	}
}

// enterOrMake opens an entry of a directory of the cage, and makes it first where that may be done.
func (r *root) enterOrMake(dir int, name string, isDir bool) (int, error) {
	fd, err := openBeneath(dir, name)
	if !os.IsNotExist(err) {
		return fd, err
	}
	if err := r.ours(dir); err != nil {
		return -1, err
	}
	if err := makeEntry(dir, name, isDir); err != nil {
		return -1, err
	}
	return openBeneath(dir, name)
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
