package pty

import (
	"golang.org/x/sys/unix"
)

// ExitStatus is how a process ended.
type ExitStatus struct {
	Code   int    // exit code; -1 when a signal ended it, or when the system did not tell
	Signal string // name of that signal ("SIGKILL"), else empty
}

// Done is closed when the process that was started has ended. Others of its session may live on.
func (s *Session) Done() <-chan struct{} { return s.done }

// Wait waits for the end of the process that was started.
func (s *Session) Wait() ExitStatus {
	<-s.done
	return s.status
}

// await announces the end of the process first and collects it only after Close. Until it is collected its process id
// cannot be given to a stranger, whom Hangup would then take for a member of the session.
func (s *Session) await() {
	s.status = waitExit(s.pid)
	close(s.done)
	<-s.released
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.cmd.Wait() // repeats what waitExit said
	s.reaped = true
	close(s.gone)
}

// Values of si_code for SIGCHLD, the same in Linux (siginfo.h) and XNU (signal.h).
const cldExited = 1

func exitStatus(code, status int32) ExitStatus {
	if code == cldExited {
		return ExitStatus{Code: int(status)}
	}
	return ExitStatus{Code: -1, Signal: unix.SignalName(unix.Signal(status))}
}
