package app

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"termic/registry"
	"termic/registry/grant"
	"termic/registry/refusal"
	"termic/sandbox/capability"
)

// eventually waits until ok returns true.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(what)
		}
	}
}

// finding returns what doctor says of name.
func (r *rig) finding(name string) map[string]any {
	for _, check := range r.must("doctor", `{}`)["checks"].([]any) {
		if check := check.(map[string]any); check["name"] == name {
			return check
		}
	}
	return nil
}

func TestTheEndpointServesAgainOnceItsPortIsFree(t *testing.T) {
	r := newRig(t)
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	port, token := r.secret("mcp-port"), r.secret("mcp-token")
	r.must("settings_set", `{"key":"mcp.enabled","value":"false"}`)
	thief, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	no := r.refused(refusal.Unavailable, "settings_set", `{"key":"mcp.enabled","value":"true"}`)
	if !strings.Contains(no.Reason, port) {
		t.Errorf("the refusal does not name the port: %v", no)
	}
	if found := r.finding("endpoint"); found["state"] != "failed" || !strings.Contains(found["evidence"].(string), port) {
		t.Errorf("doctor says %v", found)
	}
	if r.secret("mcp-port") != "" || r.secret("mcp-token") != "" || r.exists(socketName) {
		t.Error("advertised while another holds the port")
	}
	if err := thief.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it does not serve again", func() bool { return r.finding("endpoint")["state"] == "ok" })
	if again := r.secret("mcp-port"); again != port {
		t.Errorf("serves on %s, was %s", again, port)
	}
	if r.secret("mcp-token") == token {
		t.Error("the token is older than the binding")
	}
	if got := discover(t, "http://127.0.0.1:"+port+"/mcp", r.secret("mcp-token")); got != http.StatusOK {
		t.Errorf("a call gets %d", got)
	}
}

func TestAPortThatIsFreeAgainIsLeftAloneOnceAnotherIsChosen(t *testing.T) {
	r := newRig(t)
	thief, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, taken, _ := net.SplitHostPort(thief.Addr().String())
	if err := thief.Close(); err != nil {
		t.Fatal(err)
	}
	r.must("settings_set", `{"key":"mcp.port","value":%q}`, taken)
	if thief, err = net.Listen("tcp", "127.0.0.1:"+taken); err != nil {
		t.Fatal(err)
	}
	r.refused(refusal.Unavailable, "settings_set", `{"key":"mcp.enabled","value":"true"}`)
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, chosen, _ := net.SplitHostPort(other.Addr().String())
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	r.must("settings_set", `{"key":"mcp.port","value":%q}`, chosen)
	if err := thief.Close(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(retryEvery + 200*time.Millisecond) // by then a retry that was left over would have come
	if got := r.secret("mcp-port"); got != chosen {
		t.Errorf("serves on %s, want %s", got, chosen)
	}
}

func (r *rig) exists(name string) bool {
	_, err := os.Lstat(filepath.Join(r.dir, name))
	return err == nil
}

// overSocket asks for discovery over mcp.sock and returns the HTTP status.
func (r *rig) overSocket(token string, more ...string) int {
	r.t.Helper()
	request := discovery(r.t, "http://termic/mcp", token)
	for _, header := range more {
		name, value, _ := strings.Cut(header, ": ")
		request.Header.Set(name, value)
	}
	return r.over(socketName, request)
}

// over sends a request over a socket of the data directory and returns the HTTP status.
func (r *rig) over(socket string, request *http.Request) int {
	r.t.Helper()
	conn, err := net.Dial("unix", filepath.Join(r.dir, socket))
	if err != nil {
		r.t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return conn, nil }}}
	defer client.CloseIdleConnections()
	answer, err := client.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode
}

func TestTheSocketTakesFullTokensAndNoOther(t *testing.T) {
	r := newRig(t)
	if r.exists(socketName) {
		t.Error("there although the endpoint is off")
	}
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	info, err := os.Lstat(filepath.Join(r.dir, socketName))
	if err != nil || info.Mode() != os.ModeSocket|0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	full := r.secret("mcp-token")
	for _, row := range []struct {
		says, token string
		more        []string
		want        int
	}{
		{says: "a full token", token: full, want: 200},
		{says: "no token", want: 401},
		{says: "a wrong token", token: "wrong", want: 401},
		{says: "the command line's token", token: r.secret("cli-token"), want: 401},
		{says: "a page's origin", token: full, more: []string{"Origin: http://termic"}, want: 403},
	} {
		if got := r.overSocket(row.token, row.more...); got != row.want {
			t.Errorf("%s: got %d, want %d", row.says, got, row.want)
		}
	}
	for _, row := range []struct {
		says, token string
		want        int
	}{
		{"the command line's socket, its own token", r.secret("cli-token"), http.StatusOK},
		{"the command line's socket, a full token of the endpoint", full, http.StatusUnauthorized},
	} {
		if got := r.overCLISocket(row.token); got != row.want {
			t.Errorf("%s: got %d, want %d", row.says, got, row.want)
		}
	}
	r.must("settings_set", `{"key":"mcp.enabled","value":"false"}`)
	if r.exists(socketName) {
		t.Error("there although the endpoint is off again")
	}
}

// overCLISocket asks for the tasks over the command line's socket and returns the HTTP status.
func (r *rig) overCLISocket(token string) int {
	r.t.Helper()
	request, err := http.NewRequest(http.MethodPost, "http://termic/call/task_list", strings.NewReader("{}"))
	if err != nil {
		r.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	return r.over("ctl.sock", request)
}

func TestTheSocketKnowsNoScopedToken(t *testing.T) {
	book := grant.NewBook()
	issue := func(scope registry.Scope, channel grant.Channel) string {
		token, _ := book.Issue(grant.Grant{Scope: scope, Ceiling: registry.Read, Limit: capability.Unbounded(), Channel: channel})
		return token
	}
	for _, row := range []struct {
		says, token string
		want        bool
	}{
		{"a full token of the host port", issue(registry.Full, grant.HostPort), true},
		{"a scoped one", issue(registry.Scoped, grant.HostPort), false},
		{"a full one of a cage, which there is none of", issue(registry.Full, grant.OwnCage), false},
		{"none", "", false},
	} {
		if _, ok := (socketAuth{book}).Caller(row.token); ok != row.want {
			t.Errorf("%s: %v", row.says, ok)
		}
	}
}

// events keeps what is recorded.
type events []registry.Event

func (e *events) Record(_ context.Context, event registry.Event) error {
	*e = append(*e, event)
	return nil
}

func TestConnectionsOfOthersAreRecordedAtARate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var recorded events
		var out bytes.Buffer
		d := &socketDoor{sink: &recorded, log: slog.New(slog.NewTextHandler(&out, nil))}
		for range 100 {
			d.refused(os.ErrPermission)
		}
		time.Sleep(refusalsEvery)
		d.refused(os.ErrPermission)
		if len(recorded) != 2 || recorded[0].Allow || recorded[0].Verb != socketName || !strings.HasPrefix(recorded[1].Why, "100 connections") {
			t.Errorf("recorded %+v", recorded)
		}
	})
}

func TestAnOlderClientIsToldAndShownAndServedOnlyWhenThePersonSaysSo(t *testing.T) {
	r := newRig(t)
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	open := func() (int, string) {
		request := discovery(t, "http://127.0.0.1:"+r.secret("mcp-port")+"/mcp", r.secret("mcp-token"))
		request.Body = io.NopCloser(strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"gemini","version":"0.61\u001b[2J"}}}`))
		request.ContentLength = -1
		request.Header.Del("Mcp-Method")
		request.Header.Del("MCP-Protocol-Version")
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(text)
	}
	if found := r.finding("client"); found != nil {
		t.Errorf("before: doctor says %v", found)
	}
	if status, text := open(); status != http.StatusBadRequest || !strings.Contains(text, "-32022") || !strings.Contains(text, `"supported":["2026-07-28"]`) {
		t.Errorf("by default: %d %s", status, text)
	}
	found := r.finding("client")
	if evidence, _ := found["evidence"].(string); found["state"] != "warning" || !strings.Contains(evidence, "gemini 0.61[2J") || !strings.Contains(evidence, "2025-06-18") {
		t.Errorf("doctor says %v", found)
	}
	refused := func() string { return fmt.Sprint(r.must("client_list", `{}`)["refused"]) }
	if got := refused(); !strings.Contains(got, "refused:gemini 0.61[2J") || !strings.Contains(got, "revision:2025-06-18") || !strings.Contains(got, "mcp.older_clients true") {
		t.Errorf("client_list says %s", got)
	}
	r.must("settings_set", `{"key":"mcp.older_clients","value":"true"}`)
	if found, listed := r.finding("client"), refused(); found != nil || listed != "<nil>" {
		t.Errorf("doctor says %v, client_list %s of a client that would be served by now", found, listed)
	}
	if status, text := open(); status != http.StatusOK || !strings.Contains(text, `"protocolVersion":"2025-06-18"`) {
		t.Errorf("switched on: %d %s", status, text)
	}
	r.must("settings_set", `{"key":"mcp.older_clients","value":"false"}`)
	if status, _ := open(); status != http.StatusBadRequest {
		t.Errorf("switched off again: %d", status)
	}
}
