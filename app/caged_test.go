//go:build linux

package app

import (
	"strings"
	"testing"
)

// cagedTask makes a caged task and returns it.
func (r *rig) cagedTask(name, agent, more string) map[string]any {
	r.t.Helper()
	made := r.must("task_new", `{"name":%q,"project":"demo","agent":%q%s}`, name, agent, more)
	return made["task"].(map[string]any)
}

func TestACagedAgentFindsOnlyItsOwnPort(t *testing.T) {
	r := newRig(t)
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	r.cagedTask("lead", "test", `,"cage":"enforce","mcp":true,"prompt":"env\ntools\ncall task_status {}\nsay it is done"`)
	if got := r.wait("lead"); got != "done" {
		t.Fatalf("outcome %q; log:\n%s", got, r.text("lead"))
	}
	text := r.text("lead")
	for _, want := range []string{"env TERMIC_MCP_URL=http://127.0.0.1:24311/mcp", "env TERMIC_MCP_TOKEN (50 bytes)", "it is done"} {
		if !strings.Contains(text, want) {
			t.Errorf("the terminal does not show %q", want)
		}
	}
	t.Logf("log:\n%s\n%s", text, r.log)
}
