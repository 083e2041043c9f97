package app

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestACagedAgentHasItsState: a task's agent finds its state, settings that it cannot change and a copy of the login that
// renews nothing, and is told of the control plane; what it plants is gone after a restart of the app, and its transcript
// is there, after an archive and its undoing too.
func TestACagedAgentHasItsState(t *testing.T) {
	r := newRig(t)
	home := r.environ[slices.IndexFunc(r.environ, func(e string) bool { return strings.HasPrefix(e, "HOME=") })][len("HOME="):]
	put := func(name, content string, mode os.FileMode) {
		file := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
	}
	put(".claude/.credentials.json", `{"claudeAiOauth":{"accessToken":"good-for-a-day","refreshToken":"good-for-ever","expiresAt":4102444800000,"scopes":[]}}`, 0o600)
	put(".claude/settings.json", `{"hooks":"of-the-person"}`, 0o600)
	put("go/pkg/mod/cached", "x", 0o600)
	put(".local/bin/claude", "#!/bin/sh\nfor a; do echo \"arg $a\"; done\n", 0o755)
	for i, entry := range r.environ {
		if path, ok := strings.CutPrefix(entry, "PATH="); ok {
			r.environ[i] = "PATH=" + home + "/.local/bin:" + path
		}
	}
	r.restart()
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	made := r.must("task_new", `{"name":"lead","project":"demo","agent":"claude","cage":"enforce","mcp":true}`)["task"].(map[string]any)
	if hosts := strings.Join(texts(made["hosts"]), " "); !strings.Contains(hosts, "api.anthropic.com") {
		t.Errorf("the task's hosts are %q", hosts)
	}
	r.wait("lead")
	shown(t, r.text("lead"), "arg --dangerously-skip-permissions", `arg --mcp-config={"mcpServers":{"termic":`, "${TERMIC_MCP_TOKEN}")
	told := r.beside("lead", `cat $CLAUDE_SECURESTORAGE_CONFIG_DIR/.credentials.json; ls -A ~ ~/.claude; cat $CLAUDE_CONFIG_DIR/settings.json
		mkdir -p $CLAUDE_CONFIG_DIR/projects/-x $CLAUDE_CONFIG_DIR/skills && echo said > $CLAUDE_CONFIG_DIR/projects/-x/1.jsonl && echo do > $CLAUDE_CONFIG_DIR/skills/s
		echo x >> $CLAUDE_CONFIG_DIR/settings.json || echo settings-are-read-only`)
	shown(t, told, "good-for-a-day", "skipDangerousModePermissionPrompt", "settings-are-read-only")
	notes := strings.Join(texts(r.must("task_status", `{"task":"lead"}`)["notes"]), "\n")
	for _, want := range []string{"Claude Code is logged in by a copy", "cache go-mod: " + home} {
		if !strings.Contains(notes, want) {
			t.Errorf("the task's status does not say %q:\n%s", want, notes)
		}
	}
	for _, secret := range []string{"good-for-ever", "of-the-person"} {
		if strings.Contains(told, secret) {
			t.Errorf("the cage shows %s", secret)
		}
	}
	after := `ls $CLAUDE_CONFIG_DIR/skills; cat $CLAUDE_CONFIG_DIR/projects/-x/1.jsonl`
	check := func(when string) {
		t.Helper()
		if got := r.beside("lead", after); !strings.Contains(got, "said") || !strings.Contains(got, "No such file") {
			t.Errorf("%s there is:\n%s", when, got)
		}
	}
	r.restart()
	check("after a restart")
	r.must("task_archive", `{"task":"lead","force":true}`)
	r.must("task_restore", `{"task":"lead"}`)
	check("after an archive and its undoing")
}

// TestNotesOfACageAreThePersons: they name places outside it.
func TestNotesOfACageAreThePersons(t *testing.T) {
	r := newRig(t)
	home := r.environ[slices.IndexFunc(r.environ, func(e string) bool { return strings.HasPrefix(e, "HOME=") })][len("HOME="):]
	if err := os.MkdirAll(filepath.Join(home, "go/pkg/mod"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	r.cagedTask("lead", `,"mcp":true`)
	r.wait("lead")
	if notes := texts(r.must("task_status", `{"task":"lead"}`)["notes"]); len(notes) == 0 {
		t.Error("the person is not told what the cage has")
	}
	text := r.tell("lead", "call task_status {}")
	shown(t, text, "task_status -> ")
	if strings.Contains(text, `"notes"`) || strings.Contains(text, "go/pkg/mod") {
		t.Errorf("a cage is told of the person's caches:\n%s", text)
	}
}

// beside opens a shell beside a caged task's agent, runs lines in it, and returns what the terminal shows at its end.
func (r *rig) beside(name, lines string) string {
	r.t.Helper()
	r.lines++
	tab := fmt.Sprintf("beside-%d", r.lines)
	r.must("task_tab", `{"task":%q,"agent":"shell","name":%q}`, name, tab)
	r.must("task_send", `{"task":%q,"tab":%q,"text":%q}`, name, tab, lines+"\nexit")
	got := r.must("task_wait", `{"task":%q,"tab":%q,"timeoutMs":60000}`, name, tab)
	text := r.must("task_log", `{"task":%q,"tab":%q,"lines":2000}`, name, tab)["text"].(string)
	if got["outcome"] != "exited" {
		r.t.Fatalf("outcome %v:\n%s", got, text)
	}
	return text
}

func texts(list any) []string {
	var out []string
	items, _ := list.([]any)
	for _, item := range items {
		if text, ok := item.(string); ok {
			out = append(out, text)
		}
	}
	return out
}
