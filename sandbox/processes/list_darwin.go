package processes

import (
	"golang.org/x/sys/unix"
)

// zombie is SZOMB of XNU's bsd/sys/proc.h.
const zombie = 5

// noDevice is NODEV of XNU's sys/param.h.
const noDevice = -1

// List returns the living processes. XNU's list does not name their sessions, so each is asked for its own; one that has ended
// since is left out.
func List() ([]Process, error) {
	procs, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, err
	}
	var alive []Process
	for i := range procs {
		pid := int(procs[i].Proc.P_pid)
		if procs[i].Proc.P_stat == zombie {
			continue
		}
		if session, err := unix.Getsid(pid); err == nil {
			alive = append(alive, Process{
				PID: pid, Parent: int(procs[i].Eproc.Ppid), Session: session,
				Name: unix.ByteSliceToString(procs[i].Proc.P_comm[:]), Terminal: procs[i].Eproc.Tdev != noDevice,
			})
		}
	}
	return alive, nil
}
