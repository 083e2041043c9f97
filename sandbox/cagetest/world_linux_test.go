package cagetest_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"termic/sandbox/cagetest"
	"termic/sandbox/cagetest/probes"
)

// newWorld makes what there is to attack.
func newWorld(t *testing.T, m *cagetest.Machine) *probes.World {
	t.Helper()
	w := &probes.World{Secret: m.Home + "/.ssh/id_test", Data: m.Data + "/mcp-token", Other: m.Data + "/tasks/2/checkout/file", Home: m.Home,
		Checkout: m.Checkout, Outside: m.Outside, Marker: cagetest.MarkerVar, App: os.Getpid(), Abstract: "termic-test-" + strconv.Itoa(os.Getpid()),
		Socket: m.Outside + "/stream", Datagram: m.Outside + "/datagram"}
	w.TCP4 = serve(t, "tcp4", "0.0.0.0:0")
	w.UDP4 = serveUDP(t, "udp4", "127.0.0.1:0")
	if l, err := net.Listen("tcp6", "[::1]:0"); err == nil { // the kernel may lack IPv6, or have it switched off
		_ = l.Close()
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
