package seatbelt_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"termic/sandbox/capability"
	"termic/sandbox/profile"
	"termic/sandbox/seatbelt"
	evaluator "termic/sandbox/seatbelt/judge"
)

var update = flag.Bool("update", false, "write the golden files")

// One golden file for each mode, box and proxy. The first line says what the file pins.
func TestGoldens(t *testing.T) {
	for _, tt := range []struct {
		name       string
		pins       string
		mode       capability.Mode
		box, proxy bool
	}{
		{"enforce", "no network at all: neither port is named", capability.Enforce, false, false},
		{"enforce-box", "the control plane's port alone, TCP, on localhost", capability.Enforce, true, false},
		{"enforce-proxy", "the proxy's port alone, TCP, on localhost", capability.Enforce, false, true},
		{"enforce-box-proxy", "both ports, and still nothing else", capability.Enforce, true, true},
		{"enforce-fs", "the host's network, less the sockets of its programs; files as in enforce", capability.EnforceFS, false, true},
		{"enforce-fs-box", "the box changes nothing where the network is open", capability.EnforceFS, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := "; pins: " + tt.pins + "\n" + render(t, compile(t, tt.mode, set(t, tt.box, tt.proxy)))
			judge(t, got)
			file := filepath.Join("testdata", tt.name+".sb")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s changed; look at the difference, then run with -update\n%s", file, got)
			}
		})
	}
}

// Ticking the box adds one line, and takes nothing away.
func TestTheBoxIsOneLine(t *testing.T) {
	for _, proxy := range []bool{false, true} {
		without := strings.Split(render(t, compile(t, capability.Enforce, set(t, false, proxy))), "\n")
		with := strings.Split(render(t, compile(t, capability.Enforce, set(t, true, proxy))), "\n")
		const line = `(allow network-outbound (remote tcp "localhost:4711"))`
		i := slices.Index(with, line)
		if i < 0 || !slices.Equal(slices.Delete(with, i, i+1), without) {
			t.Errorf("proxy %v: ticking the box changes more than the line %s", proxy, line)
		}
	}
}

// What a cage may and may not, by the evaluator; each refusal has beside it what the same rules allow.
func TestPolicy(t *testing.T) {
	p := judge(t, render(t, compile(t, capability.Enforce, set(t, true, true))))
	tcp := func(host, port string) request {
		return request{Op: "network-outbound", Net: "tcp", Host: host, Port: port}
	}
	read := func(name string) request { return request{Op: "file-read-data", Path: name} }
	write := func(name string) request { return request{Op: "file-write-create", Path: name} }
	unlink := func(name string) request { return request{Op: "file-write-unlink", Path: name} }
	for _, tt := range []struct {
		what string
		ask  request
		want bool
	}{
		{"reads the checkout", read(checkout + "/a/b/c.go"), true},
		{"writes the checkout", write(checkout + "/a/b/c.go"), true},
		{"removes a file of the checkout", unlink(checkout + "/a/b/c.go"), true},
		{"another task's checkout", read(home + "/termic/8/x"), false},
		{"a checkout whose name begins the same", read(home + "/termic/77/x"), false},
		{"reads what editors obey", read(checkout + "/.vscode/tasks.json"), true},
		{"writes what editors obey", write(checkout + "/.vscode/tasks.json"), false},
		{"moves what editors obey", unlink(checkout + "/.vscode"), false},
		{"moves the checkout", unlink(checkout), false},
		{"the .git file of the host's view", read(checkout + "/.git"), false},
		{"writes the .git file", write(checkout + "/.git"), false},
		{"its own git directory", write(data + "/tasks/7/git/HEAD"), true},
		{"borrowed objects", read(home + "/src/web/.git/objects/pack/x.pack"), true},
		{"writes borrowed objects", write(home + "/src/web/.git/objects/pack/x.pack"), false},
		{"the project's configuration", read(home + "/src/web/.git/config"), false},
		{"the data directory", read(data + "/cli-token"), false},
		{"lists the data directory", read(data), false},
		{"looks at the data directory on its way", request{Op: "file-read-metadata", Path: data}, true},
		{"another task's git directory", read(data + "/tasks/8/git/HEAD"), false},
		{"its own state", write(data + "/tasks/7/state/x.jsonl"), true},
		{"the person's state of the agent", read(home + "/.claude/projects/x"), false},
		{"its own home", write(data + "/tasks/7/home/.npmrc"), true},
		{"its own temporary files", write(data + "/tasks/7/temp/x"), true},
		{"everybody's temporary files", write("/private/tmp/x"), false},
		{"the person's keys", read(home + "/.ssh/id_ed25519"), false},
		{"the person's shell start files", write(home + "/.zshrc"), false},
		{"the person's documents", read(home + "/Documents/plans/x"), false},
		{"a toolchain", read(home + "/.nvm/versions/x"), true},
		{"writes a toolchain", write(home + "/.nvm/versions/x"), false},
		{"the system", read("/usr/lib/libSystem.dylib"), true},
		{"the system's settings", read("/private/etc/hosts"), true},
		{"who may be root", read("/private/etc/sudoers"), false},
		{"the system's keychains", read("/Library/Keychains/System.keychain"), false},
		{"the person's keys, by the data volume", read("/System/Volumes/Data/Users/u/.ssh/id_ed25519"), false},
		{"the shared cache, by its volume", read("/System/Volumes/Preboot/Cryptexes/OS/x"), true},
		{"an empty cache of its own", write(data + "/tasks/7/cold/x"), true},
		{"the person's cache", read(home + "/.cache/go-build/x"), false},
		{"its terminal", request{Op: "file-write-data", Path: "/dev/ttys009"}, true},
		{"another terminal", request{Op: "file-write-data", Path: "/dev/ttys001"}, false},
		{"a terminal that it made", request{Op: "file-write-data", Path: "/dev/ttys001", Made: true}, true},
		{"a disk", read("/dev/disk0"), false},
		{"the control plane", tcp("localhost", "4711"), true},
		{"the proxy", tcp("localhost", "4712"), true},
		{"another port of the host", tcp("localhost", "4713"), false},
		{"the same port elsewhere", tcp("*", "4711"), false},
		{"the same port by UDP", request{Op: "network-outbound", Net: "udp", Host: "localhost", Port: "4711"}, false},
		{"a name server", request{Op: "network-outbound", Net: "udp", Host: "*", Port: "53"}, false},
		{"a port of its own", request{Op: "network-bind", Net: "tcp", Host: "localhost", Port: "8080"}, false},
		{"a socket of the host", request{Op: "network-outbound", Net: "unix", Path: "/private/var/run/docker.sock"}, false},
		{"a socket in its checkout", request{Op: "network-outbound", Net: "unix", Path: checkout + "/x.sock"}, false},
		{"the resolver", request{Op: "network-outbound", Net: "unix", Path: "/private/var/run/mDNSResponder"}, false},
		{"launchd's services", request{Op: "mach-lookup", Name: "com.apple.coreservices.launchservicesd"}, false},
		{"the keychain", request{Op: "mach-lookup", Name: "com.apple.SecurityServer"}, false},
		{"the pasteboard", request{Op: "mach-lookup", Name: "com.apple.pasteboard.1"}, false},
		{"the users' table", request{Op: "mach-lookup", Name: "com.apple.system.opendirectoryd.libinfo"}, true},
		{"arguments of other processes", request{Op: "sysctl-read", Name: "kern.procargs2"}, false},
		{"the number of processors", request{Op: "sysctl-read", Name: "hw.ncpu"}, true},
		{"looks at another process", request{Op: "process-info-pidinfo"}, false},
		{"looks at its own", request{Op: "process-info-pidinfo", Self: true}, true},
		{"signals another process", request{Op: "signal"}, false},
		{"signals its own", request{Op: "signal", Self: true}, true},
		{"anything else", request{Op: "iokit-open"}, false},
	} {
		if got := p.Allows(tt.ask); got != tt.want {
			t.Errorf("%s: allowed %v, want %v", tt.what, got, tt.want)
		}
	}
	open := judge(t, render(t, compile(t, capability.EnforceFS, set(t, true, true))))
	for what, tt := range map[string]struct {
		ask  request
		want bool
	}{
		"a host":               {tcp("*", "443"), true},
		"a name server":        {request{Op: "network-outbound", Net: "udp", Host: "*", Port: "53"}, true},
		"the resolver":         {request{Op: "network-outbound", Net: "unix", Path: "/private/var/run/mDNSResponder"}, true},
		"a socket of the host": {request{Op: "network-outbound", Net: "unix", Path: "/private/var/run/docker.sock"}, false},
		"the person's keys":    {read(home + "/.ssh/id_ed25519"), false},
	} {
		if got := open.Allows(tt.ask); got != tt.want {
			t.Errorf("enforce-fs: %s: allowed %v, want %v", what, got, tt.want)
		}
	}
}

// The evaluator takes no form that Render does not emit, so it cannot be used to judge something else.
func TestTheEvaluatorErrs(t *testing.T) {
	for _, text := range []string{
		`(allow network-outbound (remote ip "localhost:1"))`, `(allow network-outbound (remote tcp "127.0.0.1:1"))`, `(allow network-outbound (remote tcp "localhost:*"))`,
		`(allow network-outbound (remote tcp "*:1"))`, `(allow network-outbound (local tcp "localhost:1"))`, `(allow file-read* (subpat "/x"))`, `(define x 1)`, `(allow file-read* (subpath /x))`,
		`(allow file-read* (literal "/x" "/y"))`, `(allow file-read* (subpath "/x")`, `(allow file-read* (subpath "/x)`, `(allow)`, `(allow (subpath "/x"))`, `(allow mach-lookup (literal "/x"))`,
		`(import "x.sb")`, `(version 2)`, `(allow file-read* (regex "^/x"))`, `(allow signal (target others))`, `x`, `(allow file-frob*)`, `(allow process-info* (target self))`,
	} {
		if _, err := evaluator.Parse(text); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
	if _, err := evaluator.Parse("(version 1)\n; a comment\n(deny default)\n(allow file-read* (subpath \"/x\"))\n"); err != nil {
		t.Errorf("twin: %v", err)
	}
}

func TestLinks(t *testing.T) {
	p := compile(t, capability.Enforce, set(t, false, false))
	links, err := seatbelt.Links(p, places())
	if err != nil {
		t.Fatal(err)
	}
	own := places().Home
	for _, want := range []seatbelt.Link{{own + "/.claude", data + "/tasks/7/state"}, {own + "/.nvm", home + "/.nvm"}, {own + "/.cache/go-build", data + "/tasks/7/cold"}} {
		if !slices.Contains(links, want) {
			t.Errorf("no link %+v in %+v", want, links)
		}
	}
	for _, l := range links {
		if strings.HasPrefix(l.Path, own+"/termic") {
			t.Errorf("the checkout is named by its own path: %+v", l)
		}
	}
}

// What cannot be said without a doubt is not said at all.
func TestRenderRefuses(t *testing.T) {
	good := func() (profile.Profile, seatbelt.Places) {
		return compile(t, capability.Enforce, set(t, true, true)), places()
	}
	for name, change := range map[string]func(*profile.Profile, *seatbelt.Places){
		"no cage":                      func(p *profile.Profile, _ *seatbelt.Places) { p.Mode = capability.Monitor },
		"a port that nobody holds":     func(_ *profile.Profile, at *seatbelt.Places) { at.MCP = 0 },
		"a proxy that does not listen": func(_ *profile.Profile, at *seatbelt.Places) { at.Proxy = 0 },
		"one port for two":             func(_ *profile.Profile, at *seatbelt.Places) { at.Proxy = at.MCP },
		"ports in an open network":     func(p *profile.Profile, _ *seatbelt.Places) { p.Mode = capability.EnforceFS },
		"a quote and a newline": func(p *profile.Profile, _ *seatbelt.Places) {
			p.Rules[0].Path, p.Rules[0].Source = "/x\"\n(allow default)", "/x\"\n(allow default)"
		},
		"no UTF-8":                 func(_ *profile.Profile, at *seatbelt.Places) { at.Home = "/x\xff" },
		"a relative path":          func(_ *profile.Profile, at *seatbelt.Places) { at.Temp = "tmp" },
		"no private home":          func(_ *profile.Profile, at *seatbelt.Places) { at.Home = "" },
		"dots":                     func(_ *profile.Profile, at *seatbelt.Places) { at.Home = data + "/../x" },
		"a disk for a terminal":    func(_ *profile.Profile, at *seatbelt.Places) { at.Terminal = "/dev/disk0" },
		"a mount outside the home": func(p *profile.Profile, _ *seatbelt.Places) { p.Rules[0].Path = "/opt/moved" },
		"a mount in what another mount shows": func(p *profile.Profile, _ *seatbelt.Places) {
			p.Rules = append(p.Rules, profile.Rule{Path: home + "/.claude/settings.json", Source: data + "/tasks/7/ro", Access: profile.ReadOnly, File: true, Own: true})
		},
	} {
		p, at := good()
		change(&p, &at)
		if text, err := seatbelt.Render(p, at); err == nil {
			t.Errorf("%s: rendered\n%s", name, text)
		}
	}
	p, at := good()
	if _, err := seatbelt.Render(p, at); err != nil {
		t.Errorf("twin: %v", err)
	}
	p.Rules[0].Path = "/opt/moved"
	var moved *seatbelt.MovedError
	if _, err := seatbelt.Render(p, at); !errors.As(err, &moved) {
		t.Errorf("a mount: %v", err)
	}
}
