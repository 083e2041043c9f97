package maccage

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// Ports are loopback ports of this machine that policies name, two for each cage's name: its control plane's and its proxy's.
// They are bound before a policy can name them, and then stay bound until the app ends, whoever serves there meanwhile: what a
// rule allows is never somebody else's port. A cage that is started again has the same ones.
type Ports struct {
	listen func() (net.Listener, error) // nil: on any free port of 127.0.0.1
	mu     sync.Mutex
	held   map[string]Pair
}

// Pair is the ports of one cage.
type Pair struct{ MCP, Proxy *Port }

// Hold returns the ports of a name, and binds them when they are not.
func (p *Ports) Hold(name string) (Pair, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	pair := p.held[name]
	for _, port := range []**Port{&pair.MCP, &pair.Proxy} {
		if *port != nil && (*port).Lost() == nil {
			continue
		}
		l, err := p.bind()
		if err != nil {
			return Pair{}, fmt.Errorf("hold a port for a cage: %w", err)
		}
		*port = newPort(l)
		if p.held == nil {
			p.held = map[string]Pair{}
		}
		p.held[name] = pair
	}
	return pair, nil
}

func (p *Ports) bind() (net.Listener, error) {
	if p.listen != nil {
		return p.listen()
	}
	return (&net.ListenConfig{}).Listen(context.Background(), "tcp4", "127.0.0.1:0")
}

// Port is one that is held. Who connects while nobody serves there is hung up on.
type Port struct {
	listener net.Listener

	mu    sync.Mutex
	serve *turn
	lost  error
	users map[*Cage]bool // whose policies name it
}

func newPort(l net.Listener) *Port {
	p := &Port{listener: l, users: map[*Cage]bool{}}
	go p.accept()
	return p
}

// Number is the port's.
func (p *Port) Number() uint16 { return uint16(p.listener.Addr().(*net.TCPAddr).Port) }

// Lost says why the port is not held any more; nil: it is.
func (p *Port) Lost() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lost
}

// Serve returns a listener for what arrives at the port from now on. Closing it, or another Serve, ends that and keeps the port.
func (p *Port) Serve() net.Listener {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.serve != nil {
		p.serve.end()
	}
	p.serve = &turn{port: p, arrived: make(chan net.Conn), done: make(chan struct{})}
	if p.lost != nil {
		p.serve.end()
	}
	return p.serve
}

// use notes a cage whose policy names the port. The error is that nobody holds it.
func (p *Port) use(c *Cage) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lost != nil {
		return fmt.Errorf("no listener holds a port that the policy would name: %w", p.lost)
	}
	p.users[c] = true
	return nil
}

func (p *Port) leave(c *Cage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.users, c)
}

// scarce is how long a machine that is out of descriptors or memory is left alone.
const scarce = 50 * time.Millisecond

// accept hands out connections for ever. When it cannot any more, the cages whose policies name the port are killed, and only then
// is it given up.
func (p *Port) accept() {
	for {
		conn, err := p.listener.Accept()
		if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOBUFS) || errors.Is(err, syscall.ENOMEM) {
			time.Sleep(scarce)
			continue
		}
		if err != nil {
			p.lose(err)
			return
		}
		p.mu.Lock()
		now := p.serve
		p.mu.Unlock()
		if now == nil || !now.take(conn) {
			_ = conn.Close()
		}
	}
}

func (p *Port) lose(err error) {
	p.mu.Lock()
	p.lost = err
	users := p.users
	p.users = map[*Cage]bool{}
	now := p.serve
	p.mu.Unlock()
	if now != nil {
		now.end()
	}
	for c := range users {
		_ = c.Kill() // a cage that cannot be killed keeps its warden, and that the port
	}
	_ = p.listener.Close()
}

// file is the port's socket, for another process to hold.
func (p *Port) file() (*os.File, error) {
	l, ok := p.listener.(interface{ File() (*os.File, error) })
	if !ok {
		return nil, errors.New("hold a port: the listener is no socket")
	}
	return l.File()
}

// turn is a time of serving at a port.
type turn struct {
	port    *Port
	arrived chan net.Conn
	done    chan struct{}
	once    sync.Once
}

func (t *turn) end() { t.once.Do(func() { close(t.done) }) }

// take hands a connection to Accept; false after the end.
func (t *turn) take(conn net.Conn) bool {
	select {
	case t.arrived <- conn:
		return true
	case <-t.done:
		return false
	}
}

// Accept implements net.Listener.
func (t *turn) Accept() (net.Conn, error) {
	select {
	case conn := <-t.arrived:
		return conn, nil
	case <-t.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (t *turn) Close() error {
	t.end()
	return nil
}

// Addr implements net.Listener.
func (t *turn) Addr() net.Addr { return t.port.listener.Addr() }
