package stage

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// procReadOnly are the parts of /proc through which the machine can be changed. To the kernel, a cage of root is
// their owner: only the mount keeps them.
var procReadOnly = []string{"sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi"}

// procMasked are the files of /proc that show memory, or timers and keys of every process of the machine.
var procMasked = []string{"kcore", "kmsg", "keys", "key-users", "timer_list", "sched_debug", "kallsyms", "kpagecount", "kpageflags",
	"kpagecgroup", "slabinfo", "vmallocinfo", "iomem", "ioports"}

// proc mounts a /proc that shows the cage's processes only.
func (r *root) proc() error {
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
	for _, name := range procReadOnly {
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
