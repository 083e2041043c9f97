package mcpserver

import (
	"bufio"
	"io"
	"net"
	"path/filepath"
	"testing"
)

// listenOnSocket returns a listener on a socket of the test.
func listenOnSocket(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

func TestASocketIsServedWhereTheServerIsForOne(t *testing.T) {
	f := newFixture(t, Limits{})
	f.stop()
	f.endpoint.Server.Socket = true
	listener := listenOnSocket(t)
	if err := f.endpoint.StartOn(listener); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		says    string
		message message
		want    int
	}{
		{"a call", f.echo(fullToken), 200},
		{"whatever the host is called", f.echo(fullToken).set("Host: termic"), 200},
		{"a wrong token", f.echo("wrong"), 401},
		{"a page", f.echo(fullToken).with("Origin: null"), 403},
	} {
		conn, err := net.Dial("unix", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, row.message.String()); err != nil {
			t.Fatal(err)
		}
		if response, body := f.answer(bufio.NewReader(conn)); response.StatusCode != row.want {
			t.Errorf("%s: got %d %s", row.says, response.StatusCode, body)
		}
		_ = conn.Close()
	}
}

func TestASocketIsNotServedByAServerForPorts(t *testing.T) {
	f := newFixture(t, Limits{})
	f.stop()
	listener := listenOnSocket(t)
	if err := f.endpoint.StartOn(listener); err == nil {
		t.Error("served")
	}
	if _, err := listener.Accept(); err == nil {
		t.Error("the listener was not taken")
	}
}

func TestOnlyLoopbackIsServedOnAListenerOfAnother(t *testing.T) {
	f := newFixture(t, Limits{})
	f.stop()
	for _, row := range []struct {
		address string
		ours    bool
	}{{"0.0.0.0:0", false}, {"127.0.0.1:0", true}} {
		listener, err := net.Listen("tcp4", row.address)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.endpoint.StartOn(listener); (err == nil) != row.ours {
			t.Errorf("%s: %v", row.address, err)
		}
	}
}
