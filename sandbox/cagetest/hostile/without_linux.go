package main

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"termic/sandbox/seccomp"
)

// without plays a kernel that lacks a system call, for the program that this one becomes.
func without(number, errno string, argv []string) error {
	call, err := strconv.ParseUint(number, 10, 32)
	answer, err2 := strconv.ParseUint(errno, 10, 16)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if err := seccomp.Install([]seccomp.Instruction{ // linux/bpf_common.h: load the number, compare, answer
		{Code: 0x20, K: 0}, {Code: 0x15, K: uint32(call), Jf: 1},
		{Code: 0x06, K: uint32(seccomp.Refuse(seccomp.Errno(answer)))}, {Code: 0x06, K: uint32(seccomp.Allow)},
	}); err != nil {
		return err
	}
	return syscall.Exec(argv[0], argv, os.Environ())
}
