package seatbelt_test

import (
	"math/rand/v2"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"termic/sandbox/capability"
	"termic/sandbox/profile"
	"termic/sandbox/seatbelt"
	evaluator "termic/sandbox/seatbelt/judge"
)

// somewhere are paths that a person could name: harmless ones, ancestors of what is denied, and what is denied itself.
var somewhere = []string{
	home, home + "/Library", home + "/Library/Application Support", data, data + "/tasks", data + "/tasks/7/git", data + "/tasks/8", home + "/.ssh", home + "/.claude",
	home + "/termic", home + "/termic/8", checkout, checkout + "/a", checkout + "/.vscode", checkout + "/.git", home + "/src", home + "/src/lib", home + "/src/lib/sub", home + "/src/web",
	home + "/Documents", home + "/Documents/work", "/usr", "/opt/homebrew", "/private", "/private/etc", "/private/tmp", "/Users", "/Library", home + "/.zshrc",
}

// arbitrary returns a profile with rules that nobody checked, beside those of a compiled one: what Compile would refuse is
// here on purpose, since the last rules have to hold whatever the others say.
func arbitrary(t testing.TB, r *rand.Rand) profile.Profile {
	mode := []capability.Mode{capability.Enforce, capability.EnforceFS}[r.IntN(2)]
	p := compile(t, mode, set(t, r.IntN(2) == 0, r.IntN(2) == 0))
	for range r.IntN(8) {
		at := somewhere[r.IntN(len(somewhere))]
		access := []profile.Access{profile.ReadOnly, profile.Writable}[r.IntN(2)]
		p.Rules = slices.Insert(p.Rules, r.IntN(len(p.Rules)+1), profile.Rule{Path: at, Source: at, Access: access})
	}
	return p
}

// holds judges what has to be true of every policy.
func holds(t *testing.T, p profile.Profile, at seatbelt.Places) {
	text, err := seatbelt.Render(p, at)
	if err != nil {
		return // nothing is started
	}
	judged := judge(t, text)
	for _, name := range []string{data + "/cli-token", data, data + "/tasks/8/git/HEAD", data + "/tasks/7/gitfile", home + "/.ssh/id_ed25519", home + "/termic/8/x", home + "/src/web/.git/config",
		checkout + "/.git", "/private/etc/sudoers", "/Library/Keychains/x"} {
		for _, op := range []string{"file-read-data", "file-write-create", "file-write-data", "file-write-unlink"} {
			if judged.Allows(request{Op: op, Path: name}) {
				t.Fatalf("%s of %s is allowed by\n%s", op, name, text)
			}
		}
	}
	// A denied path inside what may be written stays where it is: neither it nor what is above it can be renamed.
	for _, name := range p.Absent {
		for dir := name; dir != "/"; dir = path.Dir(dir) {
			inside := slices.ContainsFunc(p.Rules, func(r profile.Rule) bool {
				return r.Access == profile.Writable && (r.Source == dir || strings.HasPrefix(dir, r.Source+"/"))
			})
			own := slices.ContainsFunc(p.Rules, func(r profile.Rule) bool { return r.Own && strings.HasPrefix(dir, r.Source+"/") })
			if inside && !own && judged.Allows(request{Op: "file-write-unlink", Path: dir}) {
				t.Fatalf("%s, above %s, can be renamed under\n%s", dir, name, text)
			}
		}
	}
	if p.Mode == capability.Enforce {
		network(t, p, at, judged)
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	lastFile := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "; whatever stands above") })
	for _, line := range lines[lastFile:] {
		if strings.HasPrefix(line, "(allow") && !strings.HasPrefix(line, "(allow file-read-metadata (literal ") {
			t.Fatalf("after the last denials: %s", line)
		}
	}
	for _, link := range []string{`"/etc/`, `"/tmp/`, `"/var/`} {
		if strings.Contains(text, link) {
			t.Fatalf("%s is no canonical path, in\n%s", link, text)
		}
	}
}

// network: exactly the named TCP ports on localhost; UDP, other hosts and sockets with a path never.
func network(t *testing.T, p profile.Profile, at seatbelt.Places, judged *evaluator.Policy) {
	for _, port := range []uint16{1, 22, 80, 443, 2375, at.MCP, at.Proxy, at.MCP + 1, 65535} {
		named := p.MCP && port == at.MCP || p.Proxy && port == at.Proxy
		for _, kind := range []string{"tcp", "udp"} {
			for _, host := range []string{"localhost", "*"} {
				got := judged.Allows(request{Op: "network-outbound", Net: kind, Host: host, Port: strconv.Itoa(int(port))})
				if got != (named && kind == "tcp" && host == "localhost") {
					t.Fatalf("%s to %s:%d: allowed %v", kind, host, port, got)
				}
			}
		}
	}
	for _, name := range []string{"/private/var/run/docker.sock", checkout + "/s", "/private/var/run/mDNSResponder", data + "/cli.sock"} {
		if judged.Allows(request{Op: "network-outbound", Net: "unix", Path: name}) {
			t.Fatalf("the socket %s can be connected to", name)
		}
	}
}

func TestProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 10))
	for range 400 {
		p := arbitrary(t, r)
		at := places()
		at.MCP, at.Proxy = uint16(1024+r.IntN(30000)), uint16(40000+r.IntN(20000))
		holds(t, p, at)
	}
}

// Whatever is in a person's lists, Compile refuses it or the policy holds.
func TestWhateverTheListsHold(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	compiled := 0
	for range 400 {
		s := set(t, true, true)
		var read, write []string
		for range r.IntN(3) {
			read = append(read, somewhere[r.IntN(len(somewhere))])
		}
		for range r.IntN(2) {
			write = append(write, somewhere[r.IntN(len(somewhere))])
		}
		var err error
		if s.Read, err = capability.PathsOf(read...); err != nil {
			t.Fatal(err)
		}
		if s.Write, err = capability.PathsOf(write...); err != nil {
			t.Fatal(err)
		}
		p, err := profile.Compile(capability.Declared{Mode: capability.Enforce, Set: s}, dirs(), mac())
		if err == nil {
			compiled++
			holds(t, p, places())
		}
	}
	if compiled < 50 {
		t.Errorf("only %d of 400 were compiled", compiled)
	}
}

// FuzzPath: no path can end its string. A policy with it has as many forms as one with another path, and means the path.
func FuzzPath(f *testing.F) {
	for _, seed := range []string{"x", `a"b`, `a\`, `a\"`, "a)(allow default)", "a;b", "a#\"b", "ünï", "a\nb", "a\x00", "..", "\xff", " "} {
		f.Add(seed)
	}
	plain := judge(f, render(f, extra(f, "plain")))
	f.Fuzz(func(t *testing.T, name string) {
		text, err := seatbelt.Render(extra(t, name), places())
		if err != nil {
			return
		}
		got := judge(t, text)
		if got.Rules() < plain.Rules()-2 || got.Rules() > plain.Rules()+64 {
			t.Fatalf("%q makes %d rules of %d", name, got.Rules(), plain.Rules())
		}
		where := home + "/Documents/" + name
		if !strings.HasPrefix(where, checkout) && !got.Allows(request{Op: "file-read-data", Path: where}) {
			t.Errorf("%q is allowed and cannot be read", where)
		}
		if got.Allows(request{Op: "file-read-data", Path: home + "/.ssh/id"}) || got.Allows(request{Op: "iokit-open"}) || got.Allows(request{Op: "file-write-data", Path: home + "/x"}) {
			t.Errorf("%q opens something else", name)
		}
	})
}

func extra(t testing.TB, name string) profile.Profile {
	p := compile(t, capability.Enforce, set(t, true, true))
	where := home + "/Documents/" + name
	p.Rules = append(p.Rules, profile.Rule{Path: where, Source: where, Access: profile.ReadOnly})
	return p
}
