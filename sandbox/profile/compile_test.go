package profile_test

import (
	"errors"
	"math/rand"
	"path"
	"slices"
	"strings"
	"testing"

	"termic/sandbox/capability"
	"termic/sandbox/profile"
)

func TestWhatACageShows(t *testing.T) {
	p := compile(t, capability.Set{}, dirs(), machine())
	tests := []struct {
		name, path string
		want       profile.Access
	}{
		{"programs", "/usr/bin/env", profile.ReadOnly},
		{"a linked system directory", "/bin", profile.Link},
		{"the system's files", "/etc/passwd", profile.ReadOnly},
		{"passwords", "/etc/shadow", profile.Hidden},
		{"private keys of the system", "/etc/ssl/private/x", profile.Hidden},
		{"certificates", "/etc/ssl/certs/x", profile.ReadOnly},
		{"the home directory", "/home/u", profile.Private},
		{"a file of the home directory", "/home/u/.bashrc", profile.Private},
		{"keys", "/home/u/.ssh/id_ed25519", profile.Private},
		{"another home", "/home/other", profile.Hidden},
		{"a toolchain", "/home/u/.pyenv/bin/python", profile.ReadOnly},
		{"a directory that nobody named", "/home/u/src/lib", profile.Private},
		{"the checkout", checkout + "/main.go", profile.Writable},
		{"the checkout's view of git", checkout + "/.git", profile.ReadOnly},
		{"the task's git directory", task + "/git/HEAD", profile.Writable},
		{"the app's token", data + "/mcp-token", profile.Private},
		{"another task", data + "/tasks/8/checkout", profile.Private},
		{"temporary files", "/tmp/x", profile.Private},
		{"sockets of the system", "/run/docker.sock", profile.Private},
		{"kernel objects", "/sys/kernel", profile.Hidden},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rule := p.Rule(tt.path)
			if rule.Access != tt.want {
				t.Errorf("%s: access %d by %+v, want %d", tt.path, rule.Access, rule, tt.want)
			}
		})
	}
	for _, secret := range []string{data, data + "/mcp-token", "/home/u/.ssh", "/home/u/src/web", "/etc/shadow", "/run/docker.sock"} {
		if !slices.ContainsFunc(p.Absent, func(a string) bool { return a == secret || strings.HasPrefix(secret, a+"/") }) {
			t.Errorf("nothing proves that %s is absent", secret)
		}
	}
}

func TestRulesComeParentsFirst(t *testing.T) {
	p := compile(t, capability.Set{}, dirs(), machine(checkout+"/.claude/settings.json", checkout+"/.vscode/"))
	for i, rule := range p.Rules {
		for _, later := range p.Rules[i+1:] {
			if rule.Path == later.Path || strings.HasPrefix(rule.Path, later.Path+"/") {
				t.Errorf("%s comes before %s", rule.Path, later.Path)
			}
		}
	}
}

func TestRulesThatExpose(t *testing.T) {
	links := []string{"/home/u/keys -> .ssh", "/home/u/up -> ..", "/home/u/docs/in -> /home/u/.local/share/termic/tasks/8"}
	tests := []struct {
		name   string
		set    capability.Set
		secret string // "": allowed
		write  bool
	}{
		{"a directory of documents", reads("/home/u/docs"), "", false},
		{"a secret itself", reads("/home/u/.ssh"), "/home/u/.ssh", false},
		{"a file in a secret", reads("/home/u/.ssh/id_ed25519"), "/home/u/.ssh", false},
		{"a directory that only begins alike", reads("/home/u/.sshfoo"), "", false},
		{"the home directory", reads("/home/u"), "/home/u", false},
		{"every home", reads("/home"), "/home/u", false},
		{"a link to a secret", reads("/home/u/keys"), "/home/u/.ssh", false},
		{"a link upwards", reads("/home/u/up"), "/home/u", false},
		{"a link into another task", reads("/home/u/docs/in"), data, false},
		{"the data directory", reads(data), data, false},
		{"a file of the data directory", reads(data + "/mcp-token"), data, false},
		{"a directory around the data directory", reads("/home/u/.local/share"), "/home/u/.local/share/", false},
		{"the data directory, writing", writes(data), data, false},
		{"the project's checkout", reads("/home/u/src/web"), "/home/u/src/web", false},
		{"the directory of all projects", reads("/home/u/src"), "/home/u/src/web", false},
		{"another project", reads("/home/u/src/lib"), "", false},
		{"another project, writing", writes("/home/u/src/lib"), "", false},
		{"passwords", reads("/etc/shadow"), "/etc/shadow", false},
		{"sockets of the system", reads("/run/docker.sock"), "/run", false},
		{"sockets through a link", reads("/var/run/docker.sock"), "/run", false},
		{"devices", reads("/dev"), "/dev", false},
		{"processes", reads("/proc"), "/proc", false},
		{"everyone's temporary files", reads("/tmp"), "/tmp", false},
		{"one directory of temporary files", reads("/tmp/mine"), "", false},
		{"every path", capability.Set{Read: capability.AllPaths()}, "/", false},
		{"writing every path", capability.Set{Write: capability.AllPaths()}, "/", true},
		{"writing a shell's start file", writes("/home/u/.bashrc"), "/home/u/.bashrc", true},
		{"reading a shell's start file", reads("/home/u/.bashrc"), "", false},
		{"writing where programs are found", writes("/home/u/.cargo/bin"), "/home/u/.cargo", true},
		{"writing below where programs are found", writes("/home/u/.pyenv/bin"), "/home/u/.pyenv", true},
		{"writing the system", writes("/usr/bin"), "/usr", true},
		{"writing a part of /opt", writes("/opt/tool"), "/opt", true},
		{"reading a part of /opt", reads("/opt/tool"), "", false},
		{"the checkout", reads(checkout), "", false},
		{"the checkout's view of git, writing", writes(checkout + "/.git"), "", false}, // and it stays read-only: TestNoSetReachesASecret
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			disk := machine(append(links, "/home/u/.sshfoo/", "/tmp/mine/", "/run/docker.sock")...)
			_, err := profile.Compile(capability.Declared{Mode: capability.Enforce, Set: tt.set}, dirs(), disk)
			var exposure *profile.ExposureError
			if tt.secret == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			if !errors.As(err, &exposure) || !strings.HasPrefix(exposure.Secret, tt.secret) || exposure.Write != tt.write {
				t.Errorf("got %v (%+v), want it to name %s", err, exposure, tt.secret)
			}
		})
	}
}

func TestWhatTheAppGives(t *testing.T) {
	tests := []struct {
		name   string
		own    profile.Own
		secret string
	}{
		{"a directory of the task", profile.Own{Path: "/home/u/.claude", Source: task + "/git", Write: true}, ""},
		{"the person's own state of an agent", profile.Own{Path: "/home/u/.claude", Source: "/home/u/.claude"}, "/home/u/.claude"},
		{"a part of it", profile.Own{Path: "/home/u/.claude", Source: "/home/u/.claude/local/../x"}, "/home/u/.claude"},
		{"the program of an agent", profile.Own{Path: "/home/u/.claude/local", Source: "/home/u/.claude/local"}, ""},
		{"the data directory", profile.Own{Path: "/data", Source: data}, data},
		{"the data directory by another name", profile.Own{Path: "/data", Source: data + "/../termic"}, data},
		{"objects of a hidden project", profile.Own{Path: "/home/u/src/web/.git/objects", Source: "/home/u/src/web/.git/objects"}, ""},
		{"a hidden project", profile.Own{Path: "/web", Source: "/home/u/src/web"}, "/home/u/src/web"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := dirs()
			d.Own = append(d.Own, tt.own)
			disk := machine("/home/u/.claude/local/", "/home/u/.claude/x/", "/home/u/src/web/.git/objects/")
			_, err := profile.Compile(capability.Declared{Mode: capability.Enforce}, d, disk)
			var exposure *profile.ExposureError
			if (err != nil) != (tt.secret != "") || err != nil && (!errors.As(err, &exposure) || exposure.Secret != tt.secret) {
				t.Errorf("got %v, want it to name %q", err, tt.secret)
			}
		})
	}
	d := dirs()
	d.Own = append(d.Own, profile.Own{Path: "/home/u/.claude", Source: task + "/git"})
	if p := compile(t, capability.Set{}, d, machine()); !slices.Contains(p.Replaced, "/home/u/.claude") || slices.Contains(p.Replaced, "/home/u/.ssh") {
		t.Errorf("replaced: %v", p.Replaced)
	}
}

func TestDenialsWin(t *testing.T) {
	d := dirs()
	d.Data, d.Checkout, d.Own = "/opt/termic", "/opt/termic/tasks/7", nil
	d.Read = []string{"/home/u/.pyenv"}
	d.Hidden = []string{"/opt/other/checkout", "/opt/absent"}
	p := compile(t, capability.Set{}, d, machine("/opt/termic/tasks/7/", "/opt/termic/mcp-token", "/opt/other/checkout/"))
	for name, want := range map[string]profile.Access{
		"/opt/tool": profile.ReadOnly, "/opt/termic/mcp-token": profile.Hidden, "/opt/termic/tasks/7/x": profile.Writable,
		"/opt/other/checkout/x": profile.Hidden, "/opt/other/x": profile.ReadOnly, "/home/u/.pyenv/bin": profile.ReadOnly,
	} {
		if got := p.Rule(name).Access; got != want {
			t.Errorf("%s: access %d, want %d", name, got, want)
		}
	}
}

// TestRootsEtc: in a cage of root, what only root may read is not there, and no mask keeps it out: a mask falls off when
// the file is replaced.
func TestRootsEtc(t *testing.T) {
	d := dirs()
	d.Root = true
	p := compile(t, capability.Set{}, d, machine("/etc/app/config", "/etc/localtime -> /usr/share/zoneinfo/UTC", "/etc/app/link -> config"))
	for name, want := range map[string]profile.Access{
		"/etc/app/token": profile.Hidden, "/etc/shadow": profile.Hidden, "/etc/ssl/private/x": profile.Hidden,
		"/etc/passwd": profile.ReadOnly, "/etc/app/config": profile.ReadOnly, "/etc/ssl/certs/x": profile.ReadOnly,
		"/etc/localtime": profile.Link, "/etc/app/link": profile.Link,
	} {
		if got := p.Rule(name); got.Access != want || got.Access == profile.Hidden && got.Path != "" {
			t.Errorf("%s: %+v, want access %d by no rule of its own", name, got, want)
		}
	}
	for _, name := range []string{"/etc/app/token", "/etc/shadow", "/etc/ssl/private"} {
		if !slices.Contains(p.Absent, name) {
			t.Errorf("nothing proves that %s is absent", name)
		}
	}
	d.Root = false
	p = compile(t, capability.Set{}, d, machine())
	if got := p.Rule("/etc/app/token"); got.Access != profile.ReadOnly || got.Path != "/etc" {
		t.Errorf("for a user, whom the kernel keeps from it: %+v", got)
	}
}

func TestReadOnlyInsideWritable(t *testing.T) {
	p := compile(t, capability.Set{}, dirs(), machine(checkout+"/.claude/settings.json", checkout+"/.claude/settings.local.json",
		checkout+"/.claude/notes", checkout+"/.github/workflows/ci.yml", checkout+"/.envrc"))
	for name, want := range map[string]profile.Access{
		"/.claude": profile.Writable, "/.claude/settings.json": profile.ReadOnly, "/.claude/settings.local.json": profile.ReadOnly,
		"/.github": profile.Writable, "/.github/workflows": profile.ReadOnly, "/.envrc": profile.ReadOnly,
	} {
		if rule := find(t, p, checkout+name); rule.Access != want || rule.Source != checkout+name {
			t.Errorf("%s: %+v, want access %d", name, rule, want)
		}
	}
	if got := p.Rule(checkout + "/.claude/notes").Access; got != profile.Writable {
		t.Errorf("a file beside them: access %d", got)
	}
	for _, rule := range p.Rules {
		if strings.HasPrefix(rule.Path, checkout+"/.vscode") {
			t.Errorf("a rule for what does not exist: %+v", rule)
		}
	}
}

// TestBetweenKeepsSources: a read-only path inside a directory that lies elsewhere on the host.
func TestBetweenKeepsSources(t *testing.T) {
	d := dirs()
	d.Own = append(d.Own, profile.Own{Path: "/home/u/.codex", Source: task + "/codex", Write: true},
		profile.Own{Path: "/home/u/.codex/a/b/config.toml", Source: task + "/config.toml"})
	p := compile(t, capability.Set{}, d, machine(task+"/codex/a/b/config.toml", task+"/config.toml"))
	for _, rel := range []string{"/a", "/a/b"} {
		if rule := find(t, p, "/home/u/.codex"+rel); rule.Access != profile.Writable || rule.Source != task+"/codex"+rel {
			t.Errorf("%s: %+v", rel, rule)
		}
	}
}

func TestProtectedLinks(t *testing.T) {
	tests := []struct {
		name  string
		extra []string
		link  string
	}{
		{"no link", []string{checkout + "/.claude/hooks/"}, ""},
		{"a link", []string{checkout + "/.vscode -> elsewhere"}, "/.vscode"},
		{"a link that leads nowhere", []string{checkout + "/.envrc -> /nonexistent"}, "/.envrc"},
		{"a link on the way", []string{checkout + "/.github -> gh", checkout + "/gh/workflows/"}, "/.github"},
		{"a link among the patterns", []string{checkout + "/.claude/settings.json -> x"}, "/.claude/settings.json"},
		{"a link in a protected directory to the system", []string{checkout + "/.vscode/schema.json -> /usr/lib"}, ""},
		{"a link in it to a file beside it", []string{checkout + "/.vscode/a.json -> b.json", checkout + "/.vscode/b.json"}, ""},
		{"a link in it to a file that can be protected", []string{checkout + "/.vscode/a.json -> ../docs/a.json", checkout + "/docs/a.json"}, ""},
		{"a link in it to what an agent could make", []string{checkout + "/.vscode/settings.json -> ../later.json"}, "/.vscode/settings.json"},
		{"a link in it to the checkout", []string{checkout + "/.vscode/all -> .."}, "/.vscode/all"},
		{"a link in it to a private directory of the task", []string{checkout + "/.vscode/x -> " + task + "/git"}, "/.vscode/x"},
		{"a link by way of a link", []string{checkout + "/.vscode/x -> ../a", checkout + "/a -> b", checkout + "/b -> later"}, "/.vscode/x"},
		{"a link in what a link leads to", []string{checkout + "/.vscode/x -> ../docs", checkout + "/docs/y -> ../later"}, "/docs/y"},
		{"a file with two names, both protected", []string{checkout + "/.envrc =7", checkout + "/.vscode/env =7"}, ""},
		{"a file with another name elsewhere", []string{checkout + "/.envrc =7", "/home/u/docs/env =7"}, ""},
		{"a file with another name in the checkout", []string{checkout + "/.envrc =7", checkout + "/src/x =7"}, "/.envrc"},
		{"a file in a directory with another name", []string{checkout + "/.vscode/settings.json =7", checkout + "/x =7"}, "/.vscode/settings.json"},
		{"a file with another name in a private directory", []string{checkout + "/.envrc =7", task + "/git/x =7"}, "/.envrc"},
		{"two other files", []string{checkout + "/.envrc =7", checkout + "/x =8"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := profile.Compile(capability.Declared{Mode: capability.Enforce}, dirs(), machine(tt.extra...))
			var link *profile.LinkError
			if tt.link == "" && err != nil || tt.link != "" && (!errors.As(err, &link) || link.Path != checkout+tt.link) {
				t.Errorf("got %v, want a link at %q", err, tt.link)
			}
		})
	}
}

// TestWhereLinksLead: what a link in a protected directory leads to is protected with all between, and what a link
// there leads to as well.
func TestWhereLinksLead(t *testing.T) {
	p := compile(t, capability.Set{}, dirs(), machine(checkout+"/.cursor/rules/x.md -> ../../docs/deep/x.md", checkout+"/docs/deep/x.md",
		checkout+"/.cursor/more -> ../more", checkout+"/more/y -> ../docs/y.md", checkout+"/docs/y.md", checkout+"/docs/z.md"))
	for name, want := range map[string]profile.Access{
		"/docs": profile.Writable, "/docs/deep": profile.Writable, "/docs/deep/x.md": profile.ReadOnly, "/more": profile.ReadOnly, "/docs/y.md": profile.ReadOnly,
	} {
		if rule := find(t, p, checkout+name); rule.Access != want {
			t.Errorf("%s: %+v, want access %d", name, rule, want)
		}
	}
	if got := p.Rule(checkout + "/docs/z.md").Access; got != profile.Writable {
		t.Errorf("a file beside them: access %d", got)
	}
}

func TestModes(t *testing.T) {
	scoped := must(capability.ScopedControl("web"))
	hosts := must(capability.HostsOf("example.com"))
	tests := []struct {
		name       string
		mode       capability.Mode
		set        capability.Set
		mcp, proxy bool
	}{
		{"enforce with nothing", capability.Enforce, capability.Set{}, false, true},
		{"enforce with MCP", capability.Enforce, capability.Set{Control: scoped}, true, true},
		{"enforce with hosts", capability.Enforce, capability.Set{Network: hosts}, false, true},
		{"enforce with every host", capability.Enforce, capability.Set{Network: capability.AllHosts()}, false, true},
		{"enforce-fs with all that", capability.EnforceFS, capability.Set{Control: scoped, Network: hosts}, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := profile.Compile(capability.Declared{Mode: tt.mode, Set: tt.set}, dirs(), machine())
			if err != nil || p.MCP != tt.mcp || p.Proxy != tt.proxy {
				t.Errorf("MCP %v, proxy %v, %v", p.MCP, p.Proxy, err)
			}
			names := p.Rule("/run/systemd/resolve/stub-resolv.conf").Access
			if want := map[bool]profile.Access{true: profile.ReadOnly, false: profile.Private}[tt.mode == capability.EnforceFS]; names != want {
				t.Errorf("name servers: access %d, want %d", names, want)
			}
		})
	}
	for _, mode := range []capability.Mode{0, capability.Off, capability.Monitor} {
		if _, err := profile.Compile(capability.Declared{Mode: mode}, dirs(), machine()); err == nil {
			t.Errorf("mode %s has a cage", mode)
		}
	}
	live := capability.Declared{Mode: capability.Enforce, Set: capability.Set{Checkout: capability.LiveCheckout}}
	if _, err := profile.Compile(live, dirs(), machine()); !errors.Is(err, capability.ErrLiveCaged) {
		t.Errorf("a live checkout: %v", err)
	}
}

func TestWhatIsMissing(t *testing.T) {
	cache := profile.Cache{Path: "/home/u/go", Lower: "/home/u/docs", Upper: task + "/git", Work: task + "/git", Fallback: profile.FallbackReadOnly}
	tests := []struct {
		name   string
		change func(*profile.Dirs)
		want   string
	}{
		{"nothing", func(*profile.Dirs) {}, ""},
		{"the checkout", func(d *profile.Dirs) { d.Checkout = task + "/none" }, "does not exist"},
		{"the home directory", func(d *profile.Dirs) { d.Home = "/home/none" }, "does not exist"},
		{"a home directory of its own", func(d *profile.Dirs) { d.Home = "/" }, "set HOME"},
		{"a toolchain", func(d *profile.Dirs) { d.Read = []string{"/home/u/.rustup"} }, "does not exist"},
		{"an absolute path", func(d *profile.Dirs) { d.Data = "data" }, "not absolute"},
		{"a path on one line", func(d *profile.Dirs) { d.Data = "/a\nb" }, "newline"},
		{"two things at one path", func(d *profile.Dirs) { d.Own = append(d.Own, d.Own[0]) }, "two things"},
		{"a cache", func(d *profile.Dirs) { d.Caches = []profile.Cache{cache} }, ""},
		{"a cache's fallback", func(d *profile.Dirs) {
			c := cache
			c.Fallback = ""
			d.Caches = []profile.Cache{c}
		}, "no fallback"},
		{"a cache's cold directory", func(d *profile.Dirs) {
			c := cache
			c.Fallback = profile.FallbackCold
			d.Caches = []profile.Cache{c}
		}, "no fallback"},
		{"a cache that is no secret", func(d *profile.Dirs) {
			c := cache
			c.Lower = "/home/u/.ssh"
			d.Caches = []profile.Cache{c}
		}, "would show"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := dirs()
			tt.change(&d)
			_, err := profile.Compile(capability.Declared{Mode: capability.Enforce}, d, machine())
			if (err != nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestNoSetReachesASecret: whatever is asked for, what Compile accepts leaves every secret out of reach, and writes
// nothing that is executed outside.
func TestNoSetReachesASecret(t *testing.T) {
	disk := machine("/home/u/keys -> .ssh", "/home/u/docs/all -> /", "/home/u/src/lib/a/b/")
	var pool []string
	for p := range disk {
		pool = append(pool, p, path.Dir(p))
	}
	slices.Sort(pool)
	r := rand.New(rand.NewSource(1))
	accepted := 0
	for range 800 {
		var ask [2][]string
		for i := range ask {
			for range r.Intn(3) {
				if p := pool[r.Intn(len(pool))]; p != "/" {
					ask[i] = append(ask[i], p)
				}
			}
		}
		set := capability.Set{Read: must(capability.PathsOf(ask[0]...)), Write: must(capability.PathsOf(ask[1]...))}
		p, err := profile.Compile(capability.Declared{Mode: capability.Enforce, Set: set}, dirs(), disk)
		if err != nil {
			continue
		}
		accepted++
		for _, secret := range []string{"/home/u/.ssh/id_ed25519", data + "/mcp-token", "/etc/shadow", "/home/u/src/web/x", data + "/tasks/8/checkout/x"} {
			if got := p.Rule(secret).Access; got == profile.ReadOnly || got == profile.Writable {
				t.Fatalf("%v: %s is within reach (%d)", ask, secret, got)
			}
		}
		for _, kept := range []string{"/home/u/.bashrc", "/home/u/.cargo/bin/x", "/usr/bin/x", "/etc/x", checkout + "/.git"} {
			if p.Rule(kept).Access == profile.Writable {
				t.Fatalf("%v: %s is writable", ask, kept)
			}
		}
	}
	if accepted < 80 {
		t.Errorf("only %d of 800 sets were accepted", accepted)
	}
}

// A program is run by the name that the person uses. Where that name lies below a link of the system it is there with
// it, and nothing can be put below a link.
func TestNamesThatAreLinks(t *testing.T) {
	d := dirs()
	d.Read = append(d.Read, "/bin/tool", "/home/u/tools/agent")
	p := compile(t, capability.Set{}, d, machine("/usr/bin/tool", "/opt/agent/bin/agent", "/home/u/tools/agent -> /opt/agent/bin/agent"))
	for name, want := range map[string]profile.Access{
		"/bin": profile.Link, "/usr/bin/tool": profile.ReadOnly, "/home/u/tools/agent": profile.Link, "/opt/agent/bin/agent": profile.ReadOnly,
	} {
		if rule := p.Rule(name); rule.Access != want {
			t.Errorf("%s: access %d by %+v, want %d", name, rule.Access, rule, want)
		}
	}
	if slices.ContainsFunc(p.Rules, func(r profile.Rule) bool { return r.Path == "/bin/tool" }) {
		t.Error("a rule below the link /bin")
	}
}

// A path that is named for reading, inside one that is named for writing, is read-only, and cannot be moved away.
func TestReadingInsideWriting(t *testing.T) {
	set := capability.Set{Write: writes("/home/u/src/lib").Write, Read: reads("/home/u/src/lib/a/kept").Read}
	p := compile(t, set, dirs(), machine("/home/u/src/lib/a/kept/"))
	for name, want := range map[string]profile.Access{
		"/home/u/src/lib/x": profile.Writable, "/home/u/src/lib/a/x": profile.Writable, "/home/u/src/lib/a/kept/x": profile.ReadOnly,
	} {
		if rule := p.Rule(name); rule.Access != want {
			t.Errorf("%s: access %d by %+v, want %d", name, rule.Access, rule, want)
		}
	}
	if rule := find(t, p, "/home/u/src/lib/a"); rule.Access != profile.Writable {
		t.Errorf("the directory between is no mount of its own: %+v", rule)
	}
}

// HOME may be another directory than the one where the person's keys are.
func TestTheSecretsOfEveryHome(t *testing.T) {
	d := dirs()
	d.Homes = []string{"/home/other"}
	for name, c := range map[string]struct {
		set     capability.Set
		refused bool
	}{
		"all of it":           {reads("/home/other"), true},
		"its keys":            {reads("/home/other/.ssh"), true},
		"what a shell starts": {writes("/home/other/.bashrc"), true},
		"a directory, twin":   {reads("/home/other/data"), false},
	} {
		_, err := profile.Compile(capability.Declared{Mode: capability.Enforce, Set: c.set}, d, machine("/home/other/.ssh/", "/home/other/data/", "/home/other/.bashrc"))
		var exposure *profile.ExposureError
		if errors.As(err, &exposure) != c.refused || !c.refused && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A rule's path was compared with the limits of others as it is written, so a link in it is refused wherever it leads.
func TestARuleThroughALinkIsRefused(t *testing.T) {
	disk := machine("/home/u/docs/in -> /home/u/src/lib", "/home/u/src/lib/sub/")
	for name, c := range map[string]struct {
		set     capability.Set
		refused bool
	}{
		"reading":             {reads("/home/u/docs/in"), true},
		"writing":             {writes("/home/u/docs/in"), true},
		"below it":            {reads("/home/u/docs/in/sub"), true},
		"the place, twin":     {reads("/home/u/src/lib"), false},
		"a part of it, twin":  {reads("/home/u/src/lib/sub"), false},
		"the place, to write": {writes("/home/u/src/lib"), false},
	} {
		_, err := profile.Compile(capability.Declared{Mode: capability.Enforce, Set: c.set}, dirs(), disk)
		var redirect *profile.RedirectError
		if errors.As(err, &redirect) != c.refused || !c.refused && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
