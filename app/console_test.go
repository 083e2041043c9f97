package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"termic/registry/refusal"
)

// callOver makes one tool call over MCP with a token, and returns the refusal's code, or nothing when it was done.
func callOver(url, token, verb, arguments string) (refusal.Code, error) {
	text, err := toldOver(url, token, verb, arguments)
	if err != nil {
		return "", err
	}
	var out struct {
		Meta struct {
			Refusal *refusal.Refusal `json:"termic/refusal"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal(text, &out); err != nil {
		return "", fmt.Errorf("%w: %s", err, text)
	}
	if no := out.Meta.Refusal; no != nil {
		return no.Code, nil
	}
	return "", nil
}

// toldOver calls a verb over the endpoint and returns the whole result.
func toldOver(url, token, verb, arguments string) (json.RawMessage, error) {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"tester","version":"7"}}}}`, verb, arguments)
	request, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer " + token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": verb,
	} {
		request.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	var out struct {
		Result json.RawMessage `json:"result"`
	}
	if err := json.Unmarshal(text, &out); err != nil || out.Result == nil {
		return nil, fmt.Errorf("status %d: %s", answer.StatusCode, text)
	}
	return out.Result, nil
}

// terminal is the two ends of a person's terminal in memory.
type terminal struct {
	io.Reader
	io.Writer
}

// person is somebody at the terminal that started the app.
type person struct {
	keys  *io.PipeWriter
	shown *bytes.Buffer
	lines chan string
}

// sit gives the rig's app a terminal, from the next start on.
func (r *rig) sit() *person {
	keysIn, keys := io.Pipe()
	screen, screenIn := io.Pipe()
	p := &person{keys: keys, shown: &bytes.Buffer{}, lines: make(chan string)}
	go func() {
		one := make([]byte, 4096)
		for {
			n, err := screen.Read(one)
			if err != nil {
				return
			}
			p.lines <- string(one[:n])
		}
	}()
	r.terminal = terminal{keysIn, screenIn}
	r.t.Cleanup(func() { keys.Close(); screen.Close() })
	return p
}

// see waits until the terminal shows want. It fails when the call that was to be asked about has ended before.
func (p *person) see(t *testing.T, want string, done <-chan refusal.Code) {
	t.Helper()
	for !strings.Contains(p.shown.String(), want) {
		select {
		case text := <-p.lines:
			p.shown.WriteString(text)
		case code := <-done:
			t.Fatalf("not asked: %q; shown: %q", code, p.shown)
		}
	}
	p.shown.Reset()
}

func TestADestructiveCallOfAClientWaitsForThePerson(t *testing.T) {
	r := newRig(t)
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	p := r.sit()
	r.start()
	token, url := r.secret("mcp-token"), "http://127.0.0.1:"+r.secret("mcp-port")+"/mcp"
	for name, c := range map[string]struct {
		types string
		code  refusal.Code
	}{"no": {"n\n", refusal.NotPermitted}, "just-enter": {"\n", refusal.NotPermitted}, "always": {"a\n", refusal.Held}, "yes": {"y\n", ""}} {
		if c.code == refusal.Held {
			continue // covered by the package: always is refused, and the call goes on waiting
		}
		r.task(name, "test", "")
		r.wait(name)
		done := make(chan refusal.Code, 1)
		go func() {
			code, err := callOver(url, token, "task_archive", fmt.Sprintf(`{"task":%q}`, name))
			if err != nil {
				code = refusal.Code(err.Error())
			}
			done <- code
		}()
		p.see(t, `task_archive (destructive) with {"task":"`+name+`"`, done)
		if held := r.must("hold_list", `{}`)["calls"].([]any); len(held) != 1 {
			t.Errorf("%s: %v wait", name, held)
		}
		// Neither the command line nor the client answers.
		r.refused(refusal.UnknownVerb, "hold_answer", `{"id":"h-x","digest":"x","answer":"once"}`)
		if _, err := callOver(url, token, "hold_answer", `{"id":"h-x","digest":"x","answer":"once"}`); err == nil || !strings.Contains(err.Error(), "unknown tool") {
			t.Errorf("over MCP: %v", err)
		}
		if _, err := io.WriteString(p.keys, c.types); err != nil {
			t.Fatal(err)
		}
		if code := <-done; code != c.code {
			t.Errorf("%s: %q, want %q", name, code, c.code)
		}
		archived := r.must("task_status", `{"task":%q}`, name)["task"].(map[string]any)["archived"].(bool)
		if archived != (c.code == "") {
			t.Errorf("%s: archived %v", name, archived)
		}
	}
	held := r.audited(func(e map[string]any) bool { return e["phase"] == "held" })
	if len(held) != 3 || held[0]["client_says"] != "tester 7" || held[0]["caller"] != "client" {
		t.Errorf("the log has %v", held)
	}
}

func TestWhatAnAgentWroteCannotActOnTheTerminal(t *testing.T) {
	for in, want := range map[string]string{
		"plain {\"a\":1}": "plain {\"a\":1}", "\x1b[2J": "\ufffd[2J", "a\nb": "a\ufffdb", "\u202eabc": "\ufffdabc",
	} {
		if got := printable(in); got != want {
			t.Errorf("%q is shown as %q", in, got)
		}
	}
	if got := printable(strings.Repeat("x", maxShown+5)); !strings.HasSuffix(got, fmt.Sprintf("… (%d bytes in all)", maxShown+5)) {
		t.Errorf("%q", got[len(got)-40:])
	}
}
