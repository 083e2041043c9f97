package egress

import (
	"context"
	"io"
	"net"
	"net/netip"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestNoLimitIsOff sets each field by itself, so that one which is left out of the defaults is found.
func TestNoLimitIsOff(t *testing.T) {
	for i := range reflect.TypeFor[Limits]().NumField() {
		name := reflect.TypeFor[Limits]().Field(i).Name
		for _, tt := range []struct{ set, want int64 }{{0, 0}, {-1, 0}, {1, 1}} {
			var l Limits
			reflect.ValueOf(&l).Elem().Field(i).SetInt(tt.set)
			got := reflect.ValueOf(l.withDefaults()).Field(i).Int()
			if tt.want == 0 && got <= 1 || tt.want == 1 && got != 1 {
				t.Errorf("%s = %d means %d", name, tt.set, got)
			}
		}
	}
}

// half is one end of a connection whose two ways end apart, in memory so that its time can be a test's.
type half struct {
	net.Conn          // reads
	out      net.Conn // writes
}

func (h half) Write(b []byte) (int, error)         { return h.out.Write(b) }
func (h half) CloseWrite() error                   { return h.out.Close() }
func (h half) SetReadDeadline(at time.Time) error  { _ = h.Conn.SetReadDeadline(at); return nil } // an end is read, not set
func (h half) SetWriteDeadline(at time.Time) error { return h.out.SetWriteDeadline(at) }
func (h half) Close() error                        { _ = h.out.Close(); return h.Conn.Close() }

func halves() (a, b half) {
	r1, w1 := net.Pipe()
	r2, w2 := net.Pipe()
	return half{r1, w2}, half{r2, w1}
}

// TestTunnelLimits runs in fake time. Each row says after how long the tunnel is over.
func TestTunnelLimits(t *testing.T) {
	limits := Limits{Idle: time.Minute, Life: time.Hour, Bytes: 1 << 10}
	send := func(conn net.Conn, n int) bool { _, err := conn.Write(make([]byte, n)); return err == nil }
	tests := []struct {
		name string
		use  func(client, host net.Conn)
		want time.Duration
	}{
		{"not used", func(net.Conn, net.Conn) {}, time.Minute},
		{"used by the client once", func(c, _ net.Conn) { time.Sleep(30 * time.Second); send(c, 1) }, 90 * time.Second},
		{"used by the host once", func(_, h net.Conn) { time.Sleep(30 * time.Second); send(h, 1) }, 90 * time.Second},
		{"used a second before it would be idle, seven times", func(_, h net.Conn) {
			for range 7 {
				time.Sleep(59 * time.Second)
				send(h, 1)
			}
		}, 7*59*time.Second + time.Minute},
		{"used all the time", func(c, _ net.Conn) {
			for send(c, 1) {
				time.Sleep(59 * time.Second)
			}
		}, time.Hour},
		{"used up by the client", func(c, _ net.Conn) { time.Sleep(time.Second); send(c, 1<<10); send(c, 1) }, time.Second},
		{"used up by the host", func(_, h net.Conn) { time.Sleep(time.Second); send(h, 1<<10); send(h, 1) }, time.Second},
		{"used up by both", func(c, h net.Conn) { time.Sleep(time.Second); send(h, 1<<9); send(c, 1<<9); send(h, 1) }, time.Second},
		{"used as much as may be", func(c, h net.Conn) { time.Sleep(time.Second); send(h, 1<<9); send(c, 1<<9) }, 61 * time.Second},
		{"ended by the client, and not by the host", func(c, _ net.Conn) { time.Sleep(time.Second); closeWrite(c) }, time.Minute},
		{"ended by both", func(c, h net.Conn) { time.Sleep(time.Second); closeWrite(c); closeWrite(h) }, time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clientEnd, client := halves()
				hostEnd, upstream := halves()
				s := &server{limits: limits.withDefaults(), cut: context.Background()}
				start := time.Now()
				for _, end := range []net.Conn{clientEnd, hostEnd} {
					go func() { _, _ = io.Copy(io.Discard, end) }()
				}
				var user sync.WaitGroup
				user.Go(func() { tt.use(clientEnd, hostEnd) })
				s.splice(client, upstream, client)
				if got := time.Since(start); got != tt.want {
					t.Errorf("over after %v, want %v", got, tt.want)
				}
				_ = clientEnd.Close()
				_ = hostEnd.Close()
				user.Wait()
			})
		})
	}
	t.Run("an end that does not read", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			clientEnd, client := halves()
			hostEnd, upstream := halves()
			s := &server{limits: limits.withDefaults(), cut: context.Background()}
			start := time.Now()
			go send(hostEnd, 100)
			closeWrite(clientEnd) // so that nothing is read from there either
			s.splice(client, upstream, client)
			if got := time.Since(start); got != time.Minute {
				t.Errorf("over after %v", got)
			}
			_ = clientEnd.Close()
			_ = hostEnd.Close()
		})
	})
}

// TestSlowClientsEnd runs in fake time: a byte now and then does not make a client one that may stay.
func TestSlowClientsEnd(t *testing.T) {
	for _, tt := range []struct {
		name, sent string
		want       time.Duration
	}{
		{"within the request", "", 10 * time.Second},
		{"within the hello", connectTo("example.com:443"), 10 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				end, client := halves()
				var decided []Decision
				r := &rig{answers: map[string][]netip.Addr{"example.com": {exampleAddr}}}
				r.Proxy = &Proxy{Policy: Policy{Allowed: hosts(t, "example.com")}, Decided: func(d Decision) { decided = append(decided, d) }}
				_, upstream := halves()
				s := &server{
					Proxy: r.Proxy, limits: Limits{}.withDefaults(), resolve: r, ending: context.Background(), cut: context.Background(),
					own:  func() ([]netip.Addr, error) { return addrs("127.0.0.1"), nil },
					dial: func(context.Context, netip.AddrPort) (net.Conn, error) { return upstream, nil },
				}
				go func() { _, _ = io.Copy(io.Discard, end) }()
				var user sync.WaitGroup
				user.Go(func() {
					_, _ = io.WriteString(end, tt.sent)
					for _, b := range []byte(records(greeting(sni("example.com")), 1) + strings.Repeat("\x16", 100)) {
						time.Sleep(time.Second)
						if _, err := end.Write([]byte{b}); err != nil {
							return
						}
					}
				})
				start := time.Now()
				hello, d := (&exchange{server: s, client: client, in: reader(client)}).open()
				if got := time.Since(start); got != tt.want || d.Class != Slow || hello != nil {
					t.Errorf("over after %v: %+v", got, d)
				}
				_ = client.Close()
				_ = end.Close()
				user.Wait()
			})
		})
	}
}

// TestManyTunnels has a thousand tunnels open at one time, and refuses each one more.
func TestManyTunnels(t *testing.T) {
	const most = 1000
	// Upstream in memory: descriptors are few on some machines.
	var now, ever atomic.Int64
	dial := func(context.Context, netip.AddrPort) (net.Conn, error) {
		end, upstream := halves()
		now.Add(1)
		ever.Add(1)
		go func() {
			defer now.Add(-1)
			defer end.Close()
			_, _ = io.Copy(end, end)
		}()
		return upstream, nil
	}
	r := newRig(t, "", func(r *rig) { r.Limits.Conns, r.testOnlyDial = most, dial })
	open := make([]*client, most)
	var group sync.WaitGroup
	for worker := range 20 {
		group.Go(func() {
			for i := worker; i < most; i += 20 {
				open[i] = r.tunnel()
			}
		})
	}
	group.Wait()
	if t.Failed() {
		return
	}
	if now.Load() != most {
		t.Errorf("%d tunnels are open", now.Load())
	}
	for allowed := 0; allowed < most; {
		// A decision without a host is of a connection that says nothing: another program's test that looks which ports are open.
		switch d := r.decision(); {
		case d.Allow:
			allowed++
		case d.Host != "":
			t.Fatalf("%+v", d)
		}
	}
	for range 3 * maxBusy {
		c := r.connect()
		response, err := c.ask(connectTo("example.com:443"))
		if err != nil || response.StatusCode != 503 || response.Status[4:] != "this task has 1000 connections open, which is the most" {
			t.Fatalf("one more: %v, %v", response, err)
		}
		if d := r.decision(); d.Class != Busy {
			t.Errorf("one more: %+v", d)
		}
		c.Close()
	}
	for _, c := range open {
		group.Go(func() { c.echo(t, "at once") })
	}
	group.Wait()
	if now.Load() != most || ever.Load() != most {
		t.Errorf("%d connections to hosts, %d are open", ever.Load(), now.Load())
	}

	_ = open[0].CloseWrite() // the twin: one less, and there is room
	if _, err := io.ReadAll(open[0]); err != nil {
		t.Error(err)
	}
	for {
		c := r.connect()
		response, err := c.ask(connectTo("example.com:443"))
		if err == nil && response.StatusCode == 200 {
			c.echo(t, hello("example.com"))
			break
		}
		if err != nil || response.StatusCode != 503 { // the place is given back a moment after the end
			t.Fatal(response, err)
		}
		c.Close()
	}
}

// TestAFloodIsTurnedAway: clients that say nothing are told so, or wait unaccepted, and take nothing from an open
// tunnel.
func TestAFloodIsTurnedAway(t *testing.T) {
	const most = 8
	r := newRig(t, newEchoes(t).addr, func(r *rig) { r.Limits.Conns = most })
	open := r.tunnel()
	r.decision()
	var flood []*client
	for range 100 {
		flood = append(flood, r.connect())
	}
	for range maxBusy {
		if d := r.decision(); d.Class != Busy {
			t.Errorf("%+v", d)
		}
	}
	open.echo(t, "still passing")
	for _, c := range flood {
		c.Close()
	}
}
