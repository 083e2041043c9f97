package pty

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Adopt makes a session of a guest on the terminal whose master this is. It takes the master in any case. The size
// is the one that the terminal has.
func Adopt(master *os.File, guest Guest) (*Session, error) {
	polled, err := pollable(master)
	if err != nil {
		return nil, fmt.Errorf("adopt terminal: %w", err)
	}
	s := &Session{
		guest: guest, master: polled, name: master.Name(),
		writer: make(chan struct{}, 1), done: make(chan struct{}), released: make(chan struct{}), gone: make(chan struct{}),
	}
	if err := errors.Join(markUTF8(polled), s.findLeader()); err != nil {
		return nil, errors.Join(fmt.Errorf("adopt terminal: %w", err), polled.Close())
	}
	s.writer <- struct{}{}
	go s.awaitGuest()
	return s, nil
}

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
