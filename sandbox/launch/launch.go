// Package launch starts cages: it asks what the machine can do (Probe), starts the stage with a plan (Start), and
// gives the app what it needs of a running cage: its listening sockets, its terminals, and its end.
//
// A cage that cannot be enforced and proved does not start. There is no way from here to a process outside a cage,
// nor from one mode to a weaker one: every failure is an error, and says what the machine lacks and how to get it.
package launch

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"termic/sandbox/capability"
	"termic/sandbox/maccage"
)

// Support is what Probe found. The zero Support starts no cage.
type Support struct {
	stage string
	ports *maccage.Ports            // of cages that have none of their own network; see Door
	modes map[capability.Mode]error // of those that were tried; nil: a cage of this mode was made and proved
	// Landlock is the ABI that restricts cages as their second wall; 0: none.
	Landlock int
}

// Check returns nil when this machine has cages of the mode, and else an *UnsupportedError.
func (s Support) Check(mode capability.Mode) error {
	err, tried := s.modes[mode]
	switch {
	case tried && err == nil:
		return nil
	case tried:
		return unsupported(mode, err)
	}
	lack := Lack{What: "cages on this machine were not tried", Remedy: "report this as a defect of termic"}
	if !mode.Caged() {
		lack = Lack{What: fmt.Sprintf("mode %s has no cage", mode), Remedy: "choose enforce or enforce-fs"}
	}
	return &UnsupportedError{Mode: mode, Lack: lack}
}

// Modes returns the modes that Check accepts, the weakest first.
func (s Support) Modes() []capability.Mode {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.modes)), func(m capability.Mode) bool { return s.modes[m] != nil })
}

// Lack is one thing that a machine lacks, and how to get it.
type Lack struct {
	What   string // a clause
	Remedy string // what to do; a command where one does it
}

// UnsupportedError is a mode that this machine does not have.
type UnsupportedError struct {
	Mode  capability.Mode
	Lack  Lack
	Cause error // what failed; nil when nothing was tried
}

func (e *UnsupportedError) Error() string {
	text := fmt.Sprintf("no cage of mode %s here: %s; %s", e.Mode, e.Lack.What, e.Lack.Remedy)
	if e.Cause != nil {
		text += fmt.Sprintf(" (%v)", e.Cause)
	}
	return text
}

func (e *UnsupportedError) Unwrap() error { return e.Cause }

func unsupported(mode capability.Mode, err error) error {
	var known *UnsupportedError
	if errors.As(err, &known) {
		return err
	}
	return &UnsupportedError{Mode: mode, Lack: Lack{What: "the cage could not be made", Remedy: "read the cause, and report it if it is no fault of this machine"}, Cause: err}
}

// SocketError is a socket of a program outside that a path of the cage would lead to. Neither a read-only mount nor a
// network of its own keeps a cage from connecting to it.
type SocketError struct {
	Path string // of the socket, on the host
	Rule string // the path that would show it
}

func (e *SocketError) Error() string {
	return fmt.Sprintf("cage refused: %q would show it the socket %q of a program outside; end that program, or name a narrower path", e.Rule, e.Path)
}

// ErrEnded is the end of a cage: it was killed, or its process 1 ended.
var ErrEnded = errors.New("the cage has ended")

// ErrOwnPort is a port of a cage behind which the app itself is: its control plane, its proxy.
var ErrOwnPort = errors.New("the port is the app's own inside the cage")

// Command is what to run in a cage.
type Command struct {
	Argv []string // the first is looked up in the PATH of Env, inside the cage
	Env  []string // all of it
	Dir  string   // in the cage
	// Terminal is whether it gets a terminal of the cage's own, of that size.
	Terminal   bool
	Rows, Cols uint16
}

// Exit is how a process of a cage ended.
type Exit struct {
	Code   int    // exit code; -1 when a signal ended it
	Signal string // name of that signal ("SIGKILL"), else empty
}
