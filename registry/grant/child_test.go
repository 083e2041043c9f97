package grant

import (
	"slices"
	"strings"
	"testing"

	"termic/registry"
	"termic/registry/ident"
	"termic/registry/refusal"
	"termic/registry/verbs"
	"termic/sandbox/capability"
)

func identTask(s string) ident.Task { return ident.Task(s) }

func yes() *bool { b := true; return &b }
func no() *bool  { return new(bool) }

// wish asks for a task as B1 of the fake world.
func wish(t *testing.T, w *fakeWorld, project string, child registry.Wish, projects ...string) registry.Decision {
	t.Helper()
	book := NewBook()
	if child.Name == "" {
		child.Name = "kid"
	}
	return check(NewGuard(book, w), scopedCaller(t, w, book, "t-b1"), verbs.TaskNew.Verb(), registry.Target{Project: project, Projects: projects, Child: &child})
}

func TestAChildIsAsCagedAsItsMakerWhereNothingIsAsked(t *testing.T) {
	w := newFakeWorld()
	d := wish(t, w, "", registry.Wish{})
	if !d.Allow || d.Subject.Project != "p-b" {
		t.Fatalf("%+v", d)
	}
	own := w.task("t-b1").Declared
	own.Set.Write = capability.Paths{} // two tasks never share what they write
	if child := *d.Subject.Child; child.Mode != own.Mode || !child.Set.Equal(own.Set) {
		t.Errorf("child %s %q, maker %s %q", child.Mode, child.Set.Words(), own.Mode, own.Set.Words())
	}
	if !slices.Equal(d.Subject.Projects, []ident.Project{"p-c"}) {
		t.Errorf("projects %v", d.Subject.Projects)
	}
}

func TestEachAxisOfAChildMayBeNarrowerAndNeverWider(t *testing.T) {
	for name, c := range map[string]struct {
		wish     registry.Wish
		project  string
		projects []string
		code     refusal.Code
		says     string // in the refusal
	}{
		"a narrower host":               {wish: registry.Wish{Hosts: []string{"a.example.com:443"}}},
		"no host":                       {wish: registry.Wish{Hosts: []string{}}},
		"a host more":                   {wish: registry.Wish{Hosts: []string{"a.example.com:443", "evil.example.org:443"}}, code: refusal.ExceedsGrant, says: `"evil.example.org:443"`},
		"another port":                  {wish: registry.Wish{Hosts: []string{"a.example.com:22"}}, code: refusal.ExceedsGrant, says: "22"},
		"a wider pattern":               {wish: registry.Wish{Hosts: []string{"*.com:443"}}, code: refusal.ExceedsGrant, says: "*.com"},
		"a directory in what it reads":  {wish: registry.Wish{Read: []string{"/opt/sdk/lib"}}},
		"a directory beside it":         {wish: registry.Wish{Read: []string{"/opt/sdk2"}}, code: refusal.ExceedsGrant, says: "/opt/sdk2"},
		"the directory above":           {wish: registry.Wish{Read: []string{"/opt"}}, code: refusal.ExceedsGrant, says: "/opt"},
		"out of it by dots":             {wish: registry.Wish{Read: []string{"/opt/sdk/../other"}}, code: refusal.BadInput, says: ".."},
		"a directory in what it writes": {wish: registry.Wish{Write: []string{"/data/shared/x"}}},
		"another to write":              {wish: registry.Wish{Write: []string{"/data"}}, code: refusal.ExceedsGrant, says: "/data"},
		"to write what it reads":        {wish: registry.Wish{Write: []string{"/opt/sdk"}}, code: refusal.ExceedsGrant, says: "/opt/sdk"},
		"to read what it writes":        {wish: registry.Wish{Read: []string{"/data/shared/x"}}},
		"to read above what it writes":  {wish: registry.Wish{Read: []string{"/data"}}, code: refusal.ExceedsGrant, says: "/data"},
		"no path at all":                {wish: registry.Wish{Read: []string{}, Write: []string{}}},
		"the same mode":                 {wish: registry.Wish{Cage: "enforce"}},
		"enforce-fs":                    {wish: registry.Wish{Cage: "enforce-fs"}, code: refusal.ExceedsGrant, says: "mode"},
		"monitor":                       {wish: registry.Wish{Cage: "monitor"}, code: refusal.ExceedsGrant, says: "mode"},
		"no cage":                       {wish: registry.Wish{Cage: "off"}, code: refusal.ExceedsGrant, says: "mode"},
		"no control plane":              {wish: registry.Wish{MCP: no()}},
		"the control plane":             {wish: registry.Wish{MCP: yes()}},
		"a project of its maker":        {wish: registry.Wish{Projects: true}, projects: []string{"gamma"}},
		"in another of its projects":    {project: "gamma"},
		"a project of nobody's":         {wish: registry.Wish{Projects: true}, projects: []string{"alpha"}, code: refusal.NotFound, says: "no such project"},
		"in a project of nobody's":      {project: "alpha", code: refusal.NotFound, says: "no such project"},
		"a relative path":               {wish: registry.Wish{Read: []string{"opt"}}, code: refusal.BadInput, says: "opt"},
		"a host that is none":           {wish: registry.Wish{Hosts: []string{"a b"}}, code: refusal.BadInput, says: "a b"},
		"the longest name":              {wish: registry.Wish{Name: strings.Repeat("a", 40)}},
		"a longer name":                 {wish: registry.Wish{Name: strings.Repeat("a", 41)}, code: refusal.BadInput},
		"a name in capitals":            {wish: registry.Wish{Name: "Kid"}, code: refusal.BadInput},
		"a name with a slash":           {wish: registry.Wish{Name: "a/b"}, code: refusal.BadInput},
		"a name with a dot":             {wish: registry.Wish{Name: "a.b"}, code: refusal.BadInput},
		"a name with a line break":      {wish: registry.Wish{Name: "kid\n"}, code: refusal.BadInput},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFakeWorld()
			d := wish(t, w, c.project, c.wish, c.projects...)
			if code(d) != c.code {
				t.Fatalf("%+v %v", d, d.Refusal)
			}
			if !d.Allow {
				if !strings.Contains(d.Refusal.Error(), c.says) {
					t.Errorf("%v", d.Refusal)
				}
				return
			}
			if err := d.Subject.Child.ChildOf(w.task("t-b1").Declared, w.Support(capability.Enforce)); err != nil {
				t.Errorf("allowed, and yet: %v", err)
			}
		})
	}
}

func TestWhatIsAskedForIsWhatTheChildGets(t *testing.T) {
	w := newFakeWorld()
	d := wish(t, w, "gamma", registry.Wish{Hosts: []string{"a.example.com:443"}, Read: []string{}, Projects: true})
	if !d.Allow {
		t.Fatal(d.Refusal)
	}
	child := *d.Subject.Child
	if got := child.Set.Network.Items(); !slices.Equal(got, []string{"a.example.com:443"}) {
		t.Errorf("hosts %q", got)
	}
	if got := child.Set.Read.Items(); len(got) != 0 {
		t.Errorf("reads %q", got)
	}
	if got := child.Set.Write.Items(); len(got) != 0 {
		t.Errorf("writes %q, which is its maker's", got)
	}
	if got := child.Set.Control.Projects(); !slices.Equal(got, []string{"p-c"}) || len(d.Subject.Projects) != 0 {
		t.Errorf("drives %q %v", got, d.Subject.Projects)
	}
	if d := wish(t, w, "", registry.Wish{MCP: no()}); d.Subject.Child.Set.Control.Level() != "none" {
		t.Errorf("drives %q", d.Subject.Child.Set.Words())
	}
}

func TestOnlyALiveTaskMakesTasks(t *testing.T) {
	w, book := newFakeWorld(), NewBook()
	guard, caller := NewGuard(book, w), scopedCaller(t, w, book, "t-b1")
	target := registry.Target{Child: &registry.Wish{Name: "kid"}}
	d := check(guard, caller, verbs.TaskNew.Verb(), target)
	if !d.Allow {
		t.Fatal(d.Refusal)
	}
	w.task("t-b1").Archived = true
	if again := d.Again(); code(again) != refusal.NotPermitted {
		t.Errorf("at the effect: %+v", again)
	}
	if d := check(guard, caller, verbs.TaskNew.Verb(), target); code(d) != refusal.NotPermitted {
		t.Errorf("afterwards: %+v", d)
	}
}

func TestAChildIsComparedAgainWhenItIsMade(t *testing.T) {
	w, book := newFakeWorld(), NewBook()
	d := check(NewGuard(book, w), scopedCaller(t, w, book, "t-b1"), verbs.TaskNew.Verb(), registry.Target{Child: &registry.Wish{Name: "kid"}})
	if again := d.Again(); !again.Allow {
		t.Fatalf("%+v", again)
	}
	w.task("t-b1").Declared.Set.Network = hosts("api.example.com:443")
	if again := d.Again(); code(again) != refusal.ExceedsGrant {
		t.Errorf("the maker was narrowed: %+v", again)
	}
}

func TestALiveCheckoutIsThePersons(t *testing.T) {
	w, book := newFakeWorld(), NewBook()
	d := check(NewGuard(book, w), scopedCaller(t, w, book, "t-b1"), verbs.TaskNew.Verb(), registry.Target{Live: true, Child: &registry.Wish{Name: "kid"}})
	if code(d) != refusal.NotPermitted {
		t.Errorf("%+v", d)
	}
}

// TestALiveCheckoutIsNotInherited: a maker in the live checkout (monitor) makes children with their own.
func TestALiveCheckoutIsNotInherited(t *testing.T) {
	w := newFakeWorld()
	control, _ := capability.ScopedControl("p-b")
	w.task("t-b1").Declared = capability.Declared{Mode: capability.Monitor, Set: capability.Set{Checkout: capability.LiveCheckout, Control: control}}
	d := wish(t, w, "", registry.Wish{})
	if !d.Allow || d.Subject.Child.Set.Checkout != capability.OwnCheckout {
		t.Errorf("%+v %v", d, d.Refusal)
	}
}
