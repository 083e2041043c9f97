package mcpserver

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"termic/registry"
	"termic/registry/ident"
)

// listen returns a request for changes of the list of tools.
func (f *fixture) listen(token string) message {
	m := f.echo(token).without("Mcp-Name").set("Mcp-Method: subscriptions/listen")
	m.body = `{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + goodMeta + `}}`
	return m
}

// subscribe opens a subscription and returns a reader of its lines, the acknowledgement read.
func (f *fixture) subscribe(conn net.Conn, m message) *bufio.Reader {
	f.t.Helper()
	if _, err := io.WriteString(conn, m.String()); err != nil {
		f.t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || response.StatusCode != http.StatusOK {
		f.t.Fatalf("subscribe: %v, %v", response, err)
	}
	lines := bufio.NewReader(response.Body)
	f.next(lines, "notifications/subscriptions/acknowledged")
	return lines
}

// next reads one event and fails when it does not hold want.
func (f *fixture) next(lines *bufio.Reader, want string) {
	f.t.Helper()
	text, err := lines.ReadString('\n')
	if err == nil {
		_, err = lines.ReadString('\n')
	}
	if err != nil || !strings.Contains(text, want) {
		f.t.Fatalf("got %q, %v; want %s", text, err, want)
	}
}

const ended = `"resultType":"complete"`

func (f *fixture) caller(token string) registry.Caller {
	f.auth.mu.Lock()
	defer f.auth.mu.Unlock()
	return f.auth.live[token]
}

func TestASubscriptionTellsWhenTheToolsOfItsTokenChange(t *testing.T) {
	f := newFixture(t, Limits{})
	lines := f.subscribe(f.dial(), f.listen(fullToken))
	server := f.endpoint.Server
	server.ToolsChanged() // nothing changed, so nothing is told
	caller := f.caller(fullToken)
	caller.Ceiling = registry.Read
	f.auth.set(fullToken, caller)
	server.ToolsChanged()
	f.next(lines, `"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":7}}`)
	caller.Ceiling = registry.Destructive
	f.auth.set(fullToken, caller)
	server.ToolsChanged()
	f.next(lines, "notifications/tools/list_changed")
	f.stop()
	f.next(lines, ended)
	if _, err := lines.ReadByte(); err != io.EOF {
		t.Errorf("after the result came %v", err)
	}
}

func TestWhoDidNotAskIsNotTold(t *testing.T) {
	f := newFixture(t, Limits{})
	m := f.listen(fullToken)
	m.body = strings.Replace(m.body, `{"toolsListChanged":true}`, `{"promptsListChanged":true}`, 1)
	lines := f.subscribe(f.dial(), m)
	caller := f.caller(fullToken)
	caller.Ceiling = registry.Read
	f.auth.set(fullToken, caller)
	f.endpoint.Server.ToolsChanged()
	f.stop()
	f.next(lines, ended)
}

func TestASubscriptionEndsWithItsToken(t *testing.T) {
	f := newFixture(t, Limits{})
	ends := make(chan struct{})
	f.endpoint.Server.Ended = func(registry.Caller) <-chan struct{} { return ends }
	lines := f.subscribe(f.dial(), f.listen(fullToken))
	f.auth.mu.Lock()
	delete(f.auth.live, fullToken)
	f.auth.mu.Unlock()
	close(ends)
	f.next(lines, ended)

	f.endpoint.Server.Ended = nil
	for says, change := range map[string]func(){
		"the token is unknown": func() { f.auth.mu.Lock(); delete(f.auth.live, scopedToken); f.auth.mu.Unlock() },
		"the token stands for another grant": func() {
			caller := f.caller(scopedToken)
			caller.Grant = "g-other"
			f.auth.set(scopedToken, caller)
		},
	} {
		f.auth.set(scopedToken, registry.Caller{Way: registry.MCP, Scope: registry.Scoped, Ceiling: registry.Write, Grant: ident.Grant("g-scoped")})
		lines := f.subscribe(f.dial(), f.listen(scopedToken))
		change()
		f.endpoint.Server.ToolsChanged()
		t.Log(says)
		f.next(lines, ended)
	}
}

func TestASubscriptionOutlivesANarrowingAndTellsOfIt(t *testing.T) {
	f := newFixture(t, Limits{})
	shrinks := make(chan (<-chan struct{}), 2)
	first, second := make(chan struct{}), make(chan struct{})
	shrinks <- first
	shrinks <- second
	f.endpoint.Server.Ended = func(registry.Caller) <-chan struct{} { return <-shrinks }
	lines := f.subscribe(f.dial(), f.listen(fullToken))
	caller := f.caller(fullToken)
	caller.Ceiling = registry.Write
	f.auth.set(fullToken, caller)
	close(first)
	f.next(lines, "notifications/tools/list_changed")
	caller.Ceiling = registry.Destructive
	f.auth.set(fullToken, caller)
	f.endpoint.Server.ToolsChanged()
	f.next(lines, "notifications/tools/list_changed")
	f.auth.mu.Lock()
	delete(f.auth.live, fullToken)
	f.auth.mu.Unlock()
	shrinks <- second // asked once more before it looks
	close(second)
	f.next(lines, ended)
}

func TestASilentSubscriptionIsKeptAliveAndLooksByItself(t *testing.T) {
	overPipes(t, Limits{}, func(t *testing.T, f *fixture, connect func() net.Conn) {
		conn := connect()
		lines := f.subscribe(conn, f.listen(fullToken))
		for range 30 { // longer than a call may take
			began := time.Now()
			f.next(lines, ":\n")
			if time.Since(began) != keepAlive {
				t.Fatalf("kept alive after %s", time.Since(began))
			}
		}
		synctest.Wait() // it has looked
		f.auth.mu.Lock()
		delete(f.auth.live, fullToken)
		f.auth.mu.Unlock()
		f.next(lines, ":\n")
		f.next(lines, ended)
		_ = conn.Close()
	})
}

func TestSubscriptionsAreBoundedAndTakeNoCallsPlace(t *testing.T) {
	f := newFixture(t, Limits{Requests: 2, Calls: 1})
	var conns []net.Conn
	for range listensPerToken {
		conn := f.dial()
		f.subscribe(conn, f.listen(fullToken))
		conns = append(conns, conn)
	}
	response, _ := f.raw(f.listen(fullToken).String())
	if response.StatusCode != http.StatusTooManyRequests || response.Header.Get("Retry-After") == "" {
		t.Errorf("one more than the limit: %d %v", response.StatusCode, response.Header)
	}
	if response, body := f.raw(f.echo(fullToken).String()); response.StatusCode != 200 {
		t.Errorf("a call beside open subscriptions: %d %s", response.StatusCode, body)
	}
	f.subscribe(f.dial(), f.listen(scopedToken)) // another token has its own
	_ = conns[0].Close()
	f.eventually(func() bool {
		f.endpoint.Server.listeners.mu.Lock()
		defer f.endpoint.Server.listeners.mu.Unlock()
		return len(f.endpoint.Server.listeners.open) == listensPerToken
	})
	f.subscribe(f.dial(), f.listen(fullToken))
}

func TestSubscriptionsOfAllTokensAreBounded(t *testing.T) {
	var all listeners
	for i := range listensInAll {
		if all.add(registry.Caller{Grant: ident.NewGrant()}) == nil {
			t.Fatalf("number %d was refused", i)
		}
	}
	if all.add(registry.Caller{Grant: ident.NewGrant()}) != nil {
		t.Error("one more than the limit")
	}
	for l := range all.open {
		all.remove(l)
		break
	}
	if all.add(registry.Caller{Grant: ident.NewGrant()}) == nil {
		t.Error("a place that was given back is not given out")
	}
}
