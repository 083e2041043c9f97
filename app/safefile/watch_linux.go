package safefile

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Watch adds the directory that is held to an inotify descriptor (inotify(7)), whatever its path leads to by now.
func (d *Dir) Watch(inotify int, mask uint32) error {
	// A link of /proc leads to the open file itself (proc(5)).
	if _, err := unix.InotifyAddWatch(inotify, fmt.Sprintf("/proc/self/fd/%d", d.f.Fd()), mask); err != nil {
		return fmt.Errorf("watch %s: %w", d.f.Name(), err)
	}
	return nil
}
