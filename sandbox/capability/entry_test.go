package capability_test

import (
	"errors"
	"strings"
	"testing"

	"termic/sandbox/capability"
)

func TestHostPatternsCover(t *testing.T) {
	tests := []struct {
		name, pattern, entry string
		want                 bool
	}{
		{"the name itself", "example.com", "example.com", true},
		{"a name below an exact one", "example.com", "a.example.com", false},
		{"a name that ends alike", "example.com", "badexample.com", false},
		{"a name that begins alike", "example.com", "example.com.evil.org", false},
		{"a wildcard and a name below", "*.example.com", "a.example.com", true},
		{"a wildcard and a name far below", "*.example.com", "a.b.c.example.com", true},
		{"a wildcard and its own name", "*.example.com", "example.com", false},
		{"a wildcard and a name that ends alike", "*.example.com", "badexample.com", false},
		{"a wildcard and itself", "*.example.com", "*.example.com", true},
		{"a wildcard and a narrower one", "*.example.com", "*.a.example.com", true},
		{"a wildcard and a wider one", "*.a.example.com", "*.example.com", false},
		{"a name and a wildcard below it", "a.example.com", "*.a.example.com", false},
		{"a wildcard over a top level", "*.com", "example.com", true},
		{"letter case of the pattern", "EXAMPLE.com", "example.com", true},
		{"letter case of the name", "*.example.com", "A.Example.COM", true},
		{"a trailing dot of the pattern", "example.com.", "example.com", true},
		{"a trailing dot of the name", "*.example.com", "a.example.com.", true},
		{"a trailing dot before the port", "example.com", "example.com.:443", true},
		{"port 443 and none", "example.com:443", "example.com", true},
		{"none and port 443", "example.com", "example.com:443", true},
		{"none and another port", "example.com", "example.com:80", false},
		{"another port and none", "example.com:8443", "example.com", false},
		{"the same other port", "*.example.com:8443", "a.example.com:8443", true},
		{"a port that begins alike", "example.com:44", "example.com:443", false},
		{"xn-- in either case", "xn--bcher-kva.example", "XN--BCHER-KVA.example", true},
		{"hyphens inside a label", "*.googlevideo.com", "r3---sn-4g5e.googlevideo.com", true},
		{"an address and every name", "*.com", "10.0.0.1", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := must(capability.HostsOf("other.test", tt.pattern)).Covers(tt.entry); got != tt.want {
				t.Errorf("%s covers %s = %v", tt.pattern, tt.entry, got)
			}
		})
	}
}

func TestReaches(t *testing.T) {
	set := capability.Set{Network: must(capability.HostsOf("example.com", "*.example.org:8443"))}
	tests := []struct {
		name, host string
		port       uint16
		want       bool
	}{
		{"a listed name", "Example.com.", 443, true},
		{"a listed name on another port", "example.com", 22, false},
		{"a name below a wildcard", "a.example.org", 8443, true},
		{"a name below a wildcard on the port of others", "a.example.org", 443, false},
		{"port 0", "example.com", 0, false},
		{"a name with a port in it", "example.com:443", 443, false},
		{"the wildcard as a name", "*.example.org", 8443, false},
		{"no name", "", 443, false},
		{"a name of two trailing dots", "example.com..", 443, false},
	}
	for _, tt := range tests {
		if got := set.Reaches(tt.host, tt.port); got != tt.want {
			t.Errorf("%s: Reaches(%q, %d) = %v", tt.name, tt.host, tt.port, got)
		}
	}
	if !capability.Unbounded().Reaches("10.0.0.1", 22) {
		t.Error("every host does not include an address")
	}
	if (capability.Set{}).Reaches("example.com", 443) {
		t.Error("the zero Set reaches a host")
	}
}

func TestHostPatternsThatAreNone(t *testing.T) {
	label63, label64 := strings.Repeat("a", 63), strings.Repeat("a", 64)
	name253 := strings.Repeat(label63+".", 3) + strings.Repeat("a", 61)
	tests := []struct {
		name, bad, why string
		good           string // the twin
	}{
		{"empty", "", "label", "a"},
		{"only a dot", ".", "label", "a."},
		{"two trailing dots", "example.com..", "label", "example.com."},
		{"a leading dot", ".example.com", "label", "*.example.com"},
		{"an empty label", "a..example.com", "label", "a.example.com"},
		{"the bare wildcard", "*", "in front", "*.com"},
		{"a wildcard over nothing", "*.", "label", "*.a"},
		{"a wildcard within a label", "*a.example.com", "in front", "a.example.com"},
		{"a wildcard in the middle", "a.*.example.com", "in front", "*.a.example.com"},
		{"two wildcards", "*.*.example.com", "in front", "*.example.com"},
		{"a URL", "https://example.com", "URL", "example.com"},
		{"a path", "example.com/x", "URL", "example.com"},
		{"a user", "me@example.com", "letters", "me.example.com"},
		{"a space", "example.com ", "letters", "example.com"},
		{"a newline", "example.com\n", "letters", "example.com"},
		{"a NUL", "example.com\x00", "letters", "example.com"},
		{"an underscore", "_dmarc.example.com", "letters", "dmarc.example.com"},
		{"a percent sign", "ex%61mple.com", "letters", "example.com"},
		{"a leading hyphen", "-a.example.com", "hyphen", "a-a.example.com"},
		{"a trailing hyphen", "a-.example.com", "hyphen", "a-a.example.com"},
		{"an umlaut", "bücher.example", "xn--", "xn--bcher-kva.example"},
		{"a Kelvin sign, which lower-cases to k", "\u212aiosk.example", "xn--", "Kiosk.example"},
		{"an ideographic full stop", "example\u3002com", "xn--", "example.com"},
		{"bytes that are not UTF-8", "ex\xffmple.com", "xn--", "example.com"},
		{"an IPv4 address", "127.0.0.1", "addresses", "127.0.0.example"},
		{"an IPv4 address with a port", "127.0.0.1:443", "addresses", "a1:443"},
		{"a number", "2130706433", "addresses", "a2130706433"},
		{"a hexadecimal address", "0x7f.0x1", "addresses", "0x7f.x1"},
		{"an address below a wildcard", "*.0.0.1", "addresses", "*.0.0.x1"},
		{"an address with a trailing dot", "127.0.0.1.", "addresses", "127.0.0.a."},
		{"an IPv6 address", "::1", "addresses", "a"},
		{"an IPv6 address in brackets", "[::1]:443", "addresses", "a:443"},
		{"a mapped address", "[::ffff:127.0.0.1]", "addresses", "a"},
		{"no port after the colon", "example.com:", "port", "example.com"},
		{"port 0", "example.com:0", "port", "example.com:1"},
		{"port 65536", "example.com:65536", "port", "example.com:65535"},
		{"a signed port", "example.com:+443", "port", "example.com:443"},
		{"a leading zero", "example.com:0443", "port", "example.com:443"},
		{"a named port", "example.com:https", "port", "example.com:443"},
		{"every port", "example.com:*", "port", "example.com:443"},
		{"a label of 64 characters", label64 + ".com", "63", label63 + ".com"},
		{"a name of 254 characters", name253 + "a", "253", name253},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := capability.HostsOf("example.com", tt.bad)
			var invalid *capability.InvalidError
			if !errors.As(err, &invalid) || invalid.Value != tt.bad || !strings.Contains(invalid.Why, tt.why) {
				t.Errorf("HostsOf(%q) = %v, want an InvalidError about %q", tt.bad, err, tt.why)
			}
			if _, err := capability.HostsOf("example.com", tt.good); err != nil {
				t.Errorf("twin: %v", err)
			}
		})
	}
}

func TestPathsCover(t *testing.T) {
	tests := []struct {
		name, entry, path string
		want              bool
	}{
		{"itself", "/a/b", "/a/b", true},
		{"below it", "/a/b", "/a/b/c", true},
		{"above it", "/a/b", "/a", false},
		{"a sibling that begins alike", "/a/b", "/a/bc", false},
		{"a sibling that sorts before the slash", "/a/b", "/a/b-c", false},
		{"a trailing slash of the entry", "/a/b/", "/a/b", true},
		{"a trailing slash of the path", "/a/b", "/a/b/", true},
		{"doubled slashes", "//a///b", "/a/b", true},
		{"dots", "/a/./b/.", "/a/b", true},
		{"another case", "/a/B", "/a/b", false},
		{"names of dots that are no parents", "/a", "/a/...", true},
		{"a way out", "/a/b", "/a/b/../c", false},
		{"a way out and back", "/a/b", "/a/b/../b", false},
		{"a relative path", "/a", "a", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := must(capability.PathsOf(tt.entry, "/z")).Covers(tt.path); got != tt.want {
				t.Errorf("%s covers %s = %v", tt.entry, tt.path, got)
			}
		})
	}
}

// TestEverythingCovers: everything includes what no entry could name; an empty list includes nothing.
func TestEverythingCovers(t *testing.T) {
	if !capability.AllHosts().Covers("10.0.0.1:22") || !capability.AllPaths().Covers("/") || !capability.AllNames().Covers("A-B") {
		t.Error("everything leaves something out")
	}
	if (capability.Hosts{}).Covers("a.test") || (capability.Paths{}).Covers("/a") || (capability.Names{}).Covers("A") {
		t.Error("the zero list covers something")
	}
	if (capability.Hosts{}).Covers("10.0.0.1") || must(capability.PathsOf("/a")).Covers("") {
		t.Error("a list covers what is no entry")
	}
}

func TestEntriesThatAreNone(t *testing.T) {
	paths := func(s string) error { _, err := capability.PathsOf(s); return err }
	names := func(s string) error { _, err := capability.NamesOf(s); return err }
	projects := func(s string) error { _, err := capability.ScopedControl(s); return err }
	tests := []struct {
		name      string
		parse     func(string) error
		bad, good string
	}{
		{"an empty path", paths, "", "/a"},
		{"a relative path", paths, "a/b", "/a/b"},
		{"a home directory that nobody expanded", paths, "~/a", "/~/a"},
		{"the root", paths, "/", "/a"},
		{"the root, disguised", paths, "//./", "//./a"},
		{"a parent", paths, "/a/../b", "/a/..b"},
		{"a parent at the end", paths, "/a/b/..", "/a/b.."},
		{"a NUL", paths, "/a\x00b", "/a\nb"},
		{"bytes that are not UTF-8", paths, "/a\xff", "/aÿ"},
		{"a path of 4096 bytes", paths, "/" + strings.Repeat("a", 4095), "/" + strings.Repeat("a", 4094)},
		{"an empty name", names, "", "_"},
		{"a name with a value", names, "A=1", "A1"},
		{"a digit first", names, "1A", "A1"},
		{"an exported function of bash", names, "BASH_FUNC_ls%%", "BASH_FUNC_ls"},
		{"a hyphen", names, "A-B", "A_B"},
		{"a letter outside ASCII", names, "É", "E"},
		{"an at sign, one before A", names, "@", "A"},
		{"a bracket, one after Z", names, "[", "Z"},
		{"a brace, one after z", names, "{", "z"},
		{"an empty project", projects, "", "p"},
		{"a project of 129 bytes", projects, strings.Repeat("p", 129), strings.Repeat("p", 128)},
		{"a project that is not UTF-8", projects, "\xff", "ÿ"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var invalid *capability.InvalidError
			if err := tt.parse(tt.bad); !errors.As(err, &invalid) || invalid.Value != tt.bad {
				t.Errorf("%q: %v, want an InvalidError", tt.bad, err)
			}
			if err := tt.parse(tt.good); err != nil {
				t.Errorf("twin: %v", err)
			}
		})
	}
}

func TestInvalidErrorIsShortAndPrintable(t *testing.T) {
	_, err := capability.PathsOf("\x1b]52;\u202e" + strings.Repeat("a", 1<<20))
	if msg := err.Error(); len(msg) > 400 || strings.ContainsAny(msg, "\x1b\u202e") {
		t.Errorf("%d bytes: %.400s", len(msg), msg)
	}
}

func TestControlCovers(t *testing.T) {
	tests := []struct {
		name    string
		control capability.Control
		want    bool
	}{
		{"none", capability.Control{}, false},
		{"scoped to no project", must(capability.ScopedControl()), false},
		{"scoped to another project", must(capability.ScopedControl("api")), false},
		{"scoped to the project", must(capability.ScopedControl("api", "web")), true},
		{"full", capability.FullControl(), true},
	}
	for _, tt := range tests {
		if got := tt.control.Covers("web"); got != tt.want {
			t.Errorf("%s: covers web = %v", tt.name, got)
		}
	}
}

// FuzzHostPattern: a pattern that is accepted is printed as ASCII, reads back as itself, covers itself, and
// reaches a name only if it ends like the pattern.
func FuzzHostPattern(f *testing.F) {
	for _, s := range []string{"example.com", "*.Example.com.:8443", "127.0.0.1", "[::1]:443", "*.*.a", "xn--a.b:1", "a.:0"} {
		f.Add(s, "a.example.com")
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		hosts, err := capability.HostsOf(pattern)
		if err != nil {
			var invalid *capability.InvalidError
			if !errors.As(err, &invalid) {
				t.Fatalf("untyped %v", err)
			}
			return
		}
		text := hosts.Items()[0]
		again, err := capability.HostsOf(text)
		if err != nil || again.Items()[0] != text || !hosts.Covers(pattern) || !hosts.Covers(text) {
			t.Fatalf("%q → %q → %v, %v", pattern, text, again.Items(), err)
		}
		if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
			t.Fatalf("%q is printed as %q", pattern, text)
		}
		base, _, _ := strings.Cut(strings.TrimPrefix(text, "*."), ":")
		if (capability.Set{Network: hosts}).Reaches(name, 443) &&
			!strings.HasSuffix(strings.ToLower(strings.TrimSuffix(name, ".")), base) {
			t.Fatalf("%q reaches %q", text, name)
		}
	})
}

// FuzzPath: a path that is accepted is absolute, has no parent in it, reads back as itself and covers what is
// below it, never what only begins alike.
func FuzzPath(f *testing.F) {
	for _, s := range []string{"/a", "//a/./b/", "/a/../b", "/", "a", "/a\x00", "/.../..a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, entry string) {
		paths, err := capability.PathsOf(entry)
		if err != nil {
			return
		}
		text := paths.Items()[0]
		again, err := capability.PathsOf(text)
		if err != nil || again.Items()[0] != text || !strings.HasPrefix(text, "/") || strings.Contains(text+"/", "/../") {
			t.Fatalf("%q → %q → %v, %v", entry, text, again.Items(), err)
		}
		if len(text) < 4000 && (!paths.Covers(text+"/x") || paths.Covers(text+"x")) {
			t.Fatalf("%q covers by its text, not by its elements", text)
		}
	})
}
