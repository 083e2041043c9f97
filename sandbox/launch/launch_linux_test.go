package launch_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"termic/sandbox/cagetest"
	"termic/sandbox/cagetest/probes"
	"termic/sandbox/capability"
	"termic/sandbox/launch"
	"termic/sandbox/profile"
)

func TestMain(m *testing.M) {
	if os.Getenv(appVar) != "" {
		beTheApp()
		return
	}
	cagetest.Main(m)
}

// TestAsOrdinaryUser runs everything here again as a user who is not root, and as what Again makes of this process: one
// without children but the cages'.
func TestAsOrdinaryUser(t *testing.T) {
	if cagetest.Inner() {
		return // it runs
	}
	users := cagetest.Users()
	cagetest.Again(t, users[len(users)-1], ".")
}

var withPorts = capability.Set{Network: capability.AllHosts(), Control: must(capability.ScopedControl("web"))}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func terminal(t *testing.T, m *cagetest.Machine, cage *launch.Cage, argv ...string) *launch.Process {
	t.Helper()
	p, err := cage.Spawn(t.Context(), launch.Command{Argv: argv, Env: m.Env(), Dir: m.Checkout, Terminal: true, Rows: 31, Cols: 91})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Master.Close() })
	return p
}

// until reads a terminal until it has said something, and returns all that it said.
func until(t *testing.T, p *launch.Process, word string) string {
	t.Helper()
	var said strings.Builder
	buffer := make([]byte, 4096)
	_ = p.Master.SetReadDeadline(time.Now().Add(time.Minute))
	for !strings.Contains(said.String(), word) {
		n, err := p.Master.Read(buffer)
		said.Write(buffer[:n])
		if err != nil {
			t.Fatalf("waiting for %q: %v; it said %q", word, err, said.String())
		}
	}
	return said.String()
}

func TestHowProcessesEnd(t *testing.T) {
	m := cagetest.New(t)
	cage := m.Start(t, capability.Enforce, capability.Set{})
	tests := []struct {
		name, script string
		want         launch.Exit
	}{
		{"with success", "exit 0", launch.Exit{}},
		{"with a code", "exit 7", launch.Exit{Code: 7}},
		{"by a signal", "kill -TERM $$", launch.Exit{Code: -1, Signal: "SIGTERM"}},
		{"by SIGKILL", "kill -KILL $$", launch.Exit{Code: -1, Signal: "SIGKILL"}},
		{"before what it started", "sleep 1000 & exit 3", launch.Exit{Code: 3}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := terminal(t, m, cage, "sh", "-c", tt.script).Wait(); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
			p, err := cage.Spawn(t.Context(), launch.Command{Argv: []string{"sh", "-c", tt.script}, Env: m.Env(), Dir: m.Checkout})
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Wait(); got != tt.want {
				t.Errorf("without a terminal: got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestWhatCannotBeRun(t *testing.T) {
	m := cagetest.New(t)
	cage := m.Start(t, capability.Enforce, capability.Set{})
	host, err := os.Open("/")
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	tests := []struct {
		name  string
		cmd   launch.Command
		files []*os.File
		want  string
	}{
		{"a program that runs", launch.Command{Argv: []string{"true"}, Env: m.Env(), Dir: m.Checkout}, []*os.File{r, w}, ""},
		{"a program that is not there", launch.Command{Argv: []string{"nonesuch"}, Env: m.Env(), Dir: m.Checkout}, nil, "in the PATH of the cage"},
		{"a program of the host", launch.Command{Argv: []string{m.Outside + "/notes"}, Env: m.Env(), Dir: m.Checkout}, nil, "no such file"},
		{"a file that is no program", launch.Command{Argv: []string{"./main.go"}, Env: m.Env(), Dir: m.Checkout}, nil, "permission denied"},
		{"no program", launch.Command{Env: m.Env(), Dir: m.Checkout}, nil, "no command"},
		{"a program without a PATH", launch.Command{Argv: []string{"true"}, Dir: m.Checkout}, nil, "in the PATH of the cage"},
		{"a directory of the host", launch.Command{Argv: []string{"true"}, Env: m.Env(), Dir: m.Outside}, nil, "no such file"},
		{"a relative directory", launch.Command{Argv: []string{"true"}, Env: m.Env(), Dir: "."}, nil, "directory"},
		{"a directory of the host as a standard file", launch.Command{Argv: []string{"true"}, Env: m.Env(), Dir: m.Checkout}, []*os.File{nil, host}, "no pipe"},
		{"a fourth standard file", launch.Command{Argv: []string{"true"}, Env: m.Env(), Dir: m.Checkout}, []*os.File{nil, nil, nil, w}, "4 files"},
		{"an environment that is too long", launch.Command{Argv: []string{"true"}, Env: []string{"X=" + strings.Repeat("x", 200<<10)}, Dir: m.Checkout}, nil, "can be sent"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := cage.Spawn(t.Context(), tt.cmd, tt.files...)
			if err == nil {
				err = map[bool]error{false: errors.New("it failed")}[p.Wait().Code == 0]
			}
			if (err != nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	if got := m.Run(t, cage, "echo", "still here"); got.Output != "still here\n" {
		t.Errorf("afterwards: %+v", got)
	}
}

func TestPipes(t *testing.T) {
	m := cagetest.New(t)
	cage := m.Start(t, capability.Enforce, capability.Set{})
	in, feed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, result, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p, err := cage.Spawn(t.Context(), launch.Command{Argv: []string{"wc", "-c"}, Env: m.Env(), Dir: "/"}, in, result)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = in.Close(), result.Close()
	if _, err := feed.Write(make([]byte, 300_000)); err != nil { // more than a pipe holds
		t.Fatal(err)
	}
	_ = feed.Close()
	text, err := io.ReadAll(out)
	if err != nil || strings.TrimSpace(string(text)) != "300000" || p.Wait().Code != 0 {
		t.Errorf("%q, %v", text, err)
	}
}

func TestTerminals(t *testing.T) {
	m := cagetest.New(t)
	cage := m.Start(t, capability.Enforce, capability.Set{})
	p := terminal(t, m, cage, "sh", "-c", `stty size; tty; test -t 1 && echo terminal; trap 'stty size; exit 5' WINCH; echo ready; while :; do sleep 0.05; done`)
	said := until(t, p, "ready")
	for _, want := range []string{"31 91", "/dev/pts/0", "terminal"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in %q", want, said)
		}
	}
	if err := unix.IoctlSetWinsize(int(p.Master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: 120}); err != nil {
		t.Fatal(err)
	}
	if got := p.Wait(); got.Code != 5 {
		t.Errorf("after a change of size: %+v", got)
	}
	if said := until(t, p, "\n"); !strings.Contains(said, "50 120") {
		t.Errorf("new size: %q", said)
	}
}

// TestSignals: a signal reaches the whole session and nobody else, even when its leader is gone.
func TestSignals(t *testing.T) {
	m := cagetest.New(t)
	cage := m.Start(t, capability.Enforce, capability.Set{})
	other := terminal(t, m, cage, "sh", "-c", "echo ready; read x")
	until(t, other, "ready")
	p := terminal(t, m, cage, "sh", "-c", `trap "" HUP; sh -c 'trap "echo child; exit" USR1; echo ready; while :; do sleep 0.05; done' & sleep 0.1; exit`)
	until(t, p, "ready")
	p.Wait()
	if err := p.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	until(t, p, "child")
	select {
	case <-other.Done():
		t.Error("a signal reached another session")
	default:
	}
	if err := other.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if got := other.Wait(); got.Signal != "SIGKILL" {
		t.Errorf("got %+v", got)
	}
}

func TestListeners(t *testing.T) {
	m := cagetest.New(t)
	cage := m.Start(t, capability.Enforce, withPorts)
	sibling := m.Start(t, capability.Enforce, withPorts) // the same ports, in its own network
	for _, port := range []struct {
		l, other net.Listener
		number   int
	}{{cage.MCP, sibling.MCP, profile.MCPPort}, {cage.Proxy, sibling.Proxy, profile.ProxyPort}} {
		go greet(port.l, "own")
		go greet(port.other, "sibling's")
		connect := []string{"bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/" + strconv.Itoa(port.number) + " && cat <&3"}
		if got := m.Run(t, cage, connect...); got.Output != "own" {
			t.Errorf("port %d: %+v", port.number, got)
		}
		if got := m.Run(t, sibling, connect...); got.Output != "sibling's" {
			t.Errorf("port %d of the sibling: %+v", port.number, got)
		}
		if got := m.OutsideRun(t, connect...); got.Code == 0 || !strings.Contains(got.Output, "refused") {
			t.Errorf("port %d outside: %+v", port.number, got)
		}
	}
	if err := cage.MCP.Close(); err != nil {
		t.Fatal(err)
	}
	got := m.Run(t, cage, "bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/"+strconv.Itoa(profile.MCPPort))
	if got.Code == 0 || !strings.Contains(got.Output, "refused") {
		t.Errorf("a closed port: %+v", got)
	}
	if got := m.Run(t, cage, "bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/"+strconv.Itoa(profile.ProxyPort)+" && cat <&3"); got.Output != "own" {
		t.Errorf("the other port then: %+v", got)
	}
	if c := m.Start(t, capability.Enforce, capability.Set{}); c.MCP != nil || c.Proxy == nil { // which refuses, where no host is listed
		t.Errorf("a cage with nothing: MCP %v, proxy %v", c.MCP, c.Proxy)
	}
}

func greet(l net.Listener, word string) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		_, _ = io.WriteString(conn, word)
		_ = conn.Close()
	}
}

// TestProcessOne: what a cage runs cannot touch its process 1, while it can touch what else it runs.
func TestProcessOne(t *testing.T) {
	m := cagetest.New(t)
	cage := m.Start(t, capability.Enforce, capability.Set{})
	hostile := filepath.Join(cagetest.Bin(t), "hostile")
	sibling := terminal(t, m, cage, hostile, "victim")
	reach := func(pid int) map[string]probes.Result {
		got := m.Run(t, cage, hostile, "reach", strconv.Itoa(pid))
		var results []probes.Result
		if err := json.Unmarshal([]byte(got.Output), &results); err != nil {
			t.Fatalf("%v: %+v", err, got)
		}
		byName := map[string]probes.Result{}
		for _, r := range results {
			byName[r.ID] = r
		}
		return byName
	}
	one, other := reach(1), reach(sibling.PID)
	want := map[string]syscall.Errno{"signal": unix.EPERM, "trace": unix.EPERM, "environment": unix.EACCES, "memory": unix.EACCES,
		"files": unix.EACCES, "root": unix.EACCES, "namespace": unix.EACCES}
	abi, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if e != 0 {
		abi = 0
	}
	if cage.Report.Landlock != int(abi) {
		t.Errorf("restricted by Landlock ABI %d, and the kernel has %d", cage.Report.Landlock, abi)
	}
	if abi < 6 {
		delete(want, "signal") // without Landlock's scope it arrives, and is caught
	}
	for name, errno := range want {
		if one[name].Errno != errno {
			t.Errorf("%s of process 1: %+v, want %v", name, one[name], errno)
		}
		if !other[name].Done {
			t.Errorf("%s of another process: %+v", name, other[name])
		}
	}
	m.Run(t, cage, "sh", "-c", "for s in HUP INT QUIT TERM USR1 TSTP KILL STOP; do kill -$s 1; done")
	if got := m.Run(t, cage, "echo", "alive"); got.Output != "alive\n" {
		t.Errorf("after signals to process 1: %+v", got)
	}
}

func TestKill(t *testing.T) {
	m := cagetest.New(t)
	cage := m.Start(t, capability.Enforce, withPorts)
	p := terminal(t, m, cage, "sh", "-c", "setsid sh -c 'trap \"\" TERM HUP; echo away; exec sleep 1000' & wait")
	until(t, p, "away")
	if err := cage.Kill(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-cage.Done():
	default:
		t.Error("Kill returned before the end")
	}
	if got := p.Wait(); got.Signal != "SIGKILL" {
		t.Errorf("its process: %+v", got)
	}
	// The terminal is at its end when nobody in the cage has it open any more.
	_ = p.Master.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := io.Copy(io.Discard, p.Master); !errors.Is(err, syscall.EIO) {
		t.Errorf("its terminal: %v", err)
	}
	if _, err := cage.MCP.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("its port: %v", err)
	}
	if _, err := cage.Spawn(t.Context(), launch.Command{Argv: []string{"true"}, Env: m.Env(), Dir: "/"}); !errors.Is(err, launch.ErrEnded) {
		t.Errorf("another process: %v", err)
	}
	if err := p.Signal(syscall.SIGTERM); !errors.Is(err, launch.ErrEnded) {
		t.Errorf("a signal: %v", err)
	}
	if err := cage.Kill(); err != nil {
		t.Errorf("again: %v", err)
	}
	childless(t)
}

// childless fails the test when this process has children: something of a cage was left. Only the inner run has none of
// its own.
func childless(t *testing.T) {
	t.Helper()
	if !cagetest.Inner() {
		return
	}
	if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); err != unix.ECHILD {
		t.Errorf("process %d is left (%v)", pid, err)
	}
}

func TestSpawnIsCancelled(t *testing.T) {
	m := cagetest.New(t)
	cage := m.Start(t, capability.Enforce, capability.Set{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := cage.Spawn(ctx, launch.Command{Argv: []string{"sleep", "1000"}, Env: m.Env(), Dir: "/"}); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := launch.Start(ctx, m.Support, m.Plan(t, capability.Enforce, capability.Set{})); !errors.Is(err, context.Canceled) {
		t.Errorf("start: %v", err)
	}
}

// TestManyAtOnce: twenty cages that start together all seal.
func TestManyAtOnce(t *testing.T) {
	m := cagetest.New(t)
	plan := m.Plan(t, capability.Enforce, withPorts)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			cage, err := launch.Start(t.Context(), m.Support, plan)
			if err != nil {
				t.Error(err)
				return
			}
			if err := cage.Kill(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	childless(t)
}
