package app

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"termic/app/bridge"
	"termic/registry/refusal"
)

// What clients start, against the app that runs: the helper's header is taken, the bridge calls tools, both go on after
// new tokens, and neither does anything for who is not registered.
func TestTheHelperAndTheBridgeServeARegisteredClient(t *testing.T) {
	r, _ := newClientRig(t)
	client := bridge.Client{Name: "mine", DataDir: r.dir}
	headers := func() (string, error) {
		line, err := client.Headers(context.Background(), r.url(), "")
		var header struct{ Authorization string }
		if err == nil {
			err = json.Unmarshal(line, &header)
		}
		return strings.TrimPrefix(header.Authorization, "Bearer "), err
	}
	if token, err := headers(); err == nil {
		t.Errorf("a header for who is not registered: %q", token)
	}
	r.must("client_add", `{"client":"mine","other":true,"ceiling":"read"}`)
	in, send := io.Pipe()
	out, say := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- (&bridge.Bridge{Client: client}).Serve(context.Background(), in, say) }()
	answers := bufio.NewScanner(out)
	answers.Buffer(nil, 1<<20)
	ask := func(line string) string {
		t.Helper()
		if _, err := io.WriteString(send, line+"\n"); err != nil || !answers.Scan() {
			t.Fatalf("%v, %v", err, answers.Err())
		}
		return answers.Text()
	}
	for _, round := range []string{"at first", "after new tokens"} {
		token, err := headers()
		if err != nil || discover(t, r.url(), token) != http.StatusOK {
			t.Errorf("%s, helper: %v", round, err)
		}
		if got := ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"project_list","arguments":{}}}`); !strings.Contains(got, "demo") {
			t.Errorf("%s, bridge: %s", round, got)
		}
		if got := ask(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"project_remove","arguments":{"project":"demo"}}}`); strings.Contains(got, `"isError":false`) {
			t.Errorf("%s, above its ceiling: %s", round, got)
		}
		r.must("settings_set", `{"key":"mcp.enabled","value":"false"}`)
		if _, err := headers(); !isRefusal(err, refusal.NotPermitted, refusal.Unavailable) {
			t.Errorf("a header while nothing serves: %v", err)
		}
		if got := ask(`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`); !strings.Contains(got, "the endpoint is switched off") {
			t.Errorf("%s, while nothing serves: %s", round, got)
		}
		r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	}
	r.must("client_remove", `{"client":"mine"}`)
	if got := ask(`{"jsonrpc":"2.0","id":4,"method":"tools/list"}`); !strings.Contains(got, "no client of that name is registered") {
		t.Errorf("after it was removed: %s", got)
	}
	if err := send.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func isRefusal(err error, codes ...refusal.Code) bool {
	no, ok := refusal.From(err)
	for _, code := range codes {
		if ok && no.Code == code {
			return true
		}
	}
	return false
}
