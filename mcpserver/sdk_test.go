package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"termic/registry"
)

// bearer adds a token to every request, as a client's headers helper does, and keeps what went over the wire.
type bearer struct {
	mu    sync.Mutex
	token string
	seen  []string
}

func (b *bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	b.mu.Lock()
	r.Header.Set("Authorization", "Bearer "+b.token)
	b.seen = append(b.seen, r.Method+" "+r.URL.Path+" "+r.Header.Get("Mcp-Method"))
	b.mu.Unlock()
	return http.DefaultTransport.RoundTrip(r)
}

// connect opens the endpoint with the official Go SDK's client as it ships.
func (f *fixture) connect(token string) (*mcp.ClientSession, *bearer) {
	f.t.Helper()
	wire := &bearer{token: token}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(f.t.Context(), &mcp.StreamableClientTransport{
		Endpoint: URL(f.address), HTTPClient: &http.Client{Transport: wire},
	}, nil)
	if err != nil {
		f.t.Fatalf("connect: %v", err)
	}
	f.t.Cleanup(func() { _ = session.Close() })
	return session, wire
}

func TestTheOfficialClientDiscoversListsAndCalls(t *testing.T) {
	f := newFixture(t, Limits{})
	session, wire := f.connect(fullToken)
	if got := session.InitializeResult(); got.ProtocolVersion != Revision || got.ServerInfo.Name != "termic" || got.Instructions != registry.Instructions {
		t.Errorf("discovered %+v", got)
	}
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		if tool.Annotations == nil || tool.Annotations.DestructiveHint == nil || tool.Annotations.OpenWorldHint == nil || tool.OutputSchema == nil {
			t.Errorf("%s: hints or schema are missing: %+v", tool.Name, tool)
		}
	}
	if got := strings.Join(names, " "); got != "thing_echo thing_wait thing_tell thing_write thing_remove" {
		t.Errorf("tools are %s", got)
	}
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "thing_echo", Arguments: map[string]any{"text": "grüße"}})
	if err != nil {
		t.Fatal(err)
	}
	if structured, _ := json.Marshal(result.StructuredContent); result.IsError || string(structured) != `{"text":"grüße"}` {
		t.Errorf("got %s, error %v", structured, result.IsError)
	}
	if want := "POST /mcp server/discover, POST /mcp tools/list, POST /mcp tools/call"; strings.Join(wire.seen, ", ") != want {
		t.Errorf("went over the wire: %s", strings.Join(wire.seen, ", "))
	}
}

func TestTheOfficialClientIsToldNoInWords(t *testing.T) {
	f := newFixture(t, Limits{})
	session, _ := f.connect(scopedToken)
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "thing_echo", Arguments: map[string]any{}})
	if err != nil {
		t.Fatal(err)
	}
	text, ok := result.Content[0].(*mcp.TextContent)
	if !result.IsError || !ok || !strings.Contains(text.Text, "bad_input") || result.StructuredContent != nil {
		t.Errorf("a refusal arrived as %+v", result)
	}
	if refusal, ok := result.Meta["termic/refusal"].(map[string]any); !ok || refusal["code"] != "bad_input" || refusal["request"] == "" {
		t.Errorf("a program finds no refusal: %+v", result.Meta)
	}
	if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "thing_remove", Arguments: map[string]any{"task": "a"}}); err == nil || !strings.Contains(err.Error(), "unknown tool") {
		t.Errorf("a tool of wider tokens: %v", err)
	}
	// The session goes on after an error.
	if result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "thing_echo", Arguments: map[string]any{"text": "a"}}); err != nil || result.IsError {
		t.Errorf("after an error: %+v, %v", result, err)
	}
}

func TestTheOfficialClientCancelsACall(t *testing.T) {
	f := newFixture(t, Limits{})
	session, _ := f.connect(scopedToken)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "thing_wait", Arguments: map[string]any{"task": "a"}})
		failed <- err
	}()
	f.whenBegun()
	cancel()
	if err := f.whenEnded(); !errors.Is(err, context.Canceled) {
		t.Errorf("the wait saw %v", err)
	}
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("the client saw %v", err)
	}
}

func TestTheOfficialClientGoesOnWithANewTokenAfterARebind(t *testing.T) {
	f := newFixture(t, Limits{})
	session, wire := f.connect(fullToken)
	f.stop()
	f.auth.mu.Lock()
	f.auth.live = map[string]registry.Caller{"fresh": f.auth.live[fullToken]}
	f.auth.mu.Unlock()
	f.start(int(f.address.Port()))
	echo := &mcp.CallToolParams{Name: "thing_echo", Arguments: map[string]any{"text": "a"}}
	if _, err := session.CallTool(t.Context(), echo); err == nil {
		t.Error("the old token works still")
	}
	wire.mu.Lock()
	wire.token = "fresh"
	wire.mu.Unlock()
	session, _ = f.connect("fresh")
	if result, err := session.CallTool(t.Context(), echo); err != nil || result.IsError {
		t.Errorf("with the new token: %+v, %v", result, err)
	}
}
