package task

import (
	"context"
	"maps"
	"slices"
	"strings"

	"termic/app/agent"
	"termic/app/settle"
	"termic/registry/ident"
	"termic/registry/refusal"
	"termic/sandbox/capability"
)

// Edited is what came of a change to a cage.
type Edited struct {
	Record Record
	// Narrowed are the tasks that descend from it and could do more than it now can; they were narrowed with it.
	Narrowed []string
	// Restarted are the tabs that were ended and started again, Failed those that were ended only, and why.
	Restarted []string
	Failed    map[string]error
}

// reopen is a tab to be started again.
type reopen struct {
	definition agent.Definition
	tabWish
}

// EditCage changes what a task may touch. Taking its control plane away acts at once and ends nothing. Any other change
// ends everything that runs in the task, and starts its tabs again with a new token; while there are tabs it is refused
// unless confirmed, and says what it would end.
func (s *Tasks) EditCage(ctx context.Context, id ident.Task, change func(*Record) error, confirmed bool) (Edited, error) {
	t, err := s.find(id)
	if err != nil {
		return Edited{}, err
	}
	defer t.life.Unlock()
	before, _ := s.Get(id)
	next := before.clone()
	if err := change(&next); err != nil {
		return Edited{}, err
	}
	if next.Mode == capability.Enforce && before.Mode != next.Mode {
		if next.Hosts, err = s.withAgentHosts(next.Agent, next.Hosts); err != nil {
			return Edited{}, err
		}
	}
	if err := s.admitEdit(before, next); err != nil {
		return Edited{}, err
	}
	if sameCage(before, next) {
		return Edited{Record: before}, nil
	}
	narrowed, err := s.tooWide(before, next)
	if err != nil {
		return Edited{}, err
	}
	if onlyUnticked(before, next) {
		saved, err := s.untick(t)
		return Edited{Record: saved, Narrowed: names(narrowed), Failed: s.narrowAll(ctx, narrowed)}, err
	}
	if text := s.ends(id, narrowed); text != "" && !confirmed {
		return Edited{}, refusal.New(refusal.Conflict, text, "confirm it")
	}
	edited, err := s.exchangeCage(ctx, t, before, next)
	if err == nil {
		edited.Narrowed = names(narrowed)
		maps.Copy(edited.Failed, s.narrowAll(ctx, narrowed))
	}
	return edited, err
}

// ends says what a change would end; nothing, when nothing runs.
func (s *Tasks) ends(id ident.Task, narrowed []Record) string {
	var text string
	if names := s.tabNames(id); len(names) > 0 {
		text = "this ends what runs in the task (tabs " + strings.Join(names, ", ") + ") and starts the tabs again with a new token"
	}
	if len(narrowed) > 0 {
		text = strings.TrimPrefix(text+"; ", "; ") + "it narrows, and ends what runs in, the tasks that it made and that could do more: " + strings.Join(names(narrowed), ", ")
	}
	return text
}

// admitEdit refuses what a new task would be refused as well.
func (s *Tasks) admitEdit(before, next Record) error {
	if before.Stage != Live {
		return refusal.New(refusal.Conflict, "the task is "+string(before.Stage), "restore it first")
	}
	return s.admitCage(New{
		Mode: next.Mode, MCP: next.MCP, Live: !next.OwnCheckout,
		Hosts: next.Hosts, Read: next.Read, Write: next.Write, Env: next.Env,
	})
}

// sameCage tells that a change changes nothing.
func sameCage(a, b Record) bool {
	return a.Mode == b.Mode && a.MCP == b.MCP && slices.Equal(a.Projects, b.Projects) && a.lets().Equal(b.lets())
}

// lets is what a record's cage lets through.
func (r Record) lets() capability.Set {
	return capability.Set{Network: r.Hosts, Read: r.Read, Write: r.Write, Env: r.Env}
}

// onlyUnticked tells that nothing changes but that the control plane is taken away.
func onlyUnticked(before, next Record) bool {
	before.MCP = false
	return !next.MCP && sameCage(before, next)
}

func (s *Tasks) tabNames(id ident.Task) []string {
	var names []string
	for _, open := range s.Tabs(id) {
		names = append(names, open.Info().Name)
	}
	return names
}

// exchangeCage ends everything in the task, changes the record, and starts the tabs again.
func (s *Tasks) exchangeCage(ctx context.Context, t *task, before, next Record) (Edited, error) {
	if err := s.exchangeView(ctx, t, before, next); err != nil {
		return Edited{Record: before}, err
	}
	tabs := s.reopenings(t.record.ID)
	s.end(t)
	s.Credentials.Allow(t.record.ID)
	saved, err := s.save(t, func(r *Record) {
		r.Mode, r.MCP, r.Projects = next.Mode, next.MCP, next.Projects
		r.Hosts, r.Read, r.Write, r.Env = next.Hosts, next.Read, next.Write, next.Env
	})
	edited := Edited{Record: saved, Failed: map[string]error{}}
	for _, tab := range tabs { // with the old record, when the new one could not be saved
		if _, _, opening := s.openTab(ctx, t, tab.definition, tab.tabWish); opening != nil {
			s.Log.Error("tab not started again", "task", t.record.ID, "cause", opening)
			edited.Failed[tab.name] = opening
			continue
		}
		edited.Restarted = append(edited.Restarted, tab.name)
	}
	return edited, err
}

// exchangeView prepares the task's git for a cage that is turned on, or off.
func (s *Tasks) exchangeView(ctx context.Context, t *task, before, next Record) error {
	switch {
	case !before.Mode.Caged() && next.Mode.Caged():
		return s.enterView(ctx, next)
	case before.Mode.Caged() && !next.Mode.Caged():
		return s.leaveView(ctx, t)
	}
	return nil
}

// reopenings are the tabs whose programs still run. One outside the cage is opened by the person alone.
func (s *Tasks) reopenings(id ident.Task) []reopen {
	var tabs []reopen
	for _, open := range s.Tabs(id) {
		if info := open.Info(); info.State != settle.Exited && !info.Outside {
			if definition, err := s.Agents.Get(info.Agent); err == nil {
				tabs = append(tabs, reopen{definition, tabWish{name: info.Name, opener: info.Opener}})
			}
		}
	}
	return tabs
}
