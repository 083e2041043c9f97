package maccage

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"termic/sandbox/processes"
	"termic/sandbox/seatbelt"
)

// ErrEnded is the end of a cage.
var ErrEnded = errors.New("the cage has ended")

// Spec is a cage to start.
type Spec struct {
	Stage string // the program that Main is
	// Policy renders the policy for a process on a terminal, by the name of its device, or on none.
	Policy func(terminal string) (string, error)
	Ports  []*Port // that the policy names

	// ended is called when nothing of the cage is left, before that is told; nil: nothing is.
	ended func()
	argv  func(policy string, argv, env []string) ([]string, error) // nil: seatbelt.Argv; tests have another program
}

// Command is what to run in a cage.
type Command struct {
	Argv, Env  []string
	Dir        string
	Terminal   bool // of its own, of that size
	Rows, Cols uint16
}

// Cage is a running cage. It is safe for concurrent use.
type Cage struct {
	spec  Spec
	guard *guard
	done  chan struct{}
	stop  sync.Once

	mu      sync.Mutex
	ended   bool
	running map[int]*Process // by session, until it is empty and its leader collected
}

// Start makes a cage with nothing in it. The ports are held already.
func Start(spec Spec) (*Cage, error) {
	if spec.argv == nil {
		spec.argv = seatbelt.Argv
	}
	c := &Cage{spec: spec, done: make(chan struct{}), running: map[int]*Process{}}
	var held []*os.File
	defer func() {
		for _, f := range held {
			_ = f.Close()
		}
	}()
	for _, p := range spec.Ports {
		f, err := p.file()
		if err != nil {
			return nil, fmt.Errorf("start cage: %w", err)
		}
		held = append(held, f)
	}
	var err error
	if c.guard, err = newGuard(spec.Stage, held); err != nil {
		return nil, fmt.Errorf("start cage: %w", err)
	}
	go c.watch()
	for _, p := range spec.Ports {
		if err := p.use(c); err != nil {
			return nil, errors.Join(fmt.Errorf("start cage: %w", err), c.Kill())
		}
	}
	return c, nil
}

// Process is a process of a cage, the leader of a session.
type Process struct {
	Master *os.File // its terminal, if it has one; the caller closes it
	PID    int

	cage *Cage
	cmd  *exec.Cmd
	done chan struct{}
	exit processes.Exit
}

// Done is closed when the process has ended. Others of its session may live on.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait waits for the end of the process.
func (p *Process) Wait() processes.Exit {
	<-p.done
	return p.exit
}

// Signal sends a signal to every process of the session. After the end of the cage it is ErrEnded.
func (p *Process) Signal(sig syscall.Signal) error {
	p.cage.mu.Lock()
	defer p.cage.mu.Unlock()
	if p.cage.ended {
		return ErrEnded
	}
	if p.cage.running[p.PID] != p { // none is left, and the number may be a stranger's
		return nil
	}
	members, err := processes.Session(p.PID)
	for _, pid := range members {
		if e := unix.Kill(pid, sig); e != nil && e != unix.ESRCH && e != unix.EPERM {
			err = errors.Join(err, e)
		}
	}
	if err != nil {
		return fmt.Errorf("signal session %d of a cage: %w", p.PID, err)
	}
	return nil
}

// Spawn starts a process in the cage. stdio are pipes for its standard files when it has no terminal; nil stands for
// /dev/null. The caller closes them. The error is ErrEnded after the end of the cage.
func (c *Cage) Spawn(ctx context.Context, command Command, stdio ...*os.File) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("run in cage: %w", err)
	}
	s, err := c.prepare(command, stdio)
	if err != nil {
		return nil, fmt.Errorf("run in cage: %w", err)
	}
	defer s.close()
	p, err := c.begin(s)
	if err != nil {
		return nil, err
	}
	s.master = nil // it is the process's
	go p.await()
	return p, nil
}

// start is a process on its way.
type start struct {
	cmd         *exec.Cmd
	master, tty *os.File
	gate        *os.File // a byte here lets it become the program
	theirs      *os.File
}

func (s *start) close() {
	for _, f := range []*os.File{s.master, s.tty, s.gate, s.theirs} {
		if f != nil {
			_ = f.Close()
		}
	}
}

// prepare makes everything that can fail before there is a process.
func (c *Cage) prepare(command Command, stdio []*os.File) (_ *start, err error) {
	if len(stdio) > 3 || command.Terminal && len(stdio) > 0 {
		return nil, fmt.Errorf("%d files for standard files and terminal %v", len(stdio), command.Terminal)
	}
	s := &start{cmd: &exec.Cmd{Path: c.spec.Stage, Dir: command.Dir, Env: append([]string{}, command.Env...), SysProcAttr: &syscall.SysProcAttr{Setsid: true}}}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	for i, f := range stdio {
		if f == nil {
			continue
		}
		if info, err := f.Stat(); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
			return nil, fmt.Errorf("standard file %d is no pipe", i)
		}
		switch i { // a nil *os.File in these would be no nil
		case 0:
			s.cmd.Stdin = f
		case 1:
			s.cmd.Stdout = f
		case 2:
			s.cmd.Stderr = f
		}
	}
	terminal := ""
	if command.Terminal {
		if terminal, err = s.terminal(command); err != nil {
			return nil, err
		}
	}
	policy, err := c.spec.Policy(terminal)
	if err != nil {
		return nil, err
	}
	argv, err := c.spec.argv(policy, command.Argv, s.cmd.Env)
	if err != nil {
		return nil, err
	}
	s.cmd.Args = append([]string{"stage", commandGate}, argv...)
	if s.theirs, s.gate, err = os.Pipe(); err != nil {
		return nil, err
	}
	s.cmd.ExtraFiles = []*os.File{s.theirs}
	return s, nil
}

func (s *start) terminal(command Command) (name string, err error) {
	if s.master, s.tty, err = pty.Open(); err != nil {
		return "", err
	}
	if err := pty.Setsize(s.master, &pty.Winsize{Rows: command.Rows, Cols: command.Cols}); err != nil {
		return "", err
	}
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = s.tty, s.tty, s.tty
	s.cmd.SysProcAttr.Setctty = true // its standard input
	return s.tty.Name(), nil
}

// begin starts the gate, tells the warden of it, and lets it go on: in that order, so that nothing of the cage runs that the
// warden would not end.
func (c *Cage) begin(s *start) (*Process, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return nil, ErrEnded
	}
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("run in cage: %w", err)
	}
	p := &Process{Master: s.master, PID: s.cmd.Process.Pid, cage: c, cmd: s.cmd, done: make(chan struct{})}
	err := c.guard.add(p.PID)
	if err == nil {
		_, err = s.gate.Write([]byte{1})
	}
	if err != nil {
		_, _ = s.cmd.Process.Kill(), s.cmd.Wait() // it is the gate still, and has started nothing
		return nil, ErrEnded
	}
	c.running[p.PID] = p
	return p, nil
}

// lookAgain is how often a session whose leader has ended is looked at: until it is empty its number is kept from strangers.
const lookAgain = time.Second

// await announces the end of the process, and collects it when its session is empty.
func (p *Process) await() {
	p.exit = processes.AwaitExit(p.PID)
	close(p.done)
	for !p.collect() {
		select {
		case <-time.After(lookAgain):
		case <-p.cage.done:
			return // it was collected with the cage
		}
	}
}

func (p *Process) collect() bool {
	c := p.cage
	c.mu.Lock()
	defer c.mu.Unlock()
	members, err := processes.Session(p.PID)
	if c.ended || err != nil || len(members) > 0 {
		return false
	}
	_ = c.guard.remove(p.PID) // fails when the cage is about to end
	_ = p.cmd.Wait()          // repeats what AwaitExit said
	delete(c.running, p.PID)
	return true
}

// watch waits for the end of the warden, which is the end of the cage.
func (c *Cage) watch() {
	_, _ = c.guard.process.Wait()
	c.mu.Lock()
	c.ended = true
	sessions := slices.Collect(maps.Keys(c.running))
	c.mu.Unlock()
	// The warden has killed them, unless somebody killed it.
	for processes.Kill(sessions...) != nil {
		time.Sleep(lookAgain)
	}
	for _, p := range c.running { // nobody adds or collects any more
		<-p.done
		_ = p.cmd.Wait()
	}
	for _, p := range c.spec.Ports {
		p.leave(c)
	}
	_ = c.guard.pipe.Close()
	if c.spec.ended != nil {
		c.spec.ended()
	}
	close(c.done)
}

// Done is closed when every process of the cage has ended.
func (c *Cage) Done() <-chan struct{} { return c.done }

// killTime is how long the end of a cage may take: the warden's time, and as much again.
const killTime = 12 * time.Second

// Kill ends every process of the cage at once, and returns when none is left.
func (c *Cage) Kill() error {
	c.stop.Do(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		_ = c.guard.pipe.Close()
	})
	select {
	case <-c.done:
		return nil
	case <-time.After(killTime):
		return errors.New("kill cage: something in it outlives SIGKILL")
	}
}
