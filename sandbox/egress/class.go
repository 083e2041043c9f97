package egress

import "net/netip"

// Class is why a request was decided as it was, for counting and filtering. The sentence is in the reason.
type Class string

// Classes of requests.
const (
	Allowed    Class = "allowed"
	Malformed  Class = "malformed"   // not an HTTP request that this proxy reads
	NotConnect Class = "not-connect" // another method, plain HTTP
	BadTarget  Class = "bad-target"  // no host name and port: an address, a wildcard, no port
	Unlisted   Class = "unlisted"
	Unresolved Class = "unresolved"
	Unreached  Class = "unreached" // no answer of the look-up could be connected to
	NotTLS     Class = "not-tls"
	NoName     Class = "no-name"    // TLS without a server name, or with several
	OtherName  Class = "other-name" // TLS for another host
	Slow       Class = "slow"
	Busy       Class = "busy"    // too many connections of the task
	Closing    Class = "closing" // the task's proxy is ending
	Internal   Class = "internal"
)

// Classes of addresses. All but public are refused.
const (
	public       Class = "public"
	Own          Class = "own" // of this machine, or that is not known
	Loopback     Class = "loopback"
	Private      Class = "private"
	LinkLocal    Class = "link-local"
	UniqueLocal  Class = "unique-local"
	CarrierNAT   Class = "carrier-nat"
	Multicast    Class = "multicast"
	Reserved     Class = "reserved"
	Documented   Class = "documentation"
	Benchmarking Class = "benchmarking"
	NAT64        Class = "nat64"
	Embedding    Class = "embeds-ipv4" // in a way that some gateway or host takes the IPv4 address from
)

// special is the blocks that are not public, a narrower one before a wider one. Sources: the IANA registries
// of special-purpose IPv4 and IPv6 addresses (read in 2026) and the RFC named on the row. Blocks of the
// registries that are ordinary unicast on the public Internet (AS112, AMT) are not here.
var special = []struct {
	block netip.Prefix
	class Class
}{
	{netip.MustParsePrefix("0.0.0.0/8"), Reserved},         // "this network", RFC 791; Linux connects 0.0.0.0 to itself
	{netip.MustParsePrefix("10.0.0.0/8"), Private},         // RFC 1918
	{netip.MustParsePrefix("100.64.0.0/10"), CarrierNAT},   // RFC 6598
	{netip.MustParsePrefix("127.0.0.0/8"), Loopback},       // RFC 1122, section 3.2.1.3
	{netip.MustParsePrefix("169.254.0.0/16"), LinkLocal},   // RFC 3927; the metadata service of clouds
	{netip.MustParsePrefix("172.16.0.0/12"), Private},      // RFC 1918
	{netip.MustParsePrefix("192.0.0.0/24"), Reserved},      // IETF protocols, RFC 6890
	{netip.MustParsePrefix("192.0.2.0/24"), Documented},    // RFC 5737
	{netip.MustParsePrefix("192.88.99.0/24"), Embedding},   // 6to4 relays, RFC 7526
	{netip.MustParsePrefix("192.168.0.0/16"), Private},     // RFC 1918
	{netip.MustParsePrefix("198.18.0.0/15"), Benchmarking}, // RFC 2544
	{netip.MustParsePrefix("198.51.100.0/24"), Documented}, // RFC 5737
	{netip.MustParsePrefix("203.0.113.0/24"), Documented},  // RFC 5737
	{netip.MustParsePrefix("224.0.0.0/4"), Multicast},      // RFC 5771
	{netip.MustParsePrefix("240.0.0.0/4"), Reserved},       // RFC 1112, section 4; broadcast

	{netip.MustParsePrefix("::1/128"), Loopback},          // RFC 4291
	{netip.MustParsePrefix("::/128"), Reserved},           // unspecified, RFC 4291; connects to itself
	{netip.MustParsePrefix("::/96"), Embedding},           // IPv4-compatible, RFC 4291, section 2.5.5.1
	{netip.MustParsePrefix("::ffff:0:0/96"), Embedding},   // IPv4-mapped, RFC 4291, section 2.5.5.2
	{netip.MustParsePrefix("::ffff:0:0:0/96"), Embedding}, // IPv4-translated, RFC 2765
	{netip.MustParsePrefix("64:ff9b::/96"), NAT64},        // RFC 6052
	{netip.MustParsePrefix("64:ff9b:1::/48"), NAT64},      // RFC 8215
	{netip.MustParsePrefix("2001::/32"), Embedding},       // Teredo, RFC 4380
	{netip.MustParsePrefix("2001:2::/48"), Benchmarking},  // RFC 5180
	{netip.MustParsePrefix("2001::/23"), Reserved},        // IETF protocols, RFC 2928; ORCHID, DRIP
	{netip.MustParsePrefix("2001:db8::/32"), Documented},  // RFC 3849
	{netip.MustParsePrefix("2002::/16"), Embedding},       // 6to4, RFC 3056
	{netip.MustParsePrefix("3fff::/20"), Documented},      // RFC 9637
	{netip.MustParsePrefix("fc00::/7"), UniqueLocal},      // RFC 4193
	{netip.MustParsePrefix("fe80::/10"), LinkLocal},       // RFC 4291
	{netip.MustParsePrefix("fec0::/10"), Private},         // site-local, RFC 3879
	{netip.MustParsePrefix("ff00::/8"), Multicast},        // RFC 4291
}

// globalUnicast is all of IPv6 that is handed out to networks (RFC 4291, section 2.4, and IANA's registry).
var globalUnicast = netip.MustParsePrefix("2000::/3")

// classify returns public for an address that belongs to some host on the Internet, else why it does not.
func classify(a netip.Addr) Class {
	if !a.IsValid() || a.Zone() != "" {
		return Reserved
	}
	for _, s := range special {
		if s.block.Contains(a) {
			return s.class
		}
	}
	switch {
	case a.Is4():
		return public
	case !globalUnicast.Contains(a):
		return Reserved
	case isatap(a):
		return Embedding
	}
	return public
}

// isatap reports whether the interface identifier is one of RFC 5214, section 6.1, which stands in any
// prefix: 0000:5efe or 0200:5efe, then the IPv4 address.
func isatap(a netip.Addr) bool {
	b := a.As16()
	return b[8]&^0x02 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
}
