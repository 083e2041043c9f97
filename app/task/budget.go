package task

import (
	"cmp"
	"slices"
	"time"

	"termic/registry/ident"
	"termic/registry/refusal"
)

// Budget bounds what the agents of a task may make with a scoped token, so that one that runs away is held.
type Budget struct {
	// Depth is how many generations may descend from the task.
	Depth int `json:"depth,omitempty"`
	// Children is how many live tasks it may have made itself.
	Children int `json:"children,omitempty"`
	// Total is how many tasks may descend from it, archived ones included.
	Total int `json:"total,omitempty"`
	// Hourly is how many of those may have been made within an hour.
	Hourly int `json:"hourly,omitempty"`
}

// DefaultBudget is what a task has where the person set nothing else.
var DefaultBudget = Budget{Depth: 3, Children: 8, Total: 64, Hourly: 32}

// maxBudget bounds what can be set: each task is a checkout, processes and some megabytes.
const maxBudget = 1000

// budgetWindow is the time over which Budget.Hourly counts.
const budgetWindow = time.Hour

func (b Budget) orDefault() Budget {
	return Budget{
		Depth: cmp.Or(b.Depth, DefaultBudget.Depth), Children: cmp.Or(b.Children, DefaultBudget.Children),
		Total: cmp.Or(b.Total, DefaultBudget.Total), Hourly: cmp.Or(b.Hourly, DefaultBudget.Hourly),
	}
}

// spend refuses a new task that no budget above it has room for; s.mu is held. What is counted are the records
// themselves, the ones being made among them: a creation that fails takes its record away, and so gives its
// place back.
func (s *Tasks) spend(child Record) error {
	for generation, id := range child.Parents {
		t := s.tasks[id]
		if t == nil {
			continue // deleted: it has no budget, and its own ancestors still have theirs
		}
		budget, used := t.record().Budget.orDefault(), s.used(id, child.Created)
		switch {
		case generation+1 > budget.Depth:
			return overBudget("there are %d generations of tasks already", budget.Depth)
		case generation == 0 && used.Children >= budget.Children:
			return overBudget("your task has made %d tasks that are still live", budget.Children)
		case used.Total >= budget.Total:
			return overBudget("the tasks that may be made are used up: %d", budget.Total)
		case used.Hourly >= budget.Hourly:
			return overBudget("the tasks that may be made in an hour are used up: %d", budget.Hourly)
		}
	}
	return nil
}

func overBudget(format string, n int) error {
	return refusal.Newf(refusal.ExceedsGrant, "work with the tasks that there are, or ask the person for a larger budget", format, n)
}

// used is what a task has spent of its budget; s.mu is held. Depth is left zero: it is not used up.
func (s *Tasks) used(id ident.Task, now time.Time) Budget {
	var used Budget
	for _, t := range s.tasks {
		r := t.record()
		if !slices.Contains(r.Parents, id) {
			continue
		}
		used.Total++
		if r.Creator == id && r.Stage != Archived {
			used.Children++
		}
		if now.Sub(r.Created) < budgetWindow {
			used.Hourly++
		}
	}
	return used
}

// BudgetOf returns a task's budget and what is left of it. Left.Depth is how many generations may still follow.
func (s *Tasks) BudgetOf(id ident.Task) (budget, left Budget, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	t := s.tasks[id]
	if t == nil {
		return Budget{}, Budget{}, false
	}
	budget = t.record().Budget.orDefault()
	used := s.used(id, time.Now().UTC())
	left = Budget{
		Depth: budget.Depth, Children: max(budget.Children-used.Children, 0),
		Total: max(budget.Total-used.Total, 0), Hourly: max(budget.Hourly-used.Hourly, 0),
	}
	for generation, above := range t.record().Parents {
		if a := s.tasks[above]; a != nil {
			left.Depth = max(min(left.Depth, a.record().Budget.orDefault().Depth-generation-1), 0)
		}
	}
	return budget, left, true
}

// SetBudget changes a task's budget; zero members go back to the defaults.
func (s *Tasks) SetBudget(id ident.Task, budget Budget) (Record, error) {
	for _, n := range []int{budget.Depth, budget.Children, budget.Total, budget.Hourly} {
		if n < 0 || n > maxBudget {
			return Record{}, refusal.Newf(refusal.BadInput, "choose a smaller number", "a budget is a number from 0 to %d", maxBudget)
		}
	}
	t, err := s.find(id)
	if err != nil {
		return Record{}, err
	}
	defer t.life.Unlock()
	return s.save(t, func(r *Record) { r.Budget = budget })
}
