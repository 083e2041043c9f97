package pty

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"termic/sandbox/processes"
)

// KillSession kills every process of the session that pid leads, and returns when none is left alive. The leader may have ended but
// must not have been collected yet: its number, which is the session's, could be a stranger's else. A process that made a session
// of its own is out of reach. The error names those that outlived SIGKILL for too long.
func KillSession(pid int) error {
	for deadline := time.Now().Add(stubborn); ; time.Sleep(poll) {
		alive, err := processes.Session(pid)
		if err != nil {
			return fmt.Errorf("list session %d: %w", pid, err)
		}
		if len(alive) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("kill session %d: processes %v survived SIGKILL for %v", pid, alive, stubborn)
		}
		for _, member := range alive {
			if err := unix.Kill(member, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) && !errors.Is(err, unix.EPERM) {
				return fmt.Errorf("kill session %d: %w", pid, err)
			}
		}
	}
}
