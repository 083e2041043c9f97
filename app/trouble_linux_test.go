package app

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// listed is what `termic list` prints.
func (r *rig) listed() string {
	r.t.Helper()
	cmd := exec.Command(testTermic, "list", "--data-dir", r.dir)
	cmd.Env = r.environ
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("list: %v\n%s", err, out)
	}
	return string(out)
}

// TestTheListSaysWhichTasksAreInTrouble: a checkout that is gone, and a cage that could not be made; the twins beside them, and
// both once they are put right, have nothing said of them.
func TestTheListSaysWhichTasksAreInTrouble(t *testing.T) {
	r := newRig(t)
	extra := filepath.Join(sharedDir(t), "extra")
	if err := os.Mkdir(extra, 0o700); err != nil {
		t.Fatal(err)
	}
	gone := r.task("gone", "shell", "")["path"].(string)
	r.task("whole", "shell", "")
	r.must("task_new", `{"name":"caged","agent":"shell","cage":"enforce-fs","write":[%q]}`, extra)
	r.must("task_new", `{"name":"caged-whole","agent":"shell","cage":"enforce-fs"}`)
	if out := r.listed(); strings.Contains(out, "trouble") {
		t.Errorf("all is well, and it says\n%s", out)
	}
	if err := os.Rename(gone, gone+".away"); err != nil {
		t.Fatal(err)
	}
	r.restart()
	if err := os.Remove(extra); err != nil {
		t.Fatal(err)
	}
	if _, err := r.try("task_tab", `{"task":"caged","agent":"shell"}`); err == nil {
		t.Fatal("a cage was made that lets through what is not there")
	}
	out := r.listed()
	table, troubles, _ := strings.Cut(out, "\ntrouble:\n")
	shown(t, troubles, "gone   checkout missing: nothing is at "+gone, "caged  its cage cannot be made: ")
	if strings.Contains(troubles, "whole") || strings.Count(table, "\n") != 5 {
		t.Errorf("the list is\n%s", out)
	}
	for _, name := range []string{"caged", "gone"} { // the window draws the same task
		if said, _ := r.status(name)["trouble"].(string); !strings.Contains(troubles, said) || said == "" {
			t.Errorf("status of %s says %q", name, said)
		}
	}
	if err := os.Rename(gone+".away", gone); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(extra, 0o700); err != nil {
		t.Fatal(err)
	}
	r.must("task_tab", `{"task":"caged","agent":"shell"}`)
	if out := r.listed(); strings.Contains(out, "trouble") {
		t.Errorf("all is well again, and it says\n%s", out)
	}
}
