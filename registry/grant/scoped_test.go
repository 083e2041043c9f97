package grant

import (
	"slices"
	"strings"
	"testing"

	"termic/registry"
	"termic/registry/refusal"
	"termic/registry/verbs"
	"termic/sandbox/capability"
)

// TestTheWorkedExample is the example of the design: A1 may act on project A, B1 on B and C. Both ask for a task
// in C.
func TestTheWorkedExample(t *testing.T) {
	w, book := newFakeWorld(), NewBook()
	guard := NewGuard(book, w)
	a1, b1 := scopedCaller(t, w, book, "t-a1"), scopedCaller(t, w, book, "t-b1")
	send := func(c registry.Caller, task string) registry.Decision {
		return check(guard, c, verbs.TaskSend.Verb(), registry.Target{Task: task, MainTab: true})
	}
	if d := send(a1, "t-w2"); code(d) != refusal.NotFound || !strings.Contains(d.Why, "does not list") {
		t.Errorf("A1 sends into C: %+v", d)
	}
	if d := send(b1, "t-w2"); !d.Allow {
		t.Errorf("B1 sends into C: %+v", d)
	}
	w.task("t-w2").Declared.Set.Network = hosts("api.example.com:443", "elsewhere.example.org:443")
	if d := send(b1, "t-w2"); code(d) != refusal.ExceedsGrant || d.Rule != "limit" {
		t.Errorf("B1 sends to what reaches a host that B1 does not: %+v", d)
	}
}

func TestWhatAScopedCallerMayDoToATask(t *testing.T) {
	for name, c := range map[string]struct {
		caller  string
		verb    *registry.Verb
		target  registry.Target
		change  func(*fakeWorld)
		code    refusal.Code
		rule    string
		subject string // the tab
	}{
		"sends to its worker":                  {verb: verbs.TaskSend.Verb(), target: registry.Target{Task: "w1", MainTab: true}, subject: "b-w1"},
		"sends to a worker's worker":           {verb: verbs.TaskSend.Verb(), target: registry.Target{Task: "w3", MainTab: true}, subject: "b-w3"},
		"sends to itself":                      {verb: verbs.TaskSend.Verb(), target: registry.Target{Task: "b1", MainTab: true}, subject: "b-b1"},
		"names a task by project and name":     {verb: verbs.TaskSend.Verb(), target: registry.Target{Task: "gamma/w2", MainTab: true}, subject: "b-w2"},
		"reads its worker's log":               {verb: verbs.TaskLog.Verb(), target: registry.Target{Task: "w1", MainTab: true}, subject: "b-w1"},
		"reads its worker's diff":              {verb: verbs.TaskDiff.Verb(), target: registry.Target{Task: "w1"}},
		"waits for its worker":                 {verb: verbs.TaskWait.Verb(), target: registry.Target{Task: "w1", MainTab: true}, subject: "b-w1"},
		"asks about itself":                    {verb: verbs.TaskStatus.Verb(), target: registry.Target{OwnTask: true}},
		"asks about a worker":                  {verb: verbs.TaskStatus.Verb(), target: registry.Target{Task: "w3", OwnTask: true}},
		"asks about an archived worker":        {verb: verbs.TaskStatus.Verb(), target: registry.Target{Task: "old", Tasks: registry.AllTasks}},
		"asks what agents there are":           {verb: verbs.TaskAgents.Verb()},
		"opens a tab in its worker":            {verb: verbs.TaskTab.Verb(), target: registry.Target{Task: "w1"}},
		"closes a tab that it opened":          {verb: verbs.TaskTabClose.Verb(), target: registry.Target{Task: "w1", Tab: "claude"}, subject: "b-w1"},
		"closes a tab that another opened":     {verb: verbs.TaskTabClose.Verb(), target: registry.Target{Task: "w1", Tab: "shell"}, code: refusal.NotPermitted, rule: "opener"},
		"closes the person's tab in its own":   {verb: verbs.TaskTabClose.Verb(), target: registry.Target{Task: "b1", Tab: "claude"}, code: refusal.NotPermitted, rule: "opener"},
		"sends into a tab outside the cage":    {verb: verbs.TaskSend.Verb(), target: registry.Target{Task: "w1", Tab: "outside"}, code: refusal.NotFound, rule: "sight"},
		"names that tab by its id":             {verb: verbs.TaskLog.Verb(), target: registry.Target{Task: "w1", Tab: "b-out"}, code: refusal.NotFound, rule: "sight"},
		"sends to another's task":              {verb: verbs.TaskSend.Verb(), target: registry.Target{Task: "a1", MainTab: true}, code: refusal.NotFound, rule: "sight"},
		"sends to a task without a cage":       {verb: verbs.TaskSend.Verb(), target: registry.Target{Task: "free", MainTab: true}, code: refusal.NotFound, rule: "sight"},
		"a worker sends to its maker":          {caller: "t-w2", verb: verbs.TaskSend.Verb(), target: registry.Target{Task: "b1", MainTab: true}, code: refusal.NotFound, rule: "sight"},
		"a worker sends to its sibling":        {caller: "t-w2", verb: verbs.TaskSend.Verb(), target: registry.Target{Task: "w1", MainTab: true}, code: refusal.NotFound, rule: "sight"},
		"a worker sends to its own worker":     {caller: "t-w2", verb: verbs.TaskSend.Verb(), target: registry.Target{Task: "w3", MainTab: true}, subject: "b-w3"},
		"archives its worker":                  {verb: verbs.TaskArchive.Verb(), target: registry.Target{Task: "w1"}, code: refusal.NotPermitted, rule: "scope"},
		"adds a project":                       {verb: verbs.ProjectAdd.Verb(), code: refusal.NotPermitted, rule: "scope"},
		"calls a verb that declares nothing":   {verb: &registry.Verb{Name: "x_y", Reach: registry.ReachSelf}, code: refusal.NotPermitted, rule: "scope"},
		"calls one that reaches nothing known": {verb: &registry.Verb{Name: "x_y", Scope: registry.Scoped, Audience: registry.Everyone}, target: registry.Target{Task: "w1"}, code: refusal.NotPermitted, rule: "scope"},
		"reads a log of a project not its own": {verb: verbs.TaskLog.Verb(), target: registry.Target{Task: "w2", MainTab: true}, change: func(w *fakeWorld) { w.task("t-w2").Project = "p-a" }, code: refusal.ExceedsGrant, rule: "projects"},
		"asks about a task there":              {verb: verbs.TaskStatus.Verb(), target: registry.Target{Task: "w2"}, change: func(w *fakeWorld) { w.task("t-w2").Project = "p-a" }, rule: "sight"},
		"a second repository is not its own": {verb: verbs.TaskSend.Verb(), target: registry.Target{Task: "w2", MainTab: true}, change: func(w *fakeWorld) {
			w.task("t-w2").Also = append(w.task("t-w2").Also, "p-a")
		}, code: refusal.ExceedsGrant, rule: "projects"},
	} {
		t.Run(name, func(t *testing.T) {
			w, book := newFakeWorld(), NewBook()
			who := "t-b1"
			if c.caller != "" {
				who = c.caller
			}
			caller := scopedCaller(t, w, book, w.task(identTask(who)).ID)
			if c.change != nil {
				c.change(w)
			}
			d := check(NewGuard(book, w), caller, c.verb, c.target)
			if code(d) != c.code || c.rule != "" && d.Rule != c.rule {
				t.Fatalf("%+v %v", d, d.Refusal)
			}
			if d.Allow && string(d.Subject.Tab) != c.subject {
				t.Errorf("tab %q, want %q", d.Subject.Tab, c.subject)
			}
		})
	}
}

// TestEveryAxisOfTheTargetCounts widens a worker on one axis at a time: each verb that writes to it or reads from it
// is refused and names that axis and nothing else; what needs only sight still works.
func TestEveryAxisOfTheTargetCounts(t *testing.T) {
	widen := map[capability.Axis]func(*capability.Declared){
		capability.AxisWrite:   func(d *capability.Declared) { d.Set.Write = paths("/data/secret") },
		capability.AxisRead:    func(d *capability.Declared) { d.Set.Read = paths("/home/secret") },
		capability.AxisNetwork: func(d *capability.Declared) { d.Set.Network = hosts("secret.example.org:443") },
		capability.AxisControl: func(d *capability.Declared) {
			d.Set.Control, _ = capability.ScopedControl("p-secret")
		},
		capability.AxisEnv: func(d *capability.Declared) { d.Set.Env, _ = capability.NamesOf("SECRET_KEY") },
	}
	reaching := []*registry.Verb{verbs.TaskSend.Verb(), verbs.TaskLog.Verb(), verbs.TaskResult.Verb(), verbs.TaskWait.Verb(), verbs.TaskDiff.Verb(), verbs.TaskTab.Verb(), verbs.TaskTabClose.Verb()}
	for axis, change := range widen {
		w, book := newFakeWorld(), NewBook()
		guard, caller := NewGuard(book, w), scopedCaller(t, w, book, "t-b1")
		target := registry.Target{Task: "w1", Tab: "claude"}
		for _, verb := range reaching {
			if d := check(guard, caller, verb, target); !d.Allow {
				t.Errorf("twin: %s before: %+v", verb.Name, d)
			}
		}
		change(&w.task("t-w1").Declared)
		for _, verb := range reaching {
			d := check(guard, caller, verb, target)
			if code(d) != refusal.ExceedsGrant || !strings.Contains(d.Refusal.Reason, string(axis)) {
				t.Errorf("%s on %s: %+v", axis, verb.Name, d)
			}
			if !d.Allow && strings.Contains(strings.ToLower(d.Refusal.Error()), "secret") {
				t.Errorf("%s: the refusal tells what the target has: %v", axis, d.Refusal)
			}
		}
		if d := check(guard, caller, verbs.TaskStatus.Verb(), target); !d.Allow {
			t.Errorf("%s: status: %+v", axis, d)
		}
	}
}

// TestStoredListsAreNotWhatIsCompared: enforce-fs has every host, whatever its list says; monitor and off have everything.
func TestStoredListsAreNotWhatIsCompared(t *testing.T) {
	for name, c := range map[string]struct {
		declared capability.Declared
		ok       bool
	}{
		"the same mode":              {cage(capability.Enforce, hosts("api.example.com:443")), true},
		"enforce-fs, the same list":  {cage(capability.EnforceFS, hosts("api.example.com:443")), false},
		"enforce-fs, an empty list":  {cage(capability.EnforceFS, hosts()), false},
		"monitor, an empty list":     {capability.Declared{Mode: capability.Monitor}, false},
		"off, an empty list":         {capability.Declared{Mode: capability.Off}, false},
		"no mode at all":             {capability.Declared{}, false},
		"a live checkout in a cage":  {capability.Declared{Mode: capability.Enforce, Set: capability.Set{Checkout: capability.LiveCheckout}}, false},
		"a cage that drives all":     {capability.Declared{Mode: capability.Enforce, Set: capability.Set{Control: capability.FullControl()}}, false},
		"a cage that allows nothing": {capability.Declared{Mode: capability.Enforce}, true},
	} {
		w, book := newFakeWorld(), NewBook()
		caller := scopedCaller(t, w, book, "t-b1")
		w.task("t-w1").Declared = c.declared
		if d := check(NewGuard(book, w), caller, verbs.TaskSend.Verb(), registry.Target{Task: "w1", MainTab: true}); d.Allow != c.ok {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestAMachineThatEnforcesNothingMakesEveryoneEqual(t *testing.T) {
	w, book := newFakeWorld(), NewBook()
	strong := scopedCaller(t, w, book, "t-b1")
	w.weak = true // the target now runs where nothing holds it; the caller's limit was taken where something did
	if d := check(NewGuard(book, w), strong, verbs.TaskSend.Verb(), registry.Target{Task: "w1", MainTab: true}); code(d) != refusal.ExceedsGrant {
		t.Errorf("%+v", d)
	}
}

func TestWhatIsHiddenIsAnsweredLikeWhatIsNot(t *testing.T) {
	w, book := newFakeWorld(), NewBook()
	guard, caller := NewGuard(book, w), scopedCaller(t, w, book, "t-b1")
	for _, verb := range []*registry.Verb{verbs.TaskSend.Verb(), verbs.TaskLog.Verb(), verbs.TaskResult.Verb(), verbs.TaskStatus.Verb(), verbs.TaskDiff.Verb(), verbs.TaskTab.Verb(), verbs.TaskTabClose.Verb()} {
		answers := map[string]bool{}
		for _, selector := range []string{"a1", "t-a1", "t-free", "free", "alpha/a1", "fre", "nothing", "t-nothing", strings.Repeat("x", 300)} {
			before := w.asked
			d := check(guard, caller, verb, registry.Target{Task: selector, Tab: "b-a1"})
			answers[d.Refusal.Error()] = true
			if w.asked-before != 1 {
				t.Errorf("%s %s: the model was asked %d times", verb.Name, selector, w.asked-before)
			}
			if d.Subject.Task != "" || d.Allow {
				t.Errorf("%s %s: %+v", verb.Name, selector, d)
			}
		}
		if len(answers) != 1 {
			t.Errorf("%s: answers differ: %v", verb.Name, answers)
		}
	}
	for _, project := range []string{"alpha", "p-a", "nothing"} {
		d := check(guard, caller, verbs.TaskNew.Verb(), registry.Target{Project: project, Child: &registry.Wish{Name: "x"}})
		if d.Allow || d.Refusal.Error() != inScope(notFound("project")).Error() {
			t.Errorf("project %s: %+v", project, d)
		}
	}
}

func TestTheLogKnowsWhyWhatTheCallerDoesNot(t *testing.T) {
	w, book := newFakeWorld(), NewBook()
	guard, caller := NewGuard(book, w), scopedCaller(t, w, book, "t-b1")
	for selector, why := range map[string]string{
		"a1":     "the task is in a project that the grant does not list, and no descendant of the caller's",
		"t-free": "the task is no descendant of the caller's",
		"none":   "there is no such thing",
	} {
		if d := check(guard, caller, verbs.TaskLog.Verb(), registry.Target{Task: selector}); d.Why != why {
			t.Errorf("%s: %q", selector, d.Why)
		}
	}
}

func TestACeilingIsNamedInTheRefusal(t *testing.T) {
	w, book := newFakeWorld(), NewBook()
	for _, c := range []struct {
		ceiling registry.Class
		verb    *registry.Verb
		ok      bool
	}{
		{registry.ClassNone, verbs.TaskStatus.Verb(), false},
		{registry.Read, verbs.TaskStatus.Verb(), true},
		{registry.Read, verbs.TaskSend.Verb(), false},
		{registry.Write, verbs.TaskSend.Verb(), true},
		{registry.Write, verbs.TaskArchive.Verb(), false},
		{registry.Destructive, verbs.TaskArchive.Verb(), true},
	} {
		token, _ := book.Issue(Grant{Scope: registry.Full, Ceiling: c.ceiling, Channel: HostPort})
		caller, _ := book.Caller(HostPort, token)
		d := check(NewGuard(book, w), caller, c.verb, registry.Target{Task: "w1"})
		if d.Allow != c.ok || !c.ok && (d.Refusal.Code != refusal.NotPermitted || !strings.Contains(d.Refusal.Reason, c.ceiling.String())) {
			t.Errorf("%s at ceiling %s: %+v", c.verb.Name, c.ceiling, d)
		}
	}
}

// TestAnAllowedCallIsDecidedAgain changes the world between the decision and the effect.
func TestAnAllowedCallIsDecidedAgain(t *testing.T) {
	send := func(w *fakeWorld, book *Book, c registry.Caller) registry.Decision {
		return check(NewGuard(book, w), c, verbs.TaskSend.Verb(), registry.Target{Task: "w2", MainTab: true})
	}
	for name, c := range map[string]struct {
		between func(w *fakeWorld, book *Book, c registry.Caller)
		code    refusal.Code
	}{
		"nothing happens": {func(*fakeWorld, *Book, registry.Caller) {}, ""},
		"the caller's grant is revoked": {func(_ *fakeWorld, b *Book, c registry.Caller) {
			b.Revoke(func(g Grant) bool { return g.ID == c.Grant })
		}, refusal.Revoked},
		"the caller's ceiling is lowered": {func(_ *fakeWorld, b *Book, c registry.Caller) {
			b.Cap(func(g Grant) bool { return g.ID == c.Grant }, registry.Read)
		}, refusal.NotPermitted},
		"the caller's ceiling is raised": {func(_ *fakeWorld, b *Book, c registry.Caller) {
			b.Cap(func(g Grant) bool { return g.ID == c.Grant }, registry.Destructive)
		}, ""},
		"the target's cage is widened":   {func(w *fakeWorld, _ *Book, _ registry.Caller) { w.task("t-w2").Declared.Mode = capability.EnforceFS }, refusal.ExceedsGrant},
		"the target changes its project": {func(w *fakeWorld, _ *Book, _ registry.Caller) { w.task("t-w2").Project = "p-a" }, refusal.ExceedsGrant},
		"the tab is closed":              {func(w *fakeWorld, _ *Book, _ registry.Caller) { w.task("t-w2").Tabs = nil }, refusal.NotFound},
		"the tab is another one now": {func(w *fakeWorld, _ *Book, _ registry.Caller) {
			w.task("t-w2").Tabs = []Tab{{ID: "b-new", Name: "claude", Agent: true}}
		}, refusal.NotFound},
		"the task goes": {func(w *fakeWorld, _ *Book, _ registry.Caller) {
			w.tasks = slices.DeleteFunc(w.tasks, func(t Task) bool { return t.ID == "t-w2" })
		}, refusal.NotFound},
	} {
		w, book := newFakeWorld(), NewBook()
		caller := scopedCaller(t, w, book, "t-b1")
		first := send(w, book, caller)
		if !first.Allow {
			t.Fatalf("%+v", first)
		}
		c.between(w, book, caller)
		if again := first.Again(); code(again) != c.code {
			t.Errorf("%s: %+v", name, again)
		}
	}
}
