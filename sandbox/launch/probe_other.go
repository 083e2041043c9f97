//go:build !linux && !darwin

package launch

import (
	"context"
	"net"
	"os"
	"syscall"

	"termic/sandbox/capability"
	"termic/sandbox/profile"
	"termic/sandbox/stage"
	"termic/sandbox/watch"
)

// Probe says that this system has no cages yet.
func Probe(_ context.Context, _ string) Support {
	s := Support{modes: map[capability.Mode]error{}}
	for _, mode := range []capability.Mode{capability.EnforceFS, capability.Enforce} {
		s.modes[mode] = &UnsupportedError{Mode: mode, Lack: Lack{What: "termic makes cages on Linux and macOS only", Remedy: "choose off"}}
	}
	return s
}

// Mounts is whether cages here see things at other paths than the host does.
const Mounts = false

// Cage is a running cage. There is none on this system, but code that uses one compiles.
type Cage struct {
	MCP, Proxy net.Listener
	Report     stage.Report
}

// Process is a process of a cage.
type Process struct {
	Master *os.File
	PID    int
}

// Make refuses.
func Make(_ context.Context, support Support, o Order) (*Cage, error) {
	return nil, support.Check(o.Profile.Mode)
}

// Environ returns none.
func (c *Cage) Environ(profile.Profile, []string, int) []string { return nil }

// Spawn returns ErrEnded.
func (c *Cage) Spawn(context.Context, Command, ...*os.File) (*Process, error) { return nil, ErrEnded }

// Connect returns ErrEnded.
func (c *Cage) Connect(context.Context, uint16) (net.Conn, error) { return nil, ErrEnded }

// Connections tells of none.
func (c *Cage) Connections(func(watch.Notice)) {}

// Kill does nothing.
func (c *Cage) Kill() error { return nil }

// Done is closed.
func (c *Cage) Done() <-chan struct{} { return closed() }

// Done is closed.
func (p *Process) Done() <-chan struct{} { return closed() }

// Wait returns at once.
func (p *Process) Wait() Exit { return Exit{Code: -1} }

// Signal returns ErrEnded.
func (p *Process) Signal(syscall.Signal) error { return ErrEnded }

func closed() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}
