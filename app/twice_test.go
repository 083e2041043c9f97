//go:build linux

package app

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"testing"

	"termic/registry/refusal"
	"termic/registry/verbs"
)

// changing is what differs between two calls that do the same: times, how much there was to end, and whether an agent's
// program was looked at before.
var changing = regexp.MustCompile(`"(since|at|time|seq|request|millis|ms|evidence|ended)":("[^"]*"|[0-9]+)|"entries":.*|"checks":.*`)

// TestWhatIsCalledIdempotentIs calls every verb that says so twice, at the window, which is offered all of them: the second
// call answers as the first did, and changes nothing more.
func TestWhatIsCalledIdempotentIs(t *testing.T) {
	call, repo := newWindow(t)
	other := filepath.Join(t.TempDir(), "other")
	newRepository(t, other)
	for _, c := range [][2]string{
		{"project_add", fmt.Sprintf(`{"path":%q}`, repo)},
		{"settings_set", `{"key":"mcp.enabled","value":"true"}`},
		{"task_new", `{"name":"lead","agent":"shell"}`},
	} {
		if _, err := call(c[0], "%s", c[1]); err != nil {
			t.Fatalf("%s: %v", c[0], err)
		}
	}
	arguments := map[string]string{
		"audit_tail": `{}`, "audit_verify": `{}`,
		"client_add": `{"client":"zed","yes":true}`, "client_connect": `{"client":"zed","url":"http://127.0.0.1:1/mcp"}`, "client_list": `{}`, "client_refresh": `{}`, "client_show": `{"client":"zed"}`,
		"doctor": `{}`, "grant_list": `{}`, "hold_list": `{}`, "hold_policy": `{}`,
		"project_add": fmt.Sprintf(`{"path":%q}`, other), "project_list": `{}`,
		"settings_get": `{"key":"mcp.port"}`, "settings_set": `{"key":"terminal.scrollback","value":"500"}`, "settings_list": `{}`,
		"prompts": `{}`, "queue_list": `{"task":"lead"}`, "task_agents": `{}`, "task_budget": `{"task":"lead"}`, "task_diff": `{"task":"lead"}`, "task_commits": `{"task":"lead"}`, "task_preview": `{"name":"next","agent":"shell"}`, "window_calls": `{"task":"lead"}`, "task_list": `{}`, "task_log": `{"task":"lead"}`,
		"task_preflight": `{"task":"lead"}`, "task_open": `{"task":"lead"}`, "task_rename": `{"task":"lead","name":"lead"}`, "task_result": `{"task":"lead"}`, "task_status": `{"task":"lead"}`, "task_wait": `{"task":"lead"}`,
		"cage_denials": `{"task":"lead"}`, "server_list": `{"task":"lead"}`, "server_open": `{"task":"lead","port":8080}`, "task_disk": `{"task":"lead"}`, "task_watched": `{"task":"lead"}`, "cage_draft": `{"task":"lead"}`,
		"task_stage": `{"task":"lead","all":true}`, "task_unstage": `{"task":"lead","all":true}`, "task_discards": `{"task":"lead"}`,
		"control_stop": `{}`,
	}
	for _, verb := range verbs.All() {
		if !verb.Idempotent {
			continue
		}
		args, ok := arguments[verb.Name]
		if !ok {
			t.Errorf("%s says that it is idempotent and is not called twice here", verb.Name)
			continue
		}
		first, failed := call(verb.Name, "%s", args)
		second, again := call(verb.Name, "%s", args)
		if code(failed) != code(again) || stable(first) != stable(second) {
			t.Errorf("%s: first %s %v, then %s %v", verb.Name, stable(first), failed, stable(second), again)
		}
	}
}

// stable is a result without what changes by itself.
func stable(result map[string]any) string {
	raw, _ := json.Marshal(result) // it came from JSON
	return string(changing.ReplaceAll(raw, nil))
}

func code(err error) refusal.Code {
	if no, ok := refusal.From(err); ok {
		return no.Code
	}
	if err != nil {
		return "error"
	}
	return ""
}
