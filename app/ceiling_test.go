package app

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// eventsOf opens a subscription with a client's token, over the port or over the socket, and returns its events as they come.
func (r *rig) eventsOf(token string, overSocket bool) <-chan string {
	r.t.Helper()
	body := `{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	request := discovery(r.t, r.url(), token)
	request.Body, request.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	request.Header.Set("Mcp-Method", "subscriptions/listen")
	transport := &http.Transport{}
	if overSocket {
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(r.dir, socketName))
		}
	}
	r.t.Cleanup(transport.CloseIdleConnections)
	answer, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil || answer.StatusCode != http.StatusOK {
		r.t.Fatalf("subscribe: %v, %v", answer, err)
	}
	r.t.Cleanup(func() { _ = answer.Body.Close() })
	told := make(chan string, 16)
	go func() {
		defer close(told)
		for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				told <- data
			}
		}
	}()
	return told
}

// toldOf waits for the next event, which must contain want.
func (r *rig) toldOf(told <-chan string, want string) {
	r.t.Helper()
	select {
	case event, open := <-told:
		if !open || !strings.Contains(event, want) {
			r.t.Fatalf("told %q (open %v), want %s", event, open, want)
		}
	case <-time.After(20 * time.Second):
		r.t.Fatalf("nothing is told, want %s", want)
	}
}

func TestSubscriptionsHearOfANewCeilingAndGoOn(t *testing.T) {
	r, _ := newClientRig(t)
	r.must("client_add", `{"client":"mine","other":true,"ceiling":"write"}`)
	token := r.secret("clients/mine.token")
	streams := []<-chan string{r.eventsOf(token, false), r.eventsOf(token, true)}
	all := func(want string) {
		t.Helper()
		for _, told := range streams {
			r.toldOf(told, want)
		}
	}
	all("notifications/subscriptions/acknowledged")
	for _, ceiling := range []string{"read", "destructive"} {
		r.must("client_add", `{"client":"mine","other":true,"ceiling":%q}`, ceiling)
		all("notifications/tools/list_changed")
		if r.secret("clients/mine.token") != token {
			t.Errorf("%s: the client lost its token", ceiling)
		}
	}
	r.must("client_add", `{"client":"mine","other":true,"ceiling":"destructive"}`) // changes nothing, so nothing is told
	r.must("client_remove", `{"client":"mine"}`)
	all(`"resultType":"complete"`)
	for _, told := range streams {
		if event, open := <-told; open {
			t.Errorf("after the end came %s", event)
		}
	}
}

// TestWhatAClientBeganEndsWithTheCeilingThatAllowedIt: a wait of a client whose ceiling is lowered ends, one whose ceiling is raised
// goes on, and a call that waits for the person is not made any more.
func TestWhatAClientBeganEndsWithTheCeilingThatAllowedIt(t *testing.T) {
	r, _ := newClientRig(t)
	r.must("client_add", `{"client":"mine","other":true,"ceiling":"write"}`)
	token := r.secret("clients/mine.token")
	r.task("one", "test", "")
	archive := make(chan string, 1)
	raise := func(ceiling string) { r.must("client_add", `{"client":"mine","other":true,"ceiling":%q}`, ceiling) }
	waiting := func() int { return len(r.must("hold_list", `{}`)["calls"].([]any)) }
	raise("destructive")
	url := r.url()
	go func() { archive <- callTool(t, url, token, "task_archive", `{"task":"one"}`) }()
	eventually(t, "the call waits for the person", func() bool { return waiting() == 1 })
	raise("destructive")
	if waiting() != 1 {
		t.Fatal("the same ceiling again ended what waits")
	}
	raise("write")
	if got := <-archive; !strings.Contains(got, `"revoked"`) {
		t.Errorf("it was answered %s", got)
	}
	if waiting() != 0 || len(r.must("task_list", `{}`)["tasks"].([]any)) != 1 {
		t.Error("the call waits on, or was made")
	}
	if got := callTool(t, r.url(), token, "task_rename", `{"task":"one","name":"two"}`); strings.Contains(got, `"isError":true`) {
		t.Errorf("the same token within its new ceiling: %s", got)
	}
}
