package maccage

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"termic/sandbox/processes"
)

// The test binary is the program beside the app, and an app that ends, too.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case commandGate, commandWarden, commandTry:
			os.Exit(Main(os.Args[1:]))
		case "app":
			app()
		}
	}
	os.Exit(m.Run())
}

func self(t testing.TB) string {
	t.Helper()
	name, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if name, err = filepath.EvalSymlinks(name); err != nil {
		t.Fatal(err)
	}
	return name
}

// asEnv runs a program with its policy in a variable, in place of sandbox-exec.
func asEnv(policy string, argv, _ []string) ([]string, error) {
	return append([]string{"/usr/bin/env", "POLICY=" + policy}, argv...), nil
}

// rig is a running cage on held ports.
type rig struct {
	*Cage
	t     *testing.T
	ports *Ports
	pair  Pair
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, ports: &Ports{}}
	var err error
	if r.pair, err = r.ports.Hold("task"); err != nil {
		t.Fatal(err)
	}
	r.Cage = r.start(r.pair.MCP, r.pair.Proxy)
	return r
}

func (r *rig) start(ports ...*Port) *Cage {
	r.t.Helper()
	c, err := Start(spec(self(r.t), ports))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		if err := c.Kill(); err != nil {
			r.t.Error(err)
		}
	})
	return c
}

func spec(stage string, ports []*Port) Spec {
	return Spec{Stage: stage, Ports: ports, Policy: func(terminal string) (string, error) { return "for " + terminal, nil }, argv: asEnv}
}

// run runs a script to its end and returns what it printed.
func (r *rig) run(script string) (string, processes.Exit) {
	r.t.Helper()
	p, out := r.spawn(script)
	text, err := io.ReadAll(out)
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.TrimSpace(string(text)), p.Wait()
}

func (r *rig) spawn(script string) (*Process, *os.File) {
	r.t.Helper()
	ours, theirs, err := os.Pipe()
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = ours.Close() })
	defer theirs.Close()
	p, err := r.Spawn(context.Background(), Command{Argv: []string{"/bin/sh", "-c", script}, Env: []string{"PATH=/usr/bin:/bin:/usr/sbin:/sbin", "A=1"}, Dir: "/"}, nil, theirs, theirs)
	if err != nil {
		r.t.Fatal(err)
	}
	return p, ours
}

func living(t testing.TB, pid int) bool {
	t.Helper()
	all, err := processes.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if p.PID == pid {
			return true
		}
	}
	return false
}

func eventually(t testing.TB, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !f(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not in 20 s: %s", what)
		}
	}
}

// answers reports whether a connection to the port is answered with a byte.
func answers(address string) bool {
	conn, err := net.DialTimeout("tcp4", address, time.Second)
	if err != nil {
		return false
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	n, _ := conn.Read(make([]byte, 1))
	return n == 1
}

// free reports whether another program could bind the address. Without SO_REUSEADDR, which would bind beside closed ones.
func free(t testing.TB, port uint16) bool {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	return unix.Bind(fd, &unix.SockaddrInet4{Port: int(port), Addr: [4]byte{127, 0, 0, 1}}) == nil
}
