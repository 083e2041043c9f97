//go:build linux

package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termic/registry/refusal"
)

func TestTwoTasksNeverShareADirectoryThatTheyWrite(t *testing.T) {
	r := newRig(t)
	shared := sharedDir(t)
	if err := os.Mkdir(filepath.Join(shared, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	r.cagedTask("one", fmt.Sprintf(`,"write":[%q]`, shared))
	for _, path := range []string{shared, filepath.Join(shared, "sub")} {
		r.refused(refusal.Conflict, "task_new", `{"name":"two","agent":"test","cage":"enforce","write":[%q]}`, path)
	}
	r.cagedTask("two", "")
	r.refused(refusal.Conflict, "cage_edit", `{"task":"two","write":[%q],"confirm":true}`, shared)
	r.must("task_archive", `{"task":"one","force":true}`)
	r.must("cage_edit", `{"task":"two","write":[%q],"confirm":true}`, shared) // the twin: nobody else writes there now
}

// sharedDir is a directory outside /tmp, which every cage has of its own.
func sharedDir(t *testing.T) string {
	t.Helper()
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(wd, ".shared-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// What a new task would be refused ends nothing when an existing one asks for it.
func TestACageThatCouldNotStartAgainIsNotChanged(t *testing.T) {
	r := newRig(t)
	before := r.cagedTask("lead", "")
	for _, path := range []string{r.dir, filepath.Join(r.dir, "audit")} {
		r.refused(refusal.BadInput, "cage_edit", `{"task":"lead","read":[%q],"confirm":true}`, path)
	}
	after := r.must("task_status", `{"task":"lead"}`)["task"].(map[string]any)
	if fmt.Sprint(after["read"]) != fmt.Sprint(before["read"]) || len(after["tabs"].([]any)) != 1 {
		t.Errorf("%v", after)
	}
	if id := after["tabs"].([]any)[0].(map[string]any)["id"]; id != before["tabs"].([]any)[0].(map[string]any)["id"] {
		t.Error("the tab was ended")
	}
}

// Taking power away may depend on nothing (I14): not on whether the cage could be made again.
func TestUntickingWorksForACageThatCouldNotBeMadeAgain(t *testing.T) {
	r := newRig(t)
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	shared := sharedDir(t)
	r.cagedTask("lead", fmt.Sprintf(`,"mcp":true,"read":[%q]`, shared))
	r.wait("lead")
	if err := os.RemoveAll(shared); err != nil {
		t.Fatal(err)
	}
	r.refused(refusal.NotFound, "cage_edit", `{"task":"lead","hosts":["example.org"],"confirm":true}`) // the twin
	r.must("cage_edit", `{"task":"lead","mcp":false}`)
	r.must("task_send", `{"task":"lead","text":"tools"}`)
	r.wait("lead")
	shown(t, r.text("lead"), "connection refused")
}

func TestTurningACageOffNamesWhatProgramsObey(t *testing.T) {
	r := newRig(t)
	made := r.cagedTask("lead", "")
	if err := os.WriteFile(filepath.Join(made["path"].(string), ".envrc"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	no := r.refused(refusal.Conflict, "cage_edit", `{"task":"lead","cage":"off"}`)
	if !strings.Contains(no.Reason, ".envrc") {
		t.Errorf("%+v", no)
	}
	if other := r.refused(refusal.Conflict, "cage_edit", `{"task":"lead","hosts":["example.org"]}`); strings.Contains(other.Reason, ".envrc") { // the twin
		t.Errorf("%+v", other)
	}
}
