package maccage

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"termic/sandbox/capability"
	"termic/sandbox/profile"
	"termic/sandbox/seatbelt"
	"termic/sandbox/seatbelt/judge"
)

// task compiles the cage of the ground of a trial, with what a cage had left in its directories.
func task(t *testing.T, mode capability.Mode) (dir string, p profile.Profile) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	g, _ := trialIn(t, base, mode)
	if err := os.WriteFile(base+"/data/tasks/7/gitfile", []byte("gitdir: "+base+"/data/tasks/7/git\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	declared, err := g.Declared(mode)
	if err != nil {
		t.Fatal(err)
	}
	if p, err = profile.Compile(declared, g.Dirs(), profile.Machine{}); err != nil {
		t.Fatal(err)
	}
	dir = base + "/data/tasks/7"
	if err := errors.Join(os.WriteFile(dir+"/home/left", nil, 0o600), os.Mkdir(dir+"/home/shut", 0), os.Chmod(dir+"/home", 0)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // what a cage closed to everybody stands in nobody's way but that of t.TempDir
		_ = exec.Command("chmod", "-R", "u+rwx", base).Run()
	})
	return dir, p
}

func TestMakeHoldsThePortsThatItsPolicyNames(t *testing.T) {
	dir, p := task(t, capability.Enforce)
	var ports Ports
	m, err := Make(t.Context(), self(t), dir, "task", p, &ports)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		_, there := os.Lstat(m.Places.Home)
		err := m.Kill()
		if _, left := os.Lstat(m.Places.Home); err != nil || there != nil || left == nil {
			t.Errorf("its home was there: %v, and is: %v; kill: %v", there, left, err)
		}
	}()
	text, err := m.spec.Policy("/dev/ttys003")
	if err != nil {
		t.Fatal(err)
	}
	policy, err := judge.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, port := range []*Port{m.Ports.MCP, m.Ports.Proxy} {
		_, number, err := net.SplitHostPort(port.Serve().Addr().String())
		if err != nil || !policy.Allows(judge.Request{Op: "network-outbound", Net: "tcp", Host: "localhost", Port: number}) || free(t, port.Number()) {
			t.Errorf("port %s is not named, or not held: %v", number, err)
		}
	}
	if !policy.Allows(judge.Request{Op: "file-write-data", Path: "/dev/ttys003"}) || policy.Allows(judge.Request{Op: "file-write-data", Path: "/dev/ttys004"}) {
		t.Error("its terminal is not the one that it may use")
	}
	if _, err := m.spec.Policy("/dev/disk0"); err == nil {
		t.Error("a disk is taken for a terminal")
	}
	if _, err := os.Lstat(m.Places.Home + "/left"); err == nil {
		t.Error("what an earlier cage left is there")
	}
	script, err := os.ReadFile(m.Places.Programs + "/git")
	if err != nil || !strings.Contains(string(script), "\nprivate='"+dir+"/git'\n") {
		t.Errorf("its git: %v: %.300s", err, script)
	}
}

func TestMakeRefuses(t *testing.T) {
	dir, p := task(t, capability.Enforce)
	bad := errors.New("no port")
	if _, err := Make(t.Context(), self(t), dir, "task", p, &Ports{listen: func() (net.Listener, error) { return nil, bad }}); !errors.Is(err, bad) {
		t.Errorf("without a port: %v", err)
	}
	moved := p
	moved.Rules = append(moved.Rules[:len(moved.Rules):len(moved.Rules)], profile.Rule{Path: "/opt/moved", Source: dir, Access: profile.ReadOnly})
	var cannot *seatbelt.MovedError
	if _, err := Make(t.Context(), self(t), dir, "task", moved, &Ports{}); !errors.As(err, &cannot) {
		t.Errorf("with a mount: %v", err)
	}
	if _, err := Make(t.Context(), "/nonexistent", dir, "task", p, &Ports{}); err == nil {
		t.Error("without a warden")
	}
	m, err := Make(t.Context(), self(t), dir, "task", p, &Ports{})
	if err != nil {
		t.Fatalf("twin: %v", err)
	}
	if err := m.Kill(); err != nil {
		t.Error(err)
	}
}

// In an open network no port is named, and none is held.
func TestMakeWithoutPorts(t *testing.T) {
	dir, p := task(t, capability.EnforceFS)
	m, err := Make(t.Context(), self(t), dir, "task", p, &Ports{listen: func() (net.Listener, error) { return nil, errors.New("asked for") }})
	if err != nil {
		t.Fatal(err)
	}
	if m.Ports != (Pair{}) || m.Kill() != nil {
		t.Errorf("%+v", m.Ports)
	}
}
