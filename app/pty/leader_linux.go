package pty

import "golang.org/x/sys/unix"

// findLeader asks the terminal for the leader of its session, whose id outside the cage nobody else knows. It stays 0
// when the guest has ended before it is asked: then there is nobody to hang up.
func (s *Session) findLeader() error {
	return control(s.master, "ask for the session of the terminal", func(fd int) (err error) {
		s.pid, err = unix.IoctlGetInt(fd, unix.TIOCGSID)
		if err == unix.ENOTTY || err == unix.EIO || s.pid < 0 {
			s.pid, err = 0, nil
		}
		return err
	})
}
