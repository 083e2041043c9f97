package task

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"termic/app/cage"
	"termic/registry/ident"
	"termic/registry/refusal"
	"termic/sandbox/capability"
)

// inMemory makes tasks in memory: id, then its parents, the nearest first.
func inMemory(lines ...[]ident.Task) *Tasks {
	s := &Tasks{Tools: Tools{Machine: cage.NewMachine("", nil)}, tasks: map[ident.Task]*task{}}
	for _, line := range lines {
		r := Record{ID: line[0], Parents: line[1:], Mode: capability.Monitor, OwnCheckout: true, Stage: Live, Created: time.Now().UTC()}
		if len(r.Parents) > 0 {
			r.Creator = r.Parents[0]
		}
		s.tasks[r.ID] = newTask(r)
	}
	return s
}

func codeOf(err error) refusal.Code {
	if no, ok := refusal.From(err); ok {
		return no.Code
	}
	return ""
}

// TestManyCallsAtOnceGetWhatIsLeft: 64 callers at the limit less one, of whom one gets the place.
func TestManyCallsAtOnceGetWhatIsLeft(t *testing.T) {
	s := inMemory([]ident.Task{"t-o"})
	for i := range DefaultBudget.Children - 1 {
		if _, err := s.reserve(childOf("t-o", fmt.Sprint("early", i))); err != nil {
			t.Fatal(err)
		}
	}
	var all sync.WaitGroup
	results := make(chan error, 64)
	for i := range 64 {
		all.Go(func() {
			_, err := s.reserve(childOf("t-o", fmt.Sprint("late", i)))
			results <- err
		})
	}
	all.Wait()
	close(results)
	made := 0
	for err := range results {
		switch codeOf(err) {
		case "":
			made++
		case refusal.ExceedsGrant:
		default:
			t.Errorf("%v", err)
		}
	}
	if made != 1 {
		t.Errorf("%d were made", made)
	}
}

func childOf(creator ident.Task, name string) New {
	return New{Name: name, Project: "p-one", Mode: capability.Monitor, Creator: creator, Scoped: true, Still: func() error { return nil }}
}

func TestAFailedCreationGivesItsPlaceBack(t *testing.T) {
	s := inMemory([]ident.Task{"t-o"})
	var last *task
	for i := range DefaultBudget.Children {
		made, err := s.reserve(childOf("t-o", fmt.Sprint("c", i)))
		if err != nil {
			t.Fatal(err)
		}
		last = made
	}
	if _, err := s.reserve(childOf("t-o", "more")); codeOf(err) != refusal.ExceedsGrant {
		t.Fatalf("%v", err)
	}
	s.mu.Lock()
	delete(s.tasks, last.record().ID) // what forget does
	s.mu.Unlock()
	if _, err := s.reserve(childOf("t-o", "more")); err != nil {
		t.Errorf("after one was given back: %v", err)
	}
}

func TestEachBudgetAboveIsHeld(t *testing.T) {
	for name, c := range map[string]struct {
		budget  Budget // of t-o
		tasks   [][]ident.Task
		creator ident.Task
		code    refusal.Code
	}{
		"the third generation":              {Budget{}, [][]ident.Task{{"t-1", "t-o"}, {"t-2", "t-1", "t-o"}}, "t-2", ""},
		"the fourth":                        {Budget{}, [][]ident.Task{{"t-1", "t-o"}, {"t-2", "t-1", "t-o"}, {"t-3", "t-2", "t-1", "t-o"}}, "t-3", refusal.ExceedsGrant},
		"the first, of one":                 {Budget{Depth: 1}, nil, "t-o", ""},
		"the second, of one":                {Budget{Depth: 1}, [][]ident.Task{{"t-1", "t-o"}}, "t-1", refusal.ExceedsGrant},
		"a child of two":                    {Budget{Children: 2}, [][]ident.Task{{"t-1", "t-o"}}, "t-o", ""},
		"the third of two":                  {Budget{Children: 2}, [][]ident.Task{{"t-1", "t-o"}, {"t-2", "t-o"}}, "t-o", refusal.ExceedsGrant},
		"a grandchild is no child":          {Budget{Children: 1}, [][]ident.Task{{"t-1", "t-o"}}, "t-1", ""},
		"a grandchild counts in the total":  {Budget{Total: 1}, [][]ident.Task{{"t-1", "t-o"}}, "t-1", refusal.ExceedsGrant},
		"and within the hour":               {Budget{Hourly: 1}, [][]ident.Task{{"t-1", "t-o"}}, "t-1", refusal.ExceedsGrant},
		"another's tasks count nowhere":     {Budget{Total: 1}, [][]ident.Task{{"t-x"}, {"t-y", "t-x"}}, "t-o", ""},
		"a maker that is gone has no limit": {Budget{}, [][]ident.Task{{"t-1", "t-gone"}}, "t-1", ""},
	} {
		s := inMemory(append([][]ident.Task{{"t-o"}}, c.tasks...)...)
		s.tasks["t-o"].current.Load().Budget = c.budget
		if _, err := s.reserve(childOf(c.creator, "new")); codeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestArchivedTasksCountInTheTotalAndOldOnesNotInTheHour(t *testing.T) {
	s := inMemory([]ident.Task{"t-o"}, []ident.Task{"t-1", "t-o"}, []ident.Task{"t-2", "t-o"})
	s.tasks["t-1"].current.Load().Stage = Archived
	s.tasks["t-2"].current.Load().Created = time.Now().Add(-2 * budgetWindow)
	budget, left, ok := s.BudgetOf("t-o")
	want := Budget{Depth: 3, Children: 7, Total: 62, Hourly: 31}
	if !ok || budget != DefaultBudget || left != want {
		t.Errorf("budget %+v, left %+v, %v", budget, left, ok)
	}
	if _, left, _ := s.BudgetOf("t-1"); left.Depth != 2 {
		t.Errorf("left %+v", left)
	}
}

func TestNamesCollideInOnesOwnNamespaceOnly(t *testing.T) {
	s := inMemory([]ident.Task{"t-o"}, []ident.Task{"t-p"})
	if _, err := s.reserve(New{Name: "fix", Project: "p-one"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		who  string
		want New
		code refusal.Code
	}{
		{"the person again", New{Name: "fix", Project: "p-one"}, refusal.Conflict},
		{"a scoped caller", childOf("t-o", "fix"), ""},
		{"the same again", childOf("t-o", "fix"), refusal.Conflict},
		{"in other letters", childOf("t-o", "FIX"), refusal.Conflict},
		{"another scoped caller", childOf("t-p", "fix"), ""},
		{"a full caller, whose names are the person's", New{Name: "fix", Project: "p-one", Creator: "t-o"}, refusal.Conflict},
	} {
		if _, err := s.reserve(c.want); codeOf(err) != c.code {
			t.Errorf("%s: %v", c.who, err)
		}
	}
}

func TestATaskIsEnteredOnlyIfItsMakerStillMay(t *testing.T) {
	s := inMemory([]ident.Task{"t-o"})
	want := childOf("t-o", "one")
	want.Still = func() error { return refusal.New(refusal.Revoked, "ended", "") }
	if _, err := s.enter(want); codeOf(err) != refusal.Revoked || len(s.tasks) != 1 {
		t.Errorf("%v, %d tasks", err, len(s.tasks))
	}
	want.Still = func() error {
		if s.tasks["t-o"].life.TryLock() {
			t.Error("the maker's life is not locked while it is asked")
		}
		s.List() // whoever answers looks at the tasks
		return nil
	}
	wider := want
	wider.Mode = capability.Off
	if _, err := s.enter(wider); codeOf(err) != refusal.ExceedsGrant || len(s.tasks) != 1 {
		t.Errorf("less caged than its maker: %v", err)
	}
	made, err := s.enter(want)
	if err != nil || made.record().Creator != "t-o" || len(made.record().Parents) != 1 {
		t.Errorf("%+v, %v", made, err)
	}
	if _, err := s.enter(childOf("t-gone", "two")); codeOf(err) != refusal.NotFound {
		t.Errorf("of a maker that is gone: %v", err)
	}
}
