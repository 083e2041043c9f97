// Package cage runs the cages of tasks: one cage a task, with everything of the task in it. It compiles what a task
// may touch into a plan, has it launched and proved, runs the task's egress proxy, and starts terminals and commands
// inside. What a cage is and what holds it is package sandbox's.
package cage

import (
	"context"
	"sync"

	"termic/sandbox/capability"
	"termic/sandbox/cgroup"
	"termic/sandbox/launch"
	"termic/sandbox/profile"
	"termic/sandbox/watch"
)

// Machine is what this machine can do about cages. It is asked once, when it is first needed: the question takes
// some 20 ms and makes a cage of each mode.
type Machine struct {
	probe  func() launch.Support
	groups *cgroup.Groups
}

// NewMachine returns the machine with the stage program at this path, whose cages are limited by groups.
func NewMachine(stage string, groups *cgroup.Groups) *Machine {
	return &Machine{sync.OnceValue(func() launch.Support { return launch.Probe(context.Background(), stage) }), groups}
}

// Limits says how cages are limited here and which limits hold: those of all three that are not zero. One was really made
// and read back. The error says why there are none.
func (m *Machine) Limits(ctx context.Context) (how string, held cgroup.Limits, err error) {
	return m.groups.Check(ctx)
}

// Check returns nil when tasks can have this mode here: off, monitor where programs can be watched, and the modes whose cages this machine can make and
// prove. Else it is an *launch.UnsupportedError, which says what is missing and how to get it.
func (m *Machine) Check(mode capability.Mode) error {
	switch mode {
	case capability.Off:
		return nil
	case capability.Monitor:
		if err := watch.Supported(); err != nil {
			return &launch.UnsupportedError{Mode: mode, Cause: err,
				Lack: launch.Lack{What: "this system does not report the calls of programs", Remedy: "use Linux with system-call filters, or choose off"}}
		}
		return nil
	}
	return m.probe().Check(mode)
}

// Door returns the port at which the cage of a name, of the mode enforce, finds its control plane; for the address in what it is
// started with.
func (m *Machine) Door(name string) (uint16, error) {
	support := m.probe()
	if err := support.Check(capability.Enforce); err != nil {
		return 0, err
	}
	return support.Door(name)
}

// Admits returns nil when a cage may let through what is declared, as far as can be told before it is made: no rule of it
// shows a secret, leads through a link, or names what is not there. It starts nothing.
func (m *Machine) Admits(declared capability.Declared, dirs profile.Dirs) error {
	_, err := profile.Compile(declared, dirs, profile.Machine{})
	return err
}

// Sift tells which of many paths a cage cannot be given, and why. It starts nothing.
func (m *Machine) Sift(asks []profile.Ask, dirs profile.Dirs) (map[profile.Ask]error, error) {
	return profile.Sift(asks, dirs, profile.Machine{})
}

// Enforced says which axes of a task's capability hold here in this mode; none, where there is no such cage. No kernel
// keeps an agent from starting itself again without its prompts, so Bypass never does.
func (m *Machine) Enforced(mode capability.Mode) capability.Support {
	if !mode.Caged() || m.probe().Check(mode) != nil {
		return capability.Support{}
	}
	return capability.Support{Write: true, Read: true, Network: mode == capability.Enforce, Checkout: true, Control: true, Env: true}
}
