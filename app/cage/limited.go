package cage

import (
	"cmp"
	"context"

	"termic/sandbox/cgroup"
	"termic/sandbox/stage"
)

// Limit is one limit of a running cage.
type Limit struct {
	What string // in words: "memory", "the number of its processes", "its share of the processors"
	Max  int64  // of Limits, 0: none was asked for
	Held bool   // it was read back from the kernel
	Why  string // it is not held
	Uses int64  // what it takes now; negative: that is not counted
}

// limited is what came of a cage's limits. A cage that cannot be limited is a cage all the same.
type limited struct {
	want, held cgroup.Limits
	group      *cgroup.Group // nil: it has none
	why        string        // there is none
}

// place returns what puts a cage into a group; nil when nothing is to be limited.
func (l *limited) place(ctx context.Context, groups *cgroup.Groups, name string) func(pid int) {
	if l.want == (cgroup.Limits{}) {
		return nil
	}
	return func(pid int) {
		group, err := groups.Put(ctx, name, pid, l.want)
		if err != nil {
			l.why = err.Error()
			return
		}
		l.group, l.held = group, group.Held
		l.why = "the control group does not have that limit"
	}
}

// count takes note of what the stage itself limits.
func (l *limited) count(report stage.Report) {
	if report.Processes != 0 {
		l.held.Processes = int64(report.Processes)
	}
}

func (l *limited) remove() error {
	if l.group == nil {
		return nil
	}
	return l.group.Remove()
}

// Limits returns what it may take of the machine, whether it is held to that, and what it takes.
func (c *Cage) Limits() []Limit {
	l := c.limited
	uses := cgroup.Usage{Memory: -1, Processes: -1}
	if l.group != nil {
		uses = l.group.Usage()
	}
	list := []Limit{
		{What: "memory", Max: l.want.Memory, Held: l.held.Memory != 0, Uses: uses.Memory},
		{What: "the number of its processes", Max: l.want.Processes, Held: l.held.Processes != 0, Uses: uses.Processes},
		{What: "its share of the processors", Max: l.want.CPUWeight, Held: l.held.CPUWeight != 0, Uses: -1},
	}
	for i := range list {
		if list[i].Max != 0 && !list[i].Held {
			list[i].Why = cmp.Or(l.why, "this machine cannot")
		}
	}
	return list
}
