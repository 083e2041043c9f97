package egress

import (
	"net/netip"
	"testing"

	"termic/sandbox/capability"
)

func hosts(t testing.TB, patterns ...string) capability.Hosts {
	t.Helper()
	list, err := capability.HostsOf(patterns...)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func addrs(list ...string) []netip.Addr {
	out := make([]netip.Addr, len(list))
	for i, a := range list {
		out[i] = netip.MustParseAddr(a)
	}
	return out
}

func target(t testing.TB, s string) HostPort {
	t.Helper()
	to, err := ParseHostPort(s)
	if err != nil {
		t.Fatal(err)
	}
	return to
}

func TestDecide(t *testing.T) {
	listed := Policy{Allowed: hosts(t, "example.com", "*.example.org:8443")}
	all := Policy{Allowed: capability.AllHosts()}
	own := addrs("127.0.0.1", "::1", "11.22.33.44", "2600::44%eth0", "::ffff:11.22.33.45")
	public4, public6 := "93.184.216.34", "2606:2800:220:1::1"
	tests := []struct {
		name    string
		policy  Policy
		to      string
		answers []netip.Addr
		own     []netip.Addr
		class   Class
		reason  string
		addr    string
	}{
		{"a listed host with public addresses", listed, "example.com:443", addrs(public4, public6), own,
			Allowed, "example.com:443 is listed and all its addresses are public", ""},
		{"a host below a wildcard", listed, "a.example.org:8443", addrs(public4), own,
			Allowed, "a.example.org:8443 is listed and all its addresses are public", ""},
		{"the name of a wildcard itself", listed, "example.org:8443", addrs(public4), own,
			Unlisted, "example.org:8443 is not on this task's list of hosts", ""},
		{"a listed host on another port", listed, "example.com:8443", addrs(public4), own,
			Unlisted, "example.com:8443 is not on this task's list of hosts", ""},
		{"a host below a listed one", listed, "a.example.com:443", addrs(public4), own,
			Unlisted, "a.example.com:443 is not on this task's list of hosts", ""},
		{"an empty list", Policy{}, "example.com:443", addrs(public4), own,
			Unlisted, "example.com:443 is not on this task's list of hosts", ""},
		{"every host", all, "other.test:22", addrs(public4), own,
			Allowed, "other.test:22 is listed and all its addresses are public", ""},
		{"every host and a private address", all, "other.test:22", addrs("10.0.0.1"), own,
			Private, "other.test has an address that is not public (private)", "10.0.0.1"},
		{"a private address first", listed, "example.com:443", addrs("10.0.0.1", public4), own,
			Private, "example.com has an address that is not public (private)", "10.0.0.1"},
		{"a private address last", listed, "example.com:443", addrs(public4, public6, "10.0.0.1"), own,
			Private, "example.com has an address that is not public (private)", "10.0.0.1"},
		{"a mapped public address", listed, "example.com:443", addrs("::ffff:" + public4), own,
			Embedding, "example.com has an address that is not public (embeds-ipv4)", "::ffff:" + public4},
		{"an address of this machine", listed, "example.com:443", addrs(public4, "11.22.33.44"), own,
			Own, "example.com is this machine", "11.22.33.44"},
		{"an address beside one of this machine", listed, "example.com:443", addrs(public4, "11.22.33.46"), own,
			Allowed, "example.com:443 is listed and all its addresses are public", ""},
		{"an address of this machine that is listed with a zone", listed, "example.com:443", addrs("2600::44"), own,
			Own, "example.com is this machine", "2600::44"},
		{"an address of this machine that is listed as mapped", listed, "example.com:443", addrs("11.22.33.45"), own,
			Own, "example.com is this machine", "11.22.33.45"},
		{"no answer", listed, "example.com:443", nil, own,
			Unresolved, "example.com has no address", ""},
		{"no address of this machine is known", listed, "example.com:443", addrs(public4), nil,
			Own, "the addresses of this machine are not known", ""},
		{"an answer that is no address", listed, "example.com:443", []netip.Addr{netip.MustParseAddr(public4), {}}, own,
			Reserved, "example.com has an address that is not public (reserved)", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			to := target(t, tt.to)
			got := tt.policy.Decide(to, tt.answers, tt.own)
			want := Decision{Host: to.Host(), Port: to.Port(), Allow: tt.class == Allowed, Class: tt.class, Reason: tt.reason}
			if tt.addr != "" {
				want.Addr = netip.MustParseAddr(tt.addr)
			}
			if got != want {
				t.Errorf("\n got %+v\nwant %+v", got, want)
			}
		})
	}
	t.Run("no target, whatever is listed", func(t *testing.T) {
		if d := all.Decide(HostPort{}, addrs(public4), own); d.Allow || d.Class != BadTarget {
			t.Errorf("%+v", d)
		}
	})
}
