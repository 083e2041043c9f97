package cage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"termic/app/pty"
	"termic/sandbox/capability"
	"termic/sandbox/cgroup"
	"termic/sandbox/egress"
	"termic/sandbox/launch"
	"termic/sandbox/profile"
	"termic/sandbox/watch"
)

// Spec is a cage to make.
type Spec struct {
	Declared capability.Declared
	Dirs     profile.Dirs
	// Decided is told of each connection that the cage asks its proxy for; see egress.Proxy.
	Decided func(egress.Decision)
	// Connects, when set, is told of each connection that the cage's processes ask the kernel for; see launch.Cage.
	Connects func(watch.Notice)
	// Limits bound what it takes of the machine, where the machine can hold it to that; see Cage.Limits. Name is part of the
	// name of its control group.
	Limits cgroup.Limits
	Name   string
	// Dir is for its own directories, where it has no private paths of the usual names; see launch.Order.
	Dir string
}

// Cage is a running cage. It is safe for concurrent use.
type Cage struct {
	profile  profile.Profile
	uid      int
	launched *launch.Cage
	proxied  sync.WaitGroup // the proxy, and who waits for the end to clean up
	limited  limited
}

// Start makes and proves a cage. The error says why there is none: what the machine lacks, which rule would show a
// secret, or which step failed. Then nothing of it is left.
func (m *Machine) Start(ctx context.Context, spec Spec) (*Cage, error) {
	support := m.probe()
	if err := support.Check(spec.Declared.Mode); err != nil {
		return nil, err
	}
	compiled, err := profile.Compile(spec.Declared, spec.Dirs, profile.Machine{})
	if err != nil {
		return nil, err
	}
	limited := limited{want: spec.Limits}
	launched, err := launch.Make(ctx, support, launch.Order{
		Profile: compiled, Watch: spec.Connects != nil, Processes: int(spec.Limits.Processes), Place: limited.place(ctx, m.groups, spec.Name), Name: spec.Name, Dir: spec.Dir})
	if err != nil {
		return nil, errors.Join(err, limited.remove())
	}
	limited.count(launched.Report)
	c := &Cage{profile: compiled, uid: spec.Dirs.UID, launched: launched, limited: limited}
	c.proxied.Go(func() {
		<-launched.Done()
		_ = limited.remove() // an empty group limits nobody, and the next start of the app removes it
	})
	if spec.Connects != nil {
		launched.Connections(spec.Connects)
	}
	if launched.Proxy != nil {
		c.proxy(spec.Decided)
	}
	return c, nil
}

// proxy serves the cage's way out until the cage ends. A proxy that fails lets nothing through.
func (c *Cage) proxy(decided func(egress.Decision)) {
	ctx, cancel := context.WithCancel(context.Background())
	proxy := &egress.Proxy{Policy: egress.Policy{Allowed: c.profile.Hosts}, Decided: decided}
	c.proxied.Go(func() {
		_ = proxy.Serve(ctx, c.launched.Proxy) // it ends with the cage, whose listener it is
	})
	c.proxied.Go(func() {
		<-c.launched.Done()
		cancel()
	})
}

// MCP is where the cage's processes arrive that connect to their control plane, and nobody else; nil when the cage
// has no such port. Whoever serves it closes it.
func (c *Cage) MCP() net.Listener { return c.launched.MCP }

// Connect connects to a server in the cage, by the port of its loopback; see launch.Cage.Connect.
func (c *Cage) Connect(ctx context.Context, port uint16) (net.Conn, error) {
	return c.launched.Connect(ctx, port)
}

// Notes are what the cage has otherwise than planned, in words: caches that could not be layered, a limit that the
// kernel does not hold.
func (c *Cage) Notes() []string {
	var notes []string
	for _, l := range c.Limits() {
		if l.Max > 0 && !l.Held {
			notes = append(notes, l.What+" is not limited: "+l.Why)
		}
	}
	for _, cache := range c.launched.Report.Caches {
		if cache.Why != "" {
			notes = append(notes, fmt.Sprintf("cache %s is %s: %s", cache.Path, cache.As, cache.Why))
		}
	}
	return notes
}

// Environ returns the environment of the cage's processes, made of the person's ("NAME=value" each).
func (c *Cage) Environ(person []string) []string { return c.launched.Environ(c.profile, person, c.uid) }

// Terminal starts a program on a terminal of the cage's own. Argv's first word is looked up in the PATH of env, inside
// the cage.
func (c *Cage) Terminal(ctx context.Context, argv, env []string, dir string, size pty.Size) (*pty.Session, error) {
	p, err := c.launched.Spawn(ctx, launch.Command{Argv: argv, Env: env, Dir: dir, Terminal: true, Rows: size.Rows, Cols: size.Cols})
	if err != nil {
		return nil, err
	}
	session, err := pty.Adopt(p.Master, guest{p})
	if err != nil {
		return nil, errors.Join(err, p.Signal(syscall.SIGKILL))
	}
	return session, nil
}

// guest is a process of a cage as its terminal sees it.
type guest struct{ *launch.Process }

func (g guest) Signal(sig syscall.Signal) error {
	err := g.Process.Signal(sig)
	if errors.Is(err, launch.ErrEnded) { // and with the cage every process
		return nil
	}
	return err
}

func (g guest) Exit() pty.ExitStatus {
	exit := g.Wait()
	return pty.ExitStatus{Code: exit.Code, Signal: exit.Signal}
}

// ExitError is the end of a command that did not succeed.
type ExitError struct {
	Exit   launch.Exit
	Stderr string // its last words
}

func (e *ExitError) Error() string {
	if e.Exit.Signal != "" {
		return fmt.Sprintf("ended by %s", e.Exit.Signal)
	}
	return fmt.Sprintf("exit %d: %s", e.Exit.Code, e.Stderr)
}

// lastWords bounds what is kept of a command's standard error, in bytes.
const lastWords = 4 << 10

// Run runs a program without a terminal and waits for it and for the end of its output. What it writes is a cage's
// word, and its length is for stdout to bound. When ctx ends first it is killed. A program that does not succeed is an
// *ExitError.
func (c *Cage) Run(ctx context.Context, argv, env []string, dir string, stdin io.Reader, stdout io.Writer) error {
	pipes, err := newPipes()
	if err != nil {
		return fmt.Errorf("run in cage: %w", err)
	}
	defer pipes.close()
	p, err := c.launched.Spawn(ctx, launch.Command{Argv: argv, Env: env, Dir: dir}, pipes.theirs[:]...)
	pipes.closeTheirs()
	if err != nil {
		return err
	}
	kill := func() { _ = p.Signal(syscall.SIGKILL) }
	// A grandchild that keeps a pipe open would keep us for ever: after the kill our own ends go too.
	stop := context.AfterFunc(ctx, func() { kill(); pipes.close() })
	defer stop()
	words := &tail{limit: lastWords}
	copied := pipes.copy(stdin, stdout, words)
	exit := p.Wait()
	// The program has ended. What it left running may hold the pipes: it gets a moment to write what is in them.
	late := time.AfterFunc(drainTime, pipes.close)
	defer late.Stop()
	err = <-copied
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("run in cage: %w", ctx.Err())
	case exit != (launch.Exit{}):
		return &ExitError{Exit: exit, Stderr: words.String()}
	case err != nil && !errors.Is(err, os.ErrClosed):
		kill()
		return fmt.Errorf("run in cage: %w", err)
	}
	return nil
}

// drainTime is how long the output of a command that has ended may take to be read.
const drainTime = 2 * time.Second

// Kill ends every process of the cage at once and returns when none is left, and the proxy neither.
func (c *Cage) Kill() error {
	err := c.launched.Kill()
	c.proxied.Wait()
	return err
}

// Done is closed when every process of the cage has ended.
func (c *Cage) Done() <-chan struct{} { return c.launched.Done() }
