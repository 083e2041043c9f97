package egress

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"termic/sandbox/capability"
)

// patience bounds waits that end at once unless the test fails.
const patience = 20 * time.Second

// rig is a running proxy on loopback. Its resolver and its dialer stand in for the Internet: names have the
// addresses that answers says, and whatever public address is dialled leads to the upstream on loopback.
// Everything in between is what a cage meets.
type rig struct {
	*Proxy
	t         testing.TB
	addr      string
	end       context.CancelFunc
	served    chan error
	decisions chan Decision

	mu      sync.Mutex
	answers map[string][]netip.Addr
	lookups []string
	dialled []netip.AddrPort
}

var exampleAddr = netip.MustParseAddr("93.184.216.34")

// newRig starts a proxy for example.com on 443 and below it on 8443, after prepare had its way with it.
func newRig(t testing.TB, upstream string, prepare func(*rig)) *rig {
	t.Helper()
	r := &rig{t: t, served: make(chan error, 1), decisions: make(chan Decision, 4096), answers: map[string][]netip.Addr{"example.com": {exampleAddr}}}
	r.Proxy = &Proxy{
		Policy:      Policy{Allowed: hosts(t, "example.com", "*.example.com:8443")},
		Resolver:    r,
		Decided:     func(d Decision) { r.decisions <- d },
		testOnlyOwn: func() ([]netip.Addr, error) { return addrs("127.0.0.1", "11.22.33.44"), nil },
		testOnlyDial: func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			r.mu.Lock()
			r.dialled = append(r.dialled, to)
			r.mu.Unlock()
			return new(net.Dialer).DialContext(ctx, "tcp", upstream)
		},
	}
	if prepare != nil {
		prepare(r)
	}
	ln := listen(t)
	ctx, end := context.WithCancel(context.Background())
	r.addr, r.end = ln.Addr().String(), end
	go func() { r.served <- r.Serve(ctx, ln) }()
	t.Cleanup(func() {
		end()
		select {
		case <-r.served:
		case <-time.After(patience):
			t.Error("the proxy does not end")
		}
	})
	return r
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	return ln
}

// Resolve makes a rig the resolver of its proxy.
func (r *rig) Resolve(_ context.Context, name string) ([]netip.Addr, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lookups = append(r.lookups, name)
	answers, ok := r.answers[name]
	if !ok {
		return nil, fmt.Errorf("%s: no such host", name)
	}
	return answers, nil
}

func (r *rig) traffic() (lookups []string, dialled []netip.AddrPort) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lookups, r.dialled
}

func (r *rig) decision() Decision {
	r.t.Helper()
	select {
	case d := <-r.decisions:
		return d
	case <-time.After(patience):
		r.t.Fatal("nothing was decided")
	}
	panic("unreachable")
}

// noMore fails when another decision was reported. The connections it would be about have ended.
func (r *rig) noMore() {
	r.t.Helper()
	select {
	case d := <-r.decisions:
		r.t.Errorf("one more decision: %+v", d)
	default:
	}
}

// client is a connection of the task to its proxy.
type client struct {
	*net.TCPConn
	in *bufio.Reader
}

func (r *rig) connect() *client {
	r.t.Helper()
	conn, err := net.Dial("tcp", r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	return &client{conn.(*net.TCPConn), bufio.NewReader(conn)}
}

func (c *client) Read(b []byte) (int, error) { return c.in.Read(b) }

// ask sends a request and returns the answer to it.
func (c *client) ask(request string) (*http.Response, error) {
	if _, err := io.WriteString(c, request); err != nil {
		return nil, err
	}
	return http.ReadResponse(c.in, &http.Request{Method: http.MethodConnect})
}

func connectTo(target string) string {
	return "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n\r\n"
}

// tunnel opens a tunnel up to the first bytes, which have come back from an echoing upstream.
func (r *rig) tunnel() *client {
	r.t.Helper()
	c := r.connect()
	response, err := c.ask(connectTo("example.com:443"))
	if err != nil || response.StatusCode != 200 {
		r.t.Fatalf("%v, %v", response, err)
	}
	c.echo(r.t, hello("example.com"))
	return c
}

func (c *client) echo(t testing.TB, s string) {
	t.Helper()
	back := make([]byte, len(s))
	if _, err := io.WriteString(c, s); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, back); err != nil || string(back) != s {
		t.Fatalf("%d bytes sent, %q came back, %v", len(s), back, err)
	}
}

// echoes sends back what it gets until there is no more, and then ends.
type echoes struct {
	addr  string
	conns atomic.Int64
	bytes atomic.Int64
}

func newEchoes(t testing.TB) *echoes {
	ln := listen(t)
	e := &echoes{addr: ln.Addr().String()}
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			e.conns.Add(1)
			go func() {
				defer conn.Close()
				_, _ = io.Copy(conn, io.TeeReader(conn, counter{&e.bytes}))
			}()
		}
	}()
	return e
}

type counter struct{ n *atomic.Int64 }

func (c counter) Write(b []byte) (int, error) { c.n.Add(int64(len(b))); return len(b), nil }

func everyHost(r *rig) { r.Policy = Policy{Allowed: capability.AllHosts()} }

func reader(conn net.Conn) *bufio.Reader { return bufio.NewReaderSize(conn, maxHead) }
