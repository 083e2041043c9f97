package mcpserver

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"termic/registry"
	"termic/registry/ident"
)

// padded returns the message with spaces behind its body.
func (m message) padded(size int) message {
	m.body += strings.Repeat(" ", size-len(m.body))
	return m
}

func TestTheLongestPromptPassesInTheWidestEscaping(t *testing.T) {
	f := newFixture(t, Limits{})
	// 1 MiB of UTF-8 in characters of two bytes, all escaped: six bytes each.
	long := f.call(fullToken, "thing_echo", `{"text":"`+strings.Repeat(`\u00e9`, 1<<19)+`"}`)
	response, body := f.raw(long.String())
	if response.StatusCode != 200 || !strings.Contains(body, `"isError":false`) || strings.Count(body, "é") != 2<<19 {
		t.Errorf("got %d, %d bytes", response.StatusCode, len(body))
	}
}

func TestBodySize(t *testing.T) {
	f := newFixture(t, Limits{})
	chunked := func(m message) string {
		return strings.Join(append([]string{m.line}, m.headers...), "\r\n") +
			"\r\nTransfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(m.body), m.body)
	}
	for _, row := range []struct {
		says    string
		request string
		want    int
		ends    bool
	}{
		{"the largest body", f.echo(fullToken).padded(maxBody).String(), 200, false},
		{"the largest body in chunks", chunked(f.echo(fullToken).padded(maxBody)), 200, true},
		{"one byte more in chunks", chunked(f.echo(fullToken).padded(maxBody + 1)), 413, true},
	} {
		t.Run(row.says, func(t *testing.T) {
			f.t = t
			if response, body := f.raw(row.request); response.StatusCode != row.want || response.Close != row.ends {
				t.Errorf("got %d (close %v) %.200s, want %d", response.StatusCode, response.Close, body, row.want)
			}
		})
	}
	t.Run("one byte more is refused by its length, unread", func(t *testing.T) {
		f.t = t
		if response, body := f.raw(f.echo(fullToken).padded(maxBody + 1).head()); response.StatusCode != 413 {
			t.Errorf("got %d %s", response.StatusCode, body)
		}
	})
}

func TestHeaderSize(t *testing.T) {
	f := newFixture(t, Limits{})
	m := f.echo(fullToken)
	// net/http reads in blocks, so the bound is not sharp to the byte.
	const margin = 512
	room := maxHeader - len(m.head()) - len("X: \r\n")
	for _, row := range []struct {
		says string
		size int
		want int
	}{{"headers of nearly 16 KiB", room - margin, 200}, {"headers of more than 16 KiB", room + margin, 431}} {
		t.Run(row.says, func(t *testing.T) {
			f.t = t
			if response, body := f.raw(m.with("X: " + strings.Repeat("x", row.size)).String()); response.StatusCode != row.want {
				t.Errorf("got %d %s, want %d", response.StatusCode, body, row.want)
			}
		})
	}
}

func TestOneTokenCannotRunMoreCallsThanItsShare(t *testing.T) {
	f := newFixture(t, Limits{Calls: 2})
	defer close(f.proceed)
	wait := f.call(fullToken, "thing_wait", `{"task":"a"}`)
	for range 2 {
		if _, err := io.WriteString(f.dial(), wait.String()); err != nil {
			t.Fatal(err)
		}
		f.whenBegun()
	}
	response, _ := f.raw(f.echo(fullToken).String())
	if response.StatusCode != 429 || response.Header.Get("Retry-After") != "1" {
		t.Errorf("third call of the token: got %d, Retry-After %q", response.StatusCode, response.Header.Get("Retry-After"))
	}
	if response, body := f.raw(f.echo(scopedToken).String()); response.StatusCode != 200 {
		t.Errorf("another token: got %d %s", response.StatusCode, body)
	}
	f.letOne()
	_ = f.whenEnded()
	// The slot is free once the answer is out, which is after the handler ended.
	f.eventually(func() bool {
		response, _ := f.raw(f.echo(fullToken).String())
		return response.StatusCode == 200
	})
}

func TestAllTokensTogetherCannotRunMoreThanThereIsRoomFor(t *testing.T) {
	f := newFixture(t, Limits{Requests: 2})
	for _, token := range []string{fullToken, scopedToken} {
		if _, err := io.WriteString(f.dial(), f.call(token, "thing_wait", `{"task":"a"}`).String()); err != nil {
			t.Fatal(err)
		}
		f.whenBegun()
	}
	if response, _ := f.raw(f.echo(fullToken).String()); response.StatusCode != 429 {
		t.Errorf("a third request: got %d", response.StatusCode)
	}
	close(f.proceed)
	f.eventually(func() bool {
		response, _ := f.raw(f.echo(fullToken).String())
		return response.StatusCode == 200
	})
}

// eventually repeats a question that the network answers, until it is answered with yes.
func (f *fixture) eventually(ask func() bool) {
	f.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		if ask() {
			return
		}
	}
	f.t.Fatal("never")
}

func TestOneTokenCannotAskMoreOftenThanItsShare(t *testing.T) {
	f := newFixture(t, Limits{Rate: 0.001, Burst: 3})
	for range 3 {
		if response, body := f.raw(f.echo(fullToken).String()); response.StatusCode != 200 {
			t.Fatalf("within the burst: got %d %s", response.StatusCode, body)
		}
	}
	if response, _ := f.raw(f.echo(fullToken).String()); response.StatusCode != 429 {
		t.Errorf("after the burst: got %d", response.StatusCode)
	}
	notification := f.echo(fullToken)
	notification.body = `{"jsonrpc":"2.0","method":"x"}`
	if response, _ := f.raw(notification.String()); response.StatusCode != 429 {
		t.Errorf("a notification after the burst: got %d", response.StatusCode)
	}
	if response, body := f.raw(f.echo(scopedToken).String()); response.StatusCode != 200 {
		t.Errorf("another token: got %d %s", response.StatusCode, body)
	}
}

func TestIdleRatesAreForgotten(t *testing.T) {
	var rs rates
	limits := Limits{Rate: 1e9}.orDefault()
	busy, ok := rs.take(registry.Caller{Name: "busy"}, limits)
	if !ok {
		t.Fatal("refused the first request")
	}
	defer busy()
	for i := range 3 * maxBuckets {
		release, ok := rs.take(registry.Caller{Grant: ident.Grant(fmt.Sprint(i))}, limits)
		if !ok {
			t.Fatalf("token %d was refused its first request", i)
		}
		release()
	}
	if len(rs.buckets) > maxBuckets+1 {
		t.Errorf("%d rates are remembered", len(rs.buckets))
	}
	if rs.buckets[bucketKey{name: "busy"}] == nil {
		t.Error("a token with a request under way was forgotten")
	}
}

func TestANewConnectionTakesThePlaceOfTheLeastWanted(t *testing.T) {
	f := newFixture(t, Limits{Connections: 4, FailDelay: time.Minute})
	defer close(f.proceed)
	send := func(m message) net.Conn {
		conn := f.dial()
		if _, err := io.WriteString(conn, m.String()); err != nil {
			t.Fatal(err)
		}
		return conn
	}
	waiting := send(f.call(fullToken, "thing_wait", `{"task":"a"}`))
	f.whenBegun()
	used := send(f.echo(fullToken))
	f.answer(bufio.NewReader(used))
	silent := f.dial()
	f.connections(3)
	failing := send(f.echo("wrong"))
	f.eventually(func() bool { return f.endpoint.Server.Failures() == 1 })
	for _, loser := range []struct {
		says string
		conn net.Conn
	}{
		{"the one that failed to authenticate", failing},
		{"the one that never authenticated", silent},
		// What came in their places is silent too and goes before what was of use once.
	} {
		f.dial()
		if _, err := loser.conn.Read(make([]byte, 1)); err == nil || isTimeout(err) {
			t.Errorf("%s was not closed: %v", loser.says, err)
		}
	}
	if _, err := io.WriteString(used, f.echo(fullToken).String()); err != nil {
		t.Fatal(err)
	}
	if response, body := f.answer(bufio.NewReader(used)); response.StatusCode != 200 {
		t.Errorf("a connection that was of use: got %d %s", response.StatusCode, body)
	}
	f.letOne()
	if response, body := f.answer(bufio.NewReader(waiting)); response.StatusCode != 200 {
		t.Errorf("a connection with a call under way: got %d %s", response.StatusCode, body)
	}
}

func TestANewConnectionHasAsLongAsTheOthersNeedToFillTheRoom(t *testing.T) {
	for _, row := range []struct {
		says   string
		others int
		served bool
	}{{"as many newcomers as there is room for", 7, true}, {"one more", 8, false}} {
		t.Run(row.says, func(t *testing.T) {
			f := newFixture(t, Limits{Connections: 8})
			slow := f.dial()
			f.connections(1)
			for n := range row.others {
				f.dial()
				f.connections(min(n+2, 8))
			}
			if row.served {
				if _, err := io.WriteString(slow, f.echo(fullToken).String()); err != nil {
					t.Fatal(err)
				}
			}
			_, err := http.ReadResponse(bufio.NewReader(slow), nil)
			if isTimeout(err) || (err == nil) != row.served {
				t.Errorf("the first connection got %v", err)
			}
		})
	}
}

// connections waits until the endpoint has accepted n connections.
func (f *fixture) connections(n int) {
	f.t.Helper()
	conns := f.endpoint.serving.conns
	f.eventually(func() bool {
		conns.mu.Lock()
		defer conns.mu.Unlock()
		return len(conns.open) == n
	})
}

func TestWhenEveryConnectionIsBusyANewOneIsClosed(t *testing.T) {
	f := newFixture(t, Limits{Connections: 2})
	wait := f.call(fullToken, "thing_wait", `{"task":"a"}`)
	for range 2 {
		if _, err := io.WriteString(f.dial(), wait.String()); err != nil {
			t.Fatal(err)
		}
		f.whenBegun()
	}
	if _, err := f.dial().Read(make([]byte, 1)); err == nil || isTimeout(err) {
		t.Errorf("a third connection is open: %v", err)
	}
	close(f.proceed)
	_ = f.whenEnded()
	_ = f.whenEnded()
	f.eventually(func() bool {
		conn := f.dial()
		if _, err := io.WriteString(conn, f.echo(fullToken).String()); err != nil {
			return false
		}
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		return err == nil && response.StatusCode == 200
	})
}

// TestEachListenerHasItsOwnRoom: what fills the listener of one cage takes no connection of another's or of the host's.
func TestEachListenerHasItsOwnRoom(t *testing.T) {
	f := newFixture(t, Limits{Connections: 1})
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cage := &Endpoint{Server: f.endpoint.Server}
	if err := cage.StartOn(listener); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cage.Stop(t.Context()) }()
	host := f.address
	f.address = listener.Addr().(*net.TCPAddr).AddrPort()
	if _, err := io.WriteString(f.dial(), f.call(fullToken, "thing_wait", `{"task":"a"}`).String()); err != nil {
		t.Fatal(err)
	}
	f.whenBegun()
	if _, err := f.dial().Read(make([]byte, 1)); err == nil || isTimeout(err) {
		t.Errorf("the cage's listener has room for more: %v", err)
	}
	f.address = host
	if response, body := f.raw(f.echo(fullToken).String()); response.StatusCode != 200 {
		t.Errorf("the other listener answers %d %s", response.StatusCode, body)
	}
	close(f.proceed)
	_ = f.whenEnded()
}

func TestARefusedRequestIsNotReadForLong(t *testing.T) {
	f := newFixture(t, Limits{})
	m := f.echo("wrong")
	m.body = strings.Repeat(" ", 1000)
	conn := f.dial()
	if _, err := io.WriteString(conn, m.head()); err != nil {
		t.Fatal(err)
	}
	reader := bufio.NewReader(conn)
	if response, _ := f.answer(reader); response.StatusCode != 401 {
		t.Errorf("got %d before the body came", response.StatusCode)
	}
	began := time.Now()
	if _, err := reader.ReadByte(); err != io.EOF {
		t.Errorf("the connection ended with %v", err)
	}
	if took := time.Since(began); took > 4*lingerTimeout {
		t.Errorf("the connection stayed open for %s", took)
	}
}

func TestDefaultsAreNeverUnlimited(t *testing.T) {
	got := Limits{}.orDefault()
	if got.Connections != 512 || got.Requests != 64 || got.Calls != 32 || got.Calls >= got.Requests || got.Requests >= got.Connections || got.Rate != 1000 || got.Burst != 2000 ||
		got.FailDelay != 500*time.Millisecond || got.FailHeld != 16 {
		t.Errorf("got %+v", got)
	}
	if negative := (Limits{-1, -1, -1, -1, -1, -1, -1}).orDefault(); negative != got {
		t.Errorf("negative limits became %+v", negative)
	}
	own := Limits{1, 2, 3, 4, 5, 6, 7}
	if own.orDefault() != own {
		t.Errorf("limits that are set were changed: %+v", own.orDefault())
	}
}
