package audit

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// allocate gives f disk blocks for the bytes from..to without changing its size, or returns errNoAlloc. F_PREALLOCATE counts from the
// end of the blocks that f has (F_PEOFPOSMODE, fcntl(2)); from is at or before that end, so at worst a little more is taken.
func allocate(f *os.File, from, to int64) error {
	err := unix.FcntlFstore(f.Fd(), unix.F_PREALLOCATE, &unix.Fstore_t{
		Flags: unix.F_ALLOCATEALL, Posmode: unix.F_PEOFPOSMODE, Length: to - from,
	})
	switch {
	case errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.EINVAL):
		return errNoAlloc
	case err != nil:
		return &os.PathError{Op: "preallocate", Path: f.Name(), Err: err}
	}
	return nil
}
