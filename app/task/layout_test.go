package task

import (
	"testing"

	"termic/app/agent"
	"termic/app/tab"
	"termic/registry/ident"
)

// What a tab outside the cage showed must not come before one inside, which callers of the task's own rights may read.
func TestATabTakesThePlaceOfItsOwnKindOnly(t *testing.T) {
	restored := func(name string, outside bool) *tab.Tab {
		saved := tab.Saved{ID: ident.NewTab(), Name: name, Agent: "shell", Outside: outside, Lines: []string{"from " + name}}
		return tab.Restore(saved, ident.Task("t-x"), agent.Definition{ID: "shell", Shell: true}.Normalize(), 100)
	}
	task := newTask(Record{})
	task.tabs = []*tab.Tab{restored("one", false), restored("two", true)}
	for _, row := range []struct {
		name    string
		outside bool
		want    string
	}{{"one", false, "from one"}, {"one", true, ""}, {"two", false, ""}, {"two", true, "from two"}, {"three", false, ""}} {
		got := ""
		if lines := task.before(row.name, row.outside).Lines; len(lines) > 0 {
			got = lines[0]
		}
		if got != row.want {
			t.Errorf("before %s, outside %v: %q, want %q", row.name, row.outside, got, row.want)
		}
	}
	if n := task.running(); n != 0 {
		t.Errorf("%d tabs run", n)
	}
}
