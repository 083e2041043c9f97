package egress

import (
	"net/netip"
	"strings"
	"testing"

	"termic/sandbox/capability"
)

func TestParseHostPort(t *testing.T) {
	tests := []struct{ name, target, want string }{
		{"a name and a port", "example.com:443", "example.com:443"},
		{"letter case", "EXAMPLE.Com:443", "example.com:443"},
		{"the dot of the root", "example.com.:443", "example.com:443"},
		{"another port", "example.com:8443", "example.com:8443"},
		{"the last port", "example.com:65535", "example.com:65535"},
		{"one label", "intranet:443", "intranet:443"},
		{"a label of digits that is not the last", "1.2.3.example:443", "1.2.3.example:443"},
		{"a last label that ends in digits", "example.c0m1:443", "example.c0m1:443"},
		{"an internationalised name", "xn--bcher-kva.example:443", "xn--bcher-kva.example:443"},
	}
	for _, tt := range tests {
		if got, err := ParseHostPort(tt.target); err != nil || got.String() != tt.want {
			t.Errorf("%s: %q = %s, %v", tt.name, tt.target, got, err)
		}
	}
}

// notTargets is refused as a target of CONNECT.
var notTargets = []struct{ name, target, why string }{
	{"no port", "example.com", "host:port"},
	{"an empty port", "example.com:", "port"},
	{"port 0", "example.com:0", "port"},
	{"a port beyond the last", "example.com:65536", "port"},
	{"a port with a sign", "example.com:+443", "port"},
	{"a port with a zero in front", "example.com:0443", "port"},
	{"a port by name", "example.com:https", "port"},
	{"two ports", "example.com:443:443", "addresses"},
	{"no name", ":443", "label"},
	{"two dots of the root", "example.com..:443", "label"},
	{"a wildcard", "*.example.com:443", "wildcard"},
	{"a wildcard label", "a.*.example.com:443", "in front"},
	{"a URL", "https://example.com:443", "URL"},
	{"a path", "example.com:443/x", "URL"},
	{"a user", "me@example.com:443", "letters"},
	{"an escape", "ex%61mple.com:443", "letters"},
	{"an underscore", "a_b.example.com:443", "letters"},
	{"a name outside ASCII", "bücher.example:443", "xn--"},
	{"an IPv4 address", "93.184.216.34:443", "addresses"},
	{"an IPv4 address and the dot of the root", "93.184.216.34.:443", "addresses"},
	{"a short IPv4 address", "127.1:443", "addresses"},
	{"a decimal address", "2130706433:443", "addresses"},
	{"an octal address", "0177.0.0.1:443", "addresses"},
	{"a hexadecimal address", "0x7f.0.0.0x1:443", "addresses"},
	{"a hexadecimal address as one number", "0x7f000001:443", "addresses"},
	{"digits of full width", "１２７.0.0.１:443", "xn--"},
	{"an IPv6 address", "[2606:2800:220:1::1]:443", "addresses"},
	{"an IPv6 address without brackets", "2606:2800:220:1::1:443", "addresses"},
	{"an IPv6 address with a zone", "[fe80::1%25eth0]:443", "addresses"},
	{"a mapped address", "[::ffff:127.0.0.1]:443", "addresses"},
	{"a name in brackets", "[example.com]:443", "addresses"},
}

func TestParseHostPortRefuses(t *testing.T) {
	for _, tt := range append(notTargets, []struct{ name, target, why string }{
		{"nothing", "", "label"},
		{"a space", "example.com :443", "letters"},
		{"a newline", "example.com\n:443", "letters"},
		{"a NUL", "example.com\x00:443", "letters"},
	}...) {
		got, err := ParseHostPort(tt.target)
		if err == nil || got != (HostPort{}) || !strings.Contains(err.Error(), tt.why) {
			t.Errorf("%s: %q = %s, %v; want an error with %q", tt.name, tt.target, got, err, tt.why)
		}
	}
}

func FuzzParseHostPort(f *testing.F) {
	for _, tt := range notTargets {
		f.Add(tt.target)
	}
	f.Add("Example.Com.:443")
	f.Fuzz(func(t *testing.T, target string) {
		to, err := ParseHostPort(target)
		if err != nil {
			if to != (HostPort{}) {
				t.Errorf("%q = %v and an error", target, to)
			}
			return
		}
		if again, err := ParseHostPort(to.String()); err != nil || again != to {
			t.Errorf("%q = %s, and that = %s, %v", target, to, again, err)
		}
		if _, err := netip.ParseAddr(to.Host()); err == nil || to.Port() == 0 {
			t.Errorf("%q = %s", target, to)
		}
		if strings.Trim(to.Host(), "abcdefghijklmnopqrstuvwxyz0123456789-.") != "" || strings.HasSuffix(to.Host(), ".") {
			t.Errorf("%q has the host %q", target, to.Host())
		}
		exact, err := capability.HostsOf(to.String())
		if err != nil || !(Policy{Allowed: exact}).Listed(to).Allow || (Policy{}).Listed(to).Allow {
			t.Errorf("a list of %s does not decide about it", to)
		}
	})
}
