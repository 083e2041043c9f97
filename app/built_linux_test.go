package app

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termic/app/ctl"
	"termic/registry/refusal"
)

// startBuilt runs the built program on the rig's data directory, as a program of its own, until stop.
func (r *rig) startBuilt() {
	r.t.Helper()
	out, err := os.Create(filepath.Join(r.t.TempDir(), "serve.log"))
	if err != nil {
		r.t.Fatal(err)
	}
	defer out.Close()
	serve := exec.Command(testTermic, "serve")
	serve.Env = append(r.environ, "TERMIC_DATA_DIR="+r.dir)
	serve.Stdout, serve.Stderr = out, out
	if err := serve.Start(); err != nil {
		r.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- serve.Wait() }()
	r.stop = func() error {
		r.stop = nil
		if err := serve.Process.Signal(os.Interrupt); err != nil {
			return err
		}
		return <-ended
	}
	for deadline := time.Now().Add(30 * time.Second); !strings.Contains(readFile(r.t, out.Name()), "termic serves"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) || len(ended) > 0 {
			r.t.Fatalf("the program did not start:\n%s", readFile(r.t, out.Name()))
		}
	}
	r.client = ctl.NewClient(r.dir)
}

// ask makes a discovery with other headers or another host than discover does, and returns the status.
func askAs(t *testing.T, url, token string, change func(*http.Request)) int {
	t.Helper()
	request, err := http.NewRequest(http.MethodPost, url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer " + token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "server/discover",
	} {
		request.Header.Set(name, value)
	}
	change(request)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

// TestEveryEnforcedBoundaryRefuses does forbidden things to the built program (its own process, socket, port and cages),
// and the same without what forbids them. Each case is a row of registry.Boundaries.
func TestEveryEnforcedBoundaryRefuses(t *testing.T) {
	r := newRig(t)
	other := filepath.Join(filepath.Dir(r.repo), "other")
	newRepository(t, other)
	r.must("project_add", `{"path":%q}`, other)
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	r.startBuilt()
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	token, url := r.secret("mcp-token"), "http://127.0.0.1:"+r.secret("mcp-port")+"/mcp"
	r.cagedTask("lead", `,"mcp":true`)
	r.task("outsider", "test", "")
	r.wait("lead")
	status := func(want int, change func(*http.Request)) {
		t.Helper()
		if got := askAs(t, url, token, change); got != want {
			t.Errorf("status %d, want %d", got, want)
		}
	}
	nothing := func(*http.Request) {}
	allowed := func(call string) {
		t.Helper()
		if got := r.tell("lead", "call "+call); toolError.MatchString(got) {
			t.Errorf("twin: %s: %s", call, got)
		}
	}
	cases := []struct {
		name string
		try  func(t *testing.T)
	}{
		{"origin", func(*testing.T) {
			status(http.StatusForbidden, func(q *http.Request) { q.Header.Set("Origin", "https://evil.example.org") })
			status(http.StatusOK, nothing)
		}},
		{"host", func(*testing.T) {
			status(http.StatusMisdirectedRequest, func(q *http.Request) { q.Host = "evil.example.org" })
			status(http.StatusOK, nothing)
		}},
		{"credential", func(*testing.T) {
			for _, wrong := range []string{"", "Bearer", "Bearer x", "Bearer " + token + "x", "Basic " + token} {
				status(http.StatusUnauthorized, func(q *http.Request) { q.Header.Set("Authorization", wrong) })
			}
			status(http.StatusOK, nothing)
		}},
		{"doors", func(t *testing.T) {
			status(http.StatusUnauthorized, func(q *http.Request) { q.Header.Set("Authorization", "Bearer "+r.secret("cli-token")) })
			status(http.StatusOK, nothing)
		}},
		{"files", func(t *testing.T) {
			for name, mode := range map[string]os.FileMode{"": 0o700, "cli-token": 0o600, "mcp-token": 0o600, "mcp-port": 0o600} {
				info, err := os.Stat(filepath.Join(r.dir, name))
				if err != nil || info.Mode().Perm() != mode {
					t.Errorf("%q: %v, %v", name, info.Mode(), err)
				}
			}
		}},
		{"scope", func(*testing.T) {
			r.refusedInside("lead", map[string]string{`task_list {}`: "unknown tool", `cage_edit {"task":"lead","cage":"off"}`: "unknown tool", `hold_answer {}`: "unknown tool"})
			allowed(`task_agents {}`)
		}},
		{"sight", func(*testing.T) {
			r.refusedInside("lead", map[string]string{`task_status {"task":"outsider"}`: "not_found", `task_send {"task":"outsider","text":"say owned"}`: "not_found", `task_log {"task":"outsider"}`: "not_found"})
			allowed(`task_status {"task":"lead"}`)
		}},
		{"projects", func(*testing.T) {
			r.refusedInside("lead", map[string]string{`task_new {"name":"p1","project":"other","agent":"test"}`: "not_found"})
			allowed(`task_new {"name":"p2","project":"demo","agent":"test","mcp":false}`)
		}},
		{"child", func(*testing.T) {
			r.refusedInside("lead", map[string]string{
				`task_new {"name":"c1","agent":"test","cage":"off"}`:                     "exceeds_grant",
				`task_new {"name":"c2","agent":"test","cage":"enforce-fs"}`:              "exceeds_grant",
				`task_new {"name":"c3","agent":"test","hosts":["evil.example.org:443"]}`: "exceeds_grant",
				`task_new {"name":"c4","agent":"test","read":["/srv"]}`:                  "exceeds_grant",
				`task_new {"name":"c5","agent":"test","env":["HOME_SECRET"]}`:            "exceeds_grant",
			})
			allowed(`task_new {"name":"c6","agent":"test","cage":"enforce","mcp":false}`)
		}},
		{"tabs", func(*testing.T) {
			r.refusedInside("lead", map[string]string{`task_tab_close {"task":"lead","tab":"test"}`: "not_permitted"})
			allowed(`task_tab_close {"task":"c6","tab":"test"}`)
		}},
		{"budget", func(*testing.T) {
			r.must("task_budget", `{"task":"lead","children":3}`)
			allowed(`task_new {"name":"b1","agent":"test","mcp":false}`)
			r.refusedInside("lead", map[string]string{`task_new {"name":"b2","agent":"test","mcp":false}`: "exceeds_grant"})
		}},
		{"revoked", func(t *testing.T) {
			for _, g := range r.must("grant_list", `{}`)["grants"].([]any) {
				if g := g.(map[string]any); g["holder"] == "client" {
					status(http.StatusOK, nothing)
					r.must("grant_revoke", `{"grant":%q}`, g["id"])
				}
			}
			status(http.StatusUnauthorized, nothing)
		}},
		{"binding", func(t *testing.T) {
			r.must("settings_set", `{"key":"mcp.enabled","value":"false"}`)
			r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
			fresh := r.secret("mcp-token")
			status(http.StatusUnauthorized, nothing)
			token = fresh
			status(http.StatusOK, nothing)
		}},
		{"stop", func(t *testing.T) {
			status(http.StatusOK, nothing)
			r.must("control_stop", `{}`)
			status(0, nothing)
			r.refused(refusal.NotFound, "grant_revoke", `{"grant":"g-none"}`) // the command line goes on
		}},
	}
	for _, c := range cases {
		if !builtCases[c.name] {
			t.Errorf("case %s is not in the list", c.name)
		}
		t.Run(c.name, func(sub *testing.T) {
			outer := t
			t, r.t = sub, sub
			defer func() { t, r.t = outer, outer }()
			c.try(sub)
		})
	}
	if len(cases) != len(builtCases) {
		t.Error(fmt.Sprint(len(cases), " cases, ", len(builtCases), " in the list"))
	}
}
