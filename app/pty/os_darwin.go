package pty

import "golang.org/x/sys/unix"

const (
	ioctlGetTermios = unix.TIOCGETA
	ioctlSetTermios = unix.TIOCSETA
)

// closeOnExec marks every descriptor above 2, also those that libraries in this process opened without the flag. macOS has
// no single call for it, so the window in which foreign code can open one that is missed is longer than on Linux: from its
// place in the list to the fork.
func closeOnExec() error { return markAll("/dev/fd") }
