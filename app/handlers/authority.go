package handlers

import (
	"context"
	"time"

	"termic/app/settings"
	"termic/app/task"
	"termic/registry"
	"termic/registry/ident"
	"termic/registry/refusal"
	"termic/registry/verbs"
)

func (s Services) bindAuthority(r *registry.Router) {
	bind(r, verbs.GrantList, s.grantList)
	bind(r, verbs.GrantRevoke, s.grantRevoke)
	bind(r, verbs.ControlStop, s.controlStop)
	bind(r, verbs.TaskBudget, s.taskBudget)
}

func (s Services) grantList(context.Context, registry.Call, verbs.None) (verbs.GrantListOut, error) {
	out := verbs.GrantListOut{Grants: []verbs.LiveGrant{}}
	for _, live := range s.Book.List() {
		g := verbs.LiveGrant{
			ID: string(live.ID), Holder: live.Name, Task: string(live.Task), Scope: live.Scope.String(), Ceiling: live.Ceiling.String(),
			Channel: live.Channel.String(), Projects: []string{}, Limit: live.Limit.Words(), Issued: live.Issued.UTC().Format(time.RFC3339),
		}
		if record, ok := s.Tasks.Get(live.Task); ok {
			g.TaskName = record.Name
		}
		if !live.Used.IsZero() {
			g.Used = live.Used.UTC().Format(time.RFC3339)
		}
		for _, id := range live.Projects {
			g.Projects = append(g.Projects, string(id))
		}
		out.Grants = append(out.Grants, g)
	}
	return out, nil
}

func (s Services) grantRevoke(_ context.Context, _ registry.Call, in verbs.GrantRevokeIn) (verbs.GrantRevokeOut, error) {
	ended := s.Endpoint.End(ident.Grant(in.Grant))
	if ended == 0 {
		return verbs.GrantRevokeOut{}, refusal.New(refusal.NotFound, "no such live grant", "see: termic grant list")
	}
	return verbs.GrantRevokeOut{Ended: ended}, nil
}

func (s Services) controlStop(context.Context, registry.Call, verbs.None) (verbs.ControlStopOut, error) {
	out := verbs.ControlStopOut{Ended: s.Endpoint.Stop()}
	// After the fact, so that a full disk does not keep anything from ending (I14).
	out.Saved = s.Settings.Set(settings.MCPEnabled, "false") == nil
	return out, nil
}

func (s Services) taskBudget(_ context.Context, call registry.Call, in verbs.TaskBudgetIn) (verbs.TaskBudgetOut, error) {
	record, err := s.record(call.Subject.Task)
	if err != nil {
		return verbs.TaskBudgetOut{}, err
	}
	wanted, changes := record.Budget, false
	for _, part := range []struct {
		asked *int
		into  *int
	}{{in.Depth, &wanted.Depth}, {in.Children, &wanted.Children}, {in.Total, &wanted.Total}, {in.Hourly, &wanted.Hourly}} {
		if part.asked != nil {
			*part.into, changes = *part.asked, true
		}
	}
	if changes {
		if _, err := s.Tasks.SetBudget(record.ID, wanted); err != nil {
			return verbs.TaskBudgetOut{}, err
		}
	}
	budget, left, _ := s.Tasks.BudgetOf(record.ID)
	return verbs.TaskBudgetOut{Budget: renderBudget(budget), Left: renderBudget(left)}, nil
}

func renderBudget(b task.Budget) verbs.Budget {
	return verbs.Budget{Depth: b.Depth, Children: b.Children, Total: b.Total, Hourly: b.Hourly}
}
