//go:build !linux

package hook

import (
	"golang.org/x/sys/unix"
)

func terminal(fd int) bool {
	_, err := unix.IoctlGetTermios(fd, unix.TIOCGETA)
	return err == nil
}

// ancestral is for cages, which there are none of here: a tab outside one says where its terminal is.
func ancestral() (string, error) { return "", unix.ENOTTY }
