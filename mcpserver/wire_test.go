package mcpserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"termic/registry"
	"termic/registry/render"
)

var update = flag.Bool("update", false, "write the answers of testdata/wire/*.txtar as they are now")

// TestWire plays the exchanges of testdata/wire over real connections, one connection each. A file is one
// subject: its comment says what it is about, and each exchange is a request, named by the line that says
// what it pins, and its answer. The first exchange of a file is the request that is right, of which the
// others are faulty twins: it must succeed, or the others would prove nothing.
//
// In files whose names begin with "older" clients of older revisions are served.
//
// Requests are raw HTTP, with these stand-ins: $ADDR the endpoint's address, $PORT its port, $FULL and
// $SCOPED two live tokens, $ELICIT, $OTHER, $HELD and $IN_TASK those whose holders are asked about destructive calls,
// $STATE the requestState that was given out last, $LENGTH the length of the body, $META a _meta that is right, $FF a byte that is not
// UTF-8, $CR a carriage return, $LF at the end of a line of the head that it ends without one. In answers $REQUEST stands for the id of the call.
//
// Every answer, and every request that succeeds, is held against the published schema too.
func TestWire(t *testing.T) {
	files, err := filepath.Glob("testdata/wire/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no exchanges: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			f := newFixture(t, Limits{})
			isOlder := strings.HasPrefix(filepath.Base(file), "older")
			f.endpoint.Server.OlderClients = func() bool { return isOlder }
			playArchive(t, f, archive)
			if *update {
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

const answerName = "answer"

func playArchive(t *testing.T, f *fixture, archive *txtar.Archive) {
	if len(bytes.TrimSpace(archive.Comment)) == 0 {
		t.Error("the file does not say what it pins")
	}
	var played []txtar.File
	for i := 0; i < len(archive.Files); i++ {
		request := archive.Files[i]
		played = append(played, request)
		want := ""
		if i+1 < len(archive.Files) && archive.Files[i+1].Name == answerName {
			i++
			want = string(archive.Files[i].Data)
		}
		first := len(played) == 1
		t.Run(request.Name, func(t *testing.T) {
			got, status := playExchange(t, f, string(request.Data))
			if first && status/100 != 2 {
				t.Errorf("the twin of this file's faults does not succeed: %s", got)
			}
			if got != want && !*update {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			played = append(played, txtar.File{Name: answerName, Data: []byte(got)})
		})
	}
	archive.Files = played
}

// playExchange sends a request and returns the answer in its written form.
func playExchange(t *testing.T, f *fixture, written string) (string, int) {
	wire, body := asSent(f, strings.TrimSuffix(written, "\n"))
	f.t = t
	f.told = func() {}
	seen := make(chan struct{})
	if strings.Contains(body, progressKey) {
		f.told = func() { <-seen }
	}
	conn := f.dial()
	if _, err := conn.Write([]byte(wire)); err != nil {
		t.Fatal(err)
	}
	reader := bufio.NewReader(conn)
	if strings.Contains(body, methodListen) {
		defer f.endStreams(reader)()
	}
	_, _ = reader.Peek(1) // answer reports what is wrong
	close(seen)
	before := ""
	response, text := f.answer(reader)
	if found := stateGiven.FindStringSubmatch(text); found != nil {
		f.state = found[1]
	}
	if response.StatusCode == http.StatusContinue {
		before = format(response, text)
		response, text = f.answer(reader)
	}
	checkNoGrant(t, response.Header)
	if response.Header.Get("Content-Type") == "text/event-stream" {
		checkStream(t, body, text)
	}
	if f.endpoint.Server.servesOlder() && !strings.Contains(written, methodHeader) {
		checkOlder(t, body, response, text)
	} else {
		checkSchema(t, body, response, text)
	}
	return before + format(response, text), response.StatusCode
}

// asSent returns a written request as it goes over the connection, and its body.
func asSent(f *fixture, written string) (sent, body string) {
	head, body, _ := strings.Cut(written, "\n\n")
	head, body = fill(f, head), fill(f, body)
	head = strings.ReplaceAll(head, "$LENGTH", fmt.Sprint(len(body)))
	head = strings.ReplaceAll(head+"\n\n", "\n", "\r\n")
	return strings.ReplaceAll(head, "$LF\r\n", "\n") + body, body
}

func fill(f *fixture, text string) string {
	_, port, _ := strings.Cut(f.address.String(), ":")
	return strings.NewReplacer("$ADDR", f.address.String(), "$PORT", port, "$FULL", fullToken, "$SCOPED", scopedToken,
		"$ELICIT", elicitToken, "$OTHER", otherToken, "$HELD", heldToken, "$IN_TASK", inTaskToken, "$STATE", f.state,
		"$META", goodMeta, "$FF", "\xff", "$CR", "\r").Replace(text)
}

// endStreams stops the endpoint once an answer has begun, since a subscription ends when somebody ends it. What it
// returns makes the endpoint serve again.
func (f *fixture) endStreams(reader *bufio.Reader) func() {
	f.t.Helper()
	if _, err := reader.Peek(1); err != nil {
		f.t.Fatalf("no answer: %v", err)
	}
	f.stop()
	return func() { f.start(int(f.address.Port())) }
}

var stateGiven = regexp.MustCompile(`"requestState":"([A-Za-z0-9_-]+)"`)

var secondsRun = regexp.MustCompile(`"progress":[0-9.]+`)

var requestID = regexp.MustCompile(`\br-[a-z2-7]{16}\b`)

// format writes an answer down, without what differs from run to run.
func format(response *http.Response, body string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", response.Proto, response.Status)
	response.Header.Del("Date")
	if err := response.Header.Write(&b); err != nil {
		return err.Error()
	}
	if response.Close {
		b.WriteString("Connection: close\n")
	}
	if body != "" {
		fmt.Fprintf(&b, "\n%s\n", strings.TrimRight(body, "\n"))
	}
	text := secondsRun.ReplaceAllString(b.String(), `"progress":$$SECONDS`)
	text = stateGiven.ReplaceAllString(text, `"requestState":"$$STATE"`)
	return requestID.ReplaceAllString(strings.ReplaceAll(text, "\r\n", "\n"), "$$REQUEST")
}

// checkStream holds every event of a stream against the published schema; the last is the answer to request.
func checkStream(t *testing.T, request, stream string) {
	t.Helper()
	messages := events(t, stream)
	if len(messages) == 0 {
		t.Fatal("a stream without events")
	}
	last := len(messages) - 1
	for i, message := range messages[:last] {
		var sent struct {
			Method string `json:"method"`
		}
		if err := json.Unmarshal([]byte(message), &sent); err != nil {
			t.Fatal(err)
		}
		definition := notificationDefinitions[sent.Method]
		if i > 0 && sent.Method == "notifications/subscriptions/acknowledged" {
			t.Errorf("the acknowledgement is not the first: %s", stream)
		}
		if err := validate(definition, message); err != nil {
			t.Error(err)
		}
	}
	checkSchema(t, request, &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}}, messages[last])
}

// events returns the data of the events of a whole stream.
func events(t *testing.T, stream string) []string {
	t.Helper()
	var messages []string
	for _, event := range strings.SplitAfter(stream, "\n\n") {
		data, isData := strings.CutPrefix(event, "data: ")
		if event == "" || event == ":\n\n" {
			continue
		}
		if !isData || !strings.HasSuffix(data, "\n\n") || strings.Count(data, "\n") != 2 {
			t.Fatalf("not an event of one line of data: %q", event)
		}
		messages = append(messages, strings.TrimSuffix(data, "\n\n"))
	}
	return messages
}

var notificationDefinitions = map[string]string{
	"notifications/progress":                   "ProgressNotification",
	"notifications/subscriptions/acknowledged": "SubscriptionsAcknowledgedNotification",
	"notifications/tools/list_changed":         "ToolListChangedNotification",
}

// checkOlder holds an exchange with an older client against the schemas of the revisions that it may have negotiated.
func checkOlder(t *testing.T, request string, response *http.Response, answer string) {
	t.Helper()
	if response.Header.Get("Content-Type") != "application/json" {
		return
	}
	var sent struct{ Method string }
	var got struct{ Result, Error json.RawMessage }
	if err := errors.Join(json.Unmarshal([]byte(request), &sent), json.Unmarshal([]byte(answer), &got)); err != nil {
		t.Fatal(err)
	}
	definition := map[string]string{methodInitialize: "InitializeRe", methodList: "ListToolsRe", methodCall: "CallToolRe", "ping": "PingRe"}[sent.Method]
	for _, revision := range olderRevisions {
		if got.Error != nil {
			envelope := map[string]string{"2025-11-25": "JSONRPCErrorResponse", "2025-06-18": "JSONRPCError"}[revision]
			if err := validate(revision+" "+envelope, answer); err != nil {
				t.Error(err)
			}
			continue
		}
		result := definition + "sult"
		if sent.Method == "ping" {
			result = "EmptyResult"
		}
		if err := errors.Join(validate(revision+" "+definition+"quest", request), validate(revision+" "+result, string(got.Result))); err != nil {
			t.Error(err)
		}
	}
}

// checkSchema holds an exchange against the published schema.
func checkSchema(t *testing.T, request string, response *http.Response, answer string) {
	t.Helper()
	if response.Header.Get("Content-Type") != "application/json" {
		return
	}
	if response.StatusCode != http.StatusOK {
		if err := validateError(answer); err != nil {
			t.Error(err)
		}
		return
	}
	var sent struct {
		Method string `json:"method"`
		Params struct {
			Name string `json:"name"`
		} `json:"params"`
	}
	// A chunked body is not JSON as it is sent; its request is checked where it is sent plainly.
	if json.Unmarshal([]byte(request), &sent) == nil {
		definition, _, _ := definitionsOf(sent.Method)
		if err := validate(definition, request); err != nil {
			t.Error(err)
		}
	} else {
		sent.Method, sent.Params.Name = methodCall, echoVerb.Verb().Name
	}
	_, definition, known := definitionsOf(sent.Method)
	if !known {
		t.Errorf("%q was answered with a result", sent.Method)
		return
	}
	if err := validate(definition, answer); err != nil {
		t.Error(err)
	}
	if sent.Method == methodCall {
		checkStructured(t, sent.Params.Name, answer)
	}
}

// checkStructured holds a tool's result against its own output schema, and its text against its result.
func checkStructured(t *testing.T, tool, answer string) {
	t.Helper()
	var got struct {
		Result struct {
			Type       string          `json:"resultType"`
			Structured json.RawMessage `json:"structuredContent"`
			IsError    bool            `json:"isError"`
			Content    []textContent   `json:"content"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(answer), &got); err != nil {
		t.Fatal(err)
	}
	if got.Result.Type == inputRequired {
		return // it is a question and no result of the tool
	}
	if len(got.Result.Content) != 1 || got.Result.Content[0].Text == "" {
		t.Errorf("a result has one text: %s", answer)
	}
	if got.Result.IsError {
		if got.Result.Structured != nil {
			t.Errorf("a refusal does not fit the output schema, so it is no structuredContent: %s", answer)
		}
		return
	}
	for _, verb := range []*registry.Verb{echoVerb.Verb(), waitVerb.Verb(), tellVerb.Verb(), writeVerb.Verb(), removeVerb.Verb()} {
		if verb.Name != tool {
			continue
		}
		resolved, err := render.Tools([]*registry.Verb{verb})[0].OutputSchema.CloneSchemas().Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := validateWith(resolved, "result of "+tool, string(got.Result.Structured)); err != nil {
			t.Error(err)
		}
		if got.Result.Content[0].Text != string(got.Result.Structured) {
			t.Errorf("the text is not the result: %s", answer)
		}
	}
}
