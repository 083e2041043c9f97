package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"termic/app/agent"
	"termic/app/settings"
	"termic/app/settle"
	"termic/app/tab"
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
	// commands is the row of the project's commands that ran in it, "" for any other tab. They begin again.
	commands string
}

// EditCage changes what a task may touch. Taking its control plane away acts at once and ends nothing. Any other change
// ends everything that runs in the task, and starts its tabs again with a new token; while there are tabs it is refused
// unless confirmed, and says what it would end.
//
// token tells that a new token is wanted although nothing else changes: it was revoked, or ended with the control plane.
func (s *Tasks) EditCage(ctx context.Context, id ident.Task, change func(*Record) error, token, confirmed bool) (Edited, error) {
	t, err := s.find(id)
	if err != nil {
		return Edited{}, err
	}
	defer t.life.Unlock()
	plan, err := s.planEdit(ctx, t, change, token)
	switch {
	case plan.unticks: // whatever else is wrong (I14)
		saved, untick := s.untick(t)
		return Edited{Record: saved, Narrowed: names(plan.narrowed), Failed: s.narrowAll(ctx, plan.narrowed)}, errors.Join(untick, err)
	case err != nil:
		return Edited{}, err
	case plan.same:
		return Edited{Record: plan.before}, nil
	case plan.ends != "" && !confirmed:
		return Edited{}, refusal.New(refusal.Conflict, plan.ends, "repeat it with confirm")
	}
	edited, err := s.exchangeCage(ctx, t, plan.before, plan.next)
	if err == nil {
		edited.Narrowed = names(plan.narrowed)
		maps.Copy(edited.Failed, s.narrowAll(ctx, plan.narrowed))
	}
	return edited, err
}

// PreviewCage returns what the task would be after EditCage, and what that would end, in words. It changes nothing.
func (s *Tasks) PreviewCage(ctx context.Context, id ident.Task, change func(*Record) error, token bool) (next Record, ends string, err error) {
	t, err := s.find(id)
	if err != nil {
		return Record{}, "", err
	}
	defer t.life.Unlock()
	plan, err := s.planEdit(ctx, t, change, token)
	return plan.next, plan.ends, err
}

// cageEdit is what a change to a cage comes to, before anything of it is done.
type cageEdit struct {
	before, next Record
	narrowed     []Record // tasks that descend from it and could do more than it then can
	ends         string   // what it ends, in words; empty when nothing runs
	unticks      bool     // nothing changes but that the control plane is taken away, which ends nothing
	same         bool     // nothing changes
}

// planEdit says what a change comes to, or why there can be none. t.life of the task is held. When the change only unticks,
// an error is of the tasks that would have to be narrowed with it.
func (s *Tasks) planEdit(ctx context.Context, t *task, change func(*Record) error, token bool) (cageEdit, error) {
	id := t.record().ID
	before, _ := s.Get(id)
	plan := cageEdit{before: before, next: before.clone()}
	err := change(&plan.next)
	if err != nil {
		return plan, err
	}
	if plan.unticks = onlyUnticked(before, plan.next); plan.unticks { // before anything could refuse it (I14)
		plan.narrowed, err = s.tooWide(before, plan.next)
		return plan, err
	}
	if plan.next.Mode == capability.Enforce && before.Mode != plan.next.Mode {
		if plan.next.Hosts, err = s.withAgentHosts(plan.next.Agent, plan.next.Hosts); err != nil {
			return plan, err
		}
	}
	if err := s.admitEdit(before, plan.next); err != nil {
		return plan, err
	}
	if plan.same = sameCage(before, plan.next) && (!token || s.cageOf(t) == nil || s.Credentials.Holds(id)); plan.same {
		return plan, nil
	}
	if plan.narrowed, err = s.tooWide(before, plan.next); err != nil {
		return plan, err
	}
	plan.ends = s.ends(id, plan.narrowed)
	if before.Mode.Caged() && !plan.next.Mode.Caged() {
		obeyed, err := s.obeyed(ctx, id)
		if err != nil {
			return plan, err
		}
		plan.ends = strings.TrimPrefix(plan.ends+obeyed, "; ")
	}
	return plan, nil
}

// obeyed says which new and changed files of the checkout programs execute, or obey, by themselves once there is no cage
// around them; nothing, when there are none.
func (s *Tasks) obeyed(ctx context.Context, id ident.Task) (string, error) {
	found, err := s.AutoExec(ctx, id)
	if err != nil || len(found.Found)+len(found.Unseen) == 0 {
		return "", err
	}
	const shown = 8
	var list []string
	for i, f := range found.Found {
		if i == shown {
			list = append(list, fmt.Sprintf("and %d more", len(found.Found)-shown))
			break
		}
		list = append(list, fmt.Sprintf("%q", f.Path))
	}
	if len(found.Unseen) > 0 {
		list = append(list, "and perhaps others, in places that could not be looked at")
	}
	return "; without the cage, programs execute or obey what the agent made or changed there: " + strings.Join(list, ", "), nil
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
	if err := next.admitLimits(); err != nil {
		return err
	}
	err := s.admitCage(New{
		Mode: next.Mode, MCP: next.MCP, Live: !next.OwnCheckout,
		Hosts: next.Hosts, Read: next.Read, Write: next.Write, Env: next.Env,
	})
	if err != nil || !next.Mode.Caged() {
		return err
	}
	if err := s.soleWriter(next.ID, next.Write); err != nil {
		return err
	}
	// Before anything has ended: a cage that cannot start again would leave the task with nothing.
	declared, err := next.Declared()
	if err != nil {
		return err
	}
	dirs, err := s.places(next)
	if err != nil {
		return err
	}
	return s.Machine.Admits(declared, dirs)
}

// sameCage tells that a change changes nothing.
func sameCage(a, b Record) bool {
	return a.Mode == b.Mode && a.MCP == b.MCP && a.Limits == b.Limits && slices.Equal(a.Projects, b.Projects) && a.lets().Equal(b.lets())
}

// lets is what a record's cage lets through.
func (r Record) lets() capability.Set {
	return capability.Set{Network: r.Hosts, Read: r.Read, Write: r.Write, Env: r.Env}
}

// onlyUnticked tells that nothing changes but that the control plane is taken away.
func onlyUnticked(before, next Record) bool {
	ticked := before.MCP
	before.MCP = false
	return ticked && !next.MCP && sameCage(before, next)
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
	tabs, ended := s.reopenings(t), s.endedTabs(t)
	err := s.endFor(ctx, t, before, next)
	s.Credentials.Allow(t.record().ID)
	saved := before
	if err == nil {
		saved, err = s.save(t, func(r *Record) {
			r.Mode, r.MCP, r.Projects = next.Mode, next.MCP, next.Projects
			r.Hosts, r.Read, r.Write, r.Env = next.Hosts, next.Read, next.Write, next.Env
			r.Limits = next.Limits
			if r.Mode.Caged() {
				r.Bypass = false // it was said for a task without a cage, and does not come back with the next change
			}
		})
	}
	if err == nil {
		s.setCageTrouble(t, nil) // that was another cage
	}
	edited := Edited{Record: saved, Failed: map[string]error{}}
	edited.Restarted = s.reopenAll(ctx, t, tabs, edited.Failed) // with the old record, when the new one is not in force
	s.keepEnded(t, ended, edited.Failed)
	return edited, err
}

// reopenAll starts tabs again that are not open, and notes in failed why one could not be.
func (s *Tasks) reopenAll(ctx context.Context, t *task, tabs []reopen, failed map[string]error) (restarted []string) {
	open := s.tabNames(t.record().ID)
	for _, again := range tabs {
		if slices.Contains(open, again.name) {
			continue
		}
		if err := s.reopenOne(ctx, t, again); err != nil {
			s.Log.Error("tab not started again", "task", t.record().ID, "cause", err)
			failed[again.name] = err
			continue
		}
		restarted = append(restarted, again.name)
	}
	return restarted
}

// reopenOne starts a tab again. The project's commands are looked up anew: they may have been changed, or distrusted, since.
func (s *Tasks) reopenOne(ctx context.Context, t *task, again reopen) error {
	if again.commands == "" {
		_, _, err := s.openTab(ctx, t, again.definition, again.tabWish)
		return err
	}
	row, err := s.RepoSettings(ctx, t.record().Project)
	if err != nil {
		return err
	}
	lines, why := row.Commands(again.commands)
	if len(lines) == 0 {
		return refusal.New(refusal.Conflict, cmp.Or(why, "the project has no "+again.commands+" commands any more"), "")
	}
	_, err = s.openCommands(ctx, t, again.commands, lines)
	return err
}

// endedTabs is what the tabs show in which nothing runs any more.
func (s *Tasks) endedTabs(t *task) (ended []tab.Saved) {
	for _, open := range s.Tabs(t.record().ID) {
		if open.Info().State == settle.Exited {
			one := open.Save(s.Blank)
			one.Cage = cmp.Or(one.Cage, t.record().Mode.String())
			ended = append(ended, one)
		}
	}
	return ended
}

// keepEnded shows again what ended tabs showed, with nothing running in them. What was shown in a cage of another mode is not: the task
// may now be read by whom it was not meant for; failed says so.
func (s *Tasks) keepEnded(t *task, ended []tab.Saved, failed map[string]error) {
	open := s.tabNames(t.record().ID)
	for _, one := range ended {
		definition, err := s.Agents.Get(one.Agent)
		switch {
		case err != nil || slices.Contains(open, one.Name):
			continue
		case one.Cage != t.record().Mode.String():
			failed[one.Name] = refusal.New(refusal.Conflict, "nothing ran in it any more, and what it showed is not kept when the cage's mode changes", "")
			continue
		}
		s.mu.Lock()
		t.tabs = append(t.tabs, tab.Restore(one, t.record().ID, definition, s.Settings.Int(settings.Scrollback)))
		s.mu.Unlock()
	}
	s.saveLayout(t.record().ID)
}

// endFor ends everything in the task, with its git ready for a cage that is turned on, or off. When that cannot be, it
// is an error, and the cage stays as it is.
func (s *Tasks) endFor(ctx context.Context, t *task, before, next Record) error {
	switch {
	case !before.Mode.Caged() && next.Mode.Caged():
		if err := s.enterView(ctx, next); err != nil {
			return err // before anything has ended
		}
	case before.Mode.Caged() && !next.Mode.Caged():
		// The agents end first: what one commits while its commits are taken over would stay behind.
		s.Credentials.Revoke(t.record().ID)
		s.closeTabs(t)
		if err := s.leaveView(ctx, t); err != nil {
			return err
		}
	}
	s.end(t)
	if before.Mode.Caged() && !next.Mode.Caged() && !s.left(t) {
		return refusal.New(refusal.Conflict, "the cage stays on: its git changed while it was taken over", "try again")
	}
	return nil
}

// reopenings are the tabs whose programs still run. One outside the cage is opened by the person alone.
func (s *Tasks) reopenings(t *task) []reopen {
	var tabs []reopen
	for _, open := range s.Tabs(t.record().ID) {
		if info := open.Info(); info.State != settle.Exited && !info.Outside {
			if definition, err := s.Agents.Get(info.Agent); err == nil {
				s.mu.RLock()
				commands := t.commands[open.ID()]
				s.mu.RUnlock()
				tabs = append(tabs, reopen{definition, tabWish{name: info.Name, opener: info.Opener}, commands})
			}
		}
	}
	return tabs
}
