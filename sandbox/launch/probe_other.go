//go:build !linux

package launch

import (
	"context"
	"net"
	"os"
	"runtime"
	"syscall"

	"termic/sandbox/capability"
	"termic/sandbox/linuxcage"
	"termic/sandbox/stage"
	"termic/sandbox/watch"
)

// Probe says that this system has no cages yet.
func Probe(_ context.Context, _ string) Support {
	s := Support{modes: map[capability.Mode]error{}}
	for _, mode := range []capability.Mode{capability.EnforceFS, capability.Enforce} {
		s.modes[mode] = &UnsupportedError{Mode: mode, Lack: lackHere()}
	}
	return s
}

// lackHere says why there is none. On macOS the policy of a cage is made and judged (package seatbelt); a cage that was
// never seen to hold is not started.
func lackHere() Lack {
	if runtime.GOOS == "darwin" {
		return Lack{What: "on macOS a cage is a policy that was judged by evaluation and never tried on a Mac, so none is started", Remedy: "choose off; build/mac-probes.sh tries the policies on a Mac"}
	}
	return Lack{What: "termic makes cages on Linux only", Remedy: "choose off"}
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

// StartPlaced refuses.
func StartPlaced(ctx context.Context, support Support, plan linuxcage.Plan, _ func(int)) (*Cage, error) {
	return Start(ctx, support, plan)
}

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
