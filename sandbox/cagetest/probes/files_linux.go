package probes

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// reading makes probes of the ways to one file.
func reading(what string, file func(*World) string, root bool) []Probe {
	read := func(name func(*World) string) func(*World) error {
		return func(w *World) error {
			data, err := os.ReadFile(name(w))
			if err == nil && len(data) == 0 {
				return fmt.Errorf("%s is empty", name(w))
			}
			return err
		}
	}
	via := func(prefix string) func(*World) string { return func(w *World) string { return prefix + file(w) } }
	return []Probe{
		row(Files, what+", by its path", unix.ENOENT, root, read(file), false),
		row(Files, what+", through /proc/self/root", unix.ENOENT, root, read(via("/proc/self/root")), false),
		row(Files, what+", through /proc/thread-self", unix.ENOENT, root, read(via("/proc/thread-self/root")), false),
		row(Files, what+", through another process's root", unix.ENOENT, root, read(func(w *World) string { return fmt.Sprintf("/proc/%d/root%s", w.Victim, file(w)) }), false),
		row(Files, what+", upwards from the checkout", unix.ENOENT, root, read(func(w *World) string {
			return w.Checkout + strings.Repeat("/..", 20) + file(w)
		}), false),
		row(Files, what+", upwards from an open directory", unix.ENOENT, root, func(w *World) error { return upwards(w.Checkout, file(w)) }, false),
		row(Files, what+", through a planted link", unix.ENOENT, root, planted(file), false),
		row(Files, what+", through a planted link to its directory", unix.ENOENT, root, plantedDir(file), false),
		row(Files, what+", by a hard link", unix.ENOENT, root, func(w *World) error { return hardLink(w, file(w)) }, false),
		row(Files, what+", its description", unix.ENOENT, root, func(w *World) error { _, err := os.Lstat(file(w)); return err }, false),
		row(Files, what+", its name in its directory", unix.ENOENT, root, func(w *World) error { return listed(file(w)) }, false),
		row(Files, what+", by watching it", unix.ENOENT, root, func(w *World) error { return watch(file(w)) }, false),
		row(Files, what+", overwriting it", unix.ENOENT, root, func(w *World) error { return appendTo(file(w)) }, false),
	}
}

// files are ways to read what must not be there.
var files = func() []Probe {
	var all []Probe
	all = append(all, reading("a key", func(w *World) string { return w.Secret }, false)...)
	all = append(all, reading("the app's token", func(w *World) string { return w.Data }, false)...)
	all = append(all, reading("another task's file", func(w *World) string { return w.Other }, false)...)
	open := func(name string) func(*World) error {
		return func(*World) error {
			fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			return unix.Close(fd)
		}
	}
	return append(all,
		needs("/etc/shadow", user(unix.EACCES, row(Files, "passwords of the system", unix.ENOENT, true, open("/etc/shadow"), false))),
		needs("/proc/timer_list", row(Files, "timers of the machine", unix.EACCES, true, open("/proc/timer_list"), false)),
		needs("/proc/keys", row(Files, "keys of the machine's users", unix.EACCES, false, open("/proc/keys"), false)),
		needs("/proc/kallsyms", row(Files, "addresses of the kernel", unix.EACCES, false, open("/proc/kallsyms"), false)),
		needs("/proc/kmsg", row(Files, "messages of the kernel", unix.EACCES, true, open("/proc/kmsg"), false)),
		needs("/dev/kmsg", row(Files, "the kernel's log device", unix.ENOENT, true, open("/dev/kmsg"), false)),
		needs("/sys/kernel", row(Files, "objects of the kernel", unix.ENOENT, false, open("/sys/kernel"), false)),
		needs("/dev/tty1", row(Files, "the machine's terminal", unix.ENOENT, true, open("/dev/tty1"), false)),
		needs("/dev/loop-control", row(Files, "a loop device", unix.ENOENT, true, open("/dev/loop-control"), false)),
		needs("/var/log", row(Files, "logs of the machine", unix.ENOENT, false, open("/var/log"), false)),
		row(Files, "a device made anew", unix.EPERM, true, makeDevice, false),
		row(Files, "a file by its handle", unix.EPERM, true, byHandle, false),
	)
}()

func upwards(from, file string) error {
	dir, err := unix.Open(from, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	fd, err := unix.Openat(dir, strings.Repeat("../", 20)+strings.TrimPrefix(file, "/"), unix.O_RDONLY, 0)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// scratch returns a new name in the checkout.
func scratch(w *World) string {
	return filepath.Join(w.Checkout, fmt.Sprintf("probe-%d", os.Getpid()))
}

func planted(file func(*World) string) func(*World) error {
	return func(w *World) error {
		name := scratch(w)
		if err := os.Symlink(file(w), name); err != nil {
			return fmt.Errorf("plant: %s", err)
		}
		defer os.Remove(name)
		_, err := os.ReadFile(name)
		return err
	}
}

func plantedDir(file func(*World) string) func(*World) error {
	return func(w *World) error {
		name := scratch(w)
		if err := os.Symlink(filepath.Dir(file(w)), name); err != nil {
			return fmt.Errorf("plant: %s", err)
		}
		defer os.Remove(name)
		_, err := os.ReadFile(filepath.Join(name, filepath.Base(file(w))))
		return err
	}
}

func socketByLink(w *World) error {
	name := scratch(w)
	if err := os.Symlink(w.Socket, name); err != nil {
		return fmt.Errorf("plant: %s", err)
	}
	defer os.Remove(name)
	return greeted("unix", name)
}

func hardLink(w *World, file string) error {
	name := scratch(w)
	if err := os.Link(file, name); err != nil {
		return err
	}
	return os.Remove(name)
}

func listed(file string) error {
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Name() == filepath.Base(file) {
			return nil
		}
	}
	return unix.ENOENT
}

func watch(file string) error {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	_, err = unix.InotifyAddWatch(fd, file, unix.IN_MODIFY)
	return err
}

// appendTo opens a file that exists for writing, and writes nothing.
func appendTo(file string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

func makeDevice(w *World) error {
	name := scratch(w)
	if err := unix.Mknod(name, unix.S_IFBLK|0o600, int(unix.Mkdev(7, 0))); err != nil {
		return err
	}
	return os.Remove(name)
}

func byHandle(w *World) error {
	handle, _, err := unix.NameToHandleAt(unix.AT_FDCWD, w.Checkout, 0)
	none := err == unix.EOPNOTSUPP // this file system has no handles; the filter answers before it is asked
	if none {
		handle = unix.NewFileHandle(1, make([]byte, 8)) // FILEID_INO32_GEN, linux/exportfs.h
	} else if err != nil {
		return fmt.Errorf("get handle: %s", err)
	}
	dir, err := unix.Open(w.Checkout, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	fd, err := unix.OpenByHandleAt(dir, handle, unix.O_RDONLY)
	if err != nil && err != unix.EPERM && none {
		return unix.EOPNOTSUPP
	}
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// writes are ways to change what lies outside the checkout.
var writes = func() []Probe {
	create := func(dir func(*World) string) func(*World) error {
		return func(w *World) error {
			name := filepath.Join(dir(w), fmt.Sprintf("probe-%d", os.Getpid()))
			f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
			if err != nil {
				return err
			}
			_ = f.Close()
			return os.Remove(name)
		}
	}
	fixed := func(name string) func(*World) string { return func(*World) string { return name } }
	setting := func(name string) func(*World) error { return func(*World) error { return appendTo(name) } }
	return []Probe{
		row(Files, "a new file of the person's", unix.ENOENT, false, create(func(w *World) string { return w.Outside }), false),
		row(Files, "a new file in the root", unix.EROFS, true, create(fixed("/")), false),
		row(Files, "a new program", unix.EROFS, true, create(fixed("/usr/bin")), false),
		row(Files, "a new program beside the system's", unix.EROFS, true, create(fixed("/opt")), false),
		row(Files, "a new setting of the system", unix.EROFS, true, create(fixed("/etc")), false),
		row(Files, "a new device", unix.EROFS, true, create(fixed("/dev")), false),
		row(Files, "the person's start file", unix.ENOENT, false, func(w *World) error { return appendTo(w.Home + "/.bashrc") }, false),
		needs("/proc/sys/kernel/core_pattern", user(unix.EACCES, row(Files, "what dumps of crashed programs are given to", unix.EROFS, true, setting("/proc/sys/kernel/core_pattern"), false))),
		needs("/proc/sys/kernel/modprobe", user(unix.EACCES, row(Files, "the kernel's helper for modules", unix.EROFS, true, setting("/proc/sys/kernel/modprobe"), false))),
		needs("/proc/sys/vm/drop_caches", user(unix.EACCES, row(Files, "the machine's caches", unix.EROFS, true, setting("/proc/sys/vm/drop_caches"), false))),
		needs("/proc/mtrr", user(unix.EACCES, row(Files, "the kinds of memory", unix.EROFS, true, setting("/proc/mtrr"), false))),
		needs("/proc/pressure/memory", row(Files, "a watch on the machine's memory", unix.EROFS, false, setting("/proc/pressure/memory"), false)),
		needs("/proc/irq/default_smp_affinity", user(unix.EACCES, row(Files, "interrupts of the machine", unix.EROFS, true, setting("/proc/irq/default_smp_affinity"), false))),
	}
}()

// checkout are ways to change what is read-only inside the checkout, or to put something in its place.
var checkout = func() []Probe {
	in := func(rel string) func(*World) string {
		return func(w *World) string { return filepath.Join(w.Checkout, rel) }
	}
	rename := func(from, to string) func(*World) error {
		return func(w *World) error {
			if err := os.Rename(in(from)(w), in(to)(w)); err != nil {
				return err
			}
			return os.Rename(in(to)(w), in(from)(w))
		}
	}
	var all []Probe
	add := func(name string, want syscall.Errno, do func(*World) error) {
		all = append(all, row(Checkout, name, want, false, do, false))
	}
	for _, file := range []string{".git", ".envrc", ".vscode/settings.json", ".claude/settings.json", ".github/workflows/ci.yml"} {
		add("writing "+file, unix.EROFS, func(w *World) error { return appendTo(in(file)(w)) })
		add("truncating "+file, unix.EROFS, func(w *World) error { return os.Truncate(in(file)(w), 4) })
		add("the permissions of "+file, unix.EROFS, func(w *World) error { return os.Chmod(in(file)(w), 0o644) })
		add("the times of "+file, unix.EROFS, func(w *World) error { return unix.UtimesNanoAt(unix.AT_FDCWD, in(file)(w), nil, 0) })
	}
	for _, file := range []string{".git", ".envrc", ".claude/settings.json"} {
		add("moving "+file, unix.EBUSY, rename(file, filepath.Join(filepath.Dir(file), "moved")))
		add("removing "+file, unix.EBUSY, removeAndRestore(in(file)))
		add("replacing "+file, unix.EBUSY, replace(in(file)))
		add("exchanging "+file, unix.EBUSY, exchange(in(file)))
		add("another name for "+file, unix.EXDEV, func(w *World) error { return hardLink(w, in(file)(w)) })
	}
	for _, dir := range []string{".vscode", ".claude", ".github", ".github/workflows"} {
		add("moving "+dir, unix.EBUSY, rename(dir, filepath.Join(filepath.Dir(dir), "moved")))
		add("exchanging "+dir, unix.EBUSY, exchangeDir(in(dir)))
	}
	add("a new file in .vscode", unix.EROFS, func(w *World) error {
		name := in(".vscode/tasks.json")(w)
		if err := os.WriteFile(name, []byte("{}"), 0o600); err != nil {
			return err
		}
		return os.Remove(name)
	})
	add("a file out of .vscode", unix.EXDEV, rename(".vscode/settings.json", "moved"))
	all = append(all, row(Checkout, "taking off the mount on .vscode", unix.EPERM, true, func(w *World) error { return takeOff(in(".vscode")(w)) }, false),
		row(Checkout, "making a mount writable again", unix.EPERM, true, func(w *World) error { return remount(in(".vscode")(w)) }, false))
	return all
}()

// beside returns a new name in the directory of a file: across a mount, a move would be refused for another reason.
func beside(name string) string {
	return filepath.Join(filepath.Dir(name), fmt.Sprintf("probe-%d", os.Getpid()))
}

func removeAndRestore(name func(*World) string) func(*World) error {
	return func(w *World) error {
		data, err := os.ReadFile(name(w))
		if err != nil {
			return fmt.Errorf("read: %s", err)
		}
		if err := os.Remove(name(w)); err != nil {
			return err
		}
		return os.WriteFile(name(w), data, 0o644)
	}
}

// replace puts a copy in the place of the file, as an editor saves it.
func replace(name func(*World) string) func(*World) error {
	return func(w *World) error {
		data, err := os.ReadFile(name(w))
		if err != nil {
			return fmt.Errorf("read: %s", err)
		}
		other := beside(name(w))
		if err := os.WriteFile(other, data, 0o644); err != nil {
			return fmt.Errorf("write: %s", err)
		}
		defer os.Remove(other)
		return os.Rename(other, name(w))
	}
}

func exchange(name func(*World) string) func(*World) error {
	return func(w *World) error {
		other := beside(name(w))
		if err := os.WriteFile(other, nil, 0o644); err != nil {
			return fmt.Errorf("write: %s", err)
		}
		defer os.Remove(other)
		return swapTwice(name(w), other)
	}
}

func exchangeDir(name func(*World) string) func(*World) error {
	return func(w *World) error {
		other := beside(name(w))
		if err := os.Mkdir(other, 0o755); err != nil {
			return fmt.Errorf("make: %s", err)
		}
		defer os.Remove(other)
		return swapTwice(name(w), other)
	}
}

func swapTwice(a, b string) error {
	for range 2 {
		if err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE); err != nil {
			return err
		}
	}
	return nil
}

// takeOff and remount try what only a mount can have done to it. Outside there is none: root is told so (EINVAL), after
// its rights were checked.
func takeOff(dir string) error { return allowed(unix.Unmount(dir, unix.MNT_DETACH)) }
func remount(dir string) error {
	return allowed(unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_BIND, ""))
}

func allowed(err error) error {
	if err == unix.EINVAL {
		return nil
	}
	return err
}
