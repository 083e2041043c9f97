package mcpserver

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"termic/registry"
	"termic/registry/ident"
	"termic/registry/refusal"
)

// The tokens of the tests. They have the length of real ones, so that sizes mean something.
const (
	fullToken   = "full-token-0000000000000000000000000000000000000000000000000000"
	scopedToken = "scoped-token-00000000000000000000000000000000000000000000000000"
	// The holders of these are asked about destructive calls: their own persons, the one in the app, and none, since the
	// caller runs in a task.
	elicitToken = "elicit-token-00000000000000000000000000000000000000000000000000"
	otherToken  = "other-elicit-token-00000000000000000000000000000000000000000000"
	heldToken   = "held-token-0000000000000000000000000000000000000000000000000000"
	inTaskToken = "in-task-token-0000000000000000000000000000000000000000000000000"
)

var liveTokens = []string{fullToken, scopedToken, elicitToken, otherToken, heldToken, inTaskToken}

type (
	echoIn struct {
		Text string `json:"text" max:"1048576" jsonschema:"what to say"`
		Deep any    `json:"deep,omitempty" jsonschema:"anything"`
	}
	echoOut struct {
		Text string `json:"text" jsonschema:"what was said"`
	}
	targetIn struct {
		Task string `json:"task" jsonschema:"which task"`
	}
	doneOut struct {
		Done bool `json:"done" jsonschema:"whether it was done"`
	}
)

func (in targetIn) Target() registry.Target { return registry.Target{Task: in.Task} }

var (
	echoVerb = registry.Define[echoIn, echoOut](registry.Verb{
		Name: "thing_echo", Summary: "say it back", Doc: "Says it back.",
		Class: registry.Read, Scope: registry.Scoped, Audience: registry.Everyone, Reach: registry.ReachSelf, Idempotent: true,
	})
	waitVerb = registry.Define[targetIn, doneOut](registry.Verb{
		Name: "thing_wait", Summary: "wait for a thing", Doc: "Waits for a thing.",
		Class: registry.Read, Scope: registry.Scoped, Audience: registry.Everyone, Reach: registry.ReachSight, Idempotent: true, Bounded: true,
	})
	tellVerb = registry.Define[targetIn, doneOut](registry.Verb{
		Name: "thing_tell", Summary: "tell how it goes", Doc: "Tells how it goes.",
		Class: registry.Read, Scope: registry.Scoped, Audience: registry.Everyone, Reach: registry.ReachSight, Idempotent: true,
	})
	writeVerb = registry.Define[targetIn, doneOut](registry.Verb{
		Name: "thing_write", Summary: "write a thing", Doc: "Writes a thing.",
		Class: registry.Write, Scope: registry.Full, Audience: registry.ForCLI | registry.ForFull, Reach: registry.ReachAct, OpenWorld: true,
	})
	removeVerb = registry.Define[targetIn, doneOut](registry.Verb{
		Name: "thing_remove", Summary: "remove a thing", Doc: "Removes a thing.",
		Class: registry.Destructive, Scope: registry.Full, Audience: registry.ForCLI | registry.ForFull, Reach: registry.ReachAct,
	})
	windowVerb = registry.Define[targetIn, doneOut](registry.Verb{
		Name: "thing_answer", Summary: "answer for the person", Doc: "Answers for the person.",
		Class: registry.Read, Scope: registry.Full, Audience: 0, Reach: registry.ReachSelf,
	})
)

// permissive lets everything pass but what concerns the task "hidden", which does not exist for anybody.
type permissive struct{}

func (permissive) Check(_ context.Context, _ registry.Caller, _ *registry.Verb, target registry.Target) registry.Decision {
	if target.Task == "hidden" {
		return registry.Decision{
			Refusal: refusal.New(refusal.NotFound, "no such task", "list the tasks that there are"),
			Why:     "outside the caller's view",
		}
	}
	return registry.Decision{Allow: true}
}

// asking asks about destructive calls of the callers that are named so. Nobody answers in the app.
type asking struct{}

func (asking) Policy(call registry.Call, verb *registry.Verb) (bool, *refusal.Refusal) {
	return verb.Class == registry.Destructive && strings.HasPrefix(call.Caller.Name, "asked-"), nil
}

func (asking) Ask(context.Context, registry.Question) *refusal.Refusal {
	return refusal.New(refusal.Held, "the person did not answer in time", "ask the person")
}

func (asking) Elicits(call registry.Call) bool {
	return strings.HasPrefix(call.Caller.Name, "asked-elicit")
}

// memory is an audit log in memory.
type memory struct {
	mu     sync.Mutex
	events []registry.Event
}

func (m *memory) Record(_ context.Context, event registry.Event) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.events = append(m.events, event)
	return nil
}

func (m *memory) len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.events)
}

// tokens knows two callers and counts how often it was asked.
type tokens struct {
	mu    sync.Mutex
	live  map[string]registry.Caller
	asked []string
}

func (a *tokens) Caller(token string) (registry.Caller, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, token)
	caller, ok := a.live[token]
	return caller, ok
}

func (a *tokens) set(token string, caller registry.Caller) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.live[token] = caller
}

func (a *tokens) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.asked)
}

// fixture is an endpoint on loopback in front of a real router.
type fixture struct {
	t        testing.TB
	endpoint *Endpoint
	address  netip.AddrPort
	auth     *tokens
	audit    *memory
	log      *journal
	// began gets one value when a handler of thing_wait or thing_write starts; thing_write then waits for
	// proceed, thing_wait for proceed or the end of its context; ended gets what it saw.
	began   chan struct{}
	proceed chan struct{}
	ended   chan error
	// state is the last requestState that was given out.
	state string
	// told is called by thing_tell when it has reported how it goes.
	told func()
}

// journal is a log that tests may read while it is written.
type journal struct {
	mu  sync.Mutex
	out strings.Builder
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.out.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.out.String()
}

func newFixture(t testing.TB, limits Limits) *fixture {
	t.Helper()
	f := &fixture{
		t: t, audit: &memory{}, log: &journal{},
		auth: &tokens{live: map[string]registry.Caller{
			fullToken: {Way: registry.MCP, Scope: registry.Full, Ceiling: registry.Destructive, Grant: ident.Grant("g-full"), Name: "client"},
			scopedToken: {Way: registry.MCP, Scope: registry.Scoped, Ceiling: registry.Write, Grant: ident.Grant("g-scoped"),
				Task: ident.Task("t-one"), Name: "task"},
			elicitToken: {Way: registry.MCP, Scope: registry.Full, Ceiling: registry.Destructive, Grant: ident.Grant("g-elicit"), Name: "asked-elicit"},
			otherToken:  {Way: registry.MCP, Scope: registry.Full, Ceiling: registry.Destructive, Grant: ident.Grant("g-other"), Name: "asked-elicit-too"},
			heldToken:   {Way: registry.MCP, Scope: registry.Full, Ceiling: registry.Destructive, Grant: ident.Grant("g-held"), Name: "asked-held"},
			inTaskToken: {Way: registry.MCP, Scope: registry.Full, Ceiling: registry.Destructive, Grant: ident.Grant("g-in-task"), Task: ident.Task("t-two"), Name: "asked-elicit-in-task"},
		}},
		began: make(chan struct{}, 1024), proceed: make(chan struct{}), ended: make(chan error, 1024), told: func() {},
	}
	log := slog.New(slog.NewTextHandler(f.log, nil))
	router := registry.NewRouter(permissive{}, f.audit, log,
		echoVerb.Verb(), waitVerb.Verb(), tellVerb.Verb(), writeVerb.Verb(), removeVerb.Verb(), windowVerb.Verb())
	router.HoldWith(asking{})
	f.bind(router)
	if limits.FailDelay == 0 {
		limits.FailDelay = time.Millisecond
	}
	f.endpoint = &Endpoint{Server: &Server{Calls: router, Auth: f.auth, Version: "1.0.0-test", Limits: limits, Log: log}}
	f.start(0)
	t.Cleanup(f.stop)
	return f
}

func (f *fixture) bind(router *registry.Router) {
	registry.Bind(router, echoVerb, func(_ context.Context, _ registry.Call, in echoIn) (echoOut, error) {
		return echoOut{in.Text}, nil
	})
	registry.Bind(router, waitVerb, func(ctx context.Context, _ registry.Call, in targetIn) (doneOut, error) {
		f.began <- struct{}{}
		select {
		case <-f.proceed:
			f.ended <- nil
			return doneOut{true}, nil
		case <-ctx.Done():
			f.ended <- ctx.Err()
			return doneOut{}, ctx.Err()
		}
	})
	registry.Bind(router, tellVerb, func(ctx context.Context, _ registry.Call, _ targetIn) (doneOut, error) {
		registry.Progress(ctx, "half of it")
		f.told()
		return doneOut{true}, nil
	})
	registry.Bind(router, writeVerb, func(ctx context.Context, _ registry.Call, in targetIn) (doneOut, error) {
		f.began <- struct{}{}
		<-f.proceed
		f.ended <- ctx.Err()
		return doneOut{true}, nil
	})
	registry.Bind(router, removeVerb, func(context.Context, registry.Call, targetIn) (doneOut, error) {
		return doneOut{true}, nil
	})
	registry.Bind(router, windowVerb, func(context.Context, registry.Call, targetIn) (doneOut, error) {
		return doneOut{true}, nil
	})
}

// start serves at port. While nobody listens there the system may give it to another program for a moment, to listen on or to
// connect from; where many tests run at once that happens.
func (f *fixture) start(port int) {
	f.t.Helper()
	f.eventually(func() bool {
		address, err := f.endpoint.Start(f.t.Context(), port)
		if port != 0 && errors.Is(err, ErrPortTaken) {
			return false
		}
		if err != nil {
			f.t.Fatal(err)
		}
		f.address = address
		return true
	})
}

func (f *fixture) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := f.endpoint.Stop(ctx); err != nil {
		f.t.Error(err)
	}
}

// whenBegun returns when a handler of thing_wait or thing_write has started.
func (f *fixture) whenBegun() {
	f.t.Helper()
	select {
	case <-f.began:
	case <-time.After(20 * time.Second):
		f.t.Fatal("no handler started")
	}
}

// letOne lets one waiting handler go on.
func (f *fixture) letOne() {
	f.t.Helper()
	select {
	case f.proceed <- struct{}{}:
	case <-time.After(20 * time.Second):
		f.t.Fatal("no handler waits any more")
	}
}

// whenEnded returns what a handler of thing_wait or thing_write saw when it ended.
func (f *fixture) whenEnded() error {
	f.t.Helper()
	select {
	case err := <-f.ended:
		return err
	case <-time.After(20 * time.Second):
		f.t.Fatal("the handler did not end")
		return nil
	}
}

// dial opens a connection that ends with the test.
func (f *fixture) dial() net.Conn {
	f.t.Helper()
	conn, err := net.Dial("tcp", f.address.String())
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = conn.Close() })
	// A server that hangs must fail the test, not stop it.
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	return conn
}

// raw sends bytes on a new connection and reads one answer.
func (f *fixture) raw(request string) (*http.Response, string) {
	f.t.Helper()
	conn := f.dial()
	if _, err := io.WriteString(conn, request); err != nil {
		f.t.Fatalf("send: %v", err)
	}
	return f.answer(bufio.NewReader(conn))
}

func (f *fixture) answer(reader *bufio.Reader) (*http.Response, string) {
	f.t.Helper()
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		f.t.Fatalf("read the answer: %v", err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		f.t.Fatalf("read the answer's body: %v", err)
	}
	return response, string(body)
}
