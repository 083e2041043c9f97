package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// Resolver looks up the addresses of a host.
type Resolver interface {
	// Resolve returns every address of name, which is folded and complete: no search domain applies. It is
	// called once a connection and returns when ctx ends. An IPv4 address is returned as such, not mapped
	// into IPv6: a mapped one is refused.
	Resolve(ctx context.Context, name string) ([]netip.Addr, error)
}

// systemResolver reads /etc/hosts and asks the servers of /etc/resolv.conf. It does so in Go in programs with
// cgo too: both kinds then get the same answers, and a look-up ends with its context instead of holding a
// thread. What macOS keeps elsewhere (servers of a VPN) is not asked, and net does not find names of one label in
// /etc/hosts when no search domain may apply.
type systemResolver struct{ net *net.Resolver }

func newSystemResolver() systemResolver { return systemResolver{&net.Resolver{PreferGo: true}} }

func (r systemResolver) Resolve(ctx context.Context, name string) ([]netip.Addr, error) {
	answers, err := r.net.LookupNetIP(ctx, "ip", name+".") // the dot: no search domain
	if err != nil {
		return nil, fmt.Errorf("look up %s: %w", name, err)
	}
	for i, a := range answers {
		answers[i] = a.Unmap() // net hands out the IPv4 addresses of /etc/hosts in the mapped form
	}
	return answers, nil
}

// interfaceAddrs returns the addresses of this machine. They are read for each connection: a VPN or another
// network may have come since.
func interfaceAddrs() ([]netip.Addr, error) {
	nets, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("list addresses of interfaces: %w", err)
	}
	own := make([]netip.Addr, 0, len(nets))
	for _, n := range nets {
		ipnet, ok := n.(*net.IPNet)
		if !ok {
			return nil, fmt.Errorf("address of an interface: %T", n)
		}
		a, ok := netip.AddrFromSlice(ipnet.IP)
		if !ok {
			return nil, fmt.Errorf("address of an interface: %d bytes long", len(ipnet.IP))
		}
		own = append(own, a.Unmap())
	}
	return own, nil
}

// errOwn is a connection that turned out to lead to this machine.
var errOwn = errors.New("connected to this machine")

// dialTCP connects to exactly to. It returns errOwn when both ends have one address: to became one of this
// machine's after those were listed.
func dialTCP(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", to.String())
	if err != nil {
		return nil, err
	}
	near, remote := addrPort(conn.LocalAddr()), addrPort(conn.RemoteAddr())
	switch {
	case remote != to:
		err = fmt.Errorf("connected to %s instead of %s", remote, to)
	case near.Addr() == remote.Addr():
		err = errOwn
	default:
		return conn, nil
	}
	return nil, errors.Join(err, conn.Close())
}

func addrPort(a net.Addr) netip.AddrPort {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	ap := tcp.AddrPort()
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
}

// minTry is the least time that one address of several gets, as long as there is time at all.
const minTry = 2 * time.Second // as in net.Dialer

// dialAny tries the answers in their order, which the resolver chose by what this machine has routes for,
// within the time of ctx. It returns the connection and the answer that it goes to, or the first error.
func dialAny(ctx context.Context, dial dialer, answers []netip.Addr, port uint16) (net.Conn, netip.Addr, error) {
	var first error
	for i, a := range answers {
		try, cancel := ctx, context.CancelFunc(func() {})
		if end, ok := ctx.Deadline(); ok {
			share := max(minTry, time.Until(end)/time.Duration(len(answers)-i))
			try, cancel = context.WithTimeout(ctx, share)
		}
		conn, err := dial(try, netip.AddrPortFrom(a, port))
		cancel()
		if err == nil {
			return conn, a, nil
		}
		if first == nil {
			first = err
		}
		if ctx.Err() != nil || errors.Is(err, errOwn) {
			return nil, a, err
		}
	}
	return nil, netip.Addr{}, first
}

// why is the part of a network error that says nothing of addresses.
func why(err error) string {
	var errno syscall.Errno
	var timeout net.Error
	switch {
	case errors.As(err, &errno):
		return errno.Error()
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "timed out"
	}
	return "failed"
}
