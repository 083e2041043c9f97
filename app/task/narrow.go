package task

import (
	"cmp"
	"context"
	"slices"

	"termic/registry/ident"
	"termic/sandbox/capability"
)

// A child is never less caged than its parent (I6): what takes something from a task takes it from its descendants in
// the same act.

// descendants returns the live tasks that descend from one, the nearest first.
func (s *Tasks) descendants(id ident.Task) []Record {
	var list []Record
	for _, r := range s.List() {
		if r.Stage == Live && slices.Contains(r.Parents, id) {
			list = append(list, r)
		}
	}
	slices.SortStableFunc(list, func(a, b Record) int { return cmp.Compare(len(a.Parents), len(b.Parents)) })
	return list
}

// tooWide returns what a task's descendants become when it becomes next; those that stay as they are are left out.
func (s *Tasks) tooWide(before, next Record) ([]Record, error) {
	if wider, err := s.widens(before, next); err != nil || wider {
		return nil, err
	}
	var narrowed []Record
	for _, child := range s.descendants(next.ID) {
		after, err := s.narrow(child, next)
		if err != nil {
			return nil, err
		}
		if !sameCage(child, after) {
			narrowed = append(narrowed, after)
		}
	}
	return narrowed, nil
}

// widens tells that a change takes nothing away. Descendants then stay as they are, wider ones included: the person has
// made them so.
func (s *Tasks) widens(before, next Record) (bool, error) {
	from, err := s.Effective(before)
	if err != nil {
		return false, err
	}
	to, err := s.Effective(next)
	if err != nil {
		return false, err
	}
	_, within := from.Within(to)
	return within && before.Mode.AtLeast(next.Mode), nil
}

// narrow returns the child with nothing that its parent does not have.
func (s *Tasks) narrow(child, parent Record) (Record, error) {
	if !parent.Mode.Caged() {
		return child, nil // it may do everything
	}
	next := child.clone()
	if !child.Mode.AtLeast(parent.Mode) {
		next.Mode = parent.Mode
	}
	if next.Mode == capability.Enforce && child.Mode != next.Mode {
		var err error
		if next.Hosts, err = s.withAgentHosts(child.Agent, next.Hosts); err != nil {
			return Record{}, err
		}
	}
	both := capability.Meet(next.lets(), parent.lets())
	next.Read, next.Write, next.Env = both.Read, both.Write, both.Env
	if parent.Mode == capability.Enforce { // else its network is open
		next.Hosts = both.Network
	}
	drives := func(p ident.Project) bool { return p == parent.Project || slices.Contains(parent.Projects, p) }
	next.MCP = parent.MCP && drives(child.Project) && (child.MCP || child.Mode == capability.Off)
	next.Projects = slices.DeleteFunc(next.Projects, func(p ident.Project) bool { return !drives(p) })
	return next, nil
}

// narrowAll makes descendants what tooWide has said, each as EditCage does. What cannot be narrowed is ended: it is never
// left wider than its parent.
func (s *Tasks) narrowAll(ctx context.Context, narrowed []Record) (failed map[string]error) {
	failed = map[string]error{}
	for _, next := range narrowed {
		t, err := s.find(next.ID)
		if err != nil {
			continue // gone meanwhile
		}
		before, _ := s.Get(next.ID)
		if onlyUnticked(before, next) {
			_, err = s.untick(t)
		} else {
			_, err = s.exchangeCage(ctx, t, before, next)
		}
		if err != nil {
			s.end(t)
			failed[next.Name] = err
		}
		t.life.Unlock()
	}
	return failed
}

// untick takes a task's control plane away at once, and ends nothing; the task's life is locked.
func (s *Tasks) untick(t *task) (Record, error) {
	s.Credentials.Revoke(t.record().ID) // first: it may not depend on a disk that takes the record (I14)
	return s.save(t, func(r *Record) { r.MCP = false })
}

// names returns the tasks' names.
func names(records []Record) []string {
	list := make([]string, len(records))
	for i, r := range records {
		list[i] = r.Name
	}
	return list
}
