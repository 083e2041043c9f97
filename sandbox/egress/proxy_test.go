package egress

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"termic/sandbox/capability"
)

// attempt is all that a connection depends on. What sound returns is let through; each test of a refusal
// changes one thing of it.
type attempt struct {
	request string
	first   string // sent into the tunnel
	leave   bool   // and then nothing more
	prepare func(*rig)
}

func sound() attempt {
	return attempt{request: connectTo("example.com:443"), first: hello("example.com"), prepare: func(*rig) {}}
}

// run tries a. It returns the decision, the HTTP status, and what came back through the tunnel, and checks
// what holds for every attempt.
func (a attempt) run(t *testing.T) (d Decision, status int, back string) {
	t.Helper()
	upstream := newEchoes(t)
	r := newRig(t, upstream.addr, a.prepare)
	c := r.connect()
	response, err := c.ask(a.request)
	if err != nil {
		t.Fatalf("no answer: %v", err)
	}
	if response.StatusCode == 200 {
		_, _ = io.WriteString(c, a.first)
		if a.leave {
			_ = c.CloseWrite()
		}
	}
	d = r.decision()
	lookups, dialled := r.traffic()
	if d.Allow {
		_ = c.CloseWrite()
	}
	rest, err := io.ReadAll(c)
	if err != nil && (response.StatusCode != 200 || d.Allow) { // reset, and what was told may be lost
		t.Error(err)
	}
	back = string(rest)
	c.Close()
	r.end()
	if err := <-r.served; err != nil {
		t.Error(err)
	}
	r.served <- nil
	r.noMore()
	switch {
	case d.Allow && (len(lookups) != 1 || len(dialled) != 1):
		t.Errorf("looked up %v, dialled %v", lookups, dialled)
	case !d.Allow && upstream.bytes.Load() != 0:
		t.Errorf("%d bytes passed", upstream.bytes.Load())
	case response.StatusCode != 200:
		if len(dialled) != 0 && d.Class != Unreached && d.Class != Own {
			t.Errorf("dialled %v", dialled)
		}
		if response.Status[4:] != d.Reason || back != d.Reason+"\n" {
			t.Errorf("told %q and %q, decided %q", response.Status, back, d.Reason)
		}
	}
	return d, response.StatusCode, back
}

func TestAllows(t *testing.T) {
	tests := []struct {
		name   string
		change func(*attempt)
	}{
		{"the sound attempt", func(*attempt) {}},
		{"the host in another case and with the dot of the root", func(a *attempt) { a.request = connectTo("EXAMPLE.com.:443") }},
		{"the server name in another case", func(a *attempt) { a.first = hello("Example.COM") }},
		{"a hello in small records", func(a *attempt) { a.first = records(greeting(sni("example.com")), 10) }},
		{"a hello that comes with the request", func(a *attempt) { a.request, a.first = a.request+a.first, "" }},
		{"another Host header", func(a *attempt) { a.request = strings.Replace(a.request, "Host: example.com", "Host: other.test", 1) }},
		{"another listed port", func(a *attempt) {
			a.request, a.first = connectTo("a.example.com:8443"), hello("a.example.com")
			a.prepare = func(r *rig) { r.answers["a.example.com"] = addrs("2606:2800:220:1::1") }
		}},
		{"every host", func(a *attempt) { a.prepare = everyHost }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := sound()
			tt.change(&a)
			d, status, back := a.run(t)
			if !d.Allow || d.Class != Allowed || status != 200 || !strings.HasSuffix(a.request+a.first, back) || back == "" || !d.Addr.IsValid() {
				t.Errorf("%+v, status %d, %q came back", d, status, back)
			}
		})
	}
}

// refusals are attempts of which one thing is not sound. Their twin is TestAllows' first row.
type refusal struct {
	name   string
	change func(*attempt)
	class  Class
	status int // 200 when it was the ClientHello that was refused
}

func answers(list ...string) func(*attempt) {
	return func(a *attempt) { a.prepare = func(r *rig) { r.answers["example.com"] = addrs(list...) } }
}

func first(s string) func(*attempt) { return func(a *attempt) { a.first = s } }

func refusals() []refusal {
	list := []refusal{
		{"plain HTTP through the proxy", func(a *attempt) { a.request = "GET http://example.com/secret HTTP/1.1\r\nHost: example.com\r\n\r\n" }, NotConnect, 405},
		{"plain HTTP to the proxy", func(a *attempt) { a.request = "GET /secret HTTP/1.1\r\nHost: example.com\r\n\r\n" }, NotConnect, 405},
		{"TLS without a request", func(a *attempt) { a.request = hello("example.com") + "\n" }, Malformed, 400},
		{"HTTP/2", func(a *attempt) { a.request = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" }, Malformed, 400},
		{"a request without an end", func(a *attempt) { a.request = strings.Repeat("x", maxHead) }, Malformed, 400},
		{"a slow request", func(a *attempt) {
			a.request, a.prepare = "CONNECT example.com:443 HTTP/1.1\r\n", func(r *rig) { r.Limits.Head = time.Millisecond }
		}, Slow, 408},
		{"a host that is not listed", func(a *attempt) { a.request, a.first = connectTo("example.org:443"), hello("example.org") }, Unlisted, 403},
		{"a host below a listed one", func(a *attempt) { a.request = connectTo("a.example.com:443") }, Unlisted, 403},
		{"a host that ends like a listed one", func(a *attempt) { a.request = connectTo("badexample.com:443") }, Unlisted, 403},
		{"a listed host on another port", func(a *attempt) { a.request = connectTo("example.com:22") }, Unlisted, 403},
		{"a listed host on a port that is listed for others", func(a *attempt) { a.request = connectTo("example.com:8443") }, Unlisted, 403},
		{"much behind a request that is refused", func(a *attempt) {
			a.request = connectTo("example.org:443") + strings.Repeat("x", 48<<10)
		}, Unlisted, 403},
		{"an empty list", func(a *attempt) { a.prepare = func(r *rig) { r.Policy = Policy{} } }, Unlisted, 403},
		{"a look-up that fails", func(a *attempt) { a.prepare = func(r *rig) { delete(r.answers, "example.com") } }, Unresolved, 502},
		{"a look-up without an answer", answers(), Unresolved, 502},
		{"a look-up that does not end", func(a *attempt) {
			a.prepare = func(r *rig) { r.Limits.Resolve, r.Resolver = time.Millisecond, stuck{} }
		}, Unresolved, 502},
		{"a private answer", answers("10.0.0.1"), Private, 403},
		{"a private answer behind a public one", answers("93.184.216.34", "10.0.0.1"), Private, 403},
		{"a private answer before a public one", answers("fd00::1", "93.184.216.34"), UniqueLocal, 403},
		{"a loopback answer", answers("127.0.0.1"), Loopback, 403},
		{"an IPv6 loopback answer", answers("::1"), Loopback, 403},
		{"a mapped loopback answer", answers("::ffff:127.0.0.1"), Embedding, 403},
		{"the unspecified answer", answers("0.0.0.0"), Reserved, 403},
		{"a metadata service", answers("169.254.169.254"), LinkLocal, 403},
		{"a carrier's NAT", answers("100.64.0.1"), CarrierNAT, 403},
		{"NAT64", answers("64:ff9b::5db8:d822"), NAT64, 403},
		{"6to4", answers("2002:7f00:1::"), Embedding, 403},
		{"Teredo", answers("2001:0:1::1"), Embedding, 403},
		{"ISATAP", answers("2600::5efe:7f00:1"), Embedding, 403},
		{"multicast", answers("224.0.0.251"), Multicast, 403},
		{"documentation", answers("192.0.2.1"), Documented, 403},
		{"benchmarking", answers("198.18.0.1"), Benchmarking, 403},
		{"this machine", answers("11.22.33.44"), Own, 403},
		{"this machine's addresses are not known", func(a *attempt) {
			a.prepare = func(r *rig) {
				r.testOnlyOwn = func() ([]netip.Addr, error) { return addrs("127.0.0.1"), errors.New("no netlink") }
			}
		}, Own, 403},
		{"a connection that ends at this machine", func(a *attempt) {
			a.prepare = func(r *rig) {
				r.testOnlyDial = func(context.Context, netip.AddrPort) (net.Conn, error) { return nil, errOwn }
			}
		}, Own, 403},
		{"a connection that is refused", func(a *attempt) {
			a.prepare = func(r *rig) {
				r.testOnlyDial = func(context.Context, netip.AddrPort) (net.Conn, error) { return nil, syscall.ECONNREFUSED }
			}
		}, Unreached, 502},
		{"a connection that does not come", func(a *attempt) {
			a.prepare = func(r *rig) {
				r.Limits.Dial = time.Millisecond
				r.testOnlyDial = func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }
			}
		}, Unreached, 502},
		{"plain HTTP in the tunnel", first("GET /secret HTTP/1.1\r\n\r\n"), NotTLS, 200},
		{"SSH in the tunnel", first("SSH-2.0-OpenSSH_9.2\r\n"), NotTLS, 200},
		{"TLS for another host", first(hello("example.org")), OtherName, 200},
		{"TLS for a host below", first(hello("a.example.com")), OtherName, 200},
		{"TLS for the host with the dot of the root", first(hello("example.com.")), OtherName, 200},
		{"TLS for the host and a NUL", first(hello("example.com\x00")), OtherName, 200},
		{"TLS for an address", first(hello("93.184.216.34")), OtherName, 200},
		{"TLS without a name", first(records(greeting(ext(10, "x")), maxRecord)), NoName, 200},
		{"TLS for two hosts", first(hello("example.com", "example.org")), NoName, 200},
		{"TLS for another host, encrypted for this one", first(records(greeting(sni("example.org"), ext(0xfe0d, "example.com")), maxRecord)), OtherName, 200},
		{"a second hello in the record", first(records(greeting(sni("example.com"))+greeting(sni("example.org")), maxRecord)), NotTLS, 200},
		{"a hello that is too long", first(records(greeting(sni("example.com"), ext(21, strings.Repeat("x", maxHello))), maxRecord)), NotTLS, 200},
		{"no hello", func(a *attempt) { a.first, a.leave = "", true }, NotTLS, 200},
		{"half a hello", func(a *attempt) { a.first, a.leave = hello("example.com")[:60], true }, NotTLS, 200},
		{"a slow hello", func(a *attempt) {
			a.first, a.prepare = hello("example.com")[:60], func(r *rig) { r.Limits.Head = 50 * time.Millisecond }
		}, Slow, 200},
	}
	for _, no := range notTargets {
		list = append(list, refusal{"as a target, " + no.name, func(a *attempt) {
			a.request = connectTo(no.target)
			a.prepare = everyHost // it is refused whatever is listed
		}, BadTarget, 400})
	}
	return list
}

// stuck is a resolver that never has an answer.
type stuck struct{}

func (stuck) Resolve(ctx context.Context, _ string) ([]netip.Addr, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestRefuses(t *testing.T) {
	for _, tt := range refusals() {
		t.Run(tt.name, func(t *testing.T) {
			a := sound()
			tt.change(&a)
			d, status, back := a.run(t)
			if d.Allow || d.Class != tt.class || status != tt.status {
				t.Errorf("%+v, status %d; want %s, %d", d, status, tt.class, tt.status)
			}
			if tls := d.Class == OtherName || d.Class == NoName; tls && back != accessDenied || status == 200 && !tls && back != "" {
				t.Errorf("%q came back", back)
			}
			if strings.Contains(d.Reason+d.Host, "secret") || strings.ContainsAny(d.Reason, "\r\n") || strings.Contains(d.Reason, d.Addr.String()) {
				t.Errorf("told of more than the host: %+v", d)
			}
		})
	}
}

// TestRefusesBeforeTheLookUp: the name in a look-up carries data out.
func TestRefusesBeforeTheLookUp(t *testing.T) {
	r := newRig(t, newEchoes(t).addr, nil)
	for _, target := range []string{"secret.example.org:443", "secret.example.com:443", "example.com:22", "93.184.216.34:443"} {
		if response, err := r.connect().ask(connectTo(target)); err != nil || response.StatusCode < 400 {
			t.Errorf("%s: %v, %v", target, response, err)
		}
	}
	if lookups, _ := r.traffic(); len(lookups) != 0 {
		t.Errorf("looked up %v", lookups)
	}
	r.tunnel()
	if lookups, _ := r.traffic(); len(lookups) != 1 || lookups[0] != "example.com" {
		t.Errorf("looked up %v", lookups)
	}
}

// TestRecordsTheHostOfPlainHTTP: a program that does not do https is among the person's denials by what it wanted. Nothing
// of it is looked up, and no entry of the list would let it through: one that is listed is refused like any other.
func TestRecordsTheHostOfPlainHTTP(t *testing.T) {
	for request, want := range map[string]Decision{
		"GET http://example.com/secret HTTP/1.1\r\nHost: secret.test\r\n\r\n":  {Host: "example.com", Port: 80},
		"POST http://Example.org:8080/secret HTTP/1.1\r\n\r\n":                 {Host: "example.org", Port: 8080},
		"GET http://169.254.169.254/secret HTTP/1.1\r\n\r\n":                   {Addr: netip.MustParseAddr("169.254.169.254"), Port: 80},
		"GET http://secret@example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n": {},
		"GET / HTTP/1.1\r\nHost: example.com\r\n\r\n":                          {},
	} {
		a := sound()
		a.request, a.prepare = request, everyHost
		d, _, _ := a.run(t)
		if d.Allow || d.Class != NotConnect || d.Host != want.Host || d.Port != want.Port || d.Addr != want.Addr {
			t.Errorf("%q: %+v, want %+v", request, d, want)
		}
	}
}

// TestRecordsAddressesThatWereAskedFor: an attempt at a metadata service is worth knowing.
func TestRecordsAddressesThatWereAskedFor(t *testing.T) {
	r := newRig(t, newEchoes(t).addr, nil)
	for _, tt := range []struct{ target, addr string }{
		{"169.254.169.254:80", "169.254.169.254"}, {"[fe80::1%secret]:80", "fe80::1"},
	} {
		if _, err := r.connect().ask(connectTo(tt.target)); err != nil {
			t.Error(err)
		}
		want := Decision{Port: 80, Class: BadTarget, Reason: "addresses are never reached; write a host name", Addr: netip.MustParseAddr(tt.addr)}
		if d := r.decision(); d != want {
			t.Errorf("got %+v, want %+v", d, want)
		}
	}
}

// rebinding answers with a public address first and with loopback from then on.
type rebinding struct{ *rig }

func (r rebinding) Resolve(ctx context.Context, name string) ([]netip.Addr, error) {
	answers, err := r.rig.Resolve(ctx, name)
	r.mu.Lock()
	r.rig.answers[name] = addrs("127.0.0.1")
	r.mu.Unlock()
	return answers, err
}

// TestDialsWhatWasDecidedOn: a name that means another address the next time it is looked up is not looked up
// again.
func TestDialsWhatWasDecidedOn(t *testing.T) {
	r := newRig(t, newEchoes(t).addr, func(r *rig) { r.Resolver = rebinding{r} })
	r.tunnel()
	want := netip.AddrPortFrom(exampleAddr, 443)
	if lookups, dialled := r.traffic(); len(lookups) != 1 || len(dialled) != 1 || dialled[0] != want {
		t.Errorf("looked up %v, dialled %v, want %s once", lookups, dialled, want)
	}
	if d := r.decision(); d.Addr != exampleAddr {
		t.Errorf("%+v", d)
	}
	if response, err := r.connect().ask(connectTo("example.com:443")); err != nil || response.StatusCode != 403 {
		t.Errorf("once it means loopback: %v, %v", response, err)
	}
	if d := r.decision(); d.Class != Loopback {
		t.Errorf("once it means loopback: %+v", d)
	}
}

// TestTriesEachAnswer: an address without a route must not cost the host.
func TestTriesEachAnswer(t *testing.T) {
	list := addrs("2606:2800:220:1::1", "93.184.216.34", "93.184.216.35")
	r := newRig(t, newEchoes(t).addr, func(r *rig) {
		r.answers["example.com"] = list
		through := r.testOnlyDial
		r.testOnlyDial = func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			conn, err := through(ctx, to)
			if to.Addr().Is6() && err == nil {
				return nil, errors.Join(syscall.ENETUNREACH, conn.Close())
			}
			return conn, err
		}
	})
	r.tunnel()
	if d := r.decision(); d.Addr != list[1] {
		t.Errorf("%+v", d)
	}
	if _, dialled := r.traffic(); len(dialled) != 2 {
		t.Errorf("dialled %v", dialled)
	}
}

// TestReachesNoOwnListener uses the real dialer and the real addresses of this machine, on a list of everything.
func TestReachesNoOwnListener(t *testing.T) {
	upstream := newEchoes(t)
	_, port, _ := net.SplitHostPort(upstream.addr)
	r := newRig(t, upstream.addr, func(r *rig) {
		r.Policy = Policy{Allowed: capability.AllHosts()}
		r.testOnlyDial, r.testOnlyOwn = nil, nil
		r.answers["local.test"] = addrs("127.0.0.1")
	})
	if response, err := r.connect().ask(connectTo("local.test:" + port)); err != nil || response.StatusCode != 403 {
		t.Errorf("%v, %v", response, err)
	}
	if d := r.decision(); d.Class != Loopback || upstream.conns.Load() != 0 {
		t.Errorf("%+v, %d connections", d, upstream.conns.Load())
	}
	conn, err := net.Dial("tcp", upstream.addr) // the twin: it does listen
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
}
