package launch

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"

	"termic/sandbox/capability"
	"termic/sandbox/maccage"
	"termic/sandbox/profile"
	"termic/sandbox/seatbelt"
	"termic/sandbox/stage"
	"termic/sandbox/watch"
)

// Mounts is whether cages here see things at other paths than the host does.
const Mounts = false

// Probe finds out whether this Mac has cages, by a trial of each mode under the real sandbox-exec. It is asked once in a run of
// the app, so that no file has to be believed about it.
func Probe(ctx context.Context, stage string) Support {
	s := onTrial(func(mode capability.Mode) error { return maccage.Probe(ctx, maccage.System{}, stage, mode) })
	s.stage, s.ports = stage, &maccage.Ports{}
	return s
}

// Cage is a running cage.
type Cage struct {
	// MCP and Proxy accept what arrives at the ports that the cage's policy names. Other programs of this machine can connect
	// to them too. Nil when the cage has no such port. Closing one refuses new connections at once; the port stays held.
	MCP, Proxy net.Listener
	Report     stage.Report

	made *maccage.Made
}

// Make starts the cage of an order. The error is an *UnsupportedError when this Mac has none.
func Make(ctx context.Context, support Support, o Order) (*Cage, error) {
	if err := support.Check(o.Profile.Mode); err != nil {
		return nil, err
	}
	made, err := maccage.Make(ctx, support.stage, o.Dir, o.Name, o.Profile, support.ports)
	if err != nil {
		return nil, err
	}
	c := &Cage{made: made}
	if o.Profile.MCP {
		c.MCP = made.Ports.MCP.Serve()
	}
	if o.Profile.Proxy {
		c.Proxy = made.Ports.Proxy.Serve()
	}
	for _, cache := range o.Profile.Caches {
		c.Report.Caches = append(c.Report.Caches, stage.Cache{Path: cache.Path, As: string(cache.Fallback), Why: "this system cannot layer directories"})
	}
	go func() {
		<-made.Done()
		for _, l := range []net.Listener{c.MCP, c.Proxy} {
			if l != nil {
				_ = l.Close()
			}
		}
	}()
	return c, nil
}

// Environ returns the environment of the cage's processes, made of the person's; see profile.Profile.EnvironAt.
func (c *Cage) Environ(p profile.Profile, person []string, _ int) []string {
	return seatbelt.Environ(p, c.made.Places, person)
}

// Process is a process of a cage, the leader of a session.
type Process struct {
	Master *os.File // its terminal, if it has one; the caller closes it
	PID    int

	*maccage.Process
}

// Leader is the session that it leads.
func (p *Process) Leader() int { return p.PID }

// Wait waits for the end of the process.
func (p *Process) Wait() Exit { return Exit(p.Process.Wait()) }

// Signal sends a signal to every process of the session. After the end of the cage it is ErrEnded.
func (p *Process) Signal(sig syscall.Signal) error { return ended(p.Process.Signal(sig)) }

// Spawn starts a process in the cage. stdio are pipes for its standard files when it has no terminal; nil stands for
// /dev/null. The caller closes them. The error is ErrEnded after the end of the cage.
func (c *Cage) Spawn(ctx context.Context, cmd Command, stdio ...*os.File) (*Process, error) {
	p, err := c.made.Spawn(ctx, maccage.Command(cmd), stdio...)
	if err != nil {
		return nil, ended(err)
	}
	return &Process{Master: p.Master, PID: p.PID, Process: p}, nil
}

func ended(err error) error {
	if errors.Is(err, maccage.ErrEnded) {
		return ErrEnded
	}
	return err
}

// Connect refuses: a cage here has no loopback of its own, so no program in it can listen at all.
func (c *Cage) Connect(context.Context, uint16) (net.Conn, error) { return nil, syscall.ECONNREFUSED }

// Connections tells of none: this system reports no calls of programs.
func (c *Cage) Connections(func(watch.Notice)) {}

// Kill ends every process of the cage at once, and returns when none is left.
func (c *Cage) Kill() error { return c.made.Kill() }

// Done is closed when every process of the cage has ended.
func (c *Cage) Done() <-chan struct{} { return c.made.Done() }
