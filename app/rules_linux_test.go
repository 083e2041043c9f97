package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termic/registry/refusal"
)

// keepRules writes the person's rules as a file that somebody, or an older version, left.
func (r *rig) keepRules(rules ...string) {
	r.t.Helper()
	if err := r.stop(); err != nil {
		r.t.Fatal(err)
	}
	text := fmt.Sprintf(`{"version":1,"data":[%s]}`, strings.Join(rules, ","))
	if err := os.WriteFile(filepath.Join(r.dir, "holds.json"), []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
	r.start()
}

// TestARuleThatNamesWhatThereIsNotDeniesWhatItCovered: a kept rule with a project or a verb that there is not is not taken
// over. What it covered is denied (of a verb that there is not nobody knows what that was: all of its caller's), and the
// list says which rule it is. Rules that name what there is work as before.
func TestARuleThatNamesWhatThereIsNotDeniesWhatItCovered(t *testing.T) {
	r := newRig(t)
	other := filepath.Join(filepath.Dir(r.repo), "other")
	newRepository(t, other)
	project := r.added(other)["id"].(string)
	r.task("fix", "shell", "")
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	r.must("client_add", `{"client":"strict","other":true}`)
	r.keepRules(
		fmt.Sprintf(`{"id":"l-1","holder":%q,"verb":"task_log","project":"p-aaaaaaaaaaaaaaaa","policy":"allow"}`, clientName),
		fmt.Sprintf(`{"id":"l-2","holder":%q,"verb":"task_diff","project":%q,"policy":"allow"}`, clientName, project),
		`{"id":"l-3","holder":"strict","verb":"task_frobnicate","policy":"ask"}`,
	)
	for _, c := range []struct {
		name, token, verb string
		want              refusal.Code
	}{
		{"what the rule with no project covered", "mcp-token", "task_log", refusal.NotPermitted},
		{"twin: what a rule with a project covers", "mcp-token", "task_diff", ""},
		{"twin: another verb of that caller", "mcp-token", "task_status", ""},
		{"all of the caller of a rule with no verb", "clients/strict.token", "task_status", refusal.NotPermitted},
	} {
		if code, err := callOver(r.url(), r.secret(c.token), c.verb, `{"task":"fix"}`); err != nil || code != c.want {
			t.Errorf("%s: %q, %v; want %q", c.name, code, err, c.want)
		}
	}
	refused := map[string]bool{}
	for _, rule := range r.must("hold_list", `{}`)["rules"].([]any) {
		refused[rule.(map[string]any)["id"].(string)] = rule.(map[string]any)["refused"] == true
	}
	if len(refused) != 3 || !refused["l-1"] || refused["l-2"] || !refused["l-3"] {
		t.Errorf("the list says of the rules: %v", refused)
	}
	r.must("hold_forget", `{"id":"l-1"}`)
	if code, err := callOver(r.url(), r.secret("mcp-token"), "task_log", `{"task":"fix"}`); err != nil || code != "" {
		t.Errorf("twin: once it is forgotten: %q, %v", code, err)
	}
}

// TestRulesGoWithTheirProject: what the person allowed or denied for a project covers nothing once the project is removed, so
// it is gone too, and denies nothing elsewhere. Rules for other projects stay.
func TestRulesGoWithTheirProject(t *testing.T) {
	r := newRig(t)
	other := filepath.Join(filepath.Dir(r.repo), "other")
	newRepository(t, other)
	gone, stays := r.added(other)["id"].(string), r.added(r.repo)["id"].(string)
	r.task("fix", "shell", "")
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	r.keepRules(
		fmt.Sprintf(`{"id":"l-1","holder":%q,"verb":"task_log","project":%q,"policy":"allow"}`, clientName, gone),
		fmt.Sprintf(`{"id":"l-2","holder":%q,"verb":"task_diff","project":%q,"policy":"deny"}`, clientName, gone),
		fmt.Sprintf(`{"id":"l-3","holder":%q,"verb":"task_status","project":%q,"policy":"deny"}`, clientName, stays),
	)
	r.must("project_remove", `{"project":"other"}`)
	rules := jsonOf(t, r.must("hold_list", `{}`)["rules"])
	if strings.Contains(rules, "l-1") || strings.Contains(rules, "l-2") || !strings.Contains(rules, "l-3") {
		t.Errorf("the rules are %s", rules)
	}
	for verb, want := range map[string]refusal.Code{"task_log": "", "task_diff": "", "task_status": refusal.NotPermitted} {
		if code, err := callOver(r.url(), r.secret("mcp-token"), verb, `{"task":"fix"}`); err != nil || code != want {
			t.Errorf("%s: %q, %v; want %q", verb, code, err, want)
		}
	}
}
