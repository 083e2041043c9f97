package mcpserver

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener whose connections are pipes in memory, so that every timeout can be tried in fake time.
type pipes struct {
	address net.TCPAddr
	fresh   chan net.Conn
	closed  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.fresh:
		return pipeConn{conn, &p.address}, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	select {
	case <-p.closed:
	default:
		close(p.closed)
	}
	return nil
}

func (p *pipes) Addr() net.Addr { return &p.address }

type pipeConn struct {
	net.Conn
	local *net.TCPAddr
}

func (c pipeConn) LocalAddr() net.Addr { return c.local }

// overPipes runs a test in fake time against an endpoint that listens on pipes. connect opens a connection.
func overPipes(t *testing.T, limits Limits, run func(t *testing.T, f *fixture, connect func() net.Conn)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, limits)
		f.stop()
		listener := &pipes{fresh: make(chan net.Conn), closed: make(chan struct{})}
		listener.address = net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(f.address.Port())}
		f.endpoint.mu.Lock()
		f.endpoint.serving = f.endpoint.serve(listener, f.address)
		f.endpoint.mu.Unlock()
		run(t, f, func() net.Conn {
			ours, theirs := net.Pipe()
			listener.fresh <- theirs
			return ours
		})
	})
}

// ends returns after how long the server closes the connection, reading what it says until then.
func ends(conn net.Conn) (after time.Duration, said string) {
	began := time.Now()
	text, _ := io.ReadAll(conn)
	return time.Since(began), string(text)
}

func TestSlowClientsAreCutOff(t *testing.T) {
	for _, row := range []struct {
		says  string
		sends func(f *fixture) string
		after time.Duration
		said  string
	}{
		{"without a byte", func(*fixture) string { return "" }, headerTimeout, ""},
		{"in the middle of the head", func(f *fixture) string { return f.echo(fullToken).head()[:40] }, headerTimeout, ""},
		{"in the middle of the body", func(f *fixture) string { s := f.echo(fullToken).String(); return s[:len(s)-1] }, bodyTimeout + lingerTimeout, "HTTP/1.1 408 "},
		{"in the middle of a body with a wrong token", func(f *fixture) string { s := f.echo("wrong").String(); return s[:len(s)-1] }, time.Millisecond + lingerTimeout, "HTTP/1.1 401 "},
		{"after an answer", func(f *fixture) string { return f.echo(fullToken).String() }, idleTimeout, "HTTP/1.1 200 "},
	} {
		t.Run(row.says, func(t *testing.T) {
			overPipes(t, Limits{FailDelay: time.Millisecond}, func(t *testing.T, f *fixture, connect func() net.Conn) {
				conn := connect()
				if _, err := io.WriteString(conn, row.sends(f)); err != nil {
					t.Fatal(err)
				}
				if after, said := ends(conn); after != row.after || !strings.HasPrefix(said, row.said) {
					t.Errorf("cut off after %s with %q, want %s with %q", after, said, row.after, row.said)
				}
			})
		})
	}
}

func TestASteadyTrickleDoesNotStretchTheTimeForTheHead(t *testing.T) {
	overPipes(t, Limits{}, func(t *testing.T, f *fixture, connect func() net.Conn) {
		conn := connect()
		go func() { _, _ = io.Copy(io.Discard, conn) }()
		began := time.Now()
		for _, c := range []byte(f.echo(fullToken).head()) {
			if _, err := conn.Write([]byte{c}); err != nil {
				break
			}
			time.Sleep(time.Second)
		}
		if took := time.Since(began); took > headerTimeout+time.Second {
			t.Errorf("a byte a second kept the connection for %s", took)
		}
	})
}

func TestAClientThatDoesNotReadIsCutOff(t *testing.T) {
	for _, row := range []struct {
		says  string
		waits time.Duration
		said  string
	}{
		{"it reads just in time", writeTimeout - time.Second, "HTTP/1.1 200 "},
		{"it reads too late", writeTimeout + time.Second, ""},
	} {
		t.Run(row.says, func(t *testing.T) {
			overPipes(t, Limits{}, func(t *testing.T, f *fixture, connect func() net.Conn) {
				conn := connect()
				if _, err := io.WriteString(conn, f.echo(fullToken).String()); err != nil {
					t.Fatal(err)
				}
				time.Sleep(row.waits)
				if _, said := ends(conn); !strings.HasPrefix(said, row.said) || row.said == "" && said != "" {
					t.Errorf("after %s it is answered %q, want %q", row.waits, said, row.said)
				}
			})
		})
	}
}

func TestALongCallIsNotTakenForASlowClient(t *testing.T) {
	overPipes(t, Limits{}, func(t *testing.T, f *fixture, connect func() net.Conn) {
		conn := connect()
		if _, err := io.WriteString(conn, f.call(fullToken, "thing_wait", `{"task":"a"}`).String()); err != nil {
			t.Fatal(err)
		}
		f.whenBegun()
		// Longer than every deadline of a connection.
		time.Sleep(bodyTimeout + writeTimeout + idleTimeout + headerTimeout)
		close(f.proceed)
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || response.StatusCode != 200 {
			t.Fatalf("got %v, %v", response, err)
		}
		if err := f.whenEnded(); err != nil {
			t.Errorf("the wait saw %v", err)
		}
		_ = conn.Close()
	})
}

func TestACallThatNobodyEndsIsEnded(t *testing.T) {
	overPipes(t, Limits{}, func(t *testing.T, f *fixture, connect func() net.Conn) {
		conn := connect()
		if _, err := io.WriteString(conn, f.call(fullToken, "thing_wait", `{"task":"a"}`).String()); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := <-f.ended; !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != callTimeout {
			t.Errorf("the wait saw %v after %s", err, time.Since(began))
		}
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || response.StatusCode != 200 {
			t.Fatalf("got %v, %v", response, err)
		}
		if text, _ := io.ReadAll(response.Body); !strings.Contains(string(text), `"isError":true`) {
			t.Errorf("got %s", text)
		}
		_ = conn.Close()
	})
}
