// Package cgroup holds all processes of a cage together to limits of memory, processes and processor time, by control
// groups of version 2, where the machine lets an ordinary program make one: in its user's systemd session, or below a
// group that was delegated to it.
//
// It is no wall: a cage without it shows no more. So what cannot be limited refuses no cage, and nothing counts as
// limited unless the kernel's own files said so afterwards (Group.Held).
package cgroup

import (
	"errors"
	"slices"
)

// Limits bound what all processes of a cage take of the machine together. Zero members bound nothing.
type Limits struct {
	Memory    int64 // bytes; a process that would take more is killed, and nothing is swapped out
	Processes int64 // and threads; one more is refused
	CPUWeight int64 // share of the processors where others want them too; 100 is what everything else has
}

// The bounds of Limits.
const (
	MinMemory    = 256 << 20 // bytes; an agent in JavaScript takes some 200 MB
	MaxCPUWeight = 10000     // cpu.weight, Documentation/admin-guide/cgroup-v2.rst
)

// limit is one member of Limits, as the kernel and as systemd have it.
type limit struct {
	controller, file, property string
	of                         func(*Limits) *int64
}

var limits = []limit{
	{"memory", "memory.max", "MemoryMax", func(l *Limits) *int64 { return &l.Memory }},
	{"pids", "pids.max", "TasksMax", func(l *Limits) *int64 { return &l.Processes }},
	{"cpu", "cpu.weight", "CPUWeight", func(l *Limits) *int64 { return &l.CPUWeight }},
}

// Usage is what the processes of a group take now. A member that is not counted is negative.
type Usage struct {
	Memory    int64 // bytes
	Processes int64 // and threads
}

// ErrNone: this machine lets the program make no group that limits anything. The text says why.
var ErrNone = errors.New("no limits")

// usable returns which of the controllers that limits need are in the list.
func usable(controllers []string) []string {
	var found []string
	for _, l := range limits {
		if slices.Contains(controllers, l.controller) {
			found = append(found, l.controller)
		}
	}
	return found
}
