package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termic/registry/refusal"
)

// leadPrompt is what the orchestrating agent is told: make a task, send it a prompt, wait for it, read its log
// and its diff. It has the two variables in its environment and nothing else.
const leadPrompt = `env
let made = call task_new {"name":"worker","agent":"test"}
let ready = call task_wait {"task":"$made.task.id"}
call task_send {"task":"$made.task.id","text":"write result.txt forty-two\nsay worker is done"}
let outcome = call task_wait {"task":"$made.task.id"}
call task_log {"task":"$made.task.id"}
call task_diff {"task":"$made.task.id"}
call task_status {}
say lead is done`

func TestAnAgentDrivesAnotherTaskOverMCP(t *testing.T) {
	r := newRig(t)
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	r.task("lead", "test", leadPrompt)
	if got := r.wait("lead"); got != "done" {
		t.Fatalf("outcome %q; log:\n%s", got, r.text("lead"))
	}
	text := r.text("lead")
	for _, want := range []string{
		"env TERMIC_MCP_URL=http://127.0.0.1:",
		"env TERMIC_MCP_TOKEN (50 bytes)",
		"env TERMIC_TASK=lead",
		`"delivery":"submitted"`,
		`"outcome":"done"`,
		"worker is done",
		"+forty-two",
		`"scope":"full"`,
		"lead is done",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the lead's terminal does not show %q", want)
		}
	}
	if t.Failed() {
		t.Logf("log:\n%s", text)
	}
	worker := r.must("task_status", `{"task":"worker"}`)["task"].(map[string]any)
	lead := r.must("task_status", `{"task":"lead"}`)["task"].(map[string]any)
	if worker["creator"] != lead["id"] {
		t.Errorf("the worker's creator is %v, not the lead", worker["creator"])
	}
	if _, err := os.Stat(filepath.Join(worker["path"].(string), "result.txt")); err != nil {
		t.Error(err)
	}
	if branch := runGit(t, "-C", r.repo, "branch", "--list", "termic/worker"); branch == "" {
		t.Error("the worker has no branch of its own")
	}
}

func TestThePersonDoesTheSameAndArchivesTheWork(t *testing.T) {
	r := newRig(t)
	task := r.task("fix", "test", "")
	if got := r.wait("fix"); got != "idle" {
		t.Fatalf("outcome %q", got)
	}
	sent := r.must("task_send", `{"task":"fix","text":"write work.txt kept\nsay done"}`)
	if sent["delivery"] != "submitted" {
		t.Errorf("delivery %v", sent["delivery"])
	}
	if got := r.wait("fix"); got != "done" {
		t.Fatalf("outcome %q", got)
	}
	diff := r.must("task_diff", `{"task":"fix"}`)
	if !strings.Contains(diff["patch"].(string), "+kept") {
		t.Errorf("diff: %v", diff)
	}
	archived := r.must("task_archive", `{"task":"fix"}`)["task"].(map[string]any)
	if archived["archived"] != true {
		t.Errorf("%v", archived)
	}
	path := task["path"].(string)
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the checkout is still there: %v", err)
	}
	r.refused(refusal.NotFound, "task_log", `{"task":"fix"}`)
	r.must("task_restore", `{"task":"fix"}`)
	if content, err := os.ReadFile(filepath.Join(path, "work.txt")); err != nil || string(content) != "kept\n" {
		t.Errorf("the untracked file did not come back: %q, %v", content, err)
	}
}
