package cagetest_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"termic/sandbox/cagetest"
	"termic/sandbox/cagetest/probes"
	"termic/sandbox/capability"
	"termic/sandbox/launch"
)

func TestMain(m *testing.M) { cagetest.Main(m) }

// floor is how many probes of each category were refused as predicted, and how many had a twin that succeeded, when
// probes were last added. Fewer fail the test, so that none gets lost; what a machine does not have counts as had.
var floor = map[string]map[probes.Category][2]int{
	"root enforce":    {probes.Network: {31, 31}, probes.Files: {62, 62}, probes.Checkout: {47, 47}, probes.Process: {19, 19}, probes.Kernel: {30, 30}, probes.Terminal: {3, 3}},
	"user enforce":    {probes.Network: {31, 27}, probes.Files: {62, 45}, probes.Checkout: {47, 45}, probes.Process: {19, 19}, probes.Kernel: {30, 17}, probes.Terminal: {3, 3}},
	"root enforce-fs": {probes.Network: {18, 18}, probes.Files: {62, 62}, probes.Checkout: {47, 47}, probes.Process: {19, 19}, probes.Kernel: {30, 30}, probes.Terminal: {3, 3}},
	"user enforce-fs": {probes.Network: {18, 14}, probes.Files: {62, 45}, probes.Checkout: {47, 45}, probes.Process: {19, 19}, probes.Kernel: {30, 17}, probes.Terminal: {3, 3}},
}

// TestHostile runs every probe outside and in a cage of each mode, as root and as an ordinary user.
func TestHostile(t *testing.T) {
	if !cagetest.Inner() {
		cagetest.AgainAsUsers(t)
		return
	}
	m := cagetest.New(t)
	world := newWorld(t, m)
	outside := byID(runOutside(t, m, world))
	before := inventory(t, m) // the probes have done outside what is forbidden
	for _, mode := range []capability.Mode{capability.Enforce, capability.EnforceFS} {
		t.Run(mode.String(), func(t *testing.T) {
			if mode == capability.EnforceFS {
				requireScopes(t, m)
			}
			cage := m.Start(t, mode, capability.Set{Network: must(capability.HostsOf("example.com"))})
			judge(t, mode, outside, byID(runInside(t, m, world, cage)))
		})
	}
	if after := inventory(t, m); !slices.Equal(before, after) {
		for _, line := range slices.Concat(before, after) {
			if !slices.Contains(before, line) || !slices.Contains(after, line) {
				t.Errorf("changed: %s", line)
			}
		}
	}
}

// requireScopes ends the test where the kernel lacks what enforce-fs needs, if the app says so.
func requireScopes(t *testing.T, m *cagetest.Machine) {
	t.Helper()
	abi, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if err := m.Support.Check(capability.EnforceFS); e != 0 || abi < 6 {
		if err == nil {
			t.Fatalf("enforce-fs is offered with Landlock ABI %d (%v)", abi, e)
		}
		t.Skipf("enforce-fs needs Landlock ABI >= 6, got %d; refused as it must be: %v", abi, err)
	}
}

type count struct{ tried, refused, twin, missing, lacking int }

// judge compares what came of the probes with what must.
func judge(t *testing.T, mode capability.Mode, outside, inside map[string]probes.Result) {
	counts := map[probes.Category]*count{}
	for _, p := range probes.All() {
		with, without := inside[p.ID()], outside[p.ID()]
		c := counts[p.Category]
		if c == nil {
			c = &count{}
			counts[p.Category] = c
		}
		if _, err := os.Stat(p.Needs); p.Needs != "" && err != nil {
			t.Logf("not on this machine: %s: %v", p.ID(), err)
			c.missing++
			continue
		}
		c.tried++
		fs := mode == capability.EnforceFS
		want, open := p.Wanted(os.Getuid() == 0, fs), fs && p.Open
		switch {
		case open && with.Done: // an open network is what the mode says it is
			continue
		case with.Done:
			t.Errorf("ESCAPED: %s", p.ID())
		case with.Errno != want:
			t.Errorf("%s: %q (%d) in the cage, want %q", p.ID(), with.Text, with.Errno, want.Error())
		default:
			c.refused++
		}
		switch lack := notOffered(p, without); {
		case without.Done:
			c.twin++
		case p.Root && os.Getuid() != 0:
		case lack != "":
			t.Logf("no twin: %s: %s", p.ID(), lack)
			c.lacking++
		default:
			t.Errorf("%s: %q (%d) outside, where it must succeed", p.ID(), without.Text, without.Errno)
		}
	}
	user := "user"
	if os.Getuid() == 0 {
		user = "root"
	}
	for _, category := range []probes.Category{probes.Network, probes.Files, probes.Checkout, probes.Process, probes.Kernel, probes.Terminal} {
		c, least := counts[category], floor[user+" "+mode.String()][category]
		t.Logf("%-6s %-10s %-9s tried %3d, refused as predicted %3d, twin succeeds %3d", user, mode, category, c.tried, c.refused, c.twin)
		if c.refused+c.missing < least[0] || c.twin+c.lacking+c.missing < least[1] {
			t.Errorf("%s: fewer than the %d refusals and %d twins of before", category, least[0], least[1])
		}
	}
}

// notOffered returns why a probe does not succeed outside although nothing forbids it: this kernel does not offer it.
func notOffered(p probes.Probe, r probes.Result) string {
	for _, absent := range []syscall.Errno{unix.ENOSYS, unix.EAFNOSUPPORT, unix.EPROTONOSUPPORT, unix.ESOCKTNOSUPPORT, unix.EOPNOTSUPP} {
		if r.Errno == absent {
			return "this kernel does not offer it: " + r.Text
		}
	}
	if p.Category == probes.Terminal && r.Errno == unix.EIO {
		return "this kernel lets nobody type into a terminal (dev.tty.legacy_tiocsti)"
	}
	return ""
}

func byID(results []probes.Result) map[string]probes.Result {
	all := map[string]probes.Result{}
	for _, r := range results {
		all[r.ID] = r
	}
	return all
}

// runOutside runs the probes on a terminal, as the cage does.
func runOutside(t *testing.T, m *cagetest.Machine, w *probes.World) []probes.Result {
	t.Helper()
	file := filepath.Join(m.Checkout, "results")
	cmd := exec.Command(filepath.Join(cagetest.Bin(t), "hostile"), "run", file)
	cmd.Dir, cmd.Env = m.Checkout, append(m.Env(), "TERMIC_WORLD="+w.Encode(), cagetest.MarkerVar+"=yes")
	master, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	said := drain(master)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, <-said)
	}
	return readResults(t, file)
}

func runInside(t *testing.T, m *cagetest.Machine, w *probes.World, cage *launch.Cage) []probes.Result {
	t.Helper()
	file := filepath.Join(m.Checkout, "results")
	p, err := cage.Spawn(t.Context(), launch.Command{Argv: []string{filepath.Join(cagetest.Bin(t), "hostile"), "run", file},
		Env: append(m.Env(), "TERMIC_WORLD="+w.Encode()), Dir: m.Checkout, Terminal: true, Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Master.Close()
	said := drain(p.Master)
	if exit := p.Wait(); exit.Code != 0 {
		t.Fatalf("%+v: %s", exit, <-said)
	}
	return readResults(t, file)
}

// drain reads a terminal until its end.
func drain(master *os.File) <-chan string {
	said := make(chan string, 1)
	go func() {
		var all strings.Builder
		_, _ = master.WriteTo(&all) // EIO is a terminal's end
		said <- all.String()
	}()
	return said
}

func readResults(t *testing.T, file string) []probes.Result {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	var results []probes.Result
	if err := json.Unmarshal(data, &results); err != nil {
		t.Fatal(err)
	}
	if len(results) != len(probes.All()) {
		t.Fatalf("%d results of %d probes", len(results), len(probes.All()))
	}
	return results
}

// inventory describes everything on the machine but what the cage may write.
func inventory(t *testing.T, m *cagetest.Machine) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(m.Root, func(name string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name == m.Root+"/data/tasks/1/git" {
			return filepath.SkipDir
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		line := fmt.Sprintf("%s %v", name, info.Mode())
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %q", data)
		}
		all = append(all, line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// newWorld makes what there is to attack.
func newWorld(t *testing.T, m *cagetest.Machine) *probes.World {
	t.Helper()
	w := &probes.World{Secret: m.Home + "/.ssh/id_test", Data: m.Data + "/mcp-token", Other: m.Data + "/tasks/2/checkout/file", Home: m.Home,
		Checkout: m.Checkout, Outside: m.Outside, Marker: cagetest.MarkerVar, App: os.Getpid(), Abstract: "termic-test-" + strconv.Itoa(os.Getpid()),
		Socket: m.Outside + "/stream", Datagram: m.Outside + "/datagram"}
	w.TCP4 = serve(t, "tcp4", "0.0.0.0:0")
	w.UDP4 = serveUDP(t, "udp4", "127.0.0.1:0")
	if _, err := os.Stat("/proc/net/if_inet6"); err == nil {
		w.TCP6 = serve(t, "tcp6", "[::]:0")
		w.UDP6 = serveUDP(t, "udp6", "[::1]:0")
	}
	serve(t, "unix", "@"+w.Abstract)
	serve(t, "unix", w.Socket)
	serveUDP(t, "unixgram", w.Datagram)
	w.Victim = victim(t)
	shared(t, w)
	w.Terminal = hostTerminal(t)
	return w
}

// hostTerminal opens a terminal of the host whose number no terminal of a cage has: both count from 0, each in
// its own devpts, so that on a machine without terminals the cage's own /dev/pts/0 would bear the same name.
func hostTerminal(t *testing.T) string {
	t.Helper()
	const more = 32 // than a cage of these tests opens
	for range more + 1 {
		master, slave, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = master.Close(), slave.Close() })
		if n, err := strconv.Atoi(strings.TrimPrefix(slave.Name(), "/dev/pts/")); err == nil && n >= more {
			return slave.Name()
		}
	}
	t.Fatal("no terminal of the host with a number of its own")
	return ""
}

// serve answers "host" to whoever writes a byte. It returns the port of TCP.
func serve(t *testing.T, network, address string) int {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
				if n, _ := conn.Read(make([]byte, 1)); n == 1 {
					_, _ = conn.Write([]byte("host"))
				}
			}()
		}
	}()
	if tcp, ok := l.Addr().(*net.TCPAddr); ok {
		return tcp.Port
	}
	return 0
}

func serveUDP(t *testing.T, network, address string) int {
	t.Helper()
	conn, err := net.ListenPacket(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		buffer := make([]byte, 512)
		for {
			_, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			if from != nil {
				_, _ = conn.WriteTo([]byte("host"), from)
			}
		}
	}()
	if udp, ok := conn.LocalAddr().(*net.UDPAddr); ok {
		return udp.Port
	}
	return 0
}

// victim starts a process to be attacked. Its id must be none that a process in the cage could have, where they
// begin at 1: a few hundred processes come and go there.
func victim(t *testing.T) int {
	t.Helper()
	const safe = 2000
	for range safe {
		cmd := exec.Command(filepath.Join(cagetest.Bin(t), "hostile"), "victim")
		end, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		stop := func() {
			_ = end.Close()
			_ = cmd.Wait() // a probe may have sent it a signal
		}
		if cmd.Process.Pid > safe {
			t.Cleanup(stop)
			return cmd.Process.Pid
		}
		stop()
	}
	t.Fatal("process ids stay small")
	return 0
}

// shared makes the host's objects of System V, and a shared file.
func shared(t *testing.T, w *probes.World) {
	t.Helper()
	key := os.Getpid()<<8 | 0x40000000
	make := func(call, remove uintptr, rmArgs [3]uintptr, args ...uintptr) {
		id, _, e := unix.Syscall(call, args[0], args[1], args[2])
		if e != 0 {
			t.Fatalf("shared object: %v", e)
		}
		t.Cleanup(func() { unix.Syscall6(remove, id, rmArgs[0], rmArgs[1], rmArgs[2], 0, 0) })
	}
	const create, rmid = 0o1000 | 0o600, 0 // IPC_CREAT, IPC_RMID
	w.Shm, w.Sem, w.Queue = key, key+1, key+2
	make(unix.SYS_SHMGET, unix.SYS_SHMCTL, [3]uintptr{rmid}, uintptr(w.Shm), 4096, create)
	make(unix.SYS_SEMGET, unix.SYS_SEMCTL, [3]uintptr{0, rmid}, uintptr(w.Sem), 1, create)
	make(unix.SYS_MSGGET, unix.SYS_MSGCTL, [3]uintptr{rmid}, uintptr(w.Queue), create, 0)
	w.ShmFile = fmt.Sprintf("/dev/shm/termic-test-%d", os.Getpid())
	if err := os.WriteFile(w.ShmFile, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(w.ShmFile) })
}
