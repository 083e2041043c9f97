package handlers

import (
	"context"
	"fmt"

	"termic/app/hold"
	"termic/app/project"
	"termic/registry"
	"termic/registry/refusal"
	"termic/registry/verbs"
)

func (s Services) bindProjects(r *registry.Router) {
	bind(r, verbs.ProjectAdd, s.projectAdd)
	bind(r, verbs.ProjectList, s.projectList)
	bind(r, verbs.ProjectRemove, s.projectRemove)
}

func (s Services) projectAdd(ctx context.Context, _ registry.Call, in verbs.ProjectAddIn) (verbs.ProjectOut, error) {
	added, err := s.Projects.Add(ctx, in.Path, in.Name, s.Tasks)
	if err != nil {
		return verbs.ProjectOut{}, err
	}
	return verbs.ProjectOut{Project: s.project(ctx, added)}, nil
}

func (s Services) projectList(ctx context.Context, _ registry.Call, _ verbs.None) (verbs.ProjectListOut, error) {
	out := verbs.ProjectListOut{Projects: []verbs.Project{}}
	for _, p := range s.Projects.List() {
		out.Projects = append(out.Projects, s.project(ctx, p))
	}
	return out, nil
}

func (s Services) projectRemove(_ context.Context, call registry.Call, _ verbs.ProjectRemoveIn) (verbs.None, error) {
	id := call.Subject.Project
	err := s.Projects.Remove(id, func() error {
		live, archived := s.Tasks.UsedBy(id)
		if live+archived == 0 {
			return nil
		}
		return refusal.New(refusal.Conflict, fmt.Sprintf("the project has %d live and %d archived tasks", live, archived),
			"their work could not be found again without the project")
	})
	if err != nil {
		return verbs.None{}, err
	}
	return verbs.None{}, s.Policy.Release(func(r hold.Rule) bool { return r.Project == id }) // ids do not come again
}

// project renders a project for callers. A repository that cannot be read has no default branch.
func (s Services) project(ctx context.Context, p project.Project) verbs.Project {
	live, _ := s.Tasks.UsedBy(p.ID)
	out := verbs.Project{ID: string(p.ID), Name: p.Name, Path: p.Root, Tasks: live}
	if repo, err := s.Projects.Repo(ctx, p.ID); err == nil {
		if branch, err := repo.DefaultBranch(ctx); err == nil {
			out.DefaultBranch = branch.Name
		}
	}
	return out
}
