package app

import (
	"fmt"
	"strings"
	"testing"

	"termic/registry/refusal"
)

// limitOf returns one limit of a task, as its status shows it.
func (r *rig) limitOf(task, name string) map[string]any {
	r.t.Helper()
	limits, _ := r.must("task_status", `{"task":%q}`, task)["limits"].([]any)
	for _, one := range limits {
		if l := one.(map[string]any); l["name"] == name {
			return l
		}
	}
	r.t.Fatalf("%s has no limit %s: %v", task, name, limits)
	return nil
}

// TestLimitsOfATask: the settings say what a cage may take, the person says it for one task, and what is shown as held is
// what this machine holds, by the doctor's own try.
func TestLimitsOfATask(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.refused(refusal.BadInput, "settings_set", `{"key":"cage.memory","value":"100"}`)
	r.must("settings_set", `{"key":"cage.memory","value":"2048"}`)
	r.cagedShell("fix", "")
	check := r.finding("cage limits")
	for name, what := range map[string]string{"memory": "memory", "cpu_weight": "share of the processors"} {
		if name == "cpu_weight" {
			r.must("cage_edit", `{"task":"fix","cpu_weight":20,"confirm":true}`)
			r.wait("fix")
		}
		l := r.limitOf("fix", name)
		here, _, _ := strings.Cut(fmt.Sprint(check["evidence"]), "not held to")
		if held := check["state"] != "off" && strings.Contains(here, what); l["held"] != held || !held && l["why"] == nil {
			t.Errorf("%s: %v, and the doctor says %v", name, l, check)
		}
	}
	max := func(want, own any) {
		t.Helper()
		if l := r.limitOf("fix", "memory"); l["max"] != want || l["own"] != own {
			t.Errorf("%v, want %v, its own %v", l, want, own)
		}
	}
	max(2048.0, false)
	no := r.refused(refusal.Conflict, "cage_edit", `{"task":"fix","memory":512}`)
	if !strings.Contains(no.Reason, "shell") {
		t.Errorf("what it ends is not said: %s", no.Reason)
	}
	memoryHeld, _, _ := strings.Cut(fmt.Sprint(check["evidence"]), "not held to")
	lacks := check["state"] == "off" || !strings.Contains(memoryHeld, "memory")
	for _, how := range []string{`"dry_run":true`, `"confirm":true`} { // what nothing holds is said before, and in the answer
		can := fmt.Sprint(r.must("cage_edit", `{"task":"fix","memory":512,%s}`, how)["can"])
		if strings.Contains(can, "Nothing holds it to its limits here (memory") != lacks {
			t.Errorf("%s: held here: %v, and it can %s", how, !lacks, can)
		}
	}
	max(512.0, true)
	r.must("cage_edit", `{"task":"fix","memory":0,"confirm":true}`)
	max(0.0, true)
	r.must("settings_set", `{"key":"cage.memory","value":"4096"}`)
	r.must("cage_edit", `{"task":"fix","memory":-1,"confirm":true}`)
	max(4096.0, false)
	r.restart()
	r.wait("fix")
	if l := r.limitOf("fix", "cpu_weight"); l["max"] != 20.0 || l["own"] != true {
		t.Errorf("after a restart: %v", l)
	}

	r.refused(refusal.BadInput, "cage_edit", `{"task":"fix","memory":100,"confirm":true}`)
	r.refused(refusal.BadInput, "cage_edit", `{"task":"fix","cage":"off","memory":512,"confirm":true}`)
	r.must("cage_edit", `{"task":"fix","cage":"off","confirm":true}`)
	if limits := r.must("task_status", `{"task":"fix"}`)["limits"]; limits != nil {
		t.Errorf("a task without a cage has limits: %v", limits)
	}
	r.must("cage_edit", `{"task":"fix","cage":"enforce","confirm":true}`)
	if l := r.limitOf("fix", "cpu_weight"); l["max"] != 0.0 {
		t.Errorf("limits came back with the cage: %v", l)
	}
}

// TestAChildBeginsWithTheLimitsOfItsMaker, and is not told of the machine's.
func TestAChildBeginsWithTheLimitsOfItsMaker(t *testing.T) {
	t.Parallel()
	r := orchestra(t, `,"mcp":true`)
	r.must("cage_edit", `{"task":"lead","memory":1024,"confirm":true}`)
	r.wait("lead")
	got := r.tell("lead", `let w = call task_new {"name":"w1","agent":"test","mcp":false}`, `call task_status {"task":"w1"}`)
	if strings.Contains(got, `"limits"`) || strings.Contains(got, "1024") {
		t.Errorf("an agent is told: %s", got)
	}
	if l := r.limitOf("w1", "memory"); l["max"] != 1024.0 || l["own"] != true {
		t.Errorf("%v", l)
	}
}

// TestTheWarningOfDiskUseIsASetting.
func TestTheWarningOfDiskUseIsASetting(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cagedShell("fix", "")
	r.inside("fix", `python3 -c 'import os; os.posix_fallocate(os.open("big", os.O_CREAT | os.O_WRONLY), 0, 1 << 30)'`)
	if out := r.must("task_disk", `{"task":"fix"}`); out["warning"] != nil {
		t.Errorf("below the threshold: %v", out)
	}
	r.must("settings_set", `{"key":"disk.warning","value":"1"}`)
	if out := r.must("task_disk", `{"task":"fix"}`); !strings.Contains(fmt.Sprint(out["warning"]), "more than 1 GiB") {
		t.Errorf("above it: %v", out)
	}
	r.must("settings_set", `{"key":"disk.warning","value":"0"}`)
	if out := r.must("task_disk", `{"task":"fix"}`); out["warning"] != nil {
		t.Errorf("it is off: %v", out)
	}
}
