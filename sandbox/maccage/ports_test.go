package maccage

import (
	"errors"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
)

// broken is a listener that fails when it is told to, and says when it is closed.
type broken struct {
	net.Listener
	fail   chan error
	closed func()
	once   sync.Once
}

func (b *broken) Accept() (net.Conn, error) { return nil, <-b.fail }

func (b *broken) Close() error {
	b.once.Do(b.closed)
	return b.Listener.Close()
}

func (b *broken) File() (*os.File, error) { return b.Listener.(*net.TCPListener).File() }

// I3: a port that is lost is given up only when nothing lives whose policy names it.
func TestALostPortKillsItsCagesFirst(t *testing.T) {
	real, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t) // a cage that has nothing to do with it
	other, _ := r.spawn("sleep 600")
	var pid int
	var early bool
	gone := make(chan struct{})
	b := &broken{Listener: real, fail: make(chan error)}
	b.closed = func() { early = living(t, pid); close(gone) }
	port := newPort(b)
	cage := r.start(port)
	p, err := cage.Spawn(t.Context(), Command{Argv: []string{"/bin/sleep", "600"}, Dir: "/"})
	if err != nil {
		t.Fatal(err)
	}
	pid = p.PID
	b.fail <- syscall.EMFILE // a machine that is short of something loses nothing
	if port.Lost() != nil || !living(t, pid) {
		t.Fatal("the port was given up for want of descriptors")
	}
	b.fail <- errors.New("gone")
	<-gone
	if early {
		t.Error("the port was given up while the cage lived")
	}
	if !living(t, other.PID) {
		t.Error("another cage was killed")
	}
	if _, err := Start(spec(self(t), []*Port{port})); err == nil {
		t.Error("a cage was started on a port that nobody holds")
	}
	if _, err := port.Serve().Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("serving at it: %v", err)
	}
}

func TestAPortIsServedInTurns(t *testing.T) {
	var ports Ports
	pair, err := ports.Hold("a")
	if err != nil {
		t.Fatal(err)
	}
	other, err := ports.Hold("b")
	if err != nil || other.MCP.Number() == pair.MCP.Number() || pair.MCP.Number() == pair.Proxy.Number() {
		t.Fatalf("two of %v and %v are one: %v", pair, other, err)
	}
	serve := func(l net.Listener) {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte{1})
			_ = conn.Close()
		}
	}
	first := pair.MCP.Serve()
	address := first.Addr().String()
	if answers(address) {
		t.Error("it answers before anybody serves")
	}
	go serve(first)
	if !answers(address) {
		t.Error("it does not answer")
	}
	if err := first.Close(); err != nil || answers(address) || free(t, pair.MCP.Number()) {
		t.Errorf("after Close: %v", err)
	}
	if _, err := first.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept after Close: %v", err)
	}
	second := pair.MCP.Serve()
	go serve(second)
	if !answers(address) {
		t.Error("it does not answer again")
	}
	third := pair.MCP.Serve()
	if _, err := second.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("two serve at once: %v", err)
	}
	_ = third.Close()
}

// No cage, and so no policy, where a port cannot be held.
func TestNoCageWithoutItsPorts(t *testing.T) {
	bad := errors.New("no port")
	ports := &Ports{listen: func() (net.Listener, error) { return nil, bad }}
	if _, err := ports.Hold("task"); !errors.Is(err, bad) {
		t.Errorf("held all the same: %v", err)
	}
}
