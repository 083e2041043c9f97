package launch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"termic/sandbox/stage"
	"termic/sandbox/watch"
)

// Cage is a running cage.
type Cage struct {
	// MCP and Proxy accept what the cage's processes connect to at profile.MCPPort and profile.ProxyPort: whoever
	// comes through them is of this cage. Nil when the plan has no such port. Closing one refuses new connections at
	// once, and changes nothing else.
	MCP, Proxy net.Listener
	Report     stage.Report

	watched *os.File // tells of connections; nil when the plan does not watch
	tell    atomic.Pointer[func(watch.Notice)]
	control *net.UnixConn
	process *os.Process // process 1 of the cage
	stderr  *os.File
	done    chan struct{} // closed when every process has ended

	mu      sync.Mutex
	ended   bool
	last    uint64                 // id of the last Spawn
	waiting map[uint64]chan answer // Spawns without an answer
	running map[uint64]*Process    // processes that have not ended
}

type answer struct {
	process *Process
	conn    net.Conn // of a Connect
	err     error
}

// Process is a process of a cage, the leader of a session.
type Process struct {
	Master *os.File // its terminal, if it has one; the caller closes it
	PID    int      // in the cage

	id   uint64
	cage *Cage
	done chan struct{}
	exit Exit
}

// Done is closed when the process has ended. Others of its session may live on.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait waits for the end of the process.
func (p *Process) Wait() Exit {
	<-p.done
	return p.exit
}

// Signal sends a signal to every process of the session. After the end of the cage it is ErrEnded.
func (p *Process) Signal(sig syscall.Signal) error {
	return p.cage.send(stage.Request{Signal: &stage.Signal{ID: p.id, Number: int(sig)}})
}

// run starts to listen to the stage.
func (c *Cage) run() {
	if c.watched != nil {
		go c.watch()
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		c.listen()
	}()
	go func() {
		_, _ = c.process.Wait() // its end is all there is to know
		<-read                  // what it said before
		c.end()
	}()
}

// listen takes events until the stage ends, or says what it should not: then it is ended.
func (c *Cage) listen() {
	for {
		event, files, err := readEvent(c.control)
		if err != nil || event.Failure != nil || event.Sealed != nil || event.PID != 0 {
			closeFiles(files)
			_ = c.process.Kill() // it has ended already, or must
			return
		}
		switch {
		case event.Spawned != nil:
			c.spawned(*event.Spawned, files)
		case event.Connected != nil:
			c.connected(*event.Connected, files)
		case event.Exited != nil:
			closeFiles(files)
			c.exited(*event.Exited)
		}
	}
}

func (c *Cage) spawned(s stage.Spawned, files []*os.File) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ch, ok := c.waiting[s.ID]
	delete(c.waiting, s.ID)
	if !ok || s.Error != "" || len(files) > 1 {
		closeFiles(files)
		if ok {
			ch <- answer{err: fmt.Errorf("run in cage: %s", s.Error)}
		}
		return
	}
	p := &Process{PID: s.PID, id: s.ID, cage: c, done: make(chan struct{})}
	if len(files) == 1 {
		p.Master = files[0]
	}
	c.running[s.ID] = p
	ch <- answer{process: p}
}

func (c *Cage) exited(e stage.Exited) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, ok := c.running[e.ID]
	if !ok {
		return
	}
	delete(c.running, e.ID)
	p.finish(Exit{Code: e.Code, Signal: signalName(e.Signal)})
}

func signalName(number int) string {
	if number == 0 {
		return ""
	}
	return unix.SignalName(unix.Signal(number))
}

func (p *Process) finish(exit Exit) {
	p.exit = exit
	close(p.done)
}

// end is after the last process of the cage.
func (c *Cage) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	for _, l := range []net.Listener{c.MCP, c.Proxy} {
		if l != nil {
			_ = l.Close()
		}
	}
	_, _ = c.control.Close(), c.stderr.Close()
	for id, ch := range c.waiting {
		delete(c.waiting, id)
		ch <- answer{err: ErrEnded}
	}
	for id, p := range c.running {
		delete(c.running, id)
		p.finish(Exit{Code: -1, Signal: "SIGKILL"})
	}
	close(c.done)
}

// Done is closed when every process of the cage has ended.
func (c *Cage) Done() <-chan struct{} { return c.done }

// Kill ends every process of the cage at once, and returns when none is left.
func (c *Cage) Kill() error {
	err := c.process.Kill()
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill cage: %w", err)
	}
	<-c.done
	return nil
}

// Spawn starts a process in the cage. stdio are pipes for its standard files when it has no terminal; nil stands for
// its /dev/null. The caller closes them. The error is ErrEnded after the end of the cage.
func (c *Cage) Spawn(ctx context.Context, cmd Command, stdio ...*os.File) (*Process, error) {
	s := &stage.Spawn{Argv: cmd.Argv, Env: cmd.Env, Dir: cmd.Dir, Terminal: cmd.Terminal, Rows: cmd.Rows, Cols: cmd.Cols}
	if s.Env == nil {
		s.Env = []string{}
	}
	if len(stdio) > len(s.Files) || cmd.Terminal && len(stdio) > 0 {
		return nil, fmt.Errorf("run in cage: %d files for standard files and terminal %v", len(stdio), cmd.Terminal)
	}
	var files []*os.File
	for i, f := range stdio {
		if f == nil {
			continue
		}
		if info, err := f.Stat(); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
			return nil, fmt.Errorf("run in cage: standard file %d is no pipe", i)
		}
		s.Files[i], files = true, append(files, f)
	}
	ch := make(chan answer, 1)
	c.mu.Lock()
	if c.ended {
		c.mu.Unlock()
		return nil, ErrEnded
	}
	c.last++
	s.ID = c.last
	c.waiting[s.ID] = ch
	c.mu.Unlock()
	if err := c.send(stage.Request{Spawn: s}, files...); err != nil {
		c.forget(s.ID)
		return nil, err
	}
	return c.answered(ctx, s.ID, ch)
}

// answered waits for the answer to a Spawn. When the context is over first, a process that then starts is killed.
func (c *Cage) answered(ctx context.Context, id uint64, ch chan answer) (*Process, error) {
	select {
	case a := <-ch:
		return a.process, a.err
	case <-ctx.Done():
		go func() {
			if a := <-ch; a.err == nil {
				_ = a.process.Signal(syscall.SIGKILL) // or the cage has ended, and it with it
				if a.process.Master != nil {
					_ = a.process.Master.Close()
				}
			}
		}()
		return nil, fmt.Errorf("run in cage: %w", ctx.Err())
	}
}

func (c *Cage) forget(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, id)
}

func (c *Cage) send(request stage.Request, files ...*os.File) error {
	err := sendRequest(c.control, request, files...)
	if errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		return ErrEnded
	}
	if err != nil {
		return fmt.Errorf("talk to cage: %w", err)
	}
	return nil
}

// Connections has tell called of each connection that the cage's processes ask the kernel for from now on. It must not
// wait for them: they go on only after it.
func (c *Cage) Connections(tell func(watch.Notice)) { c.tell.Store(&tell) }

// watch lets the cage's connections go on, and tells of them, until its last process has ended. When it cannot, nobody in
// the cage could connect any more, and nothing would say why: the cage is ended.
func (c *Cage) watch() {
	err := watch.Serve(c.watched, func(n watch.Notice) {
		if tell := c.tell.Load(); tell != nil {
			(*tell)(n)
		}
	})
	if err != nil {
		_ = c.process.Kill()
	}
}
