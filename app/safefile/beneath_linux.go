package safefile

import (
	"errors"

	"golang.org/x/sys/unix"
)

// beneath uses openat2(2), Linux 5.6. A kernel without it, or a filter that hides it (ENOSYS, EPERM), gets the walk.
func beneath(dir int, name string, flags int) (int, error) {
	asked := flags
	if flags&unix.O_DIRECTORY != 0 {
		asked &^= unix.O_NOFOLLOW // with both, a link answers ENOTDIR instead of ELOOP; RESOLVE_NO_SYMLINKS says it all
	}
	fd, err := unix.Openat2(dir, name, &unix.OpenHow{Flags: uint64(asked),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS})
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) {
		return walk(dir, name, flags)
	}
	return fd, err
}
