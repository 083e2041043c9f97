package egress

import (
	"net"
	"net/netip"
	"testing"
)

// TestDialTCPConnects is the twin of TestDialTCPFindsItself: on Linux all of 127.0.0.0/8 is this machine, and the
// near address is 127.0.0.1.
func TestDialTCPConnects(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	to := netip.MustParseAddrPort(ln.Addr().String())
	conn, err := dialTCP(t.Context(), to)
	if err != nil || addrPort(conn.RemoteAddr()) != to {
		t.Fatalf("%v, %v", conn, err)
	}
	conn.Close()
}
