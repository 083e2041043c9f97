package probes

import (
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"termic/sandbox/profile"
)

const patience = 5 * time.Second // a probe that takes longer has hung

// greeted connects and waits for the host's word.
func greeted(network, address string) error {
	conn, err := net.DialTimeout(network, address, patience)
	if err != nil {
		return err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := conn.Write([]byte("?")); err != nil {
		return err
	}
	word := make([]byte, 4)
	if _, err := io.ReadFull(conn, word); err != nil {
		return err
	}
	if string(word) != "host" {
		return fmt.Errorf("%s answered %q", address, word)
	}
	return nil
}

func dial(network, host string, port func(*World) int) func(*World) error {
	return func(w *World) error { return greeted(network, net.JoinHostPort(host, strconv.Itoa(port(w)))) }
}

func tcp4(w *World) int { return w.TCP4 }
func tcp6(w *World) int { return w.TCP6 }
func udp4(w *World) int { return w.UDP4 }
func udp6(w *World) int { return w.UDP6 }

func newSocket(family, kind, proto int) func(*World) error {
	return func(*World) error {
		s, err := unix.Socket(family, kind, proto)
		if err != nil {
			return err
		}
		return unix.Close(s)
	}
}

var network = []Probe{
	row(Network, "TCP to a port of the host", unix.ECONNREFUSED, false, dial("tcp4", "127.0.0.1", tcp4), true),
	row(Network, "TCP to another address of the loopback", unix.ECONNREFUSED, false, dial("tcp4", "127.8.9.1", tcp4), true),
	row(Network, "TCP to the unspecified address", unix.ECONNREFUSED, false, dial("tcp4", "0.0.0.0", tcp4), true),
	ipv6(row(Network, "TCP over IPv6", unix.ECONNREFUSED, false, dial("tcp6", "::1", tcp6), true)),
	ipv6(row(Network, "TCP to the unspecified IPv6 address", unix.ECONNREFUSED, false, dial("tcp6", "::", tcp6), true)),
	ipv6(row(Network, "TCP to a mapped address", unix.ECONNREFUSED, false, mapped, true)),
	row(Network, "TCP to localhost", unix.ECONNREFUSED, false, dial("tcp", "localhost", tcp4), true),
	row(Network, "every port of the loopback", unix.ECONNREFUSED, false, everyPort, true),
	row(Network, "UDP to a port of the host", unix.ECONNREFUSED, false, dial("udp4", "127.0.0.1", udp4), true),
	ipv6(row(Network, "UDP over IPv6", unix.ECONNREFUSED, false, dial("udp6", "::1", udp6), true)),
	row(Network, "a DNS query", unix.ECONNREFUSED, false, lookup, true),
	row(Network, "TCP fast open", unix.ECONNREFUSED, false, fastOpen, true),
	row(Network, "TCP fast open by sendmsg", unix.ECONNREFUSED, false, fastOpenMsg, true),
	row(Network, "MPTCP", unix.EPROTONOSUPPORT, false, multipath, false),
	row(Network, "UDP-Lite", unix.EPROTONOSUPPORT, false, newSocket(unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_UDPLITE), false),
	row(Network, "a raw socket", unix.EAFNOSUPPORT, true, newSocket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP), false),
	row(Network, "a raw IPv6 socket", unix.EAFNOSUPPORT, true, newSocket(unix.AF_INET6, unix.SOCK_RAW, unix.IPPROTO_ICMPV6), false),
	row(Network, "a packet socket", unix.EAFNOSUPPORT, true, newSocket(unix.AF_PACKET, unix.SOCK_RAW, 0), false),
	row(Network, "a vsock socket", unix.EAFNOSUPPORT, false, newSocket(unix.AF_VSOCK, unix.SOCK_STREAM, 0), false),
	row(Network, "socket statistics of the kernel", unix.EAFNOSUPPORT, false, newSocket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_SOCK_DIAG), false),
	row(Network, "device events of the kernel", unix.EAFNOSUPPORT, false, newSocket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT), false),
	row(Network, "generic netlink", unix.EAFNOSUPPORT, false, newSocket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_GENERIC), false),
	row(Network, "audit netlink", unix.EAFNOSUPPORT, false, newSocket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT), false),
	row(Network, "the packet filter's netlink", unix.EAFNOSUPPORT, false, newSocket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER), false),
	row(Network, "IPsec's netlink", unix.EAFNOSUPPORT, false, newSocket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_XFRM), false),
	row(Network, "entering the network of another process", unix.ENOENT, true, enterNetwork, false),
}

var unixSockets = []Probe{
	// Without a network namespace of its own, Landlock's scope answers.
	{Category: Network, Name: "an abstract socket of the host", Want: unix.ECONNREFUSED, WantFS: unix.EPERM, Do: abstract},
	row(Network, "a socket of the host by its path", unix.ENOENT, false, func(w *World) error { return greeted("unix", w.Socket) }, false),
	row(Network, "a socket of the host through /proc", unix.ENOENT, false, func(w *World) error { return greeted("unix", "/proc/self/root"+w.Socket) }, false),
	row(Network, "a socket of the host through a planted link", unix.ENOENT, false, socketByLink, false),
	row(Network, "a datagram to a socket of the host", unix.ENOENT, false, datagram, false),
}

func mapped(w *World) error {
	s, err := unix.Socket(unix.AF_INET6, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	return unix.Connect(s, &unix.SockaddrInet6{Port: w.TCP4, Addr: [16]byte{10: 0xff, 11: 0xff, 12: 127, 15: 1}})
}

// everyPort tries each port but those that a cage has.
func everyPort(*World) error {
	for port := 1; port < 1<<16; port++ {
		if port == profile.MCPPort || port == profile.ProxyPort {
			continue
		}
		other, err := reached(port)
		if err == nil && other {
			return nil
		}
		if err != nil && err != unix.ECONNREFUSED {
			return err
		}
	}
	return unix.ECONNREFUSED
}

// reached connects to a port of the loopback and returns whether somebody else was there. A socket can reach itself:
// when the kernel happens to give it the port that it connects to as its own (RFC 793, simultaneous open).
func reached(port int) (bool, error) {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return false, err
	}
	defer unix.Close(s)
	if err := unix.Connect(s, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return false, err
	}
	own, err := unix.Getsockname(s)
	if err != nil {
		return false, err
	}
	return own.(*unix.SockaddrInet4).Port != port, nil
}

// query is a DNS question for the address of secret.example (RFC 1035, section 4.1).
var query = []byte("\x00\x01\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x06secret\x07example\x00\x00\x01\x00\x01")

func lookup(w *World) error {
	conn, err := net.DialTimeout("udp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(w.UDP4)), patience)
	if err != nil {
		return err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := conn.Write(query); err != nil {
		return err
	}
	_, err = conn.Read(make([]byte, 512))
	return err
}

func fastOpen(w *World) error {
	return sendFast(w, func(s int, to unix.Sockaddr) error { return unix.Sendto(s, []byte("?"), unix.MSG_FASTOPEN, to) })
}

func fastOpenMsg(w *World) error {
	return sendFast(w, func(s int, to unix.Sockaddr) error { return unix.Sendmsg(s, []byte("?"), nil, to, unix.MSG_FASTOPEN) })
}

func sendFast(w *World, send func(int, unix.Sockaddr) error) error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	return send(s, &unix.SockaddrInet4{Port: w.TCP4, Addr: [4]byte{127, 0, 0, 1}})
}

func multipath(w *World) error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	return unix.Connect(s, &unix.SockaddrInet4{Port: w.TCP4, Addr: [4]byte{127, 0, 0, 1}})
}

func abstract(w *World) error { return greeted("unix", "@"+w.Abstract) }

func datagram(w *World) error {
	s, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	return unix.Sendto(s, []byte("?"), 0, &unix.SockaddrUnix{Name: w.Datagram})
}

func enterNetwork(w *World) error {
	fd, err := unix.Open(fmt.Sprintf("/proc/%d/ns/net", w.Victim), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Setns(fd, unix.CLONE_NEWNET)
}
