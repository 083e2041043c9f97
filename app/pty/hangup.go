package pty

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"termic/sandbox/processes"
)

// poll is how often a session is looked at while it is being ended. A scan of 300 processes takes about 3 ms.
const poll = 20 * time.Millisecond

// stubborn is how long killed processes may take to vanish. Only one that is stuck in the kernel (a dead network file
// system) takes longer.
const stubborn = 5 * time.Second

// Hangup ends every process of the session and returns when none is left: SIGHUP to the process group that was started, to
// the terminal's foreground group and to every other member of the session, then, after grace, SIGKILL until the session
// is empty. A process that made a session of its own (setsid) is out of its reach.
//
// Keep reading during it: a process that ends may still write. The error names those that not even SIGKILL removed in
// time. After Close there is nothing that can be told apart from strangers, and Hangup only waits for the process that was
// started.
func (s *Session) Hangup(grace time.Duration) error {
	alive, err := s.signal(unix.SIGHUP)
	if err != nil {
		return err
	}
	if len(alive) > 0 {
		alive, err = s.settle(grace, 0)
	}
	if err == nil && len(alive) > 0 {
		alive, err = s.settle(stubborn, unix.SIGKILL)
	}
	if err != nil {
		return err
	}
	if len(alive) > 0 {
		return fmt.Errorf("hang up session %d: processes %v survived SIGKILL for %v", s.pid, alive, stubborn)
	}
	if s.closed() {
		<-s.gone
		return nil
	}
	<-s.done
	return nil
}

// settle sends sig again and again (0 sends nothing) until the session is empty or limit is over. Again, because a member
// may be starting another while it dies.
func (s *Session) settle(limit time.Duration, sig unix.Signal) (alive []int, err error) {
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		if alive, err = s.signal(sig); err != nil || len(alive) == 0 {
			return alive, err
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			return alive, nil
		}
	}
}

// signal sends sig to the whole session (0 sends nothing) and returns the members that were alive.
func (s *Session) signal(sig unix.Signal) (alive []int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reaped || s.pid == 0 { // 0: a guest that ended before anyone could learn its id
		return nil, nil
	}
	alive, err = processes.Session(s.pid)
	if err != nil {
		return nil, fmt.Errorf("list session %d: %w", s.pid, err)
	}
	if sig == 0 || len(alive) == 0 {
		return alive, nil
	}
	if s.guest != nil {
		return alive, s.signalGuest(sig)
	}
	send := func(pid int) {
		// ESRCH: it ended by itself. EPERM: a set-uid program; it stays in the list of those alive, and is reported.
		if e := unix.Kill(pid, sig); e != nil && !errors.Is(e, unix.ESRCH) && !errors.Is(e, unix.EPERM) {
			err = errors.Join(err, fmt.Errorf("signal %d: %w", pid, e))
		}
	}
	send(-s.pid)
	if group, _, e := s.Foreground(); e == nil && group > 1 && group != s.pid {
		send(-group)
	}
	for _, pid := range alive {
		send(pid)
	}
	if sig == unix.SIGHUP {
		sig = unix.SIGCONT // a stopped process acts on the hangup only when it goes on
		send(-s.pid)
		for _, pid := range alive {
			send(pid)
		}
	}
	return alive, err
}

func (s *Session) closed() bool {
	select {
	case <-s.released:
		return true
	default:
		return false
	}
}
