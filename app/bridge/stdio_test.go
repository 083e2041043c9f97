package bridge

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

const modern = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

func TestAMessageOfTheEndpointsRevisionGoesAsItIs(t *testing.T) {
	app := newFakeApp(t)
	k := newTalk(t, app.client())
	got := k.ask(`{"jsonrpc":"2.0","id":"a b","method":"tools/call","params":{"name":"täsk","arguments":{"x":[1,2]},` + modern + `}}`)
	if want := `{"jsonrpc":"2.0","id":"a b","result":{"resultType":"complete","ttlMs":1,"cacheScope":"private","is":"tools/call"}}`; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	request, body := app.last()
	mustContain(t, body, `"arguments":{"x":[1,2]}`, `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`)
	for name, want := range map[string]string{
		"Mcp-Method": "tools/call", "Mcp-Name": "=?base64?dMOkc2s=?=", "Mcp-Protocol-Version": "2026-07-28", "Content-Type": "application/json",
		"Authorization": "Bearer " + first,
	} {
		if got := request.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if request.Header.Get("Origin") != "" || request.URL.Path != "/mcp" {
		t.Errorf("%v", request.Header)
	}
}

func TestAnOpeningOfAnOlderRevisionIsAnsweredInIt(t *testing.T) {
	app := newFakeApp(t)
	app.stop() // nothing of it needs the app
	k := newTalk(t, app.client())
	for asked, answered := range map[string]string{
		"2025-11-25": "2025-11-25", "2025-06-18": "2025-06-18", "2024-11-05": "2024-11-05", "2030-01-01": "2025-11-25", "": "2025-11-25",
	} {
		got := k.ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + asked + `","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
		mustContain(t, got, `"protocolVersion":"`+answered+`"`, `"capabilities":{"tools":{}}`, `"serverInfo":{"name":"termic","version":"test"}`, `"instructions":"what a model should know"`)
	}
	if got := k.ask(`{"jsonrpc":"2.0","id":2,"method":"ping"}`); got != `{"jsonrpc":"2.0","id":2,"result":{}}` {
		t.Error(got)
	}
	k.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if rest := k.end(); len(rest) != 0 {
		t.Errorf("a notification was answered: %v", rest)
	}
}

func TestAMessageOfAnOlderRevisionIsTranslated(t *testing.T) {
	app := newFakeApp(t)
	k := newTalk(t, app.client())
	for name, c := range map[string]struct{ params, method, inBody string }{
		"without parameters":    {``, "tools/list", `"params":{"_meta":`},
		"with a progress token": {`,"params":{"name":"task_list","_meta":{"progressToken":7}}`, "tools/call", `"progressToken":7`},
		"what is not served":    {`,"params":{}`, "resources/list", `"method":"resources/list"`},
	} {
		t.Run(name, func(t *testing.T) {
			got := k.ask(`{"jsonrpc":"2.0","id":3,"method":"` + c.method + `"` + c.params + `}`)
			if want := `{"jsonrpc":"2.0","id":3,"result":{"is":"` + c.method + `"}}`; got != want {
				t.Errorf("%s\nwant\n%s", got, want)
			}
			request, body := app.last()
			mustContain(t, body, c.inBody, `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`, `"io.modelcontextprotocol/clientCapabilities":{}`)
			if request.Header.Get("Mcp-Protocol-Version") != "2026-07-28" || request.Header.Get("Mcp-Method") != c.method {
				t.Errorf("%v", request.Header)
			}
		})
	}
}

func TestClientsFromBeforeStructuredResultsAreSpared(t *testing.T) {
	app := newFakeApp(t)
	app.answer = func(w http.ResponseWriter, r *http.Request, _ string) {
		w.Header().Set("Content-Type", "application/json")
		result := `{"resultType":"complete","content":[{"type":"text","text":"{}"}],"structuredContent":{},"isError":false}`
		if r.Header.Get("Mcp-Method") == "tools/list" {
			result = `{"ttlMs":1,"tools":[{"name":"a","title":"A","inputSchema":{},"outputSchema":{},"annotations":{"destructiveHint":true},"_meta":{"x":1}}]}`
		}
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":`+result+`}`)
	}
	const whole = `{"tools":[{"name":"a","title":"A","inputSchema":{},"outputSchema":{},"annotations":{"destructiveHint":true},"_meta":{"x":1}}]}`
	const spared = `{"tools":[{"_meta":{"x":1},"annotations":{"destructiveHint":true},"inputSchema":{},"name":"a"}]}`
	for revision, want := range map[string][2]string{
		"":           {whole, `{"content":[{"type":"text","text":"{}"}],"isError":false,"structuredContent":{}}`},
		"2025-11-25": {whole, `{"content":[{"type":"text","text":"{}"}],"isError":false,"structuredContent":{}}`},
		"2025-06-18": {whole, `{"content":[{"type":"text","text":"{}"}],"isError":false,"structuredContent":{}}`},
		"2025-03-26": {spared, `{"content":[{"type":"text","text":"{}"}],"isError":false}`},
		"2024-11-05": {spared, `{"content":[{"type":"text","text":"{}"}],"isError":false}`},
	} {
		k := newTalk(t, app.client())
		if revision != "" {
			k.ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + revision + `","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
		}
		for i, asked := range []string{`"tools/list"`, `"tools/call","params":{"name":"a"}`} {
			if got := k.ask(`{"jsonrpc":"2.0","id":1,"method":` + asked + `}`); got != `{"jsonrpc":"2.0","id":1,"result":`+want[i]+`}` {
				t.Errorf("%q: %s\nwant %s", revision, got, want[i])
			}
		}
		k.end()
	}
}

func TestAnErrorOfTheEndpointReachesEveryClient(t *testing.T) {
	app := newFakeApp(t)
	app.answer = func(w http.ResponseWriter, _ *http.Request, _ string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}`)
	}
	k := newTalk(t, app.client())
	for _, params := range []string{`{}`, `{` + modern + `}`} {
		got := k.ask(`{"jsonrpc":"2.0","id":1,"method":"x","params":` + params + `}`)
		if want := `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}`; got != want {
			t.Errorf("%s", got)
		}
	}
}

func TestATokenIsReadAgainWhenItIsNoLongerTaken(t *testing.T) {
	app := newFakeApp(t)
	k := newTalk(t, app.client())
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	mustContain(t, k.ask(list), `"result"`)
	app.mint(app.address(), second) // the same address, a new token
	mustContain(t, k.ask(list), `"result"`)
	mustContain(t, k.ask(list), `"result"`)
	if asked, requests := app.counts(); asked != 2 || requests != 4 {
		t.Errorf("asked %d times, %d requests; want 2 and 4: one was refused", asked, requests)
	}
	app.rebind(first) // another address, while the old one still answers, with 401
	mustContain(t, k.ask(list), `"result"`)
}

func TestAnAddressThatIsGoneIsAskedForAgain(t *testing.T) {
	app := newFakeApp(t)
	k := newTalk(t, app.client())
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	mustContain(t, k.ask(list), `"result"`)
	live := app.address()
	app.mint("http://127.0.0.1:1/mcp", first) // nobody listens there
	mustContain(t, k.ask(list), `"result"`)   // what worked last still does
	other := newTalk(t, app.client())
	mustContain(t, other.ask(list), `"error"`, "went away")
	app.mint(live, second)
	mustContain(t, other.ask(list), `"result"`)
}

func TestATokenThatIsNeverTakenIsSaid(t *testing.T) {
	app := newFakeApp(t)
	k := newTalk(t, app.client())
	app.mu.Lock()
	app.token = second // while the file and the proof say otherwise
	app.mu.Unlock()
	mustContain(t, k.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`), `"id":1,"error"`, "does not take the client's token")
	if _, requests := app.counts(); requests != 2 {
		t.Errorf("%d requests", requests)
	}
}

func TestTheAppsAbsenceIsAProperErrorAndItsReturnIsNoticed(t *testing.T) {
	app := newFakeApp(t)
	app.stop()
	k := newTalk(t, app.client())
	list := `{"jsonrpc":"2.0","id":9,"method":"tools/list"}`
	mustContain(t, k.ask(list), `"id":9,"error":{"code":-32603`, "the app is not running; start it with: termic serve")
	app.serve()
	mustContain(t, k.ask(list), `"id":9,"result"`)
}

func TestLinesThatAreNoMessagesAreAnswered(t *testing.T) {
	app := newFakeApp(t)
	k := newTalk(t, app.client())
	for line, want := range map[string]string{
		`{`:  `"code":-32700`,
		`[]`: `"code":-32600`,
		`{"jsonrpc":"2.0","id":1.5,"method":"x"}`:           `"code":-32600`,
		`{"jsonrpc":"2.0","id":2,"method":"x","params":[]}`: `"id":2,"error":{"code":-32600`,
		`{"jsonrpc":"1.0","id":3,"method":"x"}`:             `"id":3,"error":{"code":-32600`,
		strings.Repeat("x", maxLine+1):                      "longer than",
	} {
		mustContain(t, k.ask(line), want)
	}
	k.send("")
	k.send("  ")
	mustContain(t, k.ask(`{"jsonrpc":"2.0","id":4,"method":"ping"}`), `"id":4,"result":{}`)
}

func TestACancelledRequestEndsAndGetsNoAnswer(t *testing.T) {
	app := newFakeApp(t)
	reached, gone := make(chan bool, 1), make(chan bool, 1)
	app.answer = func(w http.ResponseWriter, r *http.Request, body string) {
		if !strings.Contains(body, "slow") {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":2,"result":{}}`)
			return
		}
		reached <- true
		<-r.Context().Done()
		gone <- true
	}
	k := newTalk(t, app.client())
	k.send(`{"jsonrpc":"2.0","id":"one","method":"tools/call","params":{"name":"slow"}}`)
	<-reached
	mustContain(t, k.ask(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"quick"}}`), `"id":2,"result"`) // it holds up nobody
	k.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"one"}}`)
	<-gone
	if rest := k.end(); len(rest) != 0 {
		t.Errorf("answered: %v", rest)
	}
}

// As many requests as are sent on at once wait, and one more: a cancellation of the first lets that one through.
func TestACancellationIsReadWhenThereIsNoRoom(t *testing.T) {
	app := newFakeApp(t)
	reached := make(chan bool, maxAtOnce)
	app.answer = func(w http.ResponseWriter, r *http.Request, body string) {
		if strings.Contains(body, "slow") {
			reached <- true
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":"next","result":{}}`)
	}
	k := newTalk(t, app.client())
	for i := range maxAtOnce {
		k.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"slow"}}`, i))
		<-reached
	}
	k.send(`{"jsonrpc":"2.0","id":"held","method":"tools/call","params":{"name":"slow"}}`)
	k.send(`{"jsonrpc":"2.0","id":"next","method":"tools/call","params":{"name":"quick"}}`)
	for _, id := range []string{`"held"`, "0"} {
		k.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
	}
	mustContain(t, k.receive(), `"id":"next","result"`)
	for i := 1; i < maxAtOnce; i++ {
		k.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i))
	}
	if rest := k.end(); len(rest) != 0 {
		t.Errorf("answered: %v", rest)
	}
}

func TestWhatIsUnderWayWhenTheClientClosesIsAnswered(t *testing.T) {
	app := newFakeApp(t)
	reached, release := make(chan bool, 1), make(chan bool)
	app.answer = func(w http.ResponseWriter, _ *http.Request, _ string) {
		reached <- true
		<-release
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	}
	k := newTalk(t, app.client())
	k.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	<-reached
	if err := k.in.Close(); err != nil {
		t.Fatal(err)
	}
	close(release)
	mustContain(t, k.receive(), `"id":1,"result"`)
	if err := <-k.ended; err != nil {
		t.Error(err)
	}
}

func TestACallThatOutlastsTheClientIsGivenUp(t *testing.T) {
	app := newFakeApp(t)
	reached, gone := make(chan bool, 1), make(chan bool, 1)
	app.answer = func(_ http.ResponseWriter, r *http.Request, _ string) {
		reached <- true
		<-r.Context().Done() // as a wait of minutes is ended by
		gone <- true
	}
	k := newTalkWith(t, &Bridge{Client: app.client(), drain: time.Millisecond})
	k.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"task_wait"}}`)
	<-reached
	if rest := k.end(); len(rest) != 0 {
		t.Errorf("answered: %v", rest)
	}
	<-gone
}

func TestAStreamIsCarriedMessageByMessage(t *testing.T) {
	app := newFakeApp(t)
	app.answer = func(w http.ResponseWriter, _ *http.Request, _ string) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, ": hello\n\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"method\":\"notifications/x\"}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n")
	}
	k := newTalk(t, app.client())
	if got := k.ask(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{` + modern + `}}`); got != `{"jsonrpc":"2.0","method":"notifications/x"}` {
		t.Error(got)
	}
	if got := k.receive(); got != `{"jsonrpc":"2.0","id":1,"result":{}}` {
		t.Error(got)
	}
}

func TestAnAnswerThatIsNoneIsAnError(t *testing.T) {
	app := newFakeApp(t)
	k := newTalk(t, app.client())
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	}))
	defer elsewhere.Close()
	for name, answer := range map[string]func(w http.ResponseWriter){
		"too many requests": func(w http.ResponseWriter) { w.WriteHeader(http.StatusTooManyRequests) },
		"a page":            func(w http.ResponseWriter) { _, _ = io.WriteString(w, "<html>") },
		"a redirect": func(w http.ResponseWriter) {
			w.Header().Set("Location", elsewhere.URL)
			w.WriteHeader(http.StatusTemporaryRedirect)
		},
		"no JSON": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "{")
		},
	} {
		app.mu.Lock()
		app.answer = func(w http.ResponseWriter, _ *http.Request, _ string) { answer(w) }
		app.mu.Unlock()
		if got := k.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603`) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestManyMessagesAtOnceAreEachAnsweredOnce(t *testing.T) {
	app := newFakeApp(t)
	k := newTalk(t, app.client())
	const n = 200
	go func() {
		for i := range n {
			_, _ = fmt.Fprintf(k.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`+"\n", i)
		}
	}()
	seen := map[string]bool{}
	for range n {
		id, _, _ := strings.Cut(strings.TrimPrefix(k.receive(), `{"jsonrpc":"2.0","id":`), ",")
		seen[id] = true
	}
	if len(seen) != n {
		t.Errorf("%d of %d were answered", len(seen), n)
	}
	if rest := k.end(); len(rest) != 0 {
		t.Errorf("%d more answers", len(rest))
	}
}

// FuzzOlder turns any answer into an older revision's: never a panic, never more than one line.
func FuzzOlder(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}`))
	f.Add([]byte(`{"id":1,"result":[]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, revision := range olderRevisions {
			checkOlder(t, text, older(text, revision))
		}
	})
}

func checkOlder(t *testing.T, text, out []byte) {
	t.Helper()
	if strings.Count(string(out), "\n") > strings.Count(string(text), "\n") {
		t.Errorf("%q became %q", text, out)
	}
}

func TestTheLongestMessageIsCarriedAndALongerOneIsSaidToBe(t *testing.T) {
	app := newFakeApp(t)
	k := newTalk(t, app.client())
	const head, tail = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"text":"`, `"}}}`
	longest := strings.Repeat("x", maxLine-len("\n")-len(head)-len(tail))
	mustContain(t, k.ask(head+longest+tail), `"id":1,"result"`)
	if _, body := app.last(); !strings.Contains(body, longest) {
		t.Errorf("%d bytes of %d reached the endpoint", len(body), len(longest))
	}
	mustContain(t, k.ask(head+longest+"x"+tail), `"code":-32600`, "longer than")
	if _, requests := app.counts(); requests != 1 {
		t.Errorf("%d requests reached the endpoint", requests)
	}
	mustContain(t, k.ask(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`), `"id":2,"result"`)
}

func TestAClientThatEndsInTheMiddleOfALine(t *testing.T) {
	for _, row := range []struct {
		says, text, want string
		requests         int
	}{
		{"the message was whole", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `"id":1,"result"`, 1},
		{"the message was half", `{"jsonrpc":"2.0","id":1,"method":"tools/l`, `"code":-32700`, 0},
	} {
		t.Run(row.says, func(t *testing.T) {
			app := newFakeApp(t)
			k := newTalk(t, app.client())
			if _, err := io.WriteString(k.in, row.text); err != nil {
				t.Fatal(err)
			}
			said := k.end()
			if len(said) != 1 {
				t.Fatalf("it said %q", said)
			}
			mustContain(t, said[0], row.want)
			if _, requests := app.counts(); requests != row.requests {
				t.Errorf("%d requests reached the endpoint", requests)
			}
		})
	}
}

func TestTwoBridgesOfOneClientGoOnEachByItself(t *testing.T) {
	app := newFakeApp(t)
	one, two := newTalk(t, app.client()), newTalk(t, app.client())
	for _, token := range []string{second, first} {
		for _, k := range []*talk{one, two} {
			mustContain(t, k.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`), `"id":1,"result"`)
		}
		app.rebind(token)
	}
	if rest := one.end(); len(rest) != 0 {
		t.Errorf("it said more: %q", rest)
	}
	mustContain(t, two.ask(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`), `"id":2,"result"`)
}
