package grant

import (
	"slices"
	"strings"

	"termic/registry"
	"termic/registry/ident"
	"termic/registry/refusal"
)

// A view is the model as one caller sees it. What is not in it does not exist for that caller (I7).
type view struct {
	finder
	// own is the caller's own task; its ID is empty when it has none.
	own Task
	// all is the whole model, for the true reason of a refusal; never for an answer.
	all finder
}

// viewOf returns what the holder of a grant sees. The person, whose grant is the zero value, and the holder of
// a full grant see everything. A scoped holder sees the projects of its list, its own task and those that
// descend from it, and none of their tabs outside the cage.
func (g *Guard) viewOf(grant Grant) view {
	all := finder{g.world.Projects(), g.world.Tasks(), true}
	v := view{finder: all, all: all}
	for _, task := range all.tasks {
		if grant.Task != "" && task.ID == grant.Task {
			v.own = task
		}
	}
	if grant.Scope != registry.Scoped {
		return v
	}
	v.projects = slices.DeleteFunc(slices.Clone(all.projects), func(p Project) bool { return !slices.Contains(grant.Projects, p.ID) })
	v.tasks, v.everything = nil, false
	for _, task := range all.tasks {
		if sees(grant, task) {
			task.Tabs = slices.DeleteFunc(slices.Clone(task.Tabs), func(t Tab) bool { return t.Outside })
			v.tasks = append(v.tasks, task)
		}
	}
	return v
}

// sees tells whether a scoped holder may know that a task exists.
func sees(grant Grant, task Task) bool {
	return grant.Task != "" && (task.ID == grant.Task || slices.Contains(task.Parents, grant.Task))
}

// hidden says, for the audit log, what a selector that found nothing in the view would have meant in the whole
// model. It looks at everything once, whatever there is to find, so that the time it takes tells nothing.
func (v view) hidden(grant Grant, target registry.Target) string {
	task, project := false, false
	listed := true
	for _, t := range v.all.tasks {
		means := string(t.ID) == target.Task || t.Name == target.Task || strings.HasPrefix(string(t.ID), target.Task)
		if means && target.Task != "" && !sees(grant, t) {
			task = true
			listed = listed && allListed(grant, t)
		}
	}
	for _, p := range v.all.projects {
		for _, selector := range append([]string{target.Project}, target.Projects...) {
			means := string(p.ID) == selector || p.Name == selector
			project = project || means && selector != "" && !slices.Contains(grant.Projects, p.ID)
		}
	}
	switch {
	case task && !listed:
		return "the task is in a project that the grant does not list, and no descendant of the caller's"
	case task:
		return "the task is no descendant of the caller's"
	case project:
		return "the grant does not list the project"
	}
	return "there is no such thing"
}

// allListed tells whether every project of the task is in the grant's list.
func allListed(grant Grant, task Task) bool {
	return !slices.ContainsFunc(task.projects(), func(p ident.Project) bool { return !slices.Contains(grant.Projects, p) })
}

// find looks up everything that the target names.
func (v view) find(target registry.Target) (registry.Subject, *refusal.Refusal) {
	var subject registry.Subject
	for _, selector := range target.Projects {
		project, no := v.project(selector)
		if no != nil {
			return subject, no
		}
		subject.Projects = append(subject.Projects, project.ID)
	}
	if target.OwnTask && target.Task == "" && v.own.ID != "" {
		target.Task = string(v.own.ID)
	}
	if target.Task == "" && target.OwnTask {
		return subject, refusal.New(refusal.BadInput, "no task given", "name the task")
	}
	if target.Task != "" {
		return v.findTask(subject, target)
	}
	project, no := v.findProject(target)
	subject.Project = project
	return subject, no
}

func (v view) findTask(subject registry.Subject, target registry.Target) (registry.Subject, *refusal.Refusal) {
	task, no := v.task(target.Task, target.Tasks)
	if no != nil {
		return subject, no
	}
	subject.Task, subject.Project = task.ID, task.Project
	if target.Tab == "" && !target.MainTab {
		return subject, nil
	}
	subject.Tab, no = v.tab(target.Tab, task)
	return subject, no
}

// findProject finds the named project. A new task without one goes into the caller's own project, or into
// the only one that there is.
func (v view) findProject(target registry.Target) (ident.Project, *refusal.Refusal) {
	if target.Project != "" {
		project, no := v.project(target.Project)
		return project.ID, no
	}
	if target.Child == nil {
		return "", nil
	}
	if v.own.ID != "" {
		return v.own.Project, nil
	}
	if len(v.projects) == 1 {
		return v.projects[0].ID, nil
	}
	return "", refusal.New(refusal.BadInput, "no project given", "name the project")
}
