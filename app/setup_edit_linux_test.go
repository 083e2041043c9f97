package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestATabOfCommandsIsNotLostOnACageEdit: commands that run begin again in the changed cage; those that have ended still show what
// they showed; and what is not shown again is said.
func TestATabOfCommandsIsNotLostOnACageEdit(t *testing.T) {
	r, p := newRigWithPerson(t)
	r.commitRepo("setup = \"echo begun >> begun.txt; while [ ! -e go-on ]; do sleep 0.05; done; echo it-is-set-up\"\n")
	p.trust(t, r.repository()["digest"])
	made := r.must("task_new", `{"name":"fix","agent":"shell","cage":"enforce-fs"}`)["task"].(map[string]any)
	begun := func(n int) func() bool {
		return func() bool {
			text, _ := os.ReadFile(filepath.Join(made["path"].(string), "begun.txt"))
			return strings.Count(string(text), "begun\n") == n
		}
	}
	r.eventually(t, "setup runs", begun(1))
	edit := func(more string) (restarted, failed string) {
		t.Helper()
		out := r.must("cage_edit", `{"task":"fix",%s,"confirm":true}`, more)
		return joinAny(out["restarted"]), joinAny(out["failed"])
	}
	if restarted, failed := edit(`"env":["ONE"]`); !strings.Contains(restarted, "setup") || failed != "" {
		t.Errorf("restarted %q, failed %q", restarted, failed)
	}
	r.eventually(t, "setup runs again", begun(2))
	if err := os.WriteFile(filepath.Join(made["path"].(string), "go-on"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	log := func() string { return r.must("task_log", `{"task":"fix","tab":"setup"}`)["text"].(string) }
	r.eventually(t, "setup ends", func() bool { return strings.Contains(log(), "setup is done") })
	if restarted, failed := edit(`"env":["TWO"]`); strings.Contains(restarted, "setup") || failed != "" {
		t.Errorf("restarted %q, failed %q", restarted, failed)
	}
	shown(t, log(), "it-is-set-up", "setup is done")
	r.restart()
	shown(t, log(), "it-is-set-up")
	if _, failed := edit(`"cage":"monitor","drop":["all"]`); !strings.Contains(failed, "setup: ") || !strings.Contains(failed, "not kept") {
		t.Errorf("failed %q", failed)
	}
}

func joinAny(list any) string {
	var all []string
	for _, one := range list.([]any) {
		all = append(all, one.(string))
	}
	return strings.Join(all, "; ")
}
