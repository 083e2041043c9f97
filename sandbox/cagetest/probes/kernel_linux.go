package probes

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// clone3 asks for a process, and ends at once when it is it.
func clone3(*World) error {
	args := [8]uint64{4: uint64(unix.SIGCHLD)} // struct clone_args: flags, pidfd, child_tid, parent_tid, exit_signal, …
	pid, _, e := unix.RawSyscall(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&args)), unsafe.Sizeof(args), 0)
	if e != 0 {
		return e
	}
	if pid == 0 {
		unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
	_, err := unix.Wait4(int(pid), nil, 0, nil)
	return err
}

func ring(*World) error {
	var params [120]byte // struct io_uring_params
	fd, _, e := unix.Syscall(unix.SYS_IO_URING_SETUP, 4, uintptr(unsafe.Pointer(&params)), 0)
	if e != 0 {
		return e
	}
	return unix.Close(int(fd))
}

func bpfMap(*World) error {
	attr := [18]uint32{1 /* BPF_MAP_TYPE_HASH */, 4, 4, 1}
	fd, _, e := unix.Syscall(unix.SYS_BPF, unix.BPF_MAP_CREATE, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr))
	if e != 0 {
		return e
	}
	return unix.Close(int(fd))
}

func perfEvent(*World) error {
	attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CPU_CLOCK}
	attr.Size = uint32(unsafe.Sizeof(attr))
	fd, err := unix.PerfEventOpen(&attr, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

func newKey(*World) error {
	_, err := unix.AddKey("user", "termic-probe", []byte("x"), unix.KEY_SPEC_PROCESS_KEYRING)
	return err
}

func mountSomething(w *World) error {
	dir := scratch(w)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("make: %s", err)
	}
	defer os.Remove(dir)
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, ""); err != nil {
		return err
	}
	return unix.Unmount(dir, 0)
}
