package git

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// apply bounds a process that has just started. RLIMIT_DATA counts what a process has to itself (setrlimit(2));
// RLIMIT_AS would count the mapped packs of the project too.
func (b Bounds) apply(pid int) error {
	seconds := uint64((b.CPU + time.Second - 1) / time.Second)
	for _, l := range []struct {
		what int
		most uint64
	}{{unix.RLIMIT_DATA, uint64(b.Memory)}, {unix.RLIMIT_FSIZE, uint64(b.File)}, {unix.RLIMIT_CPU, seconds}} {
		if l.most == 0 {
			continue
		}
		err := unix.Prlimit(pid, l.what, &unix.Rlimit{Cur: l.most, Max: l.most}, nil)
		if err != nil && !errors.Is(err, unix.ESRCH) { // it has ended already
			return err
		}
	}
	return nil
}
