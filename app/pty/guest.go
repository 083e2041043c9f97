package pty

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// Guest is a process on a terminal of another's making, which only that other may signal and collect: process 1 of
// a cage.
type Guest interface {
	// Signal sends to every process of the session that the guest leads. No error when none is left.
	Signal(sig syscall.Signal) error
	// Done is closed when the guest has ended. Others of its session may live on.
	Done() <-chan struct{}
	// Exit is how it ended; asked after Done.
	Exit() ExitStatus
}

// awaitGuest announces the end of the guest.
func (s *Session) awaitGuest() {
	<-s.guest.Done()
	s.status = s.guest.Exit()
	close(s.done)
	<-s.released
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reaped = true
	close(s.gone)
}

// signalGuest has the session of a guest signalled. A stopped process acts on a hangup only when it goes on.
func (s *Session) signalGuest(sig unix.Signal) error {
	err := s.guest.Signal(sig)
	if sig == unix.SIGHUP {
		err = errors.Join(err, s.guest.Signal(unix.SIGCONT))
	}
	if err != nil {
		return fmt.Errorf("signal the guest's session: %w", err)
	}
	return nil
}
