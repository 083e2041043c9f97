package grant

import (
	"testing"

	"termic/registry"
	"termic/registry/refusal"
	"termic/sandbox/capability"
)

// namesWorld has names that begin alike, archived ones, and some of an agent's.
type namesWorld struct{}

func (namesWorld) Projects() []Project { return []Project{{"p-shop", "shop"}} }
func (namesWorld) Tasks() []Task {
	return []Task{
		{ID: "t-job", Name: "job", Project: "p-shop", Archived: true},
		{ID: "t-job2", Name: "job-2", Project: "p-shop"},
		{ID: "t-fix", Name: "fix-login", Project: "p-shop"},
		{ID: "t-gone", Name: "gone-2", Project: "p-shop", Archived: true},
		{ID: "t-live", Name: "gone", Project: "p-shop"},
		{ID: "t-boss", Name: "boss", Project: "p-shop"},
		{ID: "t-child", Name: "fix", Project: "p-shop", Namespace: "t-boss"},
		{ID: "t-twin", Name: "boss", Project: "p-shop", Namespace: "t-boss"},
		{ID: "t-hand", Name: "hand", Project: "p-shop", Namespace: "t-boss"},
	}
}
func (namesWorld) Support(capability.Mode) capability.Support { return capability.Support{} }

// TestNamesMeanThePersonsTasks: a name that agents gave never stands in the way of one of the person's, and a command that
// is repeated never hits the next task whose name begins so.
func TestNamesMeanThePersonsTasks(t *testing.T) {
	guard := NewGuard(NewBook(), namesWorld{})
	verb := &registry.Verb{Class: registry.Read, Reach: registry.ReachAct, Scope: registry.Full}
	for _, c := range []struct {
		selector string
		which    registry.Which
		want     string
		code     refusal.Code
		says     string // the reason of the refusal
	}{
		{"job", registry.LiveTasks, "", refusal.NotFound, "that task is archived"},
		{"gone-", registry.LiveTasks, "", refusal.NotFound, "that task is archived"},
		{"fix-login", registry.ArchivedTasks, "", refusal.NotFound, "that task is not archived"},
		{"nothing", registry.LiveTasks, "", refusal.NotFound, "no such task"},
		{"nothing", registry.ArchivedTasks, "", refusal.NotFound, "no such task"},
		{"job", registry.AllTasks, "t-job", "", ""},
		{"job", registry.ArchivedTasks, "t-job", "", ""},
		{"job-", registry.LiveTasks, "t-job2", "", ""}, // the twin: a prefix that is nobody's name
		{"gone", registry.ArchivedTasks, "", refusal.NotFound, "that task is not archived"},
		{"gone", registry.AllTasks, "t-live", "", ""},
		{"fix", registry.LiveTasks, "t-fix", "", ""},
		{"boss", registry.LiveTasks, "t-boss", "", ""},
		{"hand", registry.LiveTasks, "t-hand", "", ""},
		{"shop/t-boss/fix", registry.LiveTasks, "t-child", "", ""},
		{"t-child", registry.LiveTasks, "t-child", "", ""},
	} {
		d := guard.Check(t.Context(), registry.Person(registry.CLI), verb, registry.Target{Task: c.selector, Tasks: c.which})
		if string(d.Subject.Task) != c.want || d.Allow != (c.code == "") || !d.Allow && d.Refusal.Code != c.code {
			t.Errorf("%s among %v: %+v %v, want %s%s", c.selector, c.which, d.Subject, d.Refusal, c.want, c.code)
		}
		if !d.Allow && d.Refusal.Reason != c.says {
			t.Errorf("%s among %v: %q, want %q", c.selector, c.which, d.Refusal.Reason, c.says)
		}
	}
}
