package handlers

import (
	"context"
	"fmt"

	"termic/app/git"
	"termic/app/gitview"
	"termic/app/task"
	"termic/registry"
	"termic/registry/verbs"
)

func (s Services) bindKeeping(r *registry.Router) {
	bind(r, verbs.TaskPreflight, s.taskPreflight)
	bind(r, verbs.TaskPurge, s.taskPurge)
}

func (s Services) taskPreflight(ctx context.Context, call registry.Call, _ verbs.TaskPreflightIn) (verbs.TaskPreflightOut, error) {
	record, err := s.record(call.Subject.Task)
	if err != nil {
		return verbs.TaskPreflightOut{}, err
	}
	s.syncGit(ctx, record.ID, patience)
	p, busy, err := s.Tasks.Preflight(ctx, record.ID)
	if err != nil {
		return verbs.TaskPreflightOut{}, err
	}
	out := verbs.TaskPreflightOut{Kept: holds(p), Lost: []string{}, Prevents: []string{}, Working: append([]string{}, busy...), Running: s.running(record.ID)}
	own, err := s.Tasks.OwnStashes(record.ID)
	if err != nil {
		s.Tasks.Log.Warn("stashes of a caged task's own git not read", "task", record.ID, "cause", err)
		out.Kept = append(out.Kept, "perhaps stashes in the agent's own git, which cannot be read from outside")
	}
	out.Kept = append(out.Kept, keptOwn(&task.KeptGit{Kept: gitview.Kept{Stashes: own}})...)
	if p.IgnoredFiles > 0 {
		out.Lost = append(out.Lost, ignored(p.IgnoredFiles, p.IgnoredBytes, p.IgnoredMore))
	}
	if len(p.Special) > 0 {
		out.Lost = append(out.Lost, "sockets and devices, which hold nothing: "+names(p.Special))
	}
	if len(p.Unkeepable) > 0 {
		out.Prevents = append(out.Prevents, "files that cannot be read, or are named .git: "+names(p.Unkeepable))
	}
	if p.TooDeep != "" {
		out.Prevents = append(out.Prevents, "a path that is too long for the system and for git, below "+shownPath(p.TooDeep))
	}
	return out, nil
}

// holds says in words what a checkout holds that is nowhere else.
func holds(p git.Preflight) []string {
	list := []string{}
	count := func(n int, one, many string) {
		switch {
		case n == 1:
			list = append(list, "1 "+one)
		case n > 1:
			list = append(list, fmt.Sprintf("%d %s", n, many))
		}
	}
	count(p.Status.Staged, "staged file", "staged files")
	count(p.Status.Unstaged, "changed file that is not staged", "changed files that are not staged")
	count(p.Status.Untracked, "untracked file", "untracked files")
	count(p.Status.Conflicted, "file with conflicts", "files with conflicts")
	count(p.Unpushed, "commit that no remote has", "commits that no remote has")
	if p.Status.Detached {
		list = append(list, "HEAD is detached")
	}
	count(p.Unbranched, "commit that is on no branch", "commits that are on no branch")
	if p.Status.InProgress != "" {
		list = append(list, "the "+p.Status.InProgress+" in progress")
	}
	if len(p.Stashes) > 0 {
		list = append(list, "stashes: "+names(p.Stashes))
	}
	if len(p.Tags) > 0 {
		list = append(list, "tags: "+names(p.Tags))
	}
	if len(p.Submodules) > 0 {
		list = append(list, "submodules with all that is in them: "+names(modules(p.Submodules)))
	}
	if len(p.Nested) > 0 {
		list = append(list, "repositories in the checkout: "+names(p.Nested))
	}
	return list
}

func ignored(files int, bytes int64, more bool) string {
	least := ""
	if more {
		least = "at least "
	}
	return fmt.Sprintf("%s%d files that git ignores, %s", least, files, size(bytes))
}

// size is a number of bytes for people.
func size(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}

func (s Services) taskPurge(ctx context.Context, call registry.Call, in verbs.TaskPurgeIn) (verbs.TaskPurgeOut, error) {
	record, remains, err := s.Tasks.Remains(ctx, call.Subject.Task)
	if err != nil {
		return verbs.TaskPurgeOut{}, err
	}
	out := verbs.TaskPurgeOut{Destroys: destroys(record, remains), Stays: []string{}, Bytes: remains.Bytes}
	switch {
	case remains.Unknown:
		out.Destroys = append(out.Destroys, "everything that its archive holds; the project's repository is gone, so that nothing can be compared")
	case record.OwnCheckout:
		out.Stays = append(out.Stays, "branch "+record.Branch+" in the project")
	}
	if !in.Yes {
		return out, nil
	}
	if err := s.Tasks.Purge(ctx, record.ID); err != nil {
		return verbs.TaskPurgeOut{}, err
	}
	out.Purged = true
	return out, nil
}

// destroys says in words what goes with an archive.
func destroys(record task.Record, r git.Remains) []string {
	list := []string{"the task's record, and what its tabs showed"}
	for _, w := range []struct {
		n    int
		what string
	}{
		{r.Commits, "commits that are on no branch, no tag and no remote"},
		{r.Staged, "files that differ as staged from the last commit"},
		{r.Files, "files that differ from the last commit, untracked ones included"},
		{r.Beside, "files kept beside them: large ones, ignored ones, those of repositories in the checkout"},
	} {
		if w.n > 0 {
			list = append(list, fmt.Sprintf("%d %s", w.n, w.what))
		}
	}
	if k := record.Kept; k != nil && len(k.Stashes) > 0 {
		list = append(list, fmt.Sprintf("%d stashes of the agent's own git", len(k.Stashes)))
	}
	return list
}

// archiveCheck says what archives take. They are kept until they are purged.
func (s Services) archiveCheck() verbs.Check {
	tasks, bytes, restored := s.Tasks.ArchiveSpace()
	check := verbs.Check{Name: "archives", State: "ok", Evidence: fmt.Sprintf("%d archived tasks, %s; each is kept until it is purged", tasks, size(bytes))}
	if restored > 0 {
		check.Evidence += fmt.Sprintf("; %s of restored tasks, until they are archived again", size(restored))
	}
	return check
}
