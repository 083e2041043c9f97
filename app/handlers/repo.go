package handlers

import (
	"cmp"
	"context"
	"slices"

	"termic/app/agent"
	"termic/app/project"
	"termic/app/repoconf"
	"termic/app/task"
	"termic/registry"
	"termic/registry/ident"
	"termic/registry/verbs"
)

func (s Services) bindRepo(r *registry.Router) {
	bind(r, verbs.TrustAnswer, s.trustAnswer)
	bind(r, verbs.TaskRun, s.taskRun)
}

func (s Services) trustAnswer(ctx context.Context, call registry.Call, in verbs.TrustAnswerIn) (verbs.None, error) {
	return verbs.None{}, s.Tasks.Trust(ctx, call.Subject.Project, in.Digest, in.Trust)
}

func (s Services) taskRun(ctx context.Context, call registry.Call, in verbs.TaskRunIn) (verbs.TabOut, error) {
	opened, err := s.Tasks.RunCommands(ctx, call.Subject.Task, cmp.Or(in.What, "run"), call.Still)
	if err != nil {
		return verbs.TabOut{}, err
	}
	return verbs.TabOut{Tab: renderTab(opened.Info())}, nil
}

// agentFor is the agent that was asked for, else that of the project's settings, if there is one of that name.
func (s Services) agentFor(ctx context.Context, id ident.Project, asked string) string {
	if asked != "" {
		return asked
	}
	settings, err := s.Tasks.RepoSettings(ctx, id)
	if err != nil || !slices.ContainsFunc(s.Agents.List(), func(a agent.Definition) bool { return a.ID == settings.Effective.Agent }) {
		return ""
	}
	return settings.Effective.Agent
}

// narrowed is what the person allows the project's caged tasks, as far as its files leave it.
func (s Services) narrowed(ctx context.Context, p project.Project) (project.Defaults, error) {
	settings, err := s.Tasks.RepoSettings(ctx, p.ID)
	if err != nil {
		return project.Defaults{}, err
	}
	return settings.Narrow(p.Defaults)
}

// repoSettings renders what a project's files say, and what comes of it.
func (s Services) repoSettings(ctx context.Context, p project.Project) (verbs.RepoSettings, error) {
	r, err := s.Tasks.RepoSettings(ctx, p.ID)
	if err != nil {
		return verbs.RepoSettings{}, err
	}
	out := verbs.RepoSettings{Branch: r.Branch, Digest: r.Digest, Trusted: r.Trusted, Mine: r.MinePath, Settings: []verbs.RepoSetting{}, Wants: r.Wants(p.Defaults)}
	for _, problem := range r.Problems {
		out.Problems = append(out.Problems, repoconf.File+" "+problem.String())
	}
	for _, problem := range r.MineProblems {
		out.Problems = append(out.Problems, "your file "+problem.String())
	}
	for _, key := range repoconf.Keys() {
		if !r.Effective.Given[key] {
			continue
		}
		one := verbs.RepoSetting{Key: key, Values: append([]string{}, r.Effective.Values(key)...), From: repoconf.File, Effect: "counts for new tasks"}
		if r.Mine.Given[key] {
			one.From = "yours"
		}
		switch key {
		case "setup", "run", "archive":
			if _, why := r.Commands(key); why != "" {
				one.Effect = "not run: not trusted as it is now"
			}
		case "copy":
			if one.Effect, err = s.copyEffect(ctx, p.ID, r); err != nil {
				return verbs.RepoSettings{}, err
			}
		case "hosts", "read", "write":
			one.Effect = "narrows what you gave to caged tasks"
		case "agent":
			if s.agentFor(ctx, p.ID, "") == "" {
				one.Effect = "no effect: there is no such agent"
			}
		}
		out.Settings = append(out.Settings, one)
	}
	return out, nil
}

// copyEffect says which of the files that are to be copied would be, if a task were made now.
func (s Services) copyEffect(ctx context.Context, id ident.Project, r task.RepoSettings) (string, error) {
	if listed, why := r.Commands("copy"); len(listed) == 0 && why != "" {
		return "not copied: not trusted as it is now", nil
	}
	repo, err := s.Projects.Repo(ctx, id)
	if err != nil {
		return "", err
	}
	paths, left, err := s.Tasks.Copies(ctx, r, repo)
	if err != nil {
		return "", err
	}
	effect := "copied into new tasks: " + names(paths)
	if len(paths) == 0 {
		effect = "nothing of it is there to be copied"
	}
	if left != "" {
		effect += "; " + left
	}
	return effect, nil
}
