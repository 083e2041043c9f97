package mcpserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestTheAddressOutlivesTheServing(t *testing.T) {
	f := newFixture(t, Limits{})
	first := f.address
	for range 3 {
		f.stop()
		if _, serves := f.endpoint.Address(); serves {
			t.Fatal("stopped, and still says that it serves")
		}
		if conn, err := net.Dial("tcp", first.String()); err == nil {
			_ = conn.Close()
			t.Fatal("stopped, and still accepts connections")
		}
		f.start(int(first.Port()))
		if f.address != first {
			t.Fatalf("serves on %s, want %s again", f.address, first)
		}
		if got, serves := f.endpoint.Address(); !serves || got != first {
			t.Fatalf("says that it serves on %v %s", serves, got)
		}
		if response, body := f.raw(f.echo(fullToken).String()); response.StatusCode != 200 {
			t.Fatalf("got %d %s after a restart", response.StatusCode, body)
		}
	}
}

func TestATakenPortIsRefusedAndNoOtherIsTried(t *testing.T) {
	f := newFixture(t, Limits{})
	f.stop()
	port := int(f.address.Port())
	other, err := net.Listen("tcp", f.address.String())
	if err != nil {
		t.Fatal(err)
	}
	if address, err := f.endpoint.Start(t.Context(), port); !errors.Is(err, ErrPortTaken) {
		t.Errorf("got %v, %v; want ErrPortTaken", address, err)
	}
	if address, serves := f.endpoint.Address(); serves {
		t.Errorf("serves on %s instead", address)
	}
	// The twin: nothing but the other listener stood in the way.
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	f.start(port)
}

func TestStartRefusesWhatIsNoPort(t *testing.T) {
	f := newFixture(t, Limits{})
	f.stop()
	for _, port := range []int{-1, 65536} {
		if _, err := f.endpoint.Start(t.Context(), port); err == nil || errors.Is(err, ErrPortTaken) {
			t.Errorf("port %d: got %v", port, err)
		}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.endpoint.Start(over, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("start with an ended context: got %v", err)
	}
}

func TestStartTwiceIsAMistakeAndStopTwiceIsNot(t *testing.T) {
	f := newFixture(t, Limits{})
	if _, err := f.endpoint.Start(t.Context(), 0); !errors.Is(err, ErrServing) {
		t.Errorf("second start: got %v", err)
	}
	f.stop()
	f.stop()
	f.start(0)
}

func TestOnlyLoopbackIsBound(t *testing.T) {
	f := newFixture(t, Limits{})
	if !f.address.Addr().IsLoopback() || !f.address.Addr().Is4() {
		t.Errorf("bound %s", f.address)
	}
	if want := "http://" + f.address.String() + "/mcp"; URL(f.address) != want {
		t.Errorf("URL is %s, want %s", URL(f.address), want)
	}
}

func TestStopEndsWaitsAndAnswersThem(t *testing.T) {
	f := newFixture(t, Limits{})
	idle, silent := f.dial(), f.dial()
	if _, err := io.WriteString(idle, f.echo(fullToken).String()); err != nil {
		t.Fatal(err)
	}
	f.answer(bufio.NewReader(idle))
	conn := f.dial()
	if _, err := io.WriteString(conn, f.call(fullToken, "thing_wait", `{"task":"a"}`).String()); err != nil {
		t.Fatal(err)
	}
	f.whenBegun()
	began := time.Now()
	f.stop()
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("stopping took %s", took)
	}
	if err := f.whenEnded(); !errors.Is(err, context.Canceled) {
		t.Errorf("the wait saw %v, want the end of its context", err)
	}
	response, body := f.answer(bufio.NewReader(conn))
	if response.StatusCode != 200 || !strings.Contains(body, `"code":"cancelled"`) || !response.Close {
		t.Errorf("the wait was answered %d %s", response.StatusCode, body)
	}
	for name, conn := range map[string]net.Conn{"a connection between requests": idle, "a connection without one": silent} {
		if _, err := conn.Read(make([]byte, 1)); err == nil || isTimeout(err) {
			t.Errorf("%s is still open: %v", name, err)
		}
	}
}

func TestStopLetsABegunWriteFinish(t *testing.T) {
	f := newFixture(t, Limits{})
	conn := f.dial()
	if _, err := io.WriteString(conn, f.call(fullToken, "thing_write", `{"task":"a"}`).String()); err != nil {
		t.Fatal(err)
	}
	f.whenBegun()
	stopped := make(chan error, 1)
	go func() { stopped <- f.endpoint.Stop(t.Context()) }()
	select {
	case err := <-stopped:
		t.Fatalf("stopped (%v) while a write was under way", err)
	case <-closedListener(f):
	}
	close(f.proceed)
	if err := f.whenEnded(); err != nil {
		t.Errorf("the write's context ended: %v", err)
	}
	if response, body := f.answer(bufio.NewReader(conn)); response.StatusCode != 200 || !strings.Contains(body, `"done":true`) {
		t.Errorf("got %d %s", response.StatusCode, body)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// closedListener returns a channel that is closed when the endpoint takes no connections any more.
func closedListener(f *fixture) <-chan struct{} {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for {
			conn, err := net.Dial("tcp", f.address.String())
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	}()
	return gone
}

func TestStopGivesUpWhenItsContextEnds(t *testing.T) {
	f := newFixture(t, Limits{})
	conn := f.dial()
	if _, err := io.WriteString(conn, f.call(fullToken, "thing_write", `{"task":"a"}`).String()); err != nil {
		t.Fatal(err)
	}
	f.whenBegun()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.endpoint.Stop(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil || isTimeout(err) {
		t.Errorf("the connection is still open: %v", err)
	}
	close(f.proceed)
	if err := f.whenEnded(); err != nil {
		t.Errorf("the begun write saw %v", err)
	}
}

// brokenListener fails on demand.
type brokenListener struct {
	net.Listener
	fail chan struct{}
}

func (l brokenListener) Accept() (net.Conn, error) {
	<-l.fail
	return nil, errors.New("the network went away")
}

func TestABrokenListenerIsReportedOnceAndTheEndpointCanServeAgain(t *testing.T) {
	f := newFixture(t, Limits{})
	f.stop()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 2)
	f.endpoint.Ended = func(err error) { ended <- err }
	broken := brokenListener{inner, make(chan struct{})}
	f.endpoint.mu.Lock()
	f.endpoint.serving = f.endpoint.serve(broken, f.address)
	f.endpoint.mu.Unlock()
	close(broken.fail)
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "went away") {
		t.Errorf("reported %v", err)
	}
	if _, serves := f.endpoint.Address(); serves {
		t.Error("says that it serves still")
	}
	f.start(0)
	f.stop()
	select {
	case err := <-ended:
		t.Errorf("an orderly stop was reported as an end: %v", err)
	default:
	}
}

func TestClosingTheResponseEndsAWait(t *testing.T) {
	f := newFixture(t, Limits{})
	conn := f.dial()
	if _, err := io.WriteString(conn, f.call(scopedToken, "thing_wait", `{"task":"a"}`).String()); err != nil {
		t.Fatal(err)
	}
	f.whenBegun()
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.whenEnded(); !errors.Is(err, context.Canceled) {
		t.Errorf("the wait saw %v, want the end of its context", err)
	}
}

func TestClosingTheResponseDoesNotEndABegunWrite(t *testing.T) {
	f := newFixture(t, Limits{})
	conn := f.dial()
	if _, err := io.WriteString(conn, f.call(fullToken, "thing_write", `{"task":"a"}`).String()); err != nil {
		t.Fatal(err)
	}
	f.whenBegun()
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	close(f.proceed)
	if err := f.whenEnded(); err != nil {
		t.Errorf("the write's context ended: %v", err)
	}
}

func TestRequestsFollowEachOtherOnOneConnection(t *testing.T) {
	f := newFixture(t, Limits{})
	conn := f.dial()
	reader := bufio.NewReader(conn)
	bad := f.echo(fullToken)
	bad.body = "{"
	for i, row := range []struct {
		message message
		want    int
	}{{f.echo(fullToken), 200}, {bad, 400}, {f.echo(scopedToken), 200}, {f.echo(fullToken).set("Mcp-Name: x"), 400}, {f.echo(fullToken), 200}} {
		if _, err := io.WriteString(conn, row.message.String()); err != nil {
			t.Fatal(err)
		}
		if response, body := f.answer(reader); response.StatusCode != row.want || response.Close {
			t.Fatalf("request %d: got %d (close %v) %s, want %d", i, response.StatusCode, response.Close, body, row.want)
		}
	}
}

func TestPipelinedRequestsAreAnsweredInOrder(t *testing.T) {
	f := newFixture(t, Limits{})
	conn := f.dial()
	one, two := f.echo(fullToken), f.call(fullToken, "thing_echo", `{"text":"second"}`)
	if _, err := io.WriteString(conn, one.String()+two.String()); err != nil {
		t.Fatal(err)
	}
	reader := bufio.NewReader(conn)
	for _, want := range []string{"hello", "second"} {
		if response, body := f.answer(reader); response.StatusCode != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("got %d %s, want %s", response.StatusCode, body, want)
		}
	}
}

// What comes after a request whose end could be seen elsewhere is not read as another one: that is how requests are smuggled
// past somebody in between.
func TestNothingIsServedAfterARequestWithoutAClearEnd(t *testing.T) {
	f := newFixture(t, Limits{})
	second := f.call(fullToken, "thing_echo", `{"text":"second"}`).with("Connection: close") // whose answer ends it too
	whole := f.echo(fullToken).String()
	head, body, _ := strings.Cut(whole, "\r\n\r\n")
	framed := strings.Split(head, "Content-Length")[0] + "Transfer-Encoding: chunked\r\n"
	chunks := fmt.Sprintf("\r\n%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	old := strings.Replace(whole, "HTTP/1.1\r\n", "HTTP/1.0\r\nConnection: keep-alive\r\n", 1)
	for name, row := range map[string]struct {
		first   string
		answers int
	}{
		"a length":                 {whole, 2},
		"chunks":                   {framed + chunks, 1},
		"chunks beside a length":   {framed + "Content-Length: 4\r\n" + chunks, 1},
		"HTTP/1.0 that is kept":    {old, 1},
		"HTTP/1.0 without framing": {strings.Replace(old, "Content-Length", "X-Length", 1), 1},
	} {
		t.Run(name, func(t *testing.T) {
			f.t = t
			conn := f.dial()
			if _, err := io.WriteString(conn, row.first+second.String()); err != nil {
				t.Fatal(err)
			}
			said, err := io.ReadAll(conn)
			if isTimeout(err) {
				t.Fatalf("the connection stays: %q", said)
			}
			if got := strings.Count(string(said), "HTTP/1."); got != row.answers || strings.Contains(string(said), "second") != (row.answers == 2) {
				t.Errorf("got %d answers, want %d: %q", got, row.answers, said)
			}
		})
	}
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}
