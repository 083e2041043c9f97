package egress

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// nameServer answers questions over UDP on loopback with records, by name and type.
type nameServer struct {
	net.PacketConn
	records map[string]string // "name. A" → address

	mu    sync.Mutex
	asked []string
}

func newNameServer(t *testing.T, records map[string]string) (*nameServer, systemResolver) {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	s := &nameServer{PacketConn: conn, records: records}
	go s.serve()
	r := newSystemResolver()
	r.net.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}
	return s, r
}

func (s *nameServer) serve() {
	packet := make([]byte, 1500)
	for {
		n, from, err := s.ReadFrom(packet)
		if err != nil {
			return
		}
		if answer := s.answer(packet[:n]); answer != nil {
			_, _ = s.WriteTo(answer, from)
		}
	}
}

// answer makes a DNS message (RFC 1035, section 4) of the question in q: with the record of that name and type,
// with none if only the other type has one, else "no such name".
func (s *nameServer) answer(q []byte) []byte {
	name, i := "", 12
	for q[i] != 0 {
		name += string(q[i+1:i+1+int(q[i])]) + "."
		i += 1 + int(q[i])
	}
	question := q[12 : i+5]
	kind := map[uint16]string{1: "A", 28: "AAAA"}[binary.BigEndian.Uint16(q[i+1:])]
	s.mu.Lock()
	s.asked = append(s.asked, name)
	s.mu.Unlock()
	if strings.HasPrefix(name, "silent.") {
		return nil
	}
	addr, found := s.records[name+" "+kind]
	out := append([]byte{q[0], q[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, question...)
	if found {
		data := netip.MustParseAddr(addr).AsSlice()
		out[7] = 1
		out = append(out, 0xc0, 12, question[len(question)-4], question[len(question)-3], 0, 1, 0, 0, 0, 60, 0, byte(len(data)))
		return append(out, data...)
	}
	if s.records[name+" A"] == "" && s.records[name+" AAAA"] == "" {
		out[3] |= 3
	}
	return out
}

func TestSystemResolver(t *testing.T) {
	server, r := newNameServer(t, map[string]string{
		"both.example. A": "93.184.216.34", "both.example. AAAA": "2606:2800:220:1::1",
		"inner.example. A":  "10.0.0.1",
		"six.example. AAAA": "2606:2800:220:1::1",
	})
	tests := []struct {
		name string
		want []netip.Addr
	}{
		{"both.example", addrs("93.184.216.34", "2606:2800:220:1::1")},
		{"inner.example", addrs("10.0.0.1")},
		{"six.example", addrs("2606:2800:220:1::1")},
		{"none.example", nil},
	}
	for _, tt := range tests {
		got, err := r.Resolve(t.Context(), tt.name)
		slices.SortFunc(got, netip.Addr.Compare)
		if !slices.Equal(got, tt.want) || (err == nil) != (tt.want != nil) {
			t.Errorf("%s = %v, %v; want %v", tt.name, got, err, tt.want)
		}
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	for _, name := range server.asked {
		if strings.Count(name, ".") != 2 {
			t.Errorf("asked for %s, which is in no row", name)
		}
	}
}

func TestSystemResolverEndsWithItsContext(t *testing.T) {
	_, r := newNameServer(t, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	if got, err := r.Resolve(ctx, "silent.example"); err == nil || time.Since(start) > patience/5 {
		t.Errorf("%v, %v after %v", got, err, time.Since(start))
	}
}

func TestInterfaceAddrsHasLoopback(t *testing.T) {
	own, err := interfaceAddrs()
	if err != nil || !slices.Contains(own, netip.MustParseAddr("127.0.0.1")) {
		t.Errorf("%v, %v", own, err)
	}
	for _, a := range own {
		if a.Is4In6() {
			t.Errorf("%s is mapped", a)
		}
	}
}

// TestDialTCPFindsItself: the kernel uses the address of this machine that is dialled as the near one, too.
func TestDialTCPFindsItself(t *testing.T) {
	ln := listen(t)
	if conn, err := dialTCP(t.Context(), netip.MustParseAddrPort(ln.Addr().String())); !errors.Is(err, errOwn) {
		t.Errorf("%v, %v", conn, err)
	}
	ln.Close()
	if conn, err := dialTCP(t.Context(), netip.MustParseAddrPort(ln.Addr().String())); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("%v, %v", conn, err)
	}
}

func TestDialAnySharesItsTime(t *testing.T) {
	list := addrs("93.184.216.34", "93.184.216.35", "93.184.216.36")
	var shares []time.Duration
	stuckDial := func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) {
		end, _ := ctx.Deadline()
		shares = append(shares, time.Until(end).Round(time.Second))
		return nil, context.DeadlineExceeded // at once, for the test's sake
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	_, _, err := dialAny(ctx, stuckDial, list, 443)
	if want := []time.Duration{10 * time.Second, 15 * time.Second, 30 * time.Second}; !slices.Equal(shares, want) || why(err) != "timed out" {
		t.Errorf("shares %v, want %v; %v", shares, want, err)
	}
	shares = nil
	own := func(_ context.Context, to netip.AddrPort) (net.Conn, error) {
		shares = append(shares, 0)
		return nil, errOwn
	}
	if _, a, err := dialAny(ctx, own, list, 443); !errors.Is(err, errOwn) || a != list[0] || len(shares) != 1 {
		t.Errorf("this machine: %v, %v after %d tries", a, err, len(shares))
	}
}

func TestWhySaysNothingOfAddresses(t *testing.T) {
	addr := &net.TCPAddr{IP: net.IPv4(10, 1, 2, 3), Port: 443}
	for want, err := range map[string]error{
		"connection refused": &net.OpError{Op: "dial", Addr: addr, Err: syscall.ECONNREFUSED},
		"timed out":          &net.OpError{Op: "dial", Addr: addr, Err: context.DeadlineExceeded},
		"failed":             &net.OpError{Op: "dial", Addr: addr, Err: errors.New("10.1.2.3")},
	} {
		if got := why(err); got != want {
			t.Errorf("%v: %q", err, got)
		}
	}
}
