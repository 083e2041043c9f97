// Package stage is the first code inside a cage on Linux. Its program has cloned itself into namespaces; it builds the
// cage's root from nothing, drops its rights, proves from inside that the walls stand, and then stays as process 1:
// it collects the dead and starts processes when the app asks. When the app's end of the control socket is gone it
// ends, and everything in the cage with it.
//
// Every step of the set-up returns its error, and none is done "as far as it goes": what fails is reported and the
// program ends with ExitRefused. Nothing is started before the app has read the report and said so.
package stage

import (
	"encoding/binary"
	"fmt"
	"syscall"

	"termic/sandbox/linuxcage"
)

// ControlFD is where the program finds its control socket (AF_UNIX, SOCK_SEQPACKET). The plan comes through it and
// never through arguments or the environment, which other processes can read.
const ControlFD = 3

// ExitRefused is the exit status of a stage that could not make its cage.
const ExitRefused = 125

// MaxMessage is the largest message. It is below the send buffer that Linux gives a socket (net.core.wmem_default,
// 212992), so that a message is sent whole or not at all.
const MaxMessage = 192 << 10

// Request is what the app asks; exactly one field is set. The first is Start, the second Go.
type Request struct {
	Start   *Start   `json:"start,omitempty"`
	Go      bool     `json:"go,omitempty"` // the report was read and found complete
	Spawn   *Spawn   `json:"spawn,omitempty"`
	Signal  *Signal  `json:"signal,omitempty"`
	Connect *Connect `json:"connect,omitempty"`
}

// Connect connects to a port of the cage's own loopback. The socket comes back with Connected.
type Connect struct {
	ID   uint64 `json:"id"` // the app's, of the same numbers as those of Spawn
	Port uint16 `json:"port"`
}

// Start is the cage to make.
type Start struct {
	Plan    linuxcage.Plan `json:"plan"`
	HostNet string         `json:"hostNet"` // the app's network namespace, as readlink names it
	Canary  uint16         `json:"canary"`  // a port of the app's 127.0.0.1 that answers there
}

// Spawn starts a process. With a terminal, its master comes back with Spawned. Without, the request carries the
// pipes that Files announces; the others are the cage's /dev/null.
type Spawn struct {
	ID       uint64   `json:"id"` // the app's, for Spawned, Exited and Signal
	Argv     []string `json:"argv"`
	Env      []string `json:"env"`
	Dir      string   `json:"dir"`
	Terminal bool     `json:"terminal,omitempty"`
	Rows     uint16   `json:"rows,omitempty"`
	Cols     uint16   `json:"cols,omitempty"`
	Files    [3]bool  `json:"files,omitempty"`
}

// Signal sends a signal to every process of the session that Spawn began.
type Signal struct {
	ID     uint64 `json:"id"`
	Number int    `json:"number"`
}

// Event is what process 1 tells; exactly one field is set. Before or between its first ones comes the message that
// Cloned reads.
type Event struct {
	PID       int        `json:"-"` // of process 1 of the cage, outside it; see Cloned
	Failure   *Failure   `json:"failure,omitempty"`
	Sealed    *Report    `json:"sealed,omitempty"` // carries the listening sockets, in the plan's order, and then what tells of connections
	Spawned   *Spawned   `json:"spawned,omitempty"`
	Exited    *Exited    `json:"exited,omitempty"`
	Connected *Connected `json:"connected,omitempty"`
}

// Cloned reads the one message that is no JSON: that of the program's entry, which has cloned itself and ends. It
// returns the event, and whether the message is one.
func Cloned(message []byte) (Event, bool) {
	if len(message) != 4 { // an int32 in the machine's order; no other message is as short
		return Event{}, false
	}
	n := int32(binary.NativeEndian.Uint32(message))
	if n > 0 {
		return Event{PID: int(n)}, true
	}
	errno := syscall.Errno(-n)
	return Event{Failure: &Failure{Step: StepClone, What: errno.Error(), Errno: errno}}, true
}

// Failure is the step that could not be done.
type Failure struct {
	Step  string        `json:"step"`            // which, as a Step constant
	What  string        `json:"what"`            // the error's text
	Errno syscall.Errno `json:"errno,omitempty"` // when a system call failed
}

func (f *Failure) Error() string { return fmt.Sprintf("%s: %s", f.Step, f.What) }

// Steps of the set-up, in their order.
const (
	StepClone     = "make namespaces"
	StepPlan      = "read plan"
	StepPrivate   = "take the mounts" // the first thing that needs a right in the new namespaces
	StepRoot      = "build root"
	StepProc      = "mount /proc"
	StepDev       = "make /dev"
	StepPivot     = "change root"
	StepNetwork   = "set up network"
	StepPrivilege = "drop privileges"
	StepLandlock  = "restrict by Landlock"
	StepSeccomp   = "restrict system calls"
	StepAttest    = "prove the cage"
)

// Report says what was proved from inside.
type Report struct {
	Proved   []string `json:"proved"`   // Proof constants
	Landlock int      `json:"landlock"` // ABI that restricts the cage; 0: none
	Absent   int      `json:"absent"`   // paths that were tried
	Caches   []Cache  `json:"caches,omitempty"`
	// Processes is the plan's limit where this kernel holds it; 0: there is none.
	Processes int `json:"processes,omitempty"`
}

// Proofs.
const (
	ProofRoot       = "root"       // the root and the system cannot be written, nor kernel settings
	ProofAbsent     = "absent"     // nothing of the host opens at the paths that must not be there
	ProofProcesses  = "processes"  // no process of the host is in /proc
	ProofPrivileges = "privileges" // no capability, on any thread, and none can be gained
	ProofSeccomp    = "seccomp"    // the filter is on, on every thread, and answers
	ProofNetwork    = "network"    // not the app's network, and the app's loopback does not answer
	ProofScopes     = "scopes"     // an abstract socket from before the restriction does not answer
)

// Needs returns what a plan's report has to prove.
func Needs(p linuxcage.Plan) []string {
	needs := []string{ProofRoot, ProofAbsent, ProofProcesses, ProofPrivileges, ProofSeccomp}
	if p.Attest.Network {
		needs = append(needs, ProofNetwork)
	}
	if p.Attest.Scoped {
		needs = append(needs, ProofScopes)
	}
	return needs
}

// Cache says how a cache is shown.
type Cache struct {
	Path string `json:"path"`
	As   string `json:"as"`            // "overlay", or the fallback
	Why  string `json:"why,omitempty"` // the fallback was taken
}

// Spawned answers a Spawn, with the terminal's master if there is one. Error is set when nothing was started.
type Spawned struct {
	ID    uint64 `json:"id"`
	PID   int    `json:"pid,omitempty"` // in the cage
	Error string `json:"error,omitempty"`
}

// Exited says how a process ended.
type Exited struct {
	ID     uint64 `json:"id"`
	Code   int    `json:"code"`             // -1 when a signal ended it
	Signal int    `json:"signal,omitempty"` // its number
}

// Connected answers a Connect, with the socket. Error is set when there is none.
type Connected struct {
	ID    uint64        `json:"id"`
	Error string        `json:"error,omitempty"`
	Errno syscall.Errno `json:"errno,omitempty"`
}
