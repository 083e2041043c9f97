package pty

import (
	"golang.org/x/sys/unix"
)

// zombie is SZOMB of XNU's bsd/sys/proc.h.
const zombie = 5

// members returns the living processes of a session. XNU has no list by session, so each process is asked for its own.
func members(session int) ([]int, error) {
	procs, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, err
	}
	var alive []int
	for i := range procs {
		pid := int(procs[i].Proc.P_pid)
		if procs[i].Proc.P_stat == zombie {
			continue
		}
		if sid, err := unix.Getsid(pid); err == nil && sid == session {
			alive = append(alive, pid)
		}
	}
	return alive, nil
}
