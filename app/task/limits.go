package task

import (
	"cmp"
	"context"
	"fmt"

	"termic/app/settings"
	"termic/registry/ident"
	"termic/registry/refusal"
	"termic/sandbox/cgroup"
)

// Limits bound what a task's cage takes of the machine. A member is 0 for what the settings say, and negative for none.
// They are no part of what a task may touch: where a machine cannot hold them, the cage starts all the same and says so.
type Limits struct {
	Memory    int `json:"memory,omitzero"` // MiB
	Processes int `json:"processes,omitzero"`
	CPUWeight int `json:"cpu_weight,omitzero"`
}

// limitNames are the limits in the order of cage.Cage.Limits, with their settings.
var limitNames = []struct{ name, setting string }{
	{"memory", settings.Memory}, {"processes", settings.Processes}, {"cpu_weight", settings.CPUWeight},
}

// limitsOf returns those that a cage of the task is started with.
func (s *Tasks) limitsOf(r Record) cgroup.Limits {
	value := func(own int, setting string) int64 { return int64(max(0, cmp.Or(own, s.Settings.Int(setting)))) }
	return cgroup.Limits{
		Memory:    value(r.Limits.Memory, settings.Memory) << 20,
		Processes: value(r.Limits.Processes, settings.Processes),
		CPUWeight: value(r.Limits.CPUWeight, settings.CPUWeight),
	}
}

// check refuses numbers that the settings would refuse as well.
func (l Limits) check() error {
	for i, n := range []int{l.Memory, l.Processes, l.CPUWeight} {
		if n > 0 {
			if err := settings.Check(limitNames[i].setting, fmt.Sprint(n)); err != nil {
				return err
			}
		}
	}
	return nil
}

// LimitState is a limit of a task's cage.
type LimitState struct {
	Name string // "memory" (in MiB), "processes", "cpu_weight"
	Max  int    // what its cage may take, or would if it started now; 0: any amount
	Own  bool   // it was chosen for this task, and is not as the settings say
	Held bool   // the kernel holds the running cage to it: it was read back
	Why  string // it is not held
	Uses int    // what the running cage takes now; negative: that is not counted
}

// Limits returns what a task's cage may take of the machine; nothing for a task without a cage.
func (s *Tasks) Limits(id ident.Task) []LimitState {
	record, ok := s.Get(id)
	if !ok || !record.Mode.Caged() {
		return nil
	}
	want := s.limitsOf(record)
	unit := []int64{1 << 20, 1, 1}
	own := []int{record.Limits.Memory, record.Limits.Processes, record.Limits.CPUWeight}
	list := make([]LimitState, len(limitNames))
	for i, n := range []int64{want.Memory, want.Processes, want.CPUWeight} {
		list[i] = LimitState{Name: limitNames[i].name, Max: int(n / unit[i]), Own: own[i] != 0, Uses: -1}
		if n > 0 {
			list[i].Why = "no cage of the task runs"
		}
	}
	running := s.runningCage(id)
	if running == nil {
		return list
	}
	for i, l := range running.Limits() { // as it was started; the settings may have changed since
		list[i].Max, list[i].Held, list[i].Why = int(l.Max/unit[i]), l.Held, l.Why
		if l.Uses >= 0 {
			list[i].Uses = int(l.Uses / unit[i])
		}
	}
	return list
}

// Unheld returns the names of the limits that were chosen for a task and that nothing holds its cage to on this machine, and why.
func (s *Tasks) Unheld(ctx context.Context, record Record) (names []string, why string) {
	if !record.Mode.Caged() || record.Limits == (Limits{}) {
		return nil, ""
	}
	_, held, err := s.Machine.Limits(ctx)
	held.Processes = max(held.Processes, 1) // the stage limits them without a group; whether that holds only a running cage tells
	if running := s.runningCage(record.ID); running != nil {
		if l := running.Limits()[1]; l.Max != 0 && !l.Held {
			held.Processes = 0
		}
	}
	names = unheld(record.Limits, held)
	if len(names) == 0 {
		return nil, ""
	}
	if err != nil {
		return names, err.Error()
	}
	return names, "the system does not hold it"
}

// unheld names the limits among own that are not in held.
func unheld(own Limits, held cgroup.Limits) (names []string) {
	for i, has := range []bool{held.Memory > 0, held.Processes > 0, held.CPUWeight > 0} {
		if []int{own.Memory, own.Processes, own.CPUWeight}[i] > 0 && !has {
			names = append(names, limitNames[i].name)
		}
	}
	return names
}

// admitLimits refuses limits of a task that would have no cage, and numbers that are none.
func (r Record) admitLimits() error {
	if r.Limits != (Limits{}) && !r.Mode.Caged() {
		return refusal.New(refusal.BadInput, "limits hold what runs in a cage, and the task would have none", "leave them out, or choose a cage")
	}
	return r.Limits.check()
}
