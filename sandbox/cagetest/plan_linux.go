package cagetest

import (
	"testing"

	"termic/sandbox/capability"
	"termic/sandbox/launch"
	"termic/sandbox/linuxcage"
)

// entry are the linker's flags for a program, as build/build.sh has them.
var entry = map[string]string{"stage": "-E stage_entry"}

// Plan is Profile as a plan.
func (m *Machine) Plan(t testing.TB, mode capability.Mode, set capability.Set) linuxcage.Plan {
	t.Helper()
	plan, err := linuxcage.Build(m.Profile(t, mode, set))
	plan.Watch = mode == capability.Enforce // as the app has it
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// StartPlan is Start with a plan.
func (m *Machine) StartPlan(t testing.TB, plan linuxcage.Plan) *launch.Cage {
	t.Helper()
	cage, err := launch.Start(t.Context(), m.Support, plan)
	return m.started(t, cage, err)
}
