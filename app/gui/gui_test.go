package gui

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"termic/registry"
	"termic/registry/refusal"
)

// fakeRouter answers with the verb and the arguments that it was given.
type fakeRouter struct{ callers []registry.Caller }

func (f *fakeRouter) Dispatch(_ context.Context, caller registry.Caller, verb string, raw json.RawMessage) (json.RawMessage, error) {
	f.callers = append(f.callers, caller)
	switch verb {
	case "refused":
		return nil, refusal.New(refusal.Conflict, "taken", "choose another")
	case "broken":
		return nil, errors.New("/secret/path")
	case "unencodable":
		return json.RawMessage("NaN"), nil
	case "panics":
		panic("a bug")
	}
	return json.Marshal(map[string]string{"verb": verb, "args": string(raw)})
}

// fakeHost remembers what it was asked.
type fakeHost struct{ asked []string }

func (f *fakeHost) PickDirectory(title string) (string, error) { return "/picked/" + title, nil }
func (f *fakeHost) OpenURL(url string) error                   { f.asked = append(f.asked, "open "+url); return nil }
func (f *fakeHost) Renderer() string                           { return "dom" }
func (f *fakeHost) Front()                                     { f.asked = append(f.asked, "front") }
func (f *fakeHost) Quit()                                      { f.asked = append(f.asked, "quit") }

// fakeStream is a terminal whose output a test writes and whose input it reads.
type fakeStream struct {
	io.Reader
	mu     sync.Mutex
	input  []byte
	sizes  [][2]int
	asked  int // answers to offers
	closed chan struct{}
	once   sync.Once
}

func newFakeStream(output io.Reader) *fakeStream {
	return &fakeStream{Reader: output, closed: make(chan struct{})}
}

func (f *fakeStream) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.input = append(f.input, p...)
	return len(p), nil
}

func (f *fakeStream) Resize(cols, rows int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sizes = append(f.sizes, [2]int{cols, rows})
	return nil
}

func (f *fakeStream) Answered() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
}

func (f *fakeStream) Close() error {
	f.once.Do(func() {
		close(f.closed)
		if c, ok := f.Reader.(io.Closer); ok {
			c.Close()
		}
	})
	return nil
}

type fakeStreams map[string]*fakeStream

func (f fakeStreams) Open(_ context.Context, ticket string) (Stream, error) {
	stream := f[ticket]
	if stream == nil {
		return nil, refusal.New(refusal.NotFound, "the ticket is unknown, used or too old", "attach again")
	}
	delete(f, ticket)
	return stream, nil
}

// rig is a server with everything around it made by hand.
type rig struct {
	*Server
	router  *fakeRouter
	window  *fakeHost
	streams fakeStreams
	web     *httptest.Server
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{router: &fakeRouter{}, window: &fakeHost{}, streams: fakeStreams{}}
	r.Server = New(Options{
		Router: r.router, Streams: r.streams, Feed: NewFeed(), Host: r.window, Working: func() int { return 0 }, InView: func(tabs []string) { r.window.asked = append(r.window.asked, "in view "+strings.Join(tabs, ",")) },
		Assets: fstest.MapFS{"index.html": {Data: []byte("<title>page</title>")}, "assets/a.js": {Data: []byte("1")}},
		Log:    slog.New(slog.DiscardHandler),
	})
	r.web = httptest.NewServer(r.Server)
	t.Cleanup(r.web.Close)
	return r
}

// post returns status and body of a request.
func (r *rig) post(t *testing.T, path, body string) (int, string) {
	t.Helper()
	response, err := http.Post(r.web.URL+path, "text/plain", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// openFeed opens the feed of a new page and returns the page's name and a reader of the lines.
func (r *rig) openFeed(t *testing.T) (page string, next func() Change, done func()) {
	t.Helper()
	page = r.Feed.Watch()
	response, err := http.Get(r.web.URL + "/feed/" + page)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		t.Fatalf("feed: status %d", response.StatusCode)
	}
	decoder := json.NewDecoder(response.Body)
	next = func() Change {
		t.Helper()
		var change Change
		if err := decoder.Decode(&change); err != nil {
			t.Fatal(err)
		}
		return change
	}
	if first := next(); first.Seq != 0 {
		t.Fatalf("the first line is %+v, want a sign that the feed is open", first)
	}
	var once sync.Once
	done = func() { once.Do(func() { response.Body.Close() }) }
	t.Cleanup(done)
	return page, next, done
}

func TestCallsAreThePersonsAtTheWindow(t *testing.T) {
	r := newRig(t)
	status, body := r.post(t, "/call/task_list", `{"archived":true}`)
	if want := `{"result":{"args":"{\"archived\":true}","verb":"task_list"}}`; status != 200 || body != want {
		t.Errorf("answer %d %s, want %s", status, body, want)
	}
	if len(r.router.callers) != 1 || r.router.callers[0] != registry.Person(registry.Window) {
		t.Errorf("callers %+v", r.router.callers)
	}
}

func TestWhatACallEndsIn(t *testing.T) {
	for _, c := range []struct {
		name, verb, body string
		status           int
		want             string
	}{
		{"a refusal is an answer", "refused", "{}", 200, `{"refusal":{"code":"conflict","reason":"taken","remedy":"choose another"}}`},
		{"an error that nobody wrote for callers keeps its text", "broken", "{}", 200, `"code":"internal"`},
		{"a result that is no JSON is an error of this call alone", "unencodable", "{}", 500, "cannot be encoded"},
		{"a panic is an error of this call alone", "panics", "{}", 500, ""},
		{"arguments that are too long are refused", "x", strings.Repeat("a", maxBody+1), 200, `"code":"bad_input"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, body := newRig(t).post(t, "/call/"+c.verb, c.body)
			if status != c.status || !strings.Contains(body, c.want) || strings.Contains(body, "/secret") {
				t.Errorf("%d %s", status, body)
			}
		})
	}
}

func TestThePageMayFetchNothingFromOutside(t *testing.T) {
	r := newRig(t)
	for _, path := range []string{"/", "/assets/a.js", "/absent"} {
		response, err := http.Get(r.web.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		policy := response.Header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: policy %q lacks %s", path, policy, want)
			}
		}
		if strings.Contains(strings.ReplaceAll(policy, "style-src 'self' 'unsafe-inline'", ""), "unsafe") {
			t.Errorf("%s: policy %q", path, policy)
		}
		if got := response.Header.Get("X-Content-Type-Options"); got != "nosniff" {
			t.Errorf("%s: X-Content-Type-Options %q", path, got)
		}
	}
}

func TestActsOfTheHost(t *testing.T) {
	for _, c := range []struct {
		name, act, body string
		want            string // in the answer
		asked           string // of the host
	}{
		{"a directory is picked", "pick-directory", `"t"`, `"result":"/picked/t"`, ""},
		{"a web address is opened", "open-url", `"https://example.org/a?b#c"`, `"result":""`, "open https://example.org/a?b#c"},
		{"a file is not", "open-url", `"file:///etc/passwd"`, "bad_input", ""},
		{"a program's scheme is not", "open-url", `"vscode://x"`, "bad_input", ""},
		{"a script is not", "open-url", `"javascript:alert(1)"`, "bad_input", ""},
		{"an address without a host is not", "open-url", `"http:///x"`, "bad_input", ""},
		{"the renderer is told", "renderer", ``, `"result":"dom"`, ""},
		{"the person looks at tabs", "in-view", `"tb-1 tb-2"`, `"result":""`, "in view tb-1,tb-2"},
		{"the person looks at none", "in-view", `""`, `"result":""`, "in view "},
		{"the app is ended", "quit", ``, `"result":""`, "quit"},
		{"nothing else can be asked", "front", ``, "unknown_verb", ""},
		{"a body that is no text is refused", "open-url", `{"a":1}`, "bad_input", ""},
		{"a body that is too long is refused", "open-url", `"` + strings.Repeat("a", maxHostBody) + `"`, "bad_input", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			_, body := r.post(t, "/host/"+c.act, c.body)
			if asked := strings.Join(r.window.asked, "; "); !strings.Contains(body, c.want) || asked != c.asked {
				t.Errorf("answer %s, host asked %q", body, asked)
			}
		})
	}
}

func TestQuittingIsAskedOnlyWhereThereIsSomethingToAskAndSomeoneToAsk(t *testing.T) {
	r := newRig(t)
	working := 2
	r.Working = func() int { return working }
	if r.AskQuit(func() {}) {
		t.Error("asked without a page")
	}
	_, next, _ := r.openFeed(t)
	stayed := 0
	if !r.AskQuit(func() { stayed++ }) {
		t.Fatal("not asked although agents work and a page is there")
	}
	if change := next(); change.Quit == nil || *change.Quit != 2 {
		t.Errorf("the page was told %+v", change)
	}
	r.post(t, "/host/stay", "")
	r.post(t, "/host/stay", "")
	if stayed != 1 {
		t.Errorf("stayed %d times, want once", stayed)
	}
	working = 0
	if r.AskQuit(func() {}) {
		t.Error("asked although nothing works")
	}
}

// output returns what a terminal's stream says until it has said want, or its end.
func output(t *testing.T, from io.Reader, want int) []byte {
	t.Helper()
	p := make([]byte, want)
	n, err := io.ReadFull(from, p)
	if err != nil && err != io.ErrUnexpectedEOF {
		t.Fatal(err)
	}
	return p[:n]
}

func TestATerminalsOutputInputAndSize(t *testing.T) {
	r := newRig(t)
	page, _, _ := r.openFeed(t)
	reader, writer := io.Pipe()
	stream := newFakeStream(reader)
	r.streams["T"] = stream
	go fmt.Fprint(writer, "hello")
	response, err := http.Get(r.web.URL + "/pty/T?cols=100&rows=30&page=" + page)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if got := output(t, response.Body, 5); string(got) != "hello" {
		t.Fatalf("output %q", got)
	}
	for _, c := range []struct {
		path, body string
		status     int
	}{
		{"/pty/T/input?seq=1", "a", 204},
		{"/pty/T/input?seq=3", "c", 409},
		{"/pty/T/input?seq=2", "b", 204},
		{"/pty/T/input?seq=2", "b", 409},
		{"/pty/T/input?seq=x", "x", 400},
		{"/pty/T/input?seq=3", strings.Repeat("d", maxInput+1), 400},
		{"/pty/other/input?seq=1", "x", 410},
		{"/pty/T/size?cols=80&rows=24", "", 204},
		{"/pty/T/size?cols=0&rows=24", "", 400},
		{"/pty/T/size?cols=80&rows=1001", "", 400},
		{"/pty/T/size?cols=-1&rows=24", "", 400},
		{"/pty/T/answered", "", 204},
		{"/pty/other/answered", "", 410},
	} {
		if status, body := r.post(t, c.path, c.body); status != c.status {
			t.Errorf("%s: %d %s, want %d", c.path, status, body, c.status)
		}
	}
	stream.mu.Lock()
	if stream.asked != 1 {
		t.Errorf("answers that came: %d", stream.asked)
	}
	if string(stream.input) != "ab" || !slices.Equal(stream.sizes, [][2]int{{100, 30}, {80, 24}}) {
		t.Errorf("input %q, sizes %v", stream.input, stream.sizes)
	}
	stream.mu.Unlock()
	writer.Close()
	if rest, err := io.ReadAll(response.Body); err != nil || len(rest) > 0 {
		t.Errorf("after the end: %q, %v", rest, err)
	}
	<-stream.closed
}

func TestATerminalNeedsALivingPageAndAFreshTicket(t *testing.T) {
	r := newRig(t)
	page, _, _ := r.openFeed(t)
	r.streams["T"] = newFakeStream(strings.NewReader("x"))
	for _, c := range []struct {
		path   string
		status int
	}{
		{"/pty/T?page=unknown", 410},
		{"/pty/T", 410},
		{"/pty/other?page=" + page, 410},
		{"/pty/T?page=" + page, 200},
		{"/pty/T?page=" + page, 410},
		{"/feed/" + page, 410},
		{"/feed/unknown", 410},
	} {
		response, err := http.Get(r.web.URL + c.path)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != c.status {
			t.Errorf("%s: status %d, want %d", c.path, response.StatusCode, c.status)
		}
	}
}

// endless gives output for ever.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return copy(p, bytes.Repeat([]byte("x"), len(p))), nil }

func TestAPageThatDrawsNothingHoldsOutputBack(t *testing.T) {
	r := newRig(t)
	page, _, done := r.openFeed(t)
	stream := newFakeStream(endless{})
	r.streams["T"] = stream
	response, err := http.Get(r.web.URL + "/pty/T?page=" + page)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	// What may be under way is the limit and the piece that reached it.
	output(t, response.Body, maxUndrawn)
	more := make(chan int, 1)
	go func() {
		n, _ := io.ReadAtLeast(response.Body, make([]byte, pieceSize), 1)
		more <- n
	}()
	select {
	case n := <-more:
		t.Fatalf("%d more bytes came although nothing was drawn", n)
	case <-time.After(50 * time.Millisecond):
	}
	if status, _ := r.post(t, fmt.Sprintf("/pty/T/ack?bytes=%d", maxUndrawn), ""); status != 204 {
		t.Fatalf("ack: %d", status)
	}
	if n := <-more; n == 0 {
		t.Error("nothing came after the page had drawn")
	}
	// A page cannot have drawn what was not sent, and its end is the end of its terminals.
	if status, _ := r.post(t, "/pty/T/ack?bytes=9000000000000000000", ""); status != 204 {
		t.Errorf("ack: %d", status)
	}
	done()
	r.Feed.Note(registry.Event{Phase: registry.Decided, Way: registry.MCP, Class: registry.Read}) // a line that nobody takes
	select {
	case <-stream.closed:
	case <-time.After(2*beat + time.Second):
		t.Error("the terminal outlived its page")
	}
}

// slowRouter reports, and then waits until its caller goes away or the test lets it go on.
type slowRouter struct{ goOn chan struct{} }

func (s slowRouter) Dispatch(ctx context.Context, _ registry.Caller, _ string, _ json.RawMessage) (json.RawMessage, error) {
	registry.Progress(ctx, "half")
	select {
	case <-ctx.Done():
		return nil, refusal.New(refusal.Cancelled, "given up", "")
	case <-s.goOn:
		return json.RawMessage(`"done"`), nil
	}
}

// TestTheWindowWatchesACallAndGivesItUp: the page reads how far it has come, and ends it by its id, and no other.
func TestTheWindowWatchesACallAndGivesItUp(t *testing.T) {
	for end, last := range map[string]string{"give it up": `{"refusal":{"code":"cancelled","reason":"given up"}}`, "let it go on": `{"result":"done"}`} {
		router := slowRouter{make(chan struct{}, 1)}
		server := httptest.NewServer(New(Options{Router: router, Log: slog.New(slog.DiscardHandler)}))
		post := func(path string) *http.Response {
			t.Helper()
			response, err := http.Post(server.URL+path, "application/json", strings.NewReader(`{}`))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { response.Body.Close() })
			return response
		}
		call := post("/call/task_new?call=one")
		lines := bufio.NewReader(call.Body)
		if line, err := lines.ReadString('\n'); line != "{\"progress\":\"half\"}\n" || err != nil {
			t.Errorf("%s: first %q, %v", end, line, err)
		}
		if again, err := io.ReadAll(post("/call/task_new?call=one").Body); err != nil || !strings.Contains(string(again), "conflict") {
			t.Errorf("%s: the same id: %s, %v", end, again, err)
		}
		if other := post("/cancel/two"); other.StatusCode != http.StatusNotFound {
			t.Errorf("%s: another's: %d", end, other.StatusCode)
		}
		if end == "give it up" {
			if done := post("/cancel/one"); done.StatusCode != http.StatusOK {
				t.Errorf("%s: %d", end, done.StatusCode)
			}
		} else {
			router.goOn <- struct{}{}
		}
		if rest, err := io.ReadAll(lines); string(rest) != last || err != nil {
			t.Errorf("%s: last %q, %v", end, rest, err)
		}
		if over := post("/cancel/one"); over.StatusCode != http.StatusNotFound {
			t.Errorf("%s: after its end: %d", end, over.StatusCode)
		}
		server.Close()
	}
}
