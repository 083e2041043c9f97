// Package processes tells what the system knows of processes: who is in which session, whose child, and how one ended.
package processes

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// Process is one living process.
type Process struct {
	PID, Parent, Session int
	Name                 string // as the system cuts it: 15 bytes
	Terminal             bool   // it has a controlling one
}

// Session returns the living processes of a session.
func Session(session int) ([]int, error) {
	all, err := List()
	if err != nil {
		return nil, err
	}
	var alive []int
	for _, p := range all {
		if p.Session == session {
			alive = append(alive, p.PID)
		}
	}
	return alive, nil
}

// Family returns those of all that are in one of the sessions, or descend from one that is, with whoever shares a session that
// one of them made. What has left its session, and whose parent has ended, belongs to nobody any more: it is left out.
func Family(all []Process, sessions []int) []Process {
	in, theirs := map[int]bool{}, map[int]bool{}
	for _, s := range sessions {
		theirs[s] = true
	}
	for grown := true; grown; {
		grown = false
		for _, p := range all {
			if !in[p.PID] && (theirs[p.Session] || in[p.Parent]) {
				in[p.PID], theirs[p.Session], grown = true, true, true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(p Process) bool { return !in[p.PID] })
}

// How a Kill goes on: a process that is killed may be starting another, so it looks again.
const (
	poll     = 10 * time.Millisecond
	stubborn = 5 * time.Second // longer takes only a process that is stuck in the kernel
)

// Kill kills the family of sessions and returns when none of it is left. The leader of a session may have ended but must
// not have been collected while the session has members: its number, which is the session's, could be a stranger's else.
// The error names those that outlived SIGKILL.
func Kill(sessions ...int) error {
	if slices.ContainsFunc(sessions, func(s int) bool { return s <= 1 }) {
		return fmt.Errorf("kill sessions %v: one is none of ours", sessions)
	}
	var found []int // sessions that members made: a member that is killed may leave a child there
	for deadline := time.Now().Add(stubborn); ; time.Sleep(poll) {
		all, err := List()
		if err != nil {
			return fmt.Errorf("kill sessions %v: %w", sessions, err)
		}
		alive := Family(all, slices.Concat(sessions, found))
		if len(alive) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("kill sessions %v: %v survived SIGKILL for %v", sessions, alive, stubborn)
		}
		found = nil
		for _, p := range alive {
			found = append(found, p.Session)
			if err := unix.Kill(p.PID, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) && !errors.Is(err, unix.EPERM) {
				return fmt.Errorf("kill sessions %v: %w", sessions, err)
			}
		}
	}
}

// Exit is how a process ended.
type Exit struct {
	Code   int    // exit code; -1 when a signal ended it, or when the system did not tell
	Signal string // name of that signal ("SIGKILL"), else empty
}

// Values of si_code for SIGCHLD, the same in Linux (siginfo.h) and XNU (signal.h).
const cldExited = 1

func exitOf(code, status int32) Exit {
	if code == cldExited {
		return Exit{Code: int(status)}
	}
	return Exit{Code: -1, Signal: unix.SignalName(unix.Signal(status))}
}
