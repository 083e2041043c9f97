package pty

import "termic/sandbox/processes"

// ExitStatus is how a process ended.
type ExitStatus = processes.Exit

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
	s.status = processes.AwaitExit(s.pid)
	close(s.done)
	<-s.released
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.cmd.Wait() // repeats what AwaitExit said
	s.reaped = true
	close(s.gone)
}
