package profile_test

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	"termic/sandbox/capability"
	"termic/sandbox/profile"
)

// fake is a Disk of made-up paths: "dir/" a directory, "file", "link -> target", " 0600" for a mode, and "file =12" for a
// file that has other names with the same number. Directories above them exist too.
type fake map[string]profile.Entry

func fakeDisk(paths ...string) fake {
	disk := fake{"/": {Mode: fs.ModeDir | 0o755}}
	for _, p := range paths {
		entry := profile.Entry{Mode: 0o644}
		if rest, mode, ok := strings.Cut(p, " 0"); ok {
			var bits fs.FileMode
			for _, digit := range mode {
				bits = bits<<3 | fs.FileMode(digit-'0')
			}
			p, entry.Mode = rest, bits
		}
		if name, number, ok := strings.Cut(p, " ="); ok {
			p, entry.Links, entry.Ino = name, 2, uint64(number[0])
		}
		if name, target, ok := strings.Cut(p, " -> "); ok {
			p, entry = name, profile.Entry{Mode: fs.ModeSymlink | 0o777, Target: target}
		}
		if dir, ok := strings.CutSuffix(p, "/"); ok {
			p = dir
			if entry.Mode == 0o644 {
				entry.Mode = 0o755
			}
			entry.Mode |= fs.ModeDir
		}
		disk[p] = entry
		for dir := path.Dir(p); dir != "/"; dir = path.Dir(dir) {
			if _, ok := disk[dir]; !ok {
				disk[dir] = profile.Entry{Mode: fs.ModeDir | 0o755}
			}
		}
	}
	return disk
}

func (d fake) Lstat(name string) (profile.Entry, error) {
	if entry, ok := d[name]; ok {
		return entry, nil
	}
	return profile.Entry{}, &fs.PathError{Op: "lstat", Path: name, Err: fs.ErrNotExist}
}

func (d fake) ReadDir(name string) ([]string, error) {
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

// machine is a plausible one, with what the extra paths say.
func machine(extra ...string) fake {
	return fakeDisk(append([]string{
		"/usr/bin/", "/bin -> usr/bin", "/lib -> usr/lib", "/usr/lib/", "/etc/passwd", "/etc/shadow 0640", "/etc/ssl/certs/", "/etc/ssl/private/ 0710",
		"/etc/app/token 0600", "/etc/resolv.conf -> ../run/systemd/resolve/stub-resolv.conf", "/run/systemd/resolve/stub-resolv.conf",
		"/opt/tool/", "/dev/", "/proc/", "/tmp/", "/var/tmp/", "/var/run -> /run",
		"/home/u/.ssh/id_ed25519", "/home/u/.bashrc", "/home/u/.pyenv/bin/", "/home/u/.cargo/bin/", "/home/u/.claude/",
		"/home/u/src/lib/", "/home/u/src/web/", "/home/u/docs/", "/home/other/",
		"/home/u/.local/share/termic/tasks/7/checkout/.git", "/home/u/.local/share/termic/tasks/7/git/", "/home/u/.local/share/termic/tasks/7/gitfile",
		"/home/u/.local/share/termic/tasks/8/checkout/", "/home/u/.local/share/termic/mcp-token",
	}, extra...)...)
}

const (
	data     = "/home/u/.local/share/termic"
	task     = data + "/tasks/7"
	checkout = task + "/checkout"
)

func dirs() profile.Dirs {
	return profile.Dirs{Home: "/home/u", Checkout: checkout, Data: data, UID: 1000,
		Read: []string{"/home/u/.pyenv"}, Hidden: []string{"/home/u/src/web"},
		Own: []profile.Own{{Path: task + "/git", Source: task + "/git", Write: true, Why: "git"},
			{Path: checkout + "/.git", Source: task + "/gitfile", Why: "git"}}}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func reads(paths ...string) capability.Set {
	return capability.Set{Read: must(capability.PathsOf(paths...))}
}
func writes(paths ...string) capability.Set {
	return capability.Set{Write: must(capability.PathsOf(paths...))}
}

func compile(t *testing.T, set capability.Set, dirs profile.Dirs, disk profile.Disk) profile.Profile {
	t.Helper()
	p, err := profile.Compile(capability.Declared{Mode: capability.Enforce, Set: set}, dirs, disk)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func find(t *testing.T, p profile.Profile, name string) profile.Rule {
	t.Helper()
	i := slices.IndexFunc(p.Rules, func(r profile.Rule) bool { return r.Path == name })
	if i < 0 {
		t.Fatalf("no rule for %s", name)
	}
	return p.Rules[i]
}
