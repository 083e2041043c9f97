package app

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"termic/app/task"
	"termic/registry"
	"termic/registry/grant"
	"termic/registry/ident"
	"termic/registry/refusal"
	"termic/sandbox/capability"
)

// discovery returns a request for the endpoint's discovery with a token.
func discovery(t *testing.T, url, token string) *http.Request {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	request, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer " + token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "server/discover",
	} {
		request.Header.Set(name, value)
	}
	return request
}

// discover asks the endpoint for its discovery with a token and returns the HTTP status.
func discover(t *testing.T, url, token string) int {
	t.Helper()
	answer, err := http.DefaultClient.Do(discovery(t, url, token))
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

func (r *rig) secret(name string) string {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return ""
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}

func TestTheEndpointIsAdvertisedExactlyWhileItServes(t *testing.T) {
	r := newRig(t)
	if r.secret("mcp-token") != "" || r.secret("mcp-port") != "" {
		t.Error("advertised although it is off by default")
	}
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	token, port := r.secret("mcp-token"), r.secret("mcp-port")
	url := "http://127.0.0.1:" + port + "/mcp"
	if status := discover(t, url, token); status != http.StatusOK {
		t.Errorf("status %d with the advertised token", status)
	}
	for name, wrong := range map[string]string{"no token": "", "another": grant.NewToken(), "the command line's": r.secret("cli-token")} {
		if status := discover(t, url, wrong); status != http.StatusUnauthorized {
			t.Errorf("%s: status %d", name, status)
		}
	}
	r.must("settings_set", `{"key":"mcp.enabled","value":"false"}`)
	if r.secret("mcp-token") != "" || r.secret("mcp-port") != "" {
		t.Error("still advertised")
	}
	if status := discover(t, url, token); status != 0 {
		t.Errorf("still answers: %d", status)
	}
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	if again := r.secret("mcp-port"); again != port {
		t.Errorf("port %s, then %s", port, again)
	}
	if status := discover(t, url, token); status != http.StatusUnauthorized {
		t.Errorf("status %d with the token of an earlier binding", status)
	}
	r.restart()
	if again := r.secret("mcp-port"); again != port {
		t.Errorf("port %s, after a restart %s", port, again)
	}
}

func TestATakenPortIsNeverReplacedByAnother(t *testing.T) {
	r := newRig(t)
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	port := r.secret("mcp-port")
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	thief := &http.Server{Addr: "127.0.0.1:" + port}
	listening := make(chan error, 1)
	go func() { listening <- thief.ListenAndServe() }()
	defer thief.Close()
	for discover(t, "http://127.0.0.1:"+port+"/mcp", "x") == 0 {
		select {
		case err := <-listening:
			t.Fatal(err)
		default:
		}
	}
	r.start()
	if r.secret("mcp-token") != "" || r.secret("mcp-port") != "" {
		t.Error("advertised although it does not serve")
	}
	no := r.refused(refusal.Unavailable, "settings_set", `{"key":"mcp.enabled","value":"true"}`)
	if !strings.Contains(no.Reason, port) {
		t.Errorf("%+v", no)
	}
	thief.Close()
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`) // the twin
	if again := r.secret("mcp-port"); again != port {
		t.Errorf("port %s, then %s", port, again)
	}
}

func TestOnlyATaskWithoutACageGetsAFullToken(t *testing.T) {
	book := grant.NewBook()
	e := &endpoint{book: book, url: "http://127.0.0.1:1/mcp", tokens: map[ident.Task]string{}}
	for _, c := range []struct {
		mode capability.Mode
		mcp  bool
		want registry.Scope
	}{
		{capability.Off, false, registry.Full},
		{capability.Monitor, false, registry.ScopeNone},
		{capability.Monitor, true, registry.Scoped},
		{capability.EnforceFS, false, registry.ScopeNone},
		{capability.EnforceFS, true, registry.Scoped},
		{capability.Enforce, false, registry.ScopeNone},
		{capability.Enforce, true, registry.ScopeNone}, // at the host's port: its token is valid in its cage only
		{0, true, registry.ScopeNone},
	} {
		record := task.Record{ID: ident.NewTask(), Mode: c.mode, MCP: c.mcp}
		_, token, ok := e.Task(record, capability.Set{}, nil)
		caller, _ := book.Caller(grant.HostPort, token)
		if caller.Scope != c.want || ok != (c.want != registry.ScopeNone) {
			t.Errorf("mode %s, mcp %v: %v, scope %s, want %s", c.mode, c.mcp, ok, caller.Scope, c.want)
		}
	}
}

func TestATasksTokenEndsWithTheTaskAndWithTheEndpoint(t *testing.T) {
	for name, end := range map[string]func(r *rig){
		"archived":     func(r *rig) { r.must("task_archive", `{"task":"spy","force":true}`) },
		"endpoint off": func(r *rig) { r.must("settings_set", `{"key":"mcp.enabled","value":"false"}`) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
			url := "http://127.0.0.1:" + r.secret("mcp-port") + "/mcp"
			where := filepath.Join(t.TempDir(), "token")
			r.task("spy", "shell", fmt.Sprintf(`printf %%s "$TERMIC_MCP_TOKEN" > %s`, where))
			r.wait("spy")
			token, err := os.ReadFile(where)
			if err != nil {
				t.Fatal(err)
			}
			if status := discover(t, url, string(token)); status != http.StatusOK {
				t.Fatalf("status %d while the task lives", status)
			}
			end(r)
			r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
			if status := discover(t, url, string(token)); status != http.StatusUnauthorized {
				t.Errorf("status %d afterwards", status)
			}
		})
	}
}

func TestNoResultShowsALiveToken(t *testing.T) {
	r := newRig(t)
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	r.task("spy", "shell", `echo "<$TERMIC_MCP_TOKEN>" | tee leaked.txt`)
	r.wait("spy")
	text, diff := r.text("spy"), fmt.Sprint(r.must("task_diff", `{"task":"spy"}`)["patch"])
	for what, shown := range map[string]string{"log": text, "diff": diff} {
		if !strings.Contains(shown, "<"+grant.Redacted+">") {
			t.Errorf("the %s shows:\n%s", what, shown)
		}
	}
	path := r.must("task_status", `{"task":"spy"}`)["task"].(map[string]any)["path"].(string)
	leaked, err := os.ReadFile(filepath.Join(path, "leaked.txt"))
	if err != nil || len(leaked) < 40 {
		t.Errorf("twin: the file itself holds %q, %v", leaked, err)
	}
}

func TestNoTokenInTheAppsEnvironmentNorOnACommandLine(t *testing.T) {
	r := newRig(t)
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	where := filepath.Join(t.TempDir(), "token")
	r.task("spy", "shell", fmt.Sprintf(`printf %%s "$TERMIC_MCP_TOKEN" > %s; sleep 60`, where))
	var token []byte
	for len(token) < 40 {
		token, _ = os.ReadFile(where)
	}
	if slices.ContainsFunc(os.Environ(), func(entry string) bool { return strings.Contains(entry, "termic_") }) {
		t.Error("the app's own environment holds a token")
	}
	if _, err := os.Stat("/proc/self/cmdline"); err != nil {
		t.Skipf("needs /proc to read other processes' command lines: %v", err)
	}
	inEnvironments := 0
	for _, kind := range []string{"cmdline", "environ"} {
		files, err := filepath.Glob("/proc/[0-9]*/" + kind)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			content, err := os.ReadFile(name)
			if err != nil || !bytes.Contains(content, token) {
				continue // gone meanwhile, or none of ours
			}
			if kind == "cmdline" {
				t.Errorf("%s holds the task's token", name)
			} else {
				inEnvironments++
			}
		}
	}
	if inEnvironments == 0 {
		t.Error("twin: not even the task's own processes hold it, so this looked in the wrong place")
	}
}

func TestTabsGetTheirVariablesAndNoneOfTheAppsOwn(t *testing.T) {
	r := newRig(t)
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	r.environ = append(r.environ, "TMUX=/tmp/tmux-0/default,1,0", "CLAUDECODE=1", "TERMIC_MCP_TOKEN=forged", "KEPT=yes")
	r.start()
	r.task("look", "shell", "env | sort")
	r.wait("look")
	text := r.text("look")
	for _, want := range []string{"TERMIC_TASK=look", "TERMIC_TASK_ID=t-", "TERMIC_CLI=/", "TERM=xterm-256color", "KEPT=yes"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in:\n%s", want, text)
		}
	}
	for _, not := range []string{"TMUX=", "CLAUDECODE", "TERMIC_MCP_TOKEN", "TERMIC_MCP_URL"} {
		if strings.Contains(text, not) {
			t.Errorf("%s in:\n%s", not, text)
		}
	}
}
