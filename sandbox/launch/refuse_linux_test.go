package launch_test

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"termic/sandbox/cagetest"
	"termic/sandbox/capability"
	"termic/sandbox/launch"
	"termic/sandbox/linuxcage"
	"termic/sandbox/profile"
)

// TestPlansThatAreRefused: what is not on the machine as the plan says, or cannot be proved, refuses the cage, and
// nothing is made on the host. The first row is the twin of them all.
func TestPlansThatAreRefused(t *testing.T) {
	tests := []struct {
		name   string
		change func(*testing.T, *cagetest.Machine, *linuxcage.Plan)
		want   string
	}{
		{"nothing changed", func(*testing.T, *cagetest.Machine, *linuxcage.Plan) {}, ""},
		{"a directory that is gone", func(t *testing.T, m *cagetest.Machine, p *linuxcage.Plan) {
			bind(p, m.Root+"/gone", m.Root+"/gone", false)
		}, "no such file"},
		{"a directory through a link", func(t *testing.T, m *cagetest.Machine, p *linuxcage.Plan) {
			symlink(t, m.Outside, m.Root+"/link")
			bind(p, m.Root+"/link/.", m.Root+"/x", false)
		}, "absolute and clean"},
		{"a directory that is a link", func(t *testing.T, m *cagetest.Machine, p *linuxcage.Plan) {
			symlink(t, m.Outside, m.Root+"/link")
			bind(p, m.Root+"/link", m.Root+"/x", false)
		}, "is of kind"},
		{"a directory below a link", func(t *testing.T, m *cagetest.Machine, p *linuxcage.Plan) {
			symlink(t, m.Root, m.Root+"/link")
			bind(p, m.Root+"/link/outside", m.Root+"/x", false)
		}, "too many levels of symbolic links"},
		{"a mount point that is missing on the host", func(t *testing.T, m *cagetest.Machine, p *linuxcage.Plan) {
			bind(p, m.Outside, m.Checkout+"/missing", false)
		}, "nothing is made"},
		{"a mount point below a planted link", func(t *testing.T, m *cagetest.Machine, p *linuxcage.Plan) {
			symlink(t, m.Outside, m.Checkout+"/sub")
			bind(p, m.Data, m.Checkout+"/sub/made", false)
		}, "not a directory"},
		{"a mount point that is a planted link", func(t *testing.T, m *cagetest.Machine, p *linuxcage.Plan) {
			symlink(t, m.Outside, m.Checkout+"/sub")
			bind(p, m.Data, m.Checkout+"/sub", false)
		}, "is of another kind"},
		{"a mount point through a planted link to the old root", func(t *testing.T, m *cagetest.Machine, p *linuxcage.Plan) {
			symlink(t, "/proc/self/root", m.Checkout+"/sub")
			bind(p, m.Data, m.Checkout+"/sub/tmp", false)
		}, "not a directory"},
		{"a directory where a file is planned", func(t *testing.T, m *cagetest.Machine, p *linuxcage.Plan) {
			bind(p, m.Outside, m.Root+"/x", true)
		}, "is of kind"},
		{"a pipe where a file is planned", func(t *testing.T, m *cagetest.Machine, p *linuxcage.Plan) {
			if err := unix.Mkfifo(m.Root+"/pipe", 0o600); err != nil {
				t.Fatal(err)
			}
			bind(p, m.Root+"/pipe", m.Root+"/x", true)
		}, "is of kind"},
		{"a secret that the plan shows", func(t *testing.T, m *cagetest.Machine, p *linuxcage.Plan) {
			bind(p, m.Home+"/.ssh", m.Root+"/keys", false)
			p.Attest.Absent = append(p.Attest.Absent, m.Root+"/keys")
		}, "absent: "},
		{"a secret that is said to be replaced, and is the host's", func(t *testing.T, m *cagetest.Machine, p *linuxcage.Plan) {
			bind(p, m.Outside, m.Outside, false)
			p.Attest.Absent = append(p.Attest.Absent, m.Outside)
			p.Attest.Replaced = append(p.Attest.Replaced, m.Outside)
		}, "absent: "},
		{"a secret that is replaced", func(t *testing.T, m *cagetest.Machine, p *linuxcage.Plan) {
			bind(p, m.Root+"/data/tasks/2", m.Outside, false)
			p.Attest.Absent = append(p.Attest.Absent, m.Outside)
			p.Attest.Replaced = append(p.Attest.Replaced, m.Outside)
		}, ""},
		{"a file that must be empty and is not ours", func(t *testing.T, m *cagetest.Machine, p *linuxcage.Plan) {
			p.Attest.Absent = append(p.Attest.Absent, m.Checkout+"/main.go")
		}, "absent: "},
		{"a place that must not be written", func(t *testing.T, m *cagetest.Machine, p *linuxcage.Plan) {
			p.Attest.Unwritable = append(p.Attest.Unwritable, "/tmp")
		}, "root: "},
		{"a port twice", func(t *testing.T, m *cagetest.Machine, p *linuxcage.Plan) {
			p.Ports = []uint16{profile.MCPPort, profile.MCPPort}
		}, "address already in use"},
		{"a port that nobody serves", func(t *testing.T, m *cagetest.Machine, p *linuxcage.Plan) { p.Ports = []uint16{8080} }, "nobody serves it"},
		{"more than one message holds", func(t *testing.T, m *cagetest.Machine, p *linuxcage.Plan) {
			p.Attest.Absent = []string{"/" + strings.Repeat("x", 200<<10)}
		}, "can be sent"},
		{"a socket of a program outside", func(t *testing.T, m *cagetest.Machine, p *linuxcage.Plan) {
			dir, err := os.MkdirTemp("/tmp", "s") // a socket's path has 107 bytes at most
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			l, err := net.Listen("unix", dir+"/fsmonitor.ipc")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = l.Close() })
			bind(p, dir, dir, false)
		}, "a program outside"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := cagetest.New(t)
			plan := m.Plan(t, capability.Enforce, capability.Set{})
			tt.change(t, m, &plan)
			before := names(t, m.Root)
			cage, err := launch.Start(t.Context(), m.Support, plan)
			if err == nil {
				if err := cage.Kill(); err != nil {
					t.Error(err)
				}
			}
			if (err != nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if after := names(t, m.Root); after != before {
				t.Errorf("the host has\n%s\nand had\n%s", after, before)
			}
			childless(t)
		})
	}
}

func bind(p *linuxcage.Plan, source, path string, file bool) {
	p.Mounts = append(p.Mounts, linuxcage.Mount{Kind: linuxcage.Bind, Source: source, Path: path, File: file})
}

func symlink(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, root string) string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(root, func(name string, _ os.DirEntry, err error) error {
		all = append(all, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, "\n")
}

// TestRelativeSockets: a socket that was bound by a relative name is found, too.
func TestRelativeSockets(t *testing.T) {
	m := cagetest.New(t)
	plan := m.Plan(t, capability.Enforce, capability.Set{})
	s, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(s)
	t.Chdir(m.Checkout)
	if err := unix.Bind(s, &unix.SockaddrUnix{Name: "relative.sock"}); err != nil {
		t.Fatal(err)
	}
	_, err = launch.Start(t.Context(), m.Support, plan)
	var socket *launch.SocketError
	if !errors.As(err, &socket) || socket.Path != m.Checkout+"/relative.sock" || socket.Rule != m.Checkout {
		t.Errorf("got %v", err)
	}
}

func TestModesWithoutACage(t *testing.T) {
	m := cagetest.New(t)
	plan := m.Plan(t, capability.Enforce, capability.Set{})
	for mode, what := range map[capability.Mode]string{0: "has no cage", capability.Off: "has no cage", capability.Monitor: "has no cage"} {
		plan.Mode = mode
		var unsupported *launch.UnsupportedError
		_, err := launch.Start(t.Context(), m.Support, plan)
		if !errors.As(err, &unsupported) || unsupported.Mode != mode || !strings.Contains(unsupported.Lack.What, what) || !strings.Contains(unsupported.Lack.Remedy, "enforce") {
			t.Errorf("%s: %v", mode, err)
		}
		if check := m.Support.Check(mode); check == nil || check.Error() != err.Error() {
			t.Errorf("%s: the question says %v, the start %v", mode, check, err)
		}
	}
	plan.Mode = capability.Enforce
	if _, err := launch.Start(t.Context(), launch.Support{}, plan); err == nil {
		t.Error("a machine that was not asked has cages")
	}
	missing := launch.Probe(t.Context(), m.Root+"/stage")
	if err := missing.Check(capability.Enforce); err == nil || !strings.Contains(err.Error(), "stage is missing") {
		t.Errorf("without a stage: %v", err)
	}
	if got := missing.Modes(); len(got) != 0 {
		t.Errorf("without a stage: %v", got)
	}
	liar := launch.Probe(t.Context(), "/usr/bin/true")
	if err := liar.Check(capability.Enforce); err == nil || !strings.Contains(err.Error(), "without a report") {
		t.Errorf("with another program as the stage: %v", err)
	}
	childless(t)
}

// TestStageAlone: the program does nothing for who starts it by hand, and says so.
func TestStageAlone(t *testing.T) {
	stage := filepath.Join(cagetest.Bin(t), "stage")
	for _, args := range [][]string{{}, {"enforce"}, {"off"}, {"enforced"}, {"enforce-f"}, {"enforce-fsx"}, {""}, {"inside", "enforce"}, {"inside", "enforce", "x"}} {
		cmd := exec.Command(stage, args...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		out, err := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != 125 && (len(args) != 1 || args[0] != "enforce") {
			t.Errorf("%q: %d, %v: %s", args, code, err, out)
		}
	}
}
