package pty

import (
	"errors"
	"math"

	"golang.org/x/sys/unix"
)

const (
	ioctlGetTermios = unix.TCGETS
	ioctlSetTermios = unix.TCSETS
)

// closeOnExec marks every descriptor above 2, also those that libraries in this process opened without the flag: the
// response pipes of Wails v2.16.0 were seen in shells. Files in exec.Cmd.ExtraFiles still get through, since they are
// duplicated in the child. One that foreign code opens between this call and the fork is missed.
func closeOnExec() error {
	err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EPERM) {
		// Kernels before 5.11, or a seccomp filter that does not know the call.
		return markAll("/proc/self/fd")
	}
	return err
}
