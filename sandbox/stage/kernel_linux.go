package stage

import (
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// procMasked are the files of /proc that show memory, or timers and keys of every process of the machine.
var procMasked = []string{"kcore", "kmsg", "keys", "key-users", "timer_list", "sched_debug", "kallsyms", "kpagecount", "kpageflags",
	"kpagecgroup", "slabinfo", "vmallocinfo", "iomem", "ioports"}

// proc mounts a /proc that shows the cage's processes only.
func (r *root) proc(processes int) error {
	// The parts are opened through the handle: on the path, /proc would still be the mount point below.
	proc, err := newFS("proc", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC)
	if err != nil {
		return err
	}
	at, err := openBeneath(r.new, "/proc")
	if err != nil {
		return err
	}
	defer unix.Close(at)
	if err := attachAt(proc, at, "/proc"); err != nil {
		return err
	}
	defer unix.Close(proc)
	if processes > 0 { // while what is below it can be written
		if r.bounded, err = limitPIDs(proc, processes); err != nil {
			return err
		}
	}
	names, err := r.machineParts(proc)
	if err != nil {
		return fmt.Errorf("list /proc: %w", err)
	}
	for _, name := range names {
		if err := r.procPart(proc, name, func(part int) (int, error) {
			return copyTree(part, attrRead|unix.MOUNT_ATTR_NOEXEC)
		}); err != nil {
			return err
		}
	}
	for _, name := range procMasked {
		if err := r.procPart(proc, name, func(int) (int, error) {
			return copyTree(r.mask, attrRead|unix.MOUNT_ATTR_NOEXEC)
		}); err != nil {
			return err
		}
	}
	return nil
}

// machineParts returns what of /proc is no process and could be written by its owner: every directory, and each file
// whose permissions say so. To the kernel, a cage of root is that owner, and only the mount keeps them; which there are
// depends on the kernel and its modules, so no list is.
func (r *root) machineParts(proc int) ([]string, error) {
	fd, err := unix.Openat(proc, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	dir := os.NewFile(uintptr(fd), "/proc")
	defer dir.Close()
	all, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var parts []string
	for _, name := range all {
		if name[0] >= '0' && name[0] <= '9' || slices.Contains(procMasked, name) {
			continue
		}
		var st unix.Stat_t
		if err := unix.Fstatat(proc, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		kind := st.Mode & unix.S_IFMT
		if kind == unix.S_IFDIR || kind != unix.S_IFLNK && st.Mode&0o222 != 0 {
			parts = append(parts, name)
		}
	}
	return parts, nil
}

// procPart covers one part of /proc, if this kernel has it.
func (r *root) procPart(proc int, name string, cover func(part int) (int, error)) error {
	part, err := openBeneath(proc, name)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(part)
	tree, err := cover(part)
	if err != nil {
		return fmt.Errorf("cover /proc/%s: %w", name, err)
	}
	defer unix.Close(tree)
	return attachAt(tree, part, "/proc/"+name)
}

// devices are those that programs need. None of them leads to hardware.
var devices = []string{"null", "zero", "full", "random", "urandom", "tty"}

// dev makes a /dev with those devices, terminals of the cage's own, and shared memory.
func (r *root) dev() error {
	dev, err := newFS("tmpfs", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC, [2]string{"mode", "0755"}, [2]string{"size", "64k"})
	if err != nil {
		return err
	}
	id, _, err := identify(dev)
	if err != nil {
		return err
	}
	r.made[id.dev] = true
	r.late = append(r.late, dev)
	at, err := openBeneath(r.new, "/dev")
	if err != nil {
		return err
	}
	defer unix.Close(at)
	if err := attachAt(dev, at, "/dev"); err != nil {
		return err
	}
	for _, name := range devices {
		if err := r.device(name); err != nil {
			return fmt.Errorf("device %s: %w", name, err)
		}
	}
	pts, err := newFS("devpts", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC, [2]string{"ptmxmode", "0666"}, [2]string{"mode", "0620"})
	if err != nil {
		return err
	}
	if err := r.attach(pts, "/dev/pts", true); err != nil {
		return err
	}
	shm, err := r.newTmpfs("/dev/shm", "1777", "25%", attrWrite)
	if err != nil {
		return err
	}
	if err := r.attach(shm, "/dev/shm", true); err != nil {
		return err
	}
	for name, target := range map[string]string{"ptmx": "pts/ptmx", "fd": "/proc/self/fd", "stdin": "/proc/self/fd/0",
		"stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"} {
		if err := unix.Symlinkat(target, dev, name); err != nil {
			return fmt.Errorf("link /dev/%s: %w", name, err)
		}
	}
	return nil
}

// device shows one character device of the host.
func (r *root) device(name string) error {
	from, err := openBeneath(r.old, "/dev/"+name)
	if err != nil {
		return err
	}
	defer unix.Close(from)
	if _, kind, err := identify(from); err != nil || kind != unix.S_IFCHR {
		return fmt.Errorf("it is of kind %#o: %w", kind, unix.ENODEV)
	}
	tree, err := copyTree(from, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC)
	if err != nil {
		return err
	}
	return r.attach(tree, "/dev/"+name, false)
}
