package probes

import (
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// setID are the ways to make a file of the checkout that runs with its owner's rights for whoever starts it. The mark is
// of no use in the cage; on the host any other user could start the file.
var setID = []Probe{
	row(Files, "a set-user-id program by chmod", unix.EPERM, false, marked(func(dir, file string) error { return unix.Chmod(file, 0o4755) }), false),
	row(Files, "a set-group-id program by chmod", unix.EPERM, false, marked(func(dir, file string) error { return unix.Chmod(file, 0o2755) }), false),
	row(Files, "a set-user-id program by fchmod", unix.EPERM, false, marked(func(dir, file string) error {
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		return unix.Fchmod(int(f.Fd()), 0o6755)
	}), false),
	row(Files, "a set-user-id program by fchmodat", unix.EPERM, false, marked(func(dir, file string) error {
		return unix.Fchmodat(unix.AT_FDCWD, file, 0o4755, 0)
	}), false),
	row(Files, "a set-user-id program by fchmodat2", unix.EPERM, false, marked(func(dir, file string) error {
		cwd := unix.AT_FDCWD
		name, err := unix.BytePtrFromString(file)
		if err != nil {
			return err
		}
		_, _, e := unix.Syscall6(unix.SYS_FCHMODAT2, uintptr(cwd), uintptr(unsafe.Pointer(name)), 0o4755, 0, 0, 0)
		return none(e)
	}), false),
	row(Files, "a set-user-id program by openat", unix.EPERM, false, marked(func(dir, file string) error {
		return closed(unix.Open(file+".made", unix.O_CREAT|unix.O_WRONLY, 0o4755))
	}), false),
	row(Files, "a set-user-id program without a name", unix.EPERM, false, marked(func(dir, file string) error {
		return closed(unix.Open(dir, unix.O_TMPFILE|unix.O_WRONLY, 0o4755))
	}), false),
	row(Files, "a set-user-id program by openat2", unix.ENOSYS, false, marked(func(dir, file string) error {
		return closed(unix.Openat2(unix.AT_FDCWD, file+".made", &unix.OpenHow{Flags: unix.O_CREAT | unix.O_WRONLY, Mode: 0o4755}))
	}), false),
	row(Files, "a set-user-id program by mknod", unix.EPERM, false, marked(func(dir, file string) error {
		return unix.Mknod(file+".made", unix.S_IFREG|0o4755, 0)
	}), false),
}

// marked makes a directory with a file in the checkout, and takes both away again.
func marked(do func(dir, file string) error) func(*World) error {
	return func(w *World) error {
		dir, err := os.MkdirTemp(w.Checkout, "setid")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		file := filepath.Join(dir, "program")
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o700); err != nil {
			return err
		}
		return do(dir, file)
	}
}

func closed(fd int, err error) error {
	if err != nil {
		return err
	}
	return unix.Close(fd)
}
