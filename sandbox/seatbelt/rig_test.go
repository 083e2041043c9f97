package seatbelt_test

import (
	"io/fs"
	"path"
	"strings"
	"testing"

	"termic/sandbox/capability"
	"termic/sandbox/profile"
	"termic/sandbox/seatbelt"
	evaluator "termic/sandbox/seatbelt/judge"
)

// disk is a made-up one: "dir/" a directory, "file", "link -> target".
type disk map[string]profile.Entry

func mac(extra ...string) disk {
	d := disk{"/": {Mode: fs.ModeDir | 0o755}}
	for _, p := range append([]string{
		"/usr/bin/", "/bin/", "/sbin/", "/System/Library/", "/Library/Developer/", "/opt/homebrew/bin/", "/etc -> private/etc", "/private/etc/hosts", "/private/etc/sudoers",
		"/tmp -> private/tmp", "/var -> private/var", "/private/tmp/", "/private/var/folders/", "/private/var/run/docker.sock",
		"/Users/u/.ssh/id_ed25519", "/Users/u/.zshrc", "/Users/u/.nvm/versions/", "/Users/u/.claude/projects/", "/Users/u/Documents/plans/", "/Users/u/src/lib/sub/",
		"/Users/u/src/web/.git/objects/", "/Users/u/Library/Keychains/", "/Users/u/.cache/go-build/",
		"/Users/u/Library/Application Support/termic/tasks/7/git/", "/Users/u/Library/Application Support/termic/tasks/7/gitfile",
		"/Users/u/Library/Application Support/termic/tasks/7/state/", "/Users/u/Library/Application Support/termic/tasks/7/cold/", "/Users/u/Library/Application Support/termic/cli-token",
		"/Users/u/Library/Application Support/termic/tasks/7/upper/", "/Users/u/Library/Application Support/termic/tasks/7/scratch/",
		"/Users/u/termic/7/.git", "/Users/u/termic/7/.vscode/", "/Users/u/termic/7/a/b/", "/Users/u/termic/8/",
	}, extra...) {
		entry := profile.Entry{Mode: 0o644}
		if name, target, ok := strings.Cut(p, " -> "); ok {
			p, entry = name, profile.Entry{Mode: fs.ModeSymlink | 0o777, Target: target}
		}
		if dir, ok := strings.CutSuffix(p, "/"); ok {
			p, entry.Mode = dir, fs.ModeDir|0o755
		}
		d[p] = entry
		for dir := path.Dir(p); dir != "/"; dir = path.Dir(dir) {
			if _, ok := d[dir]; !ok {
				d[dir] = profile.Entry{Mode: fs.ModeDir | 0o755}
			}
		}
	}
	return d
}

func (d disk) Lstat(name string) (profile.Entry, error) {
	if entry, ok := d[name]; ok {
		return entry, nil
	}
	return profile.Entry{}, &fs.PathError{Op: "lstat", Path: name, Err: fs.ErrNotExist}
}

func (d disk) ReadDir(name string) ([]string, error) {
	if _, err := d.Lstat(name); err != nil {
		return nil, err
	}
	var names []string
	for p := range d {
		if path.Dir(p) == name && p != "/" {
			names = append(names, path.Base(p))
		}
	}
	return names, nil
}

const (
	home     = "/Users/u"
	data     = home + "/Library/Application Support/termic"
	checkout = home + "/termic/7"
)

func dirs() profile.Dirs {
	return profile.Dirs{Home: home, Checkout: checkout, Data: data, UID: 501,
		Hidden: []string{home + "/src/web", home + "/termic/8"},
		Read:   []string{home + "/.nvm"},
		Own: []profile.Own{
			{Path: data + "/tasks/7/git", Source: data + "/tasks/7/git", Write: true, Why: "git"},
			{Path: checkout + "/.git", Source: data + "/tasks/7/gitfile", Why: "leads to git"},
			{Path: home + "/src/web/.git/objects", Source: home + "/src/web/.git/objects", Why: "objects"},
			{Path: home + "/.claude", Source: data + "/tasks/7/state", Write: true, Why: "state"},
		},
		Caches: []profile.Cache{{Path: home + "/.cache/go-build", Lower: home + "/.cache/go-build", Upper: data + "/tasks/7/upper", Work: data + "/tasks/7/scratch",
			Fallback: profile.FallbackCold, Cold: data + "/tasks/7/cold"}},
	}
}

func places() seatbelt.Places {
	return seatbelt.Places{Home: data + "/tasks/7/home", Temp: data + "/tasks/7/temp", Programs: data + "/tasks/7/programs", MCP: 4711, Proxy: 4712, Terminal: "/dev/ttys009"}
}

func set(t testing.TB, box, proxy bool) capability.Set {
	t.Helper()
	var s capability.Set
	var err error
	if box {
		if s.Control, err = capability.ScopedControl(); err != nil {
			t.Fatal(err)
		}
	}
	if proxy {
		if s.Network, err = capability.HostsOf("packages.example.org"); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func compile(t testing.TB, mode capability.Mode, s capability.Set) profile.Profile {
	t.Helper()
	p, err := profile.Compile(capability.Declared{Mode: mode, Set: s}, dirs(), mac())
	if err != nil {
		t.Fatal(err)
	}
	// Compile gives every such cage a proxy; what has none is rendered too.
	p.Proxy = p.Proxy && len(s.Network.Items()) > 0
	return p
}

func render(t testing.TB, p profile.Profile) string {
	t.Helper()
	text, err := seatbelt.Render(p, places())
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func judge(t testing.TB, text string) *evaluator.Policy {
	t.Helper()
	p, err := evaluator.Parse(text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return p
}

type request = evaluator.Request
