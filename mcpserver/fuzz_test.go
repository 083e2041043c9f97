package mcpserver

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

	"termic/mcpserver/jsonrpc"
)

// knownStatuses are the statuses that this server and net/http in front of it answer with. 500 is none: it
// would be a mistake of ours.
var knownStatuses = []int{100, 200, 202, 400, 401, 403, 404, 405, 408, 413, 415, 417, 421, 429, 431, 501, 505}

// FuzzWire sends bytes as they are. Whatever they are: an answer has a known status, is well formed, is
// nothing that a page may read, and without a live token no tool is reached and nothing is served.
func FuzzWire(f *testing.F) {
	files, err := filepath.Glob("testdata/wire/*.txtar")
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, exchange := range archive.Files {
			if exchange.Name != answerName {
				f.Add(exchange.Data)
			}
		}
	}
	fix := newFixture(f, Limits{Rate: 1e9, Burst: 1e9, FailDelay: time.Nanosecond})
	close(fix.proceed)
	f.Fuzz(func(t *testing.T, written []byte) {
		sent, _ := asSent(fix, string(written))
		events := fix.audit.len()
		said := exchangeBytes(t, fix.address.String(), sent)
		drain(fix)
		served := checkAnswers(t, sent, said)
		if !slices.ContainsFunc(liveTokens, func(token string) bool { return strings.Contains(sent, token) }) && (served || fix.audit.len() != events) {
			t.Fatalf("served without a token: %q", said)
		}
		if strings.Contains(fix.log.String(), "panicked") {
			t.Fatalf("panic: %s", fix.log.String())
		}
	})
}

// exchangeBytes sends a text, says that it is over, and returns everything that comes back.
func exchangeBytes(t *testing.T, address, sent string) []byte {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	// The server may have closed after half of it.
	_, _ = io.WriteString(conn, sent)
	_ = conn.(*net.TCPConn).CloseWrite()
	said, err := io.ReadAll(conn)
	if isTimeout(err) {
		t.Fatalf("no end of the answer: %q", said)
	}
	return said
}

// drain empties what handlers report, so that they never block.
func drain(f *fixture) {
	for {
		select {
		case <-f.began:
		case <-f.ended:
		default:
			return
		}
	}
}

// checkAnswers holds all answers on one connection against what an answer has to be, and tells whether
// anything was served.
func checkAnswers(t *testing.T, sent string, said []byte) (served bool) {
	method, _, _ := strings.Cut(sent, " ")
	reader := bufio.NewReader(bytes.NewReader(said))
	for first := true; ; first = false {
		response, err := http.ReadResponse(reader, &http.Request{Method: method})
		if err != nil {
			if first && len(said) > 0 {
				t.Fatalf("answer is no HTTP: %v: %q", err, said)
			}
			return served
		}
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatalf("answer is cut short: %v: %q", err, said)
		}
		if !slices.Contains(knownStatuses, response.StatusCode) {
			t.Fatalf("status %d: %q", response.StatusCode, said)
		}
		checkNoGrant(t, response.Header)
		if response.StatusCode == http.StatusUnauthorized && (len(body) > 0 || response.Header.Get("Www-Authenticate") != "Bearer") {
			t.Fatalf("401 says more than it may: %q", said)
		}
		if response.Header.Get("Content-Type") == "application/json" {
			checkJSONAnswer(t, response.StatusCode, body)
		}
		if response.Header.Get("Content-Type") == "text/event-stream" {
			for _, event := range events(t, string(body)) {
				if !json.Valid([]byte(event)) || !utf8.ValidString(event) {
					t.Fatalf("event is not JSON: %q", event)
				}
			}
		}
		served = served || response.StatusCode/100 == 2
		if !first || method != http.MethodPost {
			// What a pipelined request's method was is not known here, so neither is where its answer ends.
			return served
		}
	}
}

func checkJSONAnswer(t *testing.T, status int, body []byte) {
	t.Helper()
	if !json.Valid(body) || !utf8.Valid(body) {
		t.Fatalf("not JSON: %q", body)
	}
	definition := "JSONRPCResultResponse"
	if status != http.StatusOK {
		definition = "JSONRPCErrorResponse"
	}
	if err := validate(definition, string(body)); err != nil {
		t.Fatal(err)
	}
}

// FuzzArguments calls tools, picked by the first number, with any arguments and an id: a result or an error
// that is in order comes back, and never anything else.
func FuzzArguments(f *testing.F) {
	f.Add(uint8(0), `{"text":"hello"}`)
	f.Add(uint8(0), `{"text":"\u0000","deep":[[[{"a":1e400}]]]}`)
	f.Add(uint8(1), `{"task":"a"}`)
	f.Add(uint8(3), `{"task":"hidden"}`)
	f.Add(uint8(4), `{"task":"a","task":"b"}`)
	f.Add(uint8(0), `null`)
	fix := newFixture(f, Limits{})
	close(fix.proceed)
	server := fix.endpoint.Server
	caller, _ := fix.auth.Caller(fullToken)
	tools := []string{"thing_echo", "thing_wait", "thing_write", "thing_remove", "thing_answer"}
	f.Fuzz(func(t *testing.T, pick uint8, arguments string) {
		tool := tools[int(pick)%len(tools)]
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,%s}}`, tool, arguments, goodMeta)
		message, failure := jsonrpc.Decode([]byte(body))
		if failure != nil {
			return
		}
		header := http.Header{"Mcp-Protocol-Version": {Revision}, "Mcp-Method": {methodCall}, "Mcp-Name": {tool}}
		request, failure := newRequest(header, message, jsonrpc.MembersOf(message.Params), []string{Revision})
		if failure != nil {
			return // the arguments brought members of their own, which the headers do not mirror
		}
		result, failure := server.serveMethod(t.Context(), nil, caller, request)
		drain(fix)
		if failure != nil {
			if err := validateError(string(jsonrpc.AppendError(nil, message.ID, failure))); err != nil {
				t.Fatal(err)
			}
			return
		}
		answer := string(jsonrpc.AppendResult(nil, message.ID, result))
		if err := validate("CallToolResultResponse", answer); err != nil {
			t.Fatal(err)
		}
		checkStructured(t, tool, answer)
	})
}

// FuzzSentinel: every text survives being wrapped, what is not wrapped stands for itself, and nothing that is
// not UTF-8 comes out.
func FuzzSentinel(f *testing.F) {
	for _, seed := range []string{"thing_echo", "", "=?base64?", "=?base64??=", "=?base64?/w==?=", "世界", "=?base64?dGhpbmdfZWNob?="} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		got, err := decodeSentinel(value)
		isWrapped := strings.HasPrefix(value, sentinelPrefix) && strings.HasSuffix(value[len(sentinelPrefix):], sentinelSuffix)
		if !isWrapped && (err != nil || got != value) {
			t.Fatalf("%q stands for %q, %v", value, got, err)
		}
		if isWrapped && err == nil && (!utf8.ValidString(got) || value != sentinelPrefix+base64.StdEncoding.EncodeToString([]byte(got))+sentinelSuffix) {
			t.Fatalf("%q stands for %q, which is written otherwise", value, got)
		}
		if !utf8.ValidString(value) {
			return
		}
		wrapped := sentinelPrefix + base64.StdEncoding.EncodeToString([]byte(value)) + sentinelSuffix
		if got, err := decodeSentinel(wrapped); err != nil || got != value {
			t.Fatalf("%q wrapped stands for %q, %v", value, got, err)
		}
	})
}
