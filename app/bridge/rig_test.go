package bridge

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"termic/app/ctl"
	"termic/registry"
	"termic/registry/refusal"
)

const (
	first  = "termic_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	second = "termic_BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"
)

// fakeApp is an app as far as the package knows one: a socket that confirms addresses, and an endpoint.
type fakeApp struct {
	t    *testing.T
	dir  string
	stop func()

	mu       sync.Mutex
	url      string
	token    string // the live one
	proof    string // of it, unless a test lies
	asked    int    // how often an address was asked for
	requests []*http.Request
	bodies   []string
	answer   func(w http.ResponseWriter, r *http.Request, body string) // nil: a result that repeats the method
}

func newFakeApp(t *testing.T) *fakeApp {
	t.Helper()
	app := &fakeApp{t: t, dir: filepath.Join(t.TempDir(), "d")}
	if err := os.MkdirAll(filepath.Join(app.dir, "clients"), 0o700); err != nil {
		t.Fatal(err)
	}
	app.serve()
	app.rebind(first)
	return app
}

// serve opens the socket; stop closes it.
func (app *fakeApp) serve() {
	app.t.Helper()
	log := slog.New(slog.DiscardHandler)
	listener, err := ctl.Listen(app.dir, "cli-token-for-the-test", log)
	if err != nil {
		app.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- ctl.Serve(ctx, listener, app, nil, log) }()
	app.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			app.t.Error(err)
		}
	})
	app.t.Cleanup(app.stop)
}

// rebind starts an endpoint at another address with another token; the old one is gone.
func (app *fakeApp) rebind(token string) {
	app.t.Helper()
	server := httptest.NewServer(http.HandlerFunc(app.serveHTTP))
	app.t.Cleanup(server.Close)
	app.mint(server.URL+"/mcp", token)
}

func (app *fakeApp) mint(url, token string) {
	app.t.Helper()
	sum := sha256.Sum256([]byte(token))
	app.mu.Lock()
	app.url, app.token, app.proof = url, token, hex.EncodeToString(sum[:])
	app.mu.Unlock()
	if err := os.WriteFile(app.tokenFile(), []byte(token), 0o600); err != nil {
		app.t.Fatal(err)
	}
}

func (app *fakeApp) tokenFile() string { return filepath.Join(app.dir, "clients", "codex.token") }

func (app *fakeApp) client() Client { return Client{Name: "codex", DataDir: app.dir} }

func (app *fakeApp) address() string {
	app.mu.Lock()
	defer app.mu.Unlock()
	return app.url
}

// Dispatch is the app's side of the socket.
func (app *fakeApp) Dispatch(_ context.Context, _ registry.Caller, verb string, raw json.RawMessage) (json.RawMessage, error) {
	app.mu.Lock()
	defer app.mu.Unlock()
	app.asked++
	var in struct{ Client, URL string }
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, err
	}
	if verb != "client_connect" || in.Client != "codex" || in.URL != "" && in.URL != app.url {
		return nil, refusal.New(refusal.NotPermitted, "the app does not hold that address", "refresh")
	}
	return json.Marshal(map[string]string{"url": app.url, "token_sha256": app.proof})
}

func (app *fakeApp) serveHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		app.t.Error(err)
	}
	app.mu.Lock()
	app.requests, app.bodies = append(app.requests, r), append(app.bodies, string(body))
	token, answer := app.token, app.answer
	app.mu.Unlock()
	switch {
	case r.Header.Get("Authorization") != "Bearer "+token:
		w.WriteHeader(http.StatusUnauthorized)
	case answer != nil:
		answer(w, r, string(body))
	default:
		var message struct{ ID json.RawMessage }
		_ = json.Unmarshal(body, &message)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0",
 "id":`+string(message.ID)+`,"result":{"resultType":"complete","ttlMs":1,"cacheScope":"private","is":"`+r.Header.Get("Mcp-Method")+`"}}`)
	}
}

func (app *fakeApp) last() (*http.Request, string) {
	app.mu.Lock()
	defer app.mu.Unlock()
	if len(app.requests) == 0 {
		app.t.Fatal("nothing reached the endpoint")
	}
	return app.requests[len(app.requests)-1], app.bodies[len(app.bodies)-1]
}

func (app *fakeApp) counts() (asked, requests int) {
	app.mu.Lock()
	defer app.mu.Unlock()
	return app.asked, len(app.requests)
}

// talk runs a bridge; what is sent is a line, and what it says comes back line by line.
type talk struct {
	t     *testing.T
	in    *io.PipeWriter
	lines chan string
	ended chan error
}

func newTalk(t *testing.T, client Client) *talk {
	t.Helper()
	return newTalkWith(t, &Bridge{Client: client, Version: "test", Instructions: "what a model should know"})
}

func newTalkWith(t *testing.T, b *Bridge) *talk {
	t.Helper()
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	k := &talk{t: t, in: inWrite, lines: make(chan string, 100), ended: make(chan error, 1)}
	go func() {
		err := b.Serve(context.Background(), inRead, outWrite)
		outWrite.Close()
		k.ended <- err
	}()
	go func() {
		lines := bufio.NewScanner(outRead)
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			k.lines <- lines.Text()
		}
		close(k.lines)
	}()
	t.Cleanup(func() { _ = inWrite.Close() })
	return k
}

func (k *talk) send(line string) {
	k.t.Helper()
	if _, err := io.WriteString(k.in, line+"\n"); err != nil {
		k.t.Fatal(err)
	}
}

func (k *talk) receive() string {
	k.t.Helper()
	select {
	case line, ok := <-k.lines:
		if !ok {
			k.t.Fatal("the bridge has ended")
		}
		return line
	case <-time.After(20 * time.Second):
		k.t.Fatal("no answer")
	}
	return ""
}

// ask sends a line and returns its answer.
func (k *talk) ask(line string) string {
	k.t.Helper()
	k.send(line)
	return k.receive()
}

// end closes the client's end and returns what else was said.
func (k *talk) end() []string {
	k.t.Helper()
	if err := k.in.Close(); err != nil {
		k.t.Fatal(err)
	}
	var rest []string
	for line := range k.lines {
		rest = append(rest, line)
	}
	if err := <-k.ended; err != nil {
		k.t.Error(err)
	}
	return rest
}

func mustContain(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s\nlacks %s", text, part)
		}
	}
}
