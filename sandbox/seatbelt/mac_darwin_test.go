package seatbelt_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"termic/sandbox/capability"
	"termic/sandbox/profile"
	"termic/sandbox/seatbelt"
)

// TestOnAMac runs a policy under the system's own sandbox-exec. Each forbidden thing is done without the policy first: a
// probe that fails anyway would prove nothing.
func TestOnAMac(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := func(names ...string) string { return filepath.Join(append([]string{base}, names...)...) }
	for _, dir := range []string{"home/.ssh", "home/docs", "data/tasks/7/home", "data/tasks/7/temp", "checkout/a", "checkout/.vscode"} {
		if err := os.MkdirAll(in(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"home/.ssh/key", "home/docs/letter", "data/cli-token", "checkout/a/file", "checkout/.vscode/tasks.json"} {
		if err := os.WriteFile(in(file), []byte("x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	open, closed := listener(t), listener(t)
	where := seatbelt.Places{Home: in("data/tasks/7/home"), Temp: in("data/tasks/7/temp"), MCP: open, Proxy: listener(t)}
	p, err := profile.Compile(capability.Declared{Mode: capability.Enforce, Set: set(t, true, true)},
		profile.Dirs{Home: in("home"), Checkout: in("checkout"), Data: in("data"), UID: os.Getuid()}, profile.Machine{})
	if err != nil {
		t.Fatal(err)
	}
	policy, err := seatbelt.Render(p, where)
	if err != nil {
		t.Fatal(err)
	}
	port := func(n uint16) string { return "nc -z 127.0.0.1 " + strconv.Itoa(int(n)) }
	for _, probe := range []struct {
		what, line string
		allowed    bool
	}{
		{"a shell", "true", true},
		{"reads the checkout", "cat " + in("checkout/a/file"), true},
		{"writes the checkout", "echo y > " + in("checkout/a/new"), true},
		{"renames in the checkout", "mv " + in("checkout/a/file") + " " + in("checkout/a/other"), true},
		{"makes a temporary file", "echo y > " + in("data/tasks/7/temp/x"), true},
		{"the named port", port(open), true},
		{"the person's key", "cat " + in("home/.ssh/key"), false},
		{"the person's letter", "cat " + in("home/docs/letter"), false},
		{"the command line's token", "cat " + in("data/cli-token"), false},
		{"lists the data directory", "ls " + in("data"), false},
		{"writes what editors obey", "echo y >> " + in("checkout/.vscode/tasks.json"), false},
		{"moves what editors obey", "mv " + in("checkout/.vscode") + " " + in("checkout/away"), false},
		{"moves the checkout", "mv " + in("checkout") + " " + in("elsewhere"), false},
		{"writes the home directory", "echo y > " + in("home/.zshrc"), false},
		{"another port of the host", port(closed), false},
		{"a file for everybody", "echo y > /private/tmp/termic-probe-$$ && rm /private/tmp/termic-probe-$$", false},
	} {
		inside := exec.Command("/usr/bin/sandbox-exec", "-p", policy, "/bin/sh", "-c", probe.line)
		inside.Dir = in("checkout")
		out, err := inside.CombinedOutput()
		if (err == nil) != probe.allowed {
			t.Errorf("%s: %v: %s", probe.what, err, out)
		}
		if probe.allowed {
			continue
		}
		outside := exec.Command("/bin/sh", "-c", probe.line)
		outside.Dir = in("checkout")
		if out, err := outside.CombinedOutput(); err != nil {
			t.Errorf("%s: it is not done without the policy either, so the refusal proves nothing: %v: %s", probe.what, err, out)
		}
		// What the twin moved goes back to its place.
		_ = os.Rename(in("checkout/away"), in("checkout/.vscode"))
		_ = os.Rename(in("elsewhere"), in("checkout"))
	}
}

func listener(t *testing.T) uint16 {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return uint16(l.Addr().(*net.TCPAddr).Port)
}
