package egress

import (
	"fmt"
	"net/netip"

	"termic/sandbox/capability"
)

// Policy is what a task may reach. The zero Policy reaches nothing.
type Policy struct {
	// Allowed is host patterns with their ports. All hosts is every public host on every port, TLS only.
	Allowed capability.Hosts
}

// Decision is the answer to one connection and all of it that is recorded: nothing of a path, a header or
// content is in it. Host is empty when the request named none that could be on a list.
type Decision struct {
	Host   string
	Port   uint16
	Allow  bool
	Class  Class
	Reason string // one sentence, which the task may read

	// Addr is the address that was asked for in place of a host, the answer that was refused, or the one
	// that was connected to; else it is not valid. It is for the person: the task is not told how a name
	// resolves here.
	Addr netip.Addr
}

func (d Decision) deny(class Class, format string, args ...any) Decision {
	d.Allow, d.Class, d.Reason = false, class, fmt.Sprintf(format, args...)
	return d
}

// Listed decides by the name and port alone: whether to may be looked up at all.
func (p Policy) Listed(to HostPort) Decision {
	d := Decision{Host: to.host, Port: to.port}
	switch {
	case to.host == "" || to.port == 0:
		return d.deny(BadTarget, "no host was named")
	case !(capability.Set{Network: p.Allowed}).Reaches(to.host, to.port):
		return d.deny(Unlisted, "%s is not on this task's list of hosts", to)
	}
	d.Allow, d.Class, d.Reason = true, Allowed, to.String()+" is listed"
	return d
}

// Decide decides whether to, which was looked up with these answers, may be connected to at any of them. Own
// is this machine's addresses; it has at least the loopback one, so none at all refuses. One answer that is
// not public refuses all: a name that means an inner host to some is not a public name, and which answer
// is used must not be left to their order.
func (p Policy) Decide(to HostPort, answers, own []netip.Addr) Decision {
	d := p.Listed(to)
	if !d.Allow {
		return d
	}
	if len(own) == 0 {
		return d.deny(Own, "the addresses of this machine are not known")
	}
	if len(answers) == 0 {
		return d.deny(Unresolved, "%s has no address", to.host)
	}
	for _, a := range answers {
		if class := classify(a); class != public {
			d.Addr = a
			return d.deny(class, "%s has an address that is not public (%s)", to.host, class)
		}
		for _, mine := range own {
			if a == mine.Unmap().WithZone("") {
				d.Addr = a
				return d.deny(Own, "%s is this machine", to.host)
			}
		}
	}
	d.Reason = to.String() + " is listed and all its addresses are public"
	return d
}
