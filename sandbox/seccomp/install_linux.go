package seccomp

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Install puts the filter over every thread of this process (SECCOMP_FILTER_FLAG_TSYNC), and over everything that
// it starts. It cannot be taken off. The calling thread must have no_new_privs, which the others then get too.
//
// When a thread cannot take the filter (it has another one), none does and the error says which.
func Install(prog []Instruction) error {
	thread, err := install(prog, unix.SECCOMP_FILTER_FLAG_TSYNC)
	if err != nil {
		return err
	}
	if thread != 0 {
		return fmt.Errorf("install system-call filter: thread %d did not take it", thread)
	}
	return nil
}

// Listen puts a filter of Watch over this thread, and over everything that is started from it, and returns the listener
// that its notifications come to. A process has at most one such filter; a second one is EBUSY.
func Listen(prog []Instruction) (listener int, err error) {
	fd, err := install(prog, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV)
	if errors.Is(err, unix.EINVAL) { // before Linux 5.19 a signal starts a call anew that waits
		fd, err = install(prog, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER)
	}
	return int(fd), err
}

// install returns what seccomp(2) does: with some flags a file or a thread.
func install(prog []Instruction, flags uintptr) (uintptr, error) {
	if len(prog) == 0 {
		return 0, fmt.Errorf("install system-call filter: it is empty")
	}
	filter := make([]unix.SockFilter, len(prog))
	for i, in := range prog {
		filter[i] = unix.SockFilter{Code: in.Code, Jt: in.Jt, Jf: in.Jf, K: in.K}
	}
	fprog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	result, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&fprog)))
	runtime.KeepAlive(filter)
	if e != 0 {
		return 0, fmt.Errorf("install system-call filter: %w", e)
	}
	return result, nil
}
