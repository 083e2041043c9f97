package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"
)

// Proxy is the proxy of one task. Its fields do not change once Serve was called.
type Proxy struct {
	Policy   Policy
	Limits   Limits
	Resolver Resolver // nil: the system's

	// Decided is told of each connection once: when it is refused, or before the first byte passes. It is
	// called from many goroutines and holds up its connection; what it stores it bounds, since a task can
	// ask as often as it likes. Nil is an error of Serve.
	Decided func(Decision)

	testOnlyDial dialer                       // goes elsewhere than to the address that was decided on
	testOnlyOwn  func() ([]netip.Addr, error) // instead of the interfaces
}

type dialer func(context.Context, netip.AddrPort) (net.Conn, error)

// maxBusy bounds the connections beyond Limits.Conns that are told so at one time; more wait in the backlog
// of the listener.
const maxBusy = 16

// server is one call of Serve.
type server struct {
	*Proxy
	limits  Limits
	resolve Resolver
	dial    dialer
	own     func() ([]netip.Addr, error)

	ending context.Context // done: nothing new
	cut    context.Context // done: open tunnels too
	conns  chan struct{}   // holds one for each connection
	busy   chan struct{}   // holds one for each that is only told that there are too many
	group  sync.WaitGroup  // of both
}

// Serve answers the connections of ln until ctx ends, which is no error, or ln fails. It closes ln, ends every
// connection, open tunnels after Limits.Grace, and returns when all of them are gone. ln belongs to the task
// alone: nothing that a client says tells who it is.
func (p *Proxy) Serve(ctx context.Context, ln net.Listener) error {
	if p.Decided == nil {
		return errors.Join(errors.New("egress proxy: nothing records its decisions"), ln.Close())
	}
	ending, end := context.WithCancel(ctx)
	defer end()
	cut, cutNow := context.WithCancel(context.WithoutCancel(ctx))
	defer cutNow()
	s := &server{Proxy: p, limits: p.Limits.withDefaults(), resolve: p.Resolver, dial: p.testOnlyDial, own: p.testOnlyOwn, ending: ending, cut: cut}
	if s.resolve == nil {
		s.resolve = newSystemResolver()
	}
	if s.dial == nil {
		s.dial = dialTCP
	}
	if s.own == nil {
		s.own = interfaceAddrs
	}
	s.conns, s.busy = make(chan struct{}, s.limits.Conns), make(chan struct{}, maxBusy)

	stop := context.AfterFunc(ending, func() { _ = ln.Close() })
	err := s.accept(ln)
	if stop() {
		_ = ln.Close()
	}
	end()
	grace := time.AfterFunc(s.limits.Grace, cutNow)
	defer grace.Stop()
	s.group.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("egress proxy: %w", err)
}

// accept starts a goroutine for each connection, at most Conns plus maxBusy at one time.
func (s *server) accept(ln net.Listener) error {
	var pause time.Duration
	for {
		conn, err := ln.Accept()
		if err != nil {
			if s.ending.Err() != nil || !passing(err) {
				return err
			}
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			if !s.sleep(pause) {
				return err
			}
			continue
		}
		pause = 0
		if !s.start(conn) {
			_ = conn.Close()
			return s.ending.Err()
		}
	}
}

// start serves conn, or tells it that there are too many. It waits while there are even too many of those, and
// reports whether that was before the proxy is ending.
func (s *server) start(conn net.Conn) bool {
	serve := func() { defer func() { <-s.conns }(); s.serve(conn) }
	select {
	case s.conns <- struct{}{}:
		s.group.Go(serve)
		return true
	default:
	}
	select {
	case s.conns <- struct{}{}:
		s.group.Go(serve)
	case s.busy <- struct{}{}:
		s.group.Go(func() { defer func() { <-s.busy }(); s.turnAway(conn) })
	case <-s.ending.Done():
		return false
	}
	return true
}

// passing reports whether another connection may be accepted after this error: one that was reset while it
// waited, or a lack of descriptors or memory that others' ends mend.
func passing(err error) bool {
	for _, errno := range []error{syscall.ECONNABORTED, syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

// sleep reports whether the time passed before the proxy is ending.
func (s *server) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.ending.Done():
		return false
	}
}
