package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"syscall"
)

var (
	// ErrPortTaken: somebody else holds the port that was asked for. No other port is tried: clients hold the
	// old address next to a live token and would hand it to whoever listens there (I3).
	ErrPortTaken = errors.New("port is taken")
	// ErrServing: the endpoint serves already.
	ErrServing = errors.New("already serving")
)

// loopback is the only address that is ever bound.
var loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// Endpoint is a Server on a loopback port that can be started and stopped many times. It has its own
// goroutines. Server must be set before the first Start.
type Endpoint struct {
	Server *Server
	// Ended, when set, is called from a goroutine of the endpoint when it stops serving by itself: the
	// listener broke. The address must then no longer be advertised. It may call Start and Stop.
	Ended func(error)

	mu      sync.Mutex
	serving *serving
}

// serving is one run between Start and Stop.
type serving struct {
	address netip.AddrPort
	conns   *conns
	http    *http.Server
	cancel  context.CancelFunc
	ended   chan struct{}
}

// Start binds 127.0.0.1 and serves until Stop. Port 0 lets the system choose; any other port is bound or it is
// an error, which is ErrPortTaken when another process holds it. ctx bounds the binding, not the serving.
func (e *Endpoint) Start(ctx context.Context, preferredPort int) (netip.AddrPort, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.serving != nil {
		return netip.AddrPort{}, ErrServing
	}
	if preferredPort < 0 || preferredPort > 65535 {
		return netip.AddrPort{}, fmt.Errorf("listen on port %d: not a port", preferredPort)
	}
	wanted := net.JoinHostPort(loopback.String(), strconv.Itoa(preferredPort))
	if err := ctx.Err(); err != nil {
		return netip.AddrPort{}, fmt.Errorf("listen on %s: %w", wanted, err)
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp4", wanted)
	if errors.Is(err, syscall.EADDRINUSE) {
		return netip.AddrPort{}, fmt.Errorf("listen on %s: %w", wanted, ErrPortTaken)
	}
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("listen on %s: %w", wanted, err)
	}
	address := listener.Addr().(*net.TCPAddr).AddrPort()
	e.serving = e.serve(listener, address)
	return address, nil
}

// StartOn serves until Stop on a listener that another opened: on 127.0.0.1 inside a cage, or on a socket where
// Server.Socket says so, which has no AddrPort. The endpoint takes the listener in any case.
func (e *Endpoint) StartOn(listener net.Listener) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var at netip.AddrPort
	ours := false
	switch address := listener.Addr().(type) {
	case *net.TCPAddr:
		at, ours = address.AddrPort(), address.AddrPort().Addr().Unmap() == loopback
	case *net.UnixAddr:
		ours = e.Server.Socket
	}
	if e.serving != nil {
		return errors.Join(ErrServing, listener.Close())
	}
	if !ours {
		return errors.Join(fmt.Errorf("serve on %s: not an address of ours", listener.Addr()), listener.Close())
	}
	e.serving = e.serve(listener, at)
	return nil
}

// serve starts a run on listener.
func (e *Endpoint) serve(listener net.Listener, address netip.AddrPort) *serving {
	ctx, cancel := context.WithCancel(context.Background())
	run := &serving{
		address: address,
		conns:   newConns(listener, e.Server.Limits.orDefault().Connections),
		http:    newHTTPServer(ctx, e.Server),
		cancel:  cancel,
		ended:   make(chan struct{}),
	}
	go func() {
		defer close(run.ended)
		if err := run.http.Serve(run.conns); !errors.Is(err, http.ErrServerClosed) {
			e.lost(run, err)
		}
	}()
	return run
}

func newHTTPServer(ctx context.Context, handler *Server) *http.Server {
	// HTTP/1.1 only: every client speaks it, and there is one parser less.
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	return &http.Server{
		Handler:     handler,
		Protocols:   &protocols,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnContext: withConn,
		// No ReadTimeout: it would end long calls. Bodies and answers have deadlines of their own (reply).
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader - netHTTPSlop,
		// Else net/http answers "OPTIONS *" with 200 before any check of ours.
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(handler.log().Handler(), slog.LevelDebug),
	}
}

// lost takes down a run whose listener broke.
func (e *Endpoint) lost(run *serving, cause error) {
	run.cancel()
	_ = run.http.Close()
	e.mu.Lock()
	mine := e.serving == run
	if mine {
		e.serving = nil
	}
	ended := e.Ended
	e.mu.Unlock()
	e.Server.log().Error("the endpoint stopped serving", "address", run.address, "cause", cause)
	if mine && ended != nil {
		go ended(cause)
	}
}

// Address returns where the endpoint serves, and whether it does.
func (e *Endpoint) Address() (netip.AddrPort, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.serving == nil {
		return netip.AddrPort{}, false
	}
	return e.serving.address, true
}

// URL is the address as clients are told it.
func URL(address netip.AddrPort) string { return "http://" + address.String() + Path }

// Stop closes the listener at once, ends reads and waits, and returns when every answer is out. When ctx ends
// first, the connections are closed and its error is returned; a write that has begun is finished by the
// router all the same. Stopping what does not serve is no error.
func (e *Endpoint) Stop(ctx context.Context) error {
	e.mu.Lock()
	run := e.serving
	e.serving = nil
	e.mu.Unlock()
	if run == nil {
		return nil
	}
	// What is still answered says that the connection ends.
	run.http.SetKeepAlivesEnabled(false)
	run.conns.stop()
	run.cancel()
	err := run.http.Shutdown(ctx) // closes the listener first
	if err != nil {
		_ = run.http.Close()
		err = fmt.Errorf("stop serving on %s: %w", run.address, err)
	}
	<-run.ended
	return err
}
