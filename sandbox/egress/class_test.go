package egress

import (
	"net/netip"
	"testing"
)

// TestClassify has for each block its first and last address, and the addresses just before and after it.
func TestClassify(t *testing.T) {
	tests := []struct {
		addr string
		want Class
	}{
		{"0.0.0.0", Reserved},
		{"0.255.255.255", Reserved},
		{"1.0.0.0", public},
		{"9.255.255.255", public},
		{"10.0.0.0", Private},
		{"10.255.255.255", Private},
		{"11.0.0.0", public},
		{"100.63.255.255", public},
		{"100.64.0.0", CarrierNAT},
		{"100.100.100.200", CarrierNAT}, // a cloud's metadata service
		{"100.127.255.255", CarrierNAT},
		{"100.128.0.0", public},
		{"126.255.255.255", public},
		{"127.0.0.0", Loopback},
		{"127.0.0.1", Loopback},
		{"127.255.255.255", Loopback},
		{"128.0.0.0", public},
		{"169.253.255.255", public},
		{"169.254.0.0", LinkLocal},
		{"169.254.169.254", LinkLocal}, // most clouds' metadata service
		{"169.254.255.255", LinkLocal},
		{"169.255.0.0", public},
		{"172.15.255.255", public},
		{"172.16.0.0", Private},
		{"172.31.255.255", Private},
		{"172.32.0.0", public},
		{"191.255.255.255", public},
		{"192.0.0.0", Reserved},
		{"192.0.0.192", Reserved}, // a cloud's metadata service
		{"192.0.0.255", Reserved},
		{"192.0.1.0", public},
		{"192.0.1.255", public},
		{"192.0.2.0", Documented},
		{"192.0.2.255", Documented},
		{"192.0.3.0", public},
		{"192.88.98.255", public},
		{"192.88.99.0", Embedding},
		{"192.88.99.255", Embedding},
		{"192.88.100.0", public},
		{"192.167.255.255", public},
		{"192.168.0.0", Private},
		{"192.168.255.255", Private},
		{"192.169.0.0", public},
		{"198.17.255.255", public},
		{"198.18.0.0", Benchmarking},
		{"198.19.255.255", Benchmarking},
		{"198.20.0.0", public},
		{"198.51.99.255", public},
		{"198.51.100.0", Documented},
		{"198.51.100.255", Documented},
		{"198.51.101.0", public},
		{"203.0.112.255", public},
		{"203.0.113.0", Documented},
		{"203.0.113.255", Documented},
		{"203.0.114.0", public},
		{"223.255.255.255", public},
		{"224.0.0.0", Multicast},
		{"239.255.255.255", Multicast},
		{"240.0.0.0", Reserved},
		{"255.255.255.255", Reserved},

		{"::", Reserved},
		{"::1", Loopback},
		{"::2", Embedding},                  // ::0.0.0.2
		{"::7f00:1", Embedding},             // ::127.0.0.1
		{"::ffff:ffff", Embedding},          // ::255.255.255.255
		{"::1:0:0", Reserved},               // no unicast block
		{"::fffe:ffff:ffff", Reserved},      // just before the mapped ones
		{"::ffff:0.0.0.0", Embedding},       // mapped
		{"::ffff:93.184.216.34", Embedding}, // mapped and public
		{"::ffff:127.0.0.1", Embedding},     // mapped
		{"::ffff:255.255.255.255", Embedding},
		{"::1:0:0:0", Reserved},             // just after the mapped ones
		{"::fffe:ffff:ffff:ffff", Reserved}, // just before the translated ones
		{"::ffff:0:0:0", Embedding},         // ::ffff:0:0.0.0.0
		{"::ffff:0:7f00:1", Embedding},      // ::ffff:0:127.0.0.1
		{"::ffff:0:ffff:ffff", Embedding},
		{"::ffff:1:0:0", Reserved},
		{"64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff", Reserved},
		{"64:ff9b::", NAT64},
		{"64:ff9b::a00:1", NAT64}, // 10.0.0.1
		{"64:ff9b::ffff:ffff", NAT64},
		{"64:ff9b::1:0:0", Reserved},
		{"64:ff9b:0:ffff:ffff:ffff:ffff:ffff", Reserved},
		{"64:ff9b:1::", NAT64},
		{"64:ff9b:1:ffff:ffff:ffff:ffff:ffff", NAT64},
		{"64:ff9b:2::", Reserved},
		{"64:ff9c::1", Reserved},
		{"100::1", Reserved}, // discard
		{"1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Reserved},
		{"2000::", public},
		{"2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", public},
		{"2001::", Embedding},
		{"2001:0:4136:e378:8000:63bf:3fff:fdd2", Embedding}, // Teredo of 192.0.2.45
		{"2001:0:ffff:ffff:ffff:ffff:ffff:ffff", Embedding},
		{"2001:1::", Reserved},
		{"2001:1:ffff:ffff:ffff:ffff:ffff:ffff", Reserved},
		{"2001:2::", Benchmarking},
		{"2001:2:0:ffff:ffff:ffff:ffff:ffff", Benchmarking},
		{"2001:2:1::", Reserved},
		{"2001:10::1", Reserved},
		{"2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", Reserved},
		{"2001:200::", public},
		{"2001:4860:4860::8888", public},
		{"2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", public},
		{"2001:db8::", Documented},
		{"2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", Documented},
		{"2001:db9::", public},
		{"2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", public},
		{"2002::", Embedding},
		{"2002:7f00:1::", Embedding}, // 127.0.0.1
		{"2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Embedding},
		{"2003::", public},
		{"3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", public},
		{"3fff::", Documented},
		{"3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", Documented},
		{"3fff:1000::", public},
		{"3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", public},
		{"4000::", Reserved},
		{"5f00::1", Reserved}, // segment routing
		{"fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Reserved},
		{"fc00::", UniqueLocal},
		{"fd00:ec2::254", UniqueLocal}, // a cloud's metadata service
		{"fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", UniqueLocal},
		{"fe00::", Reserved},
		{"fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Reserved},
		{"fe80::", LinkLocal},
		{"fe80::5efe:a00:1", LinkLocal},
		{"febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", LinkLocal},
		{"fec0::", Private},
		{"feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Private},
		{"ff00::", Multicast},
		{"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Multicast},

		{"2600::5efe:a00:1", Embedding},       // ISATAP of 10.0.0.1
		{"2600::200:5efe:808:808", Embedding}, // ISATAP of 8.8.8.8, marked as globally unique
		{"2600::5efd:a00:1", public},
		{"2600::5eff:a00:1", public},
		{"2600::100:5efe:a00:1", public},
		{"2600::300:5efe:a00:1", public},
		{"2600::1:5efe:a00:1", public},
		{"2600::5efe:a00:1:0", public}, // the same bytes elsewhere
		{"2600::1%eth0", Reserved},     // a zone is for local addresses
		{"2600::1", public},
	}
	for _, tt := range tests {
		if got := classify(netip.MustParseAddr(tt.addr)); got != tt.want {
			t.Errorf("%s is %s, want %s", tt.addr, got, tt.want)
		}
	}
	if got := classify(netip.Addr{}); got != Reserved {
		t.Errorf("no address is %s", got)
	}
}

// TestNoSpecialBlockIsShadowed: the first block that holds an address names its class.
func TestNoSpecialBlockIsShadowed(t *testing.T) {
	for i, wide := range special {
		if wide.block != wide.block.Masked() {
			t.Errorf("%s has bits beyond its length", wide.block)
		}
		for _, later := range special[i+1:] {
			if wide.block.Bits() <= later.block.Bits() && wide.block.Contains(later.block.Addr()) {
				t.Errorf("%s comes before %s, which it covers", wide.block, later.block)
			}
		}
	}
}
