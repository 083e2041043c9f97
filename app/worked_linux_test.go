package app

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheWorkedExampleInRealCages is the design's example: agents A1 and B1 in cages, projects demo, beta and gamma. A1 may
// act on demo, B1 on beta and gamma. Both want a task in gamma.
func TestTheWorkedExampleInRealCages(t *testing.T) {
	r := newRig(t)
	for _, name := range []string{"beta", "gamma"} {
		repo := filepath.Join(t.TempDir(), name)
		newRepository(t, repo)
		r.must("project_add", `{"path":%q}`, repo)
	}
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	r.cagedTask("a1", `,"mcp":true`)
	r.must("task_new", `{"name":"b1","project":"beta","agent":"test","cage":"enforce","mcp":true,"projects":["gamma"]}`)
	r.wait("a1")
	r.wait("b1")
	r.refusedInside("a1", map[string]string{`task_new {"name":"w","project":"gamma","agent":"test"}`: "not_found"})
	made := r.tell("b1",
		`let w = call task_new {"name":"w","project":"gamma","agent":"test"}`, `say made $w.task.project_name $w.task.cage`,
		`let i = call task_wait {"task":"$w.task.id"}`,
		`call task_send {"task":"$w.task.id","text":"write found.txt the answer"}`,
		`let o = call task_wait {"task":"$w.task.id"}`, `let d = call task_diff {"task":"$w.task.id"}`, `say diff $d.patch`)
	for _, want := range []string{"made gamma enforce", "+the answer"} {
		if !strings.Contains(made, want) {
			t.Fatalf("no %q in: %s\nlog:\n%s", want, made, r.log)
		}
	}
	worker := r.must("task_status", `{"task":"w"}`)["task"].(map[string]any)["id"].(string)
	// To A1 the worker is not there, whichever way it is named.
	r.refusedInside("a1", map[string]string{
		`task_send {"task":"w","text":"say owned"}`:                 "not_found",
		fmt.Sprintf(`task_send {"task":%q,"text":"x"}`, worker):     "not_found",
		fmt.Sprintf(`task_diff {"task":%q}`, worker):                "not_found",
		fmt.Sprintf(`task_status {"task":%q}`, worker):              "not_found",
		fmt.Sprintf(`task_tab {"task":%q}`, worker):                 "not_found",
		`task_new {"name":"v","project":"beta","agent":"test"}`:     "not_found",
		`task_new {"name":"v","projects":["gamma"],"agent":"test"}`: "not_found",
	})
	// B1 loses gamma: it sees its worker and may act on it no more.
	r.must("cage_edit", `{"task":"b1","drop":["all"],"confirm":true}`)
	r.wait("b1")
	r.refusedInside("b1", map[string]string{
		fmt.Sprintf(`task_send {"task":%q,"text":"say owned"}`, worker): "exceeds_grant",
		fmt.Sprintf(`task_diff {"task":%q}`, worker):                    "exceeds_grant",
		`task_new {"name":"w2","project":"gamma","agent":"test"}`:       "not_found",
	})
	if got := r.tell("b1", fmt.Sprintf(`let s = call task_status {"task":%q}`, worker), `say sees $s.task.name`); !strings.Contains(got, "sees w") {
		t.Errorf("it does not see its worker: %s", got)
	}
	if got := r.tell("b1", `let own = call task_new {"name":"mine","agent":"test"}`, `say made $own.task.project_name`); !strings.Contains(got, "made beta") {
		t.Errorf("its own project is closed to it: %s\nlog:\n%s", got, r.log)
	}
}
