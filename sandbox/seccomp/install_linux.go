package seccomp

import (
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
	if len(prog) == 0 {
		return fmt.Errorf("install system-call filter: it is empty")
	}
	filter := make([]unix.SockFilter, len(prog))
	for i, in := range prog {
		filter[i] = unix.SockFilter{Code: in.Code, Jt: in.Jt, Jf: in.Jf, K: in.K}
	}
	fprog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	thread, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&fprog)))
	runtime.KeepAlive(filter)
	if e != 0 {
		return fmt.Errorf("install system-call filter: %w", e)
	}
	if thread != 0 {
		return fmt.Errorf("install system-call filter: thread %d did not take it", thread)
	}
	return nil
}
