package mcpserver

import (
	"context"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"termic/registry"
	"termic/registry/ident"
)

func TestAuthIsAskedExactlyOnceWhateverTheCredential(t *testing.T) {
	f := newFixture(t, Limits{})
	good := f.echo(fullToken)
	for _, row := range []struct {
		says    string
		message message
		asked   string
	}{
		{"a live token", good, fullToken},
		{"an unknown one", f.echo("wrong"), "wrong"},
		{"none", good.without("Authorization"), ""},
		{"two", good.with("Authorization: Bearer " + fullToken), ""},
		{"one in each header", good.with("X-Termic-Token: " + fullToken), ""},
		{"another scheme", good.set("Authorization: Basic " + fullToken), ""},
		{"an empty one", good.set("Authorization: Bearer "), ""},
		{"an empty one of our own header", good.without("Authorization").with("X-Termic-Token:"), ""},
	} {
		before := f.auth.count()
		f.raw(row.message.String())
		f.auth.mu.Lock()
		asked := f.auth.asked[before:]
		f.auth.mu.Unlock()
		if len(asked) != 1 || asked[0] != row.asked {
			t.Errorf("%s: asked for %q, want %q once", row.says, asked, row.asked)
		}
	}
}

func TestACallerThatIsNotOneOfThisDoorIsNobody(t *testing.T) {
	f := newFixture(t, Limits{})
	for _, row := range []struct {
		says   string
		caller registry.Caller
		want   int
	}{
		{"a caller of the endpoint", registry.Caller{Way: registry.MCP, Scope: registry.Scoped, Ceiling: registry.Read, Grant: "g-a"}, 200},
		{"the person's own credential for the socket", registry.Person(registry.CLI), 401},
		{"the window", registry.Person(registry.Window), 401},
		{"a grant that reaches nothing", registry.Caller{Way: registry.MCP, Ceiling: registry.Read, Grant: "g-a"}, 401},
		{"the zero caller", registry.Caller{}, 401},
	} {
		f.auth.set("t", row.caller)
		if response, body := f.raw(f.echo("t").String()); response.StatusCode != row.want {
			t.Errorf("%s: got %d %s, want %d", row.says, response.StatusCode, body, row.want)
		}
	}
}

// open accepts the empty token, which no Auth should.
type open struct{}

func (open) Caller(string) (registry.Caller, bool) {
	return registry.Caller{Way: registry.MCP, Scope: registry.Full, Ceiling: registry.Destructive, Grant: ident.Grant("g-x")}, true
}

func TestAMalformedCredentialIsWrongEvenToAnAuthThatTakesEverything(t *testing.T) {
	f := newFixture(t, Limits{})
	f.stop()
	f.endpoint.Server.Auth = open{}
	f.start(0)
	good := f.echo(fullToken)
	for says, m := range map[string]message{
		"none": good.without("Authorization"), "two": good.with("Authorization: Bearer x"), "an empty one": good.set("Authorization: Bearer "),
	} {
		if response, _ := f.raw(m.String()); response.StatusCode != 401 {
			t.Errorf("%s: got %d", says, response.StatusCode)
		}
	}
	if response, _ := f.raw(good.String()); response.StatusCode != 200 {
		t.Errorf("the twin: got %d", response.StatusCode)
	}
}

func TestAServerWithoutItsPartsServesNobody(t *testing.T) {
	f := newFixture(t, Limits{})
	whole := f.endpoint.Server
	for _, row := range []struct {
		says   string
		server *Server
		want   int
	}{
		{"without Auth", &Server{Calls: whole.Calls, Limits: whole.Limits}, 401},
		{"without Calls", &Server{Auth: whole.Auth, Limits: whole.Limits}, 401},
		{"with both", &Server{Calls: whole.Calls, Auth: whole.Auth}, 200},
	} {
		f.stop()
		f.endpoint.Server = row.server
		f.start(0)
		if response, _ := f.raw(f.echo(fullToken).String()); response.StatusCode != row.want {
			t.Errorf("%s: got %d, want %d", row.says, response.StatusCode, row.want)
		}
	}
}

func TestWrongCredentialsAreLoggedByNumberAndNeverByValue(t *testing.T) {
	f := newFixture(t, Limits{})
	for range 20 {
		f.raw(f.echo("secret-looking-token").String())
		f.raw(f.echo(fullToken).with("X-Termic-Token: " + fullToken).String())
	}
	f.raw(f.echo(fullToken).String())
	if got := f.endpoint.Server.Failures(); got != 40 {
		t.Errorf("%d failures counted, want 40", got)
	}
	f.stop()
	log := f.log.String()
	if strings.Count(log, "authentication failed") != 1 {
		t.Errorf("40 failures within ten seconds make one line, got:\n%s", log)
	}
	for _, secret := range []string{"secret-looking", fullToken, "full-token", "hello"} {
		if strings.Contains(log, secret) {
			t.Errorf("the log holds %q:\n%s", secret, log)
		}
	}
}

func TestFailuresAreHeldBackWithinABound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pit tarpit
		limits := Limits{FailDelay: time.Second, FailHeld: 2}
		log := slog.New(slog.DiscardHandler)
		began := time.Now()
		var took [3]time.Duration
		var all sync.WaitGroup
		for i := range took {
			all.Go(func() {
				pit.hold(t.Context(), limits, log)
				took[i] = time.Since(began)
			})
			synctest.Wait()
		}
		all.Wait()
		if took != [3]time.Duration{time.Second, time.Second, 0} {
			t.Errorf("held for %v, want the first two for a second and the third not at all", took)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		began = time.Now()
		pit.hold(gone, limits, log)
		if time.Since(began) != 0 || pit.held != 0 {
			t.Errorf("a client that went away was held for %s, %d are held", time.Since(began), pit.held)
		}
	})
}

func TestTheLogOfFailuresHasARate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pit tarpit
		var out strings.Builder
		log := slog.New(slog.NewTextHandler(&out, nil))
		for range 1000 {
			pit.enter(0, log)
		}
		time.Sleep(logEvery)
		pit.enter(0, log)
		if got := out.String(); strings.Count(got, "\n") != 2 || !strings.Contains(got, "times=1\n") || !strings.Contains(got, "times=1000\n") {
			t.Errorf("got\n%s", got)
		}
	})
}

// TestAFloodOfWrongTokensNeitherDelaysNorExcludesAGoodOne opens connections with wrong tokens as fast as this
// machine can, with far more at once than there is room for, while a good client makes new connections.
func TestAFloodOfWrongTokensNeitherDelaysNorExcludesAGoodOne(t *testing.T) {
	f := newFixture(t, Limits{FailDelay: 20 * time.Second})
	var stop atomic.Bool
	var flood sync.WaitGroup
	bad, idle := f.echo("wrong").String(), "POST /mcp HTTP/1.1\r\n"
	for i := range 16 {
		flood.Go(func() {
			for !stop.Load() {
				f.floodOnce(map[bool]string{true: idle, false: bad}[i%4 == 0])
			}
		})
	}
	defer flood.Wait()
	defer stop.Store(true)
	f.eventually(func() bool { return f.endpoint.Server.Failures() > 100 })
	var slowest time.Duration
	for range 30 {
		began := time.Now()
		if response, body := f.raw(f.echo(fullToken).String()); response.StatusCode != 200 {
			t.Fatalf("the good client got %d %s", response.StatusCode, body)
		}
		slowest = max(slowest, time.Since(began))
	}
	// An answer that is held takes 20 s; what a busy machine costs is far below.
	if slowest >= 10*time.Second {
		t.Errorf("a good call took %s while %d bad ones came", slowest, f.endpoint.Server.Failures())
	}
	t.Logf("slowest good call %s, %d bad ones", slowest, f.endpoint.Server.Failures())
}

// floodOnce sends a request and does not wait for long.
func (f *fixture) floodOnce(request string) {
	conn, err := net.Dial("tcp", f.address.String())
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Millisecond))
	if _, err := io.WriteString(conn, request); err == nil {
		_, _ = conn.Read(make([]byte, 1))
	}
}
