//go:build !linux

package launch

import (
	"context"
	"net"
	"os"
	"syscall"

	"termic/sandbox/capability"
	"termic/sandbox/linuxcage"
	"termic/sandbox/stage"
)

// Probe says that this system has no cages yet.
func Probe(_ context.Context, _ string) Support {
	s := Support{modes: map[capability.Mode]error{}}
	for _, mode := range []capability.Mode{capability.EnforceFS, capability.Enforce} {
		s.modes[mode] = &UnsupportedError{Mode: mode, Lack: Lack{What: "termic makes cages on Linux only", Remedy: "choose off"}}
	}
	return s
}

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

// Start refuses.
func Start(_ context.Context, support Support, plan linuxcage.Plan) (*Cage, error) {
	return nil, support.Check(plan.Mode)
}

// Spawn returns ErrEnded.
func (c *Cage) Spawn(context.Context, Command, ...*os.File) (*Process, error) { return nil, ErrEnded }

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
