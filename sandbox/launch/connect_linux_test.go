package launch_test

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"termic/sandbox/cagetest"
	"termic/sandbox/capability"
	"termic/sandbox/launch"
	"termic/sandbox/profile"
	"termic/sandbox/watch"
)

// serve is a program of the cage that listens on a port of its loopback and says a word to whoever connects.
const serve = `import socket, sys
s = socket.socket(socket.AF_INET6 if sys.argv[1] == "::1" else socket.AF_INET)
s.bind((sys.argv[1], int(sys.argv[2])))
s.listen(int(sys.argv[3]))
print("listening", flush=True)
while True:
    c, _ = s.accept()
    c.sendall(b"from the cage")
    c.close()
`

// TestConnect: the app reaches a server of the cage and nothing of the host by the same numbers.
func TestConnect(t *testing.T) {
	m := cagetest.New(t)
	cage := m.Start(t, capability.Enforce, withPorts)
	sibling := m.Start(t, capability.Enforce, withPorts)
	host, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	taken := uint16(host.Addr().(*net.TCPAddr).Port)
	if _, err := cage.Connect(t.Context(), taken); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a port of the host: %v, want refused", err)
	}
	for _, where := range []struct{ address, port string }{{"127.0.0.1", "8080"}, {"::1", "8081"}} {
		p := terminal(t, m, cage, "python3", "-c", serve, where.address, where.port, "5")
		until(t, p, "listening")
	}
	for _, port := range []uint16{8080, 8081} {
		conn, err := cage.Connect(t.Context(), port)
		if err != nil {
			t.Fatalf("port %d: %v", port, err)
		}
		_ = conn.SetDeadline(time.Now().Add(time.Minute))
		if got, err := io.ReadAll(conn); err != nil || string(got) != "from the cage" {
			t.Errorf("port %d: %q, %v", port, got, err)
		}
		_ = conn.Close()
		if _, err := sibling.Connect(t.Context(), port); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("port %d of the sibling: %v, want refused", port, err)
		}
	}
	for _, port := range []uint16{0, profile.MCPPort, profile.ProxyPort} {
		if _, err := cage.Connect(t.Context(), port); !errors.Is(err, launch.ErrOwnPort) {
			t.Errorf("port %d: %v, want the app's own", port, err)
		}
	}
	if err := cage.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := cage.Connect(t.Context(), 8080); !errors.Is(err, launch.ErrEnded) {
		t.Errorf("after the end: %v", err)
	}
}

// TestConnectOpenNetwork: where the network is the host's, a connection would be to the host.
func TestConnectOpenNetwork(t *testing.T) {
	m := cagetest.New(t)
	host, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	cage := m.Start(t, capability.EnforceFS, capability.Set{})
	if _, err := cage.Connect(t.Context(), uint16(host.Addr().(*net.TCPAddr).Port)); !errors.Is(err, syscall.EOPNOTSUPP) {
		t.Errorf("a port of the host: %v, want not supported", err)
	}
}

// TestConnectToOneThatDoesNotAccept: a server whose queue is full is waited for only so long, and keeps nothing else waiting.
func TestConnectToOneThatDoesNotAccept(t *testing.T) {
	m := cagetest.New(t)
	cage := m.Start(t, capability.Enforce, capability.Set{})
	until(t, terminal(t, m, cage, "python3", "-c", `import socket, time
s = socket.socket()
s.bind(("127.0.0.1", 8080))
s.listen(0)
print("listening", flush=True)
time.sleep(1000)`), "listening")
	full := make(chan error, 4)
	for range 4 {
		go func() {
			conn, err := cage.Connect(t.Context(), 8080)
			if err == nil {
				defer conn.Close()
				<-t.Context().Done() // it stays in the queue
			}
			full <- err
		}()
	}
	if got := m.Run(t, cage, "echo", "meanwhile"); got.Output != "meanwhile\n" {
		t.Errorf("something else meanwhile: %+v", got)
	}
	if err := <-full; !errors.Is(err, syscall.ETIMEDOUT) {
		t.Errorf("a full queue: %v, want timed out", err)
	}
}

// TestConnectionsAreToldOf: what the cage connects to is told with its address, whether or not anything is there.
func TestConnectionsAreToldOf(t *testing.T) {
	m := cagetest.New(t)
	cage := m.Start(t, capability.Enforce, capability.Set{})
	told := make(chan watch.Notice, 64)
	cage.Connections(func(n watch.Notice) {
		select {
		case told <- n:
		default:
		}
	})
	got := m.Run(t, cage, "bash", "-c", "exec 3<>/dev/tcp/198.51.100.7/443")
	if got.Code == 0 || !strings.Contains(got.Output, "unreachable") {
		t.Errorf("an address: %+v", got)
	}
	if n := <-told; n.Addr.String() != "198.51.100.7:443" || n.Call != "connect" {
		t.Errorf("told %+v", n)
	}
	m.Run(t, cage, "python3", "-c", `import socket
try: socket.socket(socket.AF_UNIX).connect("/var/run/docker.sock")
except OSError: pass`)
	if n := <-told; n.Path != "/var/run/docker.sock" || !watch.Missing(os.Getpid(), "/nothing/is/here") || watch.Missing(os.Getpid(), "/usr") {
		t.Errorf("told %+v", n)
	}
}
