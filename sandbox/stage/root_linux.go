package stage

import (
	"errors"
	"fmt"
	"os"
	"path"

	"golang.org/x/sys/unix"

	"termic/sandbox/linuxcage"
)

// Attributes of mounts. No set-user-id program gains anything in a cage, and no device is one, but in /dev.
const (
	attrWrite = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	attrRead  = attrWrite | unix.MOUNT_ATTR_RDONLY
)

// root is the cage's root while it is built.
type root struct {
	old, new int             // handles on the host's root and on the cage's
	made     map[uint64]bool // devices of the file systems that the stage made
	late     []int           // file systems that become read-only when everything is in its place
	last     int             // see parent
	lastDir  string          //
	lastOwn  bool            // it is on a file system that the stage made
	mask     int             // a file without content and permissions
	caches   []Cache
	locks    []int                 // of overlays: held as long as the cage lives
	bounded  bool                  // the kernel bounds the processes and threads of the PID namespace
	absent   map[string][]identity // what the host has at the paths where the cage has something else
}

// buildRoot replaces the process's root by the plan's. The new one is mounted over the old, which every handle
// opened before still shows: so each source is opened on the host as the host is, and each mount point in the cage.
func buildRoot(plan linuxcage.Plan) (*root, error) {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return nil, step(StepPrivate, err)
	}
	r := &root{made: map[uint64]bool{}, absent: map[string][]identity{}}
	var err error
	if r.old, err = unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
		return nil, step(StepRoot, err)
	}
	if r.new, err = r.newTmpfs("/", "0755", "4m", attrWrite); err != nil {
		return nil, step(StepPrivate, err)
	}
	if err := unix.MoveMount(r.new, "", unix.AT_FDCWD, "/", unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return nil, step(StepPrivate, fmt.Errorf("attach root: %w", err))
	}
	r.late = append(r.late, r.new)
	for _, part := range []struct {
		step string
		do   func() error
	}{
		{StepRoot, r.makeMask},
		{StepRoot, func() error { return r.mounts(plan.Mounts) }},
		{StepProc, func() error { return r.proc(plan.Processes) }},
		{StepDev, r.dev},
		{StepAttest, func() error { return r.remember(plan.Attest.Replaced) }},
		{StepPivot, r.enter},
	} {
		if err := part.do(); err != nil {
			return nil, step(part.step, err)
		}
	}
	return r, nil
}

// newTmpfs makes a file system in memory, not yet attached.
func (r *root) newTmpfs(name, mode, size string, attr int) (int, error) {
	fd, err := newFS("tmpfs", attr, [2]string{"mode", mode}, [2]string{"size", size})
	if err != nil {
		return -1, fmt.Errorf("private directory %q: %w", name, err)
	}
	id, _, err := identify(fd)
	if err != nil {
		return -1, err
	}
	r.made[id.dev] = true
	return fd, nil
}

// newFS makes a file system with its options and returns a handle on its root.
func newFS(kind string, attr int, options ...[2]string) (int, error) {
	fs, err := unix.Fsopen(kind, unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("open %s: %w", kind, err)
	}
	defer unix.Close(fs)
	for _, option := range options {
		if option[1] == "" {
			err = unix.FsconfigSetFlag(fs, option[0])
		} else {
			err = unix.FsconfigSetString(fs, option[0], option[1])
		}
		if err != nil {
			return -1, fmt.Errorf("set %s of %s: %w%s", option[0], kind, err, complaint(fs))
		}
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, fmt.Errorf("create %s: %w%s", kind, err, complaint(fs))
	}
	fd, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, attr)
	if err != nil {
		return -1, fmt.Errorf("mount %s: %w", kind, err)
	}
	return fd, nil
}

// complaint is what the kernel says about a file system that it refused, if it says anything.
func complaint(fs int) string {
	text := make([]byte, 512)
	n, err := unix.Read(fs, text)
	if err != nil || n == 0 {
		return ""
	}
	return fmt.Sprintf(" (%q)", text[:n])
}

func attachAt(tree, at int, name string) error {
	if err := unix.MoveMount(tree, "", at, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH); err != nil {
		return fmt.Errorf("mount on %q: %w", name, err)
	}
	return nil
}

// copyTree returns a detached copy of what is mounted at a handle, with all below it.
func copyTree(source int, attr uint64) (int, error) {
	tree, err := unix.OpenTree(source, "", unix.AT_EMPTY_PATH|unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return -1, fmt.Errorf("copy mount: %w", err)
	}
	if err := unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: attr}); err != nil {
		_ = unix.Close(tree)
		return -1, fmt.Errorf("set attributes of mount: %w", err)
	}
	return tree, nil
}

// makeMask makes the file that is mounted over secrets. It lies where /proc will be, so no path leads to it.
func (r *root) makeMask() error {
	for _, dir := range []string{"proc", "dev"} {
		if err := unix.Mkdirat(r.new, dir, 0o555); err != nil {
			return fmt.Errorf("make /%s: %w", dir, err)
		}
	}
	fd, err := unix.Openat(r.new, "proc/none", unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("make mask: %w", err)
	}
	_ = unix.Close(fd) // nothing was written to it
	r.mask, err = openBeneath(r.new, "/proc/none")
	return err
}

func (r *root) mounts(mounts []linuxcage.Mount) error {
	for _, m := range mounts {
		var err error
		switch m.Kind {
		case linuxcage.Bind:
			err = r.bind(m.Source, m.Path, m.Write, m.File)
		case linuxcage.Private:
			err = r.private(m)
		case linuxcage.Mask:
			err = r.cover(m)
		case linuxcage.Link:
			err = r.link(m)
		case linuxcage.Overlay:
			err = r.cache(m)
		default:
			err = fmt.Errorf("unknown kind %q", m.Kind)
		}
		if err != nil {
			return fmt.Errorf("%s %q: %w", m.Kind, m.Path, err)
		}
	}
	return nil
}

// bind shows a file or directory of the host. The attributes are set before it is attached.
func (r *root) bind(source, name string, write, file bool) error {
	from, err := openBeneath(r.old, source)
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	defer unix.Close(from)
	_, kind, err := identify(from)
	if err != nil {
		return err
	}
	if want := map[bool]uint32{true: unix.S_IFREG, false: unix.S_IFDIR}[file]; kind != want {
		return fmt.Errorf("source %q is of kind %#o, not %#o as planned: %w", source, kind, want, unix.EINVAL)
	}
	attr := uint64(attrRead)
	if write {
		attr = attrWrite
	}
	tree, err := copyTree(from, attr)
	if err != nil {
		return err
	}
	return r.attach(tree, name, !file)
}

func (r *root) private(m linuxcage.Mount) error {
	tree, err := r.newTmpfs(m.Path, fmt.Sprintf("%o", m.Mode), m.Size, attrWrite)
	if err != nil {
		return err
	}
	return r.attach(tree, m.Path, true)
}

// cover hides what a mount above shows: a file by one without content, a directory by an empty one, in which other
// mounts of the plan may lie.
func (r *root) cover(m linuxcage.Mount) error {
	if m.File {
		tree, err := copyTree(r.mask, attrRead|unix.MOUNT_ATTR_NOEXEC)
		if err != nil {
			return err
		}
		return r.attach(tree, m.Path, false)
	}
	tree, err := r.newTmpfs(m.Path, "0555", "64k", attrWrite)
	if err != nil {
		return err
	}
	keep, err := unix.FcntlInt(uintptr(tree), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return err
	}
	r.late = append(r.late, keep)
	return r.attach(tree, m.Path, true)
}

func (r *root) link(m linuxcage.Mount) error {
	at, err := r.parent(m.Path)
	if err != nil {
		return err
	}
	if err := r.ours(at); err != nil {
		return err
	}
	return unix.Symlinkat(m.Target, at, path.Base(m.Path))
}

// remember notes what the host has at the paths where the cage must have something else, to know it again.
func (r *root) remember(names []string) error {
	for _, name := range names {
		fd, err := openBeneath(r.old, name)
		if err != nil {
			// Nothing there, or a link on the way: the profile names where it leads, too.
			if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) || errors.Is(err, unix.EACCES) {
				continue
			}
			return err
		}
		id, _, err := identify(fd)
		_ = unix.Close(fd)
		if err != nil {
			return err
		}
		r.absent[name] = append(r.absent[name], id)
	}
	return nil
}

// enter makes the cage's own file systems read-only and its root the process's, and lets go of the host's.
func (r *root) enter() error {
	r.forget()
	for _, fd := range r.late {
		if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: attrRead}); err != nil {
			return fmt.Errorf("make read-only: %w", err)
		}
	}
	if err := unix.Fchdir(r.new); err != nil {
		return fmt.Errorf("enter new root: %w", err)
	}
	// Both the same: the old root comes to lie over the new one, and is taken off; pivot_root(2), NOTES.
	if err := unix.PivotRoot(".", "."); err != nil {
		return os.NewSyscallError("pivot_root", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("let go of the old root: %w", err)
	}
	if err := unix.Chdir("/"); err != nil {
		return fmt.Errorf("enter new root: %w", err)
	}
	closeAll(append(r.late, r.old, r.mask))
	return nil
}
