package egress

import (
	"errors"
	"strconv"
	"strings"

	"termic/sandbox/capability"
)

// HostPort is a host name and a port, both explicit. Only ParseHostPort makes one that is not zero, and
// everything is refused to the zero HostPort, so a raw string is never compared or looked up.
type HostPort struct {
	host string // folded: lower case, no trailing dot
	port uint16
}

// ParseHostPort reads the target of a CONNECT request. It accepts what an exact host pattern of a capability
// may be, and leaves the reading to that package, so that a list and the proxy cannot disagree on a name.
// The port has to be written. The error says what to write, and repeats nothing of s.
func ParseHostPort(s string) (HostPort, error) {
	hosts, err := capability.HostsOf(s)
	if err != nil {
		var invalid *capability.InvalidError
		if errors.As(err, &invalid) {
			return HostPort{}, errors.New(invalid.Why)
		}
		return HostPort{}, errors.New("not a host name and a port")
	}
	if strings.HasPrefix(s, "*") {
		return HostPort{}, errors.New("a host name holds no wildcard")
	}
	if !strings.Contains(s, ":") {
		return HostPort{}, errors.New("write host:port")
	}
	host, digits, _ := strings.Cut(hosts.Items()[0], ":")
	port, err := strconv.ParseUint(digits, 10, 16)
	if err != nil {
		return HostPort{}, errors.New("a port is a number from 1 to 65535")
	}
	return HostPort{host: host, port: uint16(port)}, nil
}

// Host returns the folded name.
func (h HostPort) Host() string { return h.host }

// Port returns the port.
func (h HostPort) Port() uint16 { return h.port }

// String returns host:port.
func (h HostPort) String() string { return h.host + ":" + strconv.Itoa(int(h.port)) }
