package cagetest_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"termic/sandbox/cagetest"
	"termic/sandbox/capability"
	"termic/sandbox/egress"
	"termic/sandbox/launch"
	"termic/sandbox/profile"
)

// answers are what names mean outside the cage, also to whoever may have changed them since they were allowed.
type answers map[string][]netip.Addr

func (a answers) Resolve(_ context.Context, name string) ([]netip.Addr, error) {
	if found, ok := a[name]; ok {
		return found, nil
	}
	return nil, fmt.Errorf("%s: no such host", name)
}

func addresses(list ...string) (all []netip.Addr) {
	for _, a := range list {
		all = append(all, netip.MustParseAddr(a))
	}
	return all
}

// TestProxyAbuse asks the proxy from inside a cage for what it must not lead to: a port of the host, which answers to
// who asks it outside. Each is refused for the reason that the rule predicts, and nothing ever arrives at the port. What
// is allowed gets as far as the proxy's own look-up.
func TestProxyAbuse(t *testing.T) {
	if !cagetest.Inner() {
		cagetest.AgainAsUsers(t)
		return
	}
	m := cagetest.New(t)
	hosts := must(capability.HostsOf("listed.test", "*.wild.test", "rebound.test", "mapped.test", "nat64.test", "inner.test", "both.test", "metadata.test", "zero.test"))
	cage := m.Start(t, capability.Enforce, capability.Set{Network: hosts})
	port, arrived := counting(t)
	decided := serveProxy(t, cage, hosts, answers{
		"rebound.test": addresses("127.0.0.1"), "mapped.test": addresses("::ffff:127.0.0.1"), "nat64.test": addresses("64:ff9b::7f00:1"),
		"inner.test": addresses("10.0.0.1"), "both.test": addresses("93.184.216.34", "127.0.0.1"), "metadata.test": addresses("169.254.169.254"),
		"zero.test": addresses("0.0.0.0"),
	})
	connect := func(to string) string { return "CONNECT " + to + " HTTP/1.1\r\n\r\n" }
	here := ":" + strconv.Itoa(port)
	tests := []struct {
		name, request string
		want          egress.Class
	}{
		{"a listed host, which does not exist", connect("listed.test:443"), egress.Unresolved}, // the twin: it is looked up
		{"an address", connect("127.0.0.1" + here), egress.BadTarget},
		{"an IPv6 address", connect("[::1]" + here), egress.BadTarget},
		{"a mapped address", connect("[::ffff:127.0.0.1]" + here), egress.BadTarget},
		{"an address as one number", connect("2130706433" + here), egress.BadTarget},
		{"an address in hexadecimal", connect("0x7f.1" + here), egress.BadTarget},
		{"a short address", connect("127.1" + here), egress.BadTarget},
		{"no address", connect("0" + here), egress.BadTarget},
		{"localhost", connect("localhost" + here), egress.Unlisted},
		{"the proxy itself", connect("127.0.0.1:" + strconv.Itoa(profile.ProxyPort)), egress.BadTarget},
		{"another port of a listed host", connect("listed.test" + here), egress.Unlisted},
		{"a listed host in another's name", connect("listed.test.evil.test:443"), egress.Unlisted},
		{"a host that ends like a listed one", connect("xlisted.test:443"), egress.Unlisted},
		{"the top of a wildcard", connect("wild.test:443"), egress.Unlisted},
		{"a name before the host", connect("listed.test@127.0.0.1" + here), egress.BadTarget},
		{"a host with a port in it", connect("listed.test:443@127.0.0.1" + here), egress.BadTarget},
		{"a URL", connect("http://127.0.0.1" + here + "/"), egress.BadTarget},
		{"a listed name that means the host", connect("rebound.test:443"), egress.Loopback},
		{"one that means it in IPv6", connect("mapped.test:443"), egress.Embedding},
		{"one that means it through a gateway", connect("nat64.test:443"), egress.NAT64},
		{"one that means an inner host", connect("inner.test:443"), egress.Private},
		{"one that means the host too", connect("both.test:443"), egress.Loopback},
		{"one that means a cloud's metadata", connect("metadata.test:443"), egress.LinkLocal},
		{"one that means no address", connect("zero.test:443"), egress.Reserved},
		{"plain HTTP", "GET http://127.0.0.1" + here + "/ HTTP/1.1\r\nHost: listed.test\r\n\r\n", egress.NotConnect},
		{"another method", "POST http://listed.test/ HTTP/1.1\r\n\r\n", egress.NotConnect},
		{"a second request behind the first", connect("127.0.0.1"+here) + connect("listed.test:443"), egress.BadTarget},
		{"another host in a header", "CONNECT 127.0.0.1" + here + " HTTP/1.1\r\nHost: listed.test:443\r\n\r\n", egress.BadTarget},
	}
	refused := 0
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := m.Run(t, cage, "bash", "-c", fmt.Sprintf(`exec 3<>/dev/tcp/127.0.0.1/%d && printf %%s "$1" >&3 && cat <&3`, profile.ProxyPort), "bash", tt.request)
			decision := <-decided
			if decision.Allow || decision.Class != tt.want {
				t.Errorf("decided %+v, want %s", decision, tt.want)
				return
			}
			if plain := tt.want == egress.NotConnect; plain && decision.Host == "" && !decision.Addr.IsValid() {
				t.Errorf("what was asked for is not named: %+v", decision)
			}
			if got.Code != 0 || !strings.HasPrefix(got.Output, "HTTP/1.1 ") {
				t.Errorf("the cage got %+v", got)
				return
			}
			refused++
		})
	}
	if n := arrived.Load(); n != 0 {
		t.Errorf("%d connections arrived", n)
	}
	outside := m.OutsideRun(t, "bash", "-c", fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%d && cat <&3", port))
	if outside.Output != "host" || arrived.Load() != 1 {
		t.Errorf("outside, where nothing forbids it: %+v, %d connections", outside, arrived.Load())
	}
	cagetest.Tally(t, "cage of %s, %-10s %-11s tried %3d, refused for the predicted reason %3d, twin succeeds %3d, not on this machine 0",
		user(), capability.Enforce, "proxy", len(tests), refused, arrived.Load())
}

// counting listens on a port of the host, says "host" to who connects, and counts them.
func counting(t *testing.T) (int, *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	arrived := &atomic.Int64{}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			arrived.Add(1)
			w := bufio.NewWriter(conn)
			_, _ = w.WriteString("host")
			_, _ = w.Flush(), conn.Close()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port, arrived
}

// serveProxy serves the cage's proxy port as the app does.
func serveProxy(t *testing.T, cage *launch.Cage, hosts capability.Hosts, names answers) <-chan egress.Decision {
	t.Helper()
	decided := make(chan egress.Decision, 64)
	proxy := &egress.Proxy{Policy: egress.Policy{Allowed: hosts}, Resolver: names, Decided: func(d egress.Decision) { decided <- d }}
	ctx, end := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- proxy.Serve(ctx, cage.Proxy) }()
	t.Cleanup(func() {
		end()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return decided
}
