package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"termic/registry/refusal"
)

// audited returns the entries of the audit log that want is true of.
func (r *rig) audited(want func(entry map[string]any) bool) []map[string]any {
	r.t.Helper()
	var found []map[string]any
	for _, e := range r.must("audit_tail", `{"lines":2000}`)["entries"].([]any) {
		if entry := e.(map[string]any); want(entry) {
			found = append(found, entry)
		}
	}
	return found
}

func TestTheKillSwitchEndsEveryTokenAtOnce(t *testing.T) {
	r := newRig(t)
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	token, url := r.secret("mcp-token"), "http://127.0.0.1:"+r.secret("mcp-port")+"/mcp"
	if status := discover(t, url, token); status != http.StatusOK {
		t.Fatalf("twin: status %d", status)
	}
	stopped := r.must("control_stop", `{}`)
	if stopped["ended"].(float64) < 1 || stopped["saved"] != true {
		t.Errorf("%v", stopped)
	}
	if status := discover(t, url, token); status != 0 {
		t.Errorf("still answers: %d", status)
	}
	if grants := r.must("grant_list", `{}`)["grants"].([]any); len(grants) != 0 {
		t.Errorf("still live: %v", grants)
	}
	r.restart()
	if r.secret("mcp-port") != "" {
		t.Error("it serves again after a restart")
	}
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`) // the person may have it back
	if status := discover(t, "http://127.0.0.1:"+r.secret("mcp-port")+"/mcp", r.secret("mcp-token")); status != http.StatusOK {
		t.Errorf("twin: status %d", status)
	}
}

// TestTakingPowerAwayNeedsNoFreeDisk: the kill switch, a revocation and a taken-back rule work where nothing can be
// written any more (I14).
func TestTakingPowerAwayNeedsNoFreeDisk(t *testing.T) {
	small := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", small).CombinedOutput(); err != nil {
		t.Skipf("needs the right to mount a small file system: %v: %s", err, out)
	}
	defer func() {
		if out, err := exec.Command("umount", "-l", small).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	}()
	for name, take := range map[string]func(r *rig){
		"stop": func(r *rig) {
			if r.must("control_stop", `{}`)["ended"].(float64) < 1 {
				t.Error("stop: nothing ended")
			}
		},
		"revoke": func(r *rig) {
			grants := r.must("grant_list", `{}`)["grants"].([]any)
			r.must("grant_revoke", `{"grant":%q}`, grants[0].(map[string]any)["id"])
		},
	} {
		r := newRigIn(t, filepath.Join(small, name))
		r.must("settings_set", `{"key":"checkouts.dir","value":%q}`, t.TempDir())
		r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
		url, token := "http://127.0.0.1:"+r.secret("mcp-port")+"/mcp", r.secret("mcp-token")
		fill(t, filepath.Join(small, "fill"))
		r.refused(refusal.StorageFailed, "task_new", `{"name":"more","agent":"shell"}`)
		if status := discover(t, url, token); status != http.StatusOK {
			t.Errorf("twin: %s: status %d", name, status)
		}
		take(r)
		if status := discover(t, url, token); status == http.StatusOK {
			t.Errorf("%s: the token still works", name)
		}
		if err := os.Remove(filepath.Join(small, "fill")); err != nil {
			t.Fatal(err)
		}
		if err := r.stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	}
}

func TestARevokedTasksTokenIsGoneAndNoOtherComes(t *testing.T) {
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
		t.Fatalf("twin: status %d", status)
	}
	var id string
	for _, g := range r.must("grant_list", `{}`)["grants"].([]any) {
		if g := g.(map[string]any); g["task_name"] == "spy" {
			id = g["id"].(string)
			if g["used"] == nil || g["channel"] != "host port" || g["scope"] != "full" {
				t.Errorf("%v", g)
			}
		}
	}
	r.must("grant_revoke", `{"grant":%q}`, id)
	if status := discover(t, url, string(token)); status != http.StatusUnauthorized {
		t.Errorf("status %d", status)
	}
	r.refused(refusal.NotFound, "grant_revoke", `{"grant":%q}`, id)
	r.must("task_tab", `{"task":"spy","agent":"shell","name":"again"}`)
	r.must("task_send", `{"task":"spy","tab":"again","text":"echo \"<$TERMIC_MCP_TOKEN>\""}`)
	r.must("task_wait", `{"task":"spy","tab":"again","timeoutMs":30000}`)
	if text := r.must("task_log", `{"task":"spy","tab":"again"}`)["text"].(string); !strings.Contains(text, "\n<>") {
		t.Errorf("a new tab has a token again:\n%s", text)
	}
}

func TestTheAuditLogTellsWhatWasDecidedAndNothingPrivate(t *testing.T) {
	r := newRig(t)
	r.task("quiet", "test", "")
	r.wait("quiet")
	r.must("task_send", `{"task":"quiet","text":"say the-secret-word"}`)
	no := r.refused(refusal.NotFound, "task_send", `{"task":"nowhere-to-be-seen","text":"x"}`)
	sent := r.audited(func(e map[string]any) bool { return e["verb"] == "task_send" })
	phases := []string{}
	for _, e := range sent {
		phases = append(phases, fmt.Sprint(e["phase"], " ", e["decision"], " ", e["code"]))
		if e["caller"] != "cli" || e["door"] != "cli" || e["arguments"] == "" || e["request"] == "" {
			t.Errorf("%v", e)
		}
	}
	if want := []string{"decided allowed <nil>", "finished allowed <nil>", "decided refused not_found"}; !slices.Equal(phases, want) {
		t.Errorf("recorded %q, want %q", phases, want)
	}
	if last := sent[len(sent)-1]; last["request"] != no.Request || last["rule"] != "sight" {
		t.Errorf("the caller saw request %q, the log has %v", no.Request, last)
	}
	files, err := filepath.Glob(filepath.Join(r.dir, "audit", "audit-*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, private := range []string{"the-secret-word", "nowhere-to-be-seen", r.repo, r.dir, r.secret("cli-token")} {
			if strings.Contains(string(text), private) {
				t.Errorf("the log holds %q", private)
			}
		}
		if !strings.Contains(string(text), `"task_send"`) {
			t.Error("twin: this is not the log")
		}
	}
}

func TestAChangedAuditLogIsFoundByTheVerb(t *testing.T) {
	r := newRig(t)
	if got := r.must("audit_verify", `{}`); got["outcome"] != "whole" || got["entries"].(float64) < 2 {
		t.Fatalf("twin: %v", got)
	}
	files, _ := filepath.Glob(filepath.Join(r.dir, "audit", "audit-*.jsonl"))
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), `"project_add"`, `"project_bad"`, 1)
	if changed == string(text) {
		t.Fatal("nothing to change")
	}
	if err := os.WriteFile(files[0], []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := r.must("audit_verify", `{}`); got["outcome"] != "broken" || len(got["problems"].([]any)) == 0 {
		t.Errorf("%v", got)
	}
}

func TestFollowingTheAuditLogWaitsForWhatComes(t *testing.T) {
	r := newRig(t)
	next := r.must("audit_tail", `{"lines":1}`)["next"].(float64)
	got := make(chan map[string]any, 1)
	go func() {
		raw, err := r.client.Call(t.Context(), "audit_tail", json.RawMessage(fmt.Sprintf(`{"after":%d,"follow":true}`, int(next)+2)))
		result := map[string]any{}
		if err == nil {
			err = json.Unmarshal(raw, &result)
		}
		if err != nil {
			result["error"] = err.Error()
		}
		got <- result
	}()
	for {
		select {
		case result := <-got:
			entries, _ := result["entries"].([]any)
			if len(entries) == 0 || !strings.Contains(fmt.Sprint(entries), "task_agents") {
				t.Errorf("%v", result)
			}
			return
		default:
			r.must("task_agents", `{}`)
		}
	}
}

func TestThePersonEditsABudget(t *testing.T) {
	r := newRig(t)
	r.task("lead", "test", "")
	before := r.must("task_budget", `{"task":"lead"}`)
	if got := before["budget"].(map[string]any); got["depth"].(float64) != 3 || got["children"].(float64) != 8 {
		t.Errorf("%v", got)
	}
	after := r.must("task_budget", `{"task":"lead","children":2}`)
	if got := after["budget"].(map[string]any); got["depth"].(float64) != 3 || got["children"].(float64) != 2 {
		t.Errorf("%v", got)
	}
	r.restart()
	if got := r.must("task_budget", `{"task":"lead"}`)["left"].(map[string]any); got["children"].(float64) != 2 {
		t.Errorf("after a restart: %v", got)
	}
	r.refused(refusal.BadInput, "task_budget", `{"task":"lead","children":100000}`)
}
