package task

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"

	"termic/registry/ident"
	"termic/registry/refusal"
	"termic/sandbox/capability"
	"termic/sandbox/launch"
)

// A server in a cage of its own network is reached by nobody outside. The person opens one, by the number of its port: the
// app then listens on a port of 127.0.0.1 that the system picks, and hands each connection to the server inside.
//
// What is opened is closed with the cage, and by itself never opened again. Any program of the machine can connect to the
// port while it is open, as it can to any server of the person's own; nothing of termic is behind it.

// maxServers bounds what is open of one cage, maxForwarded the connections to each.
const (
	maxServers   = 16
	maxForwarded = 64
)

// reachTime is how long a server may take to accept.
const reachTime = 5 * time.Second

// Server is a server of a cage that can be reached from outside it.
type Server struct {
	Port int    // in the cage
	URL  string // for a browser outside
}

// inside connects to a port of a cage.
type inside func(ctx context.Context, port uint16) (net.Conn, error)

// servers are those of one cage.
type servers struct {
	reach inside

	mu    sync.Mutex
	ended bool
	open  []*forward
}

// forward is one open server.
type forward struct {
	port     uint16
	listener net.Listener
	room     chan struct{}
	running  sync.WaitGroup

	mu    sync.Mutex
	ended bool
	conns map[net.Conn]bool
}

// OpenServer lets programs outside reach a server in a task's running cage. One that is open already is returned as it is.
func (s *Tasks) OpenServer(ctx context.Context, id ident.Task, port uint16) (Server, error) {
	t, err := s.find(id)
	if err != nil {
		return Server{}, err
	}
	defer t.life.Unlock()
	record, _ := s.Get(id)
	if record.Mode != capability.Enforce {
		return Server{}, refusal.Newf(refusal.Conflict, fmt.Sprintf("open http://127.0.0.1:%d", port), "the task has the machine's own network: its servers are reached as they are")
	}
	running := s.cageOf(t)
	if running == nil {
		return Server{}, refusal.New(refusal.Conflict, "nothing runs in the task", "open a tab and start the server there")
	}
	return running.servers.add(ctx, port)
}

// unreached says why a server in a cage was not reached.
func unreached(port uint16, err error) error {
	var why *refusal.Refusal
	switch {
	case errors.Is(err, launch.ErrOwnPort):
		why = refusal.Newf(refusal.BadInput, "name the port of a server that the agent started", "port %d is termic's own inside the cage", port)
	case errors.Is(err, syscall.ECONNREFUSED):
		why = refusal.Newf(refusal.Unavailable, "start the server, then open it", "nothing listens on port %d in the cage", port)
	case errors.Is(err, syscall.ETIMEDOUT), errors.Is(err, context.DeadlineExceeded):
		why = refusal.Newf(refusal.Unavailable, "see what keeps the server busy, or start it again", "the server on port %d of the cage accepts no connection: as many wait for it as it lets wait", port)
	case errors.Is(err, syscall.EBUSY):
		why = refusal.Newf(refusal.Unavailable, "try again when servers of the cage have answered", "too many connections into the cage wait to be accepted")
	case errors.Is(err, launch.ErrEnded):
		why = refusal.New(refusal.Conflict, "the cage has ended", "open a tab, and start the server there")
	default:
		return err
	}
	return why.Because(err)
}

// CloseServer closes what OpenServer opened; connections end.
func (s *Tasks) CloseServer(id ident.Task, port uint16) error {
	if running := s.runningCage(id); running == nil || !running.servers.remove(port) {
		return refusal.Newf(refusal.NotFound, "look at what is open", "no server on port %d is open", port)
	}
	return nil
}

// Servers returns what is open of a task, by port.
func (s *Tasks) Servers(id ident.Task) []Server {
	running := s.runningCage(id)
	if running == nil {
		return nil
	}
	return running.servers.list()
}

func (s *Tasks) runningCage(id ident.Task) *caged {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if t := s.tasks[id]; t != nil {
		return t.caged
	}
	return nil
}

func (v *servers) add(ctx context.Context, port uint16) (Server, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if i := v.index(port); i >= 0 {
		return v.open[i].shown(), nil
	}
	if v.ended {
		return Server{}, refusal.New(refusal.Conflict, "the cage has ended", "open a tab")
	}
	if len(v.open) >= maxServers {
		return Server{}, refusal.Newf(refusal.Busy, "close one first", "%d servers of the task are open", maxServers)
	}
	probe, err := v.reach(ctx, port)
	if err != nil {
		return Server{}, unreached(port, err)
	}
	_ = probe.Close() // it was asked for to see that somebody answers
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil { // no descriptor, or no port, is left
		return Server{}, refusal.New(refusal.Unavailable, "this machine has no port left to listen on for the server", "close servers or programs, and try again").Because(err)
	}
	f := &forward{port: port, listener: listener, room: make(chan struct{}, maxForwarded), conns: map[net.Conn]bool{}}
	v.open = append(v.open, f)
	f.running.Go(func() { f.serve(v.reach) })
	return f.shown(), nil
}

func (v *servers) index(port uint16) int {
	return slices.IndexFunc(v.open, func(f *forward) bool { return f.port == port })
}

func (v *servers) remove(port uint16) bool {
	v.mu.Lock()
	i := v.index(port)
	if i < 0 {
		v.mu.Unlock()
		return false
	}
	f := v.open[i]
	v.open = slices.Delete(v.open, i, i+1)
	v.mu.Unlock()
	f.close()
	return true
}

func (v *servers) list() []Server {
	v.mu.Lock()
	defer v.mu.Unlock()
	var list []Server
	for _, f := range v.open {
		list = append(list, f.shown())
	}
	slices.SortFunc(list, func(a, b Server) int { return a.Port - b.Port })
	return list
}

// close closes all of them, for good.
func (v *servers) close() {
	v.mu.Lock()
	open := v.open
	v.open, v.ended = nil, true
	v.mu.Unlock()
	for _, f := range open {
		f.close()
	}
}

func (f *forward) shown() Server {
	return Server{Port: int(f.port), URL: "http://" + f.listener.Addr().String()}
}

func (f *forward) serve(reach inside) {
	for {
		conn, err := f.listener.Accept()
		if err != nil {
			return // it was closed
		}
		select {
		case f.room <- struct{}{}:
		default:
			_ = conn.Close()
			continue
		}
		if !f.keep(conn) {
			return
		}
		f.running.Go(func() {
			defer func() { <-f.room }()
			defer f.drop(conn)
			f.carry(conn, reach)
		})
	}
}

// carry moves bytes both ways until both have ended. What either end says is not looked into.
func (f *forward) carry(outside net.Conn, reach inside) {
	ctx, cancel := context.WithTimeout(context.Background(), reachTime)
	defer cancel()
	within, err := reach(ctx, f.port)
	if err != nil || !f.keep(within) {
		return
	}
	defer f.drop(within)
	var both sync.WaitGroup
	both.Go(func() { half(within, outside) })
	both.Go(func() { half(outside, within) })
	both.Wait()
}

// half copies one direction and passes its end on.
func half(to, from net.Conn) {
	_, err := io.Copy(to, from)
	if end, ok := to.(interface{ CloseWrite() error }); ok && err == nil {
		_ = end.CloseWrite()
		return
	}
	_ = to.Close()
	_ = from.Close()
}

// keep notes a connection, so that close ends it. It is closed at once where that has been.
func (f *forward) keep(conn net.Conn) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		_ = conn.Close()
		return false
	}
	f.conns[conn] = true
	return true
}

func (f *forward) drop(conn net.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.conns, conn)
	_ = conn.Close()
}

// close returns when nothing is carried any more.
func (f *forward) close() {
	_ = f.listener.Close()
	f.mu.Lock()
	f.ended = true
	for conn := range f.conns {
		_ = conn.Close()
	}
	f.mu.Unlock()
	f.running.Wait()
}
