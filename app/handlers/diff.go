package handlers

import (
	"context"
	"errors"

	"termic/app/git"
	"termic/app/task"
	"termic/registry"
	"termic/registry/refusal"
	"termic/registry/verbs"
)

// maxPatch bounds a patch: 1 MiB is some 20,000 lines, more than anyone reads and all that a caller's
// context can bear. The list of files goes on.
const maxPatch = 1 << 20

func (s Services) taskDiff(ctx context.Context, call registry.Call, in verbs.TaskDiffIn) (verbs.TaskDiffOut, error) {
	if in.Commit != "" && in.Part != "" || in.Against != "" && (in.Commit != "" || in.Part != "") {
		return verbs.TaskDiffOut{}, refusal.New(refusal.BadInput, "one commit, a part, and what it is compared with exclude each other", "leave two of them out")
	}
	record, err := s.record(call.Subject.Task)
	if err != nil {
		return verbs.TaskDiffOut{}, err
	}
	s.syncGit(ctx, record.ID, patience)
	repo, err := s.Projects.Repo(ctx, record.Project)
	if err != nil {
		return verbs.TaskDiffOut{}, err
	}
	options := git.DiffOptions{MaxBytes: maxPatch, Part: git.Part(in.Part), Path: givenPath(in.Path)}
	if in.Commit != "" {
		return s.commitDiff(ctx, repo, record, in, options)
	}
	since := record.Base
	if in.Against == "tip" {
		if project, ok := s.Projects.Get(record.Project); call.Caller.Scope != registry.Full && (!ok || project.Defaults.IsolatedHistory) {
			return verbs.TaskDiffOut{}, refusal.New(refusal.NotPermitted, "the project keeps its later history from cages", "compare with the base")
		}
		branch, err := repo.DefaultBranch(ctx)
		if err != nil {
			return verbs.TaskDiffOut{}, err
		}
		options.Tip, since = branch.OID, branch.OID
	}
	diff, err := repo.Diff(ctx, record.Dir, record.Base, options)
	if err != nil {
		return verbs.TaskDiffOut{}, diffing(err)
	}
	ahead, err := repo.Ahead(ctx, record.Dir, since)
	if err != nil {
		return verbs.TaskDiffOut{}, err
	}
	base := record.Base
	if options.Tip != "" {
		if base, err = repo.Fork(ctx, record.Dir, options.Tip); err != nil {
			return verbs.TaskDiffOut{}, diffing(err)
		}
	}
	out := renderDiff(diff, in.Stat, false)
	out.Base, out.Commits = string(base), len(ahead)
	return out, nil
}

// commitDiff is the diff of one commit, which has to be one of the task's own.
func (s Services) commitDiff(ctx context.Context, repo *git.Repo, record task.Record, in verbs.TaskDiffIn, o git.DiffOptions) (verbs.TaskDiffOut, error) {
	own, err := repo.OwnCommit(ctx, record.Dir, git.OID(in.Commit), record.Base)
	if err != nil {
		return verbs.TaskDiffOut{}, err
	}
	if !own {
		return verbs.TaskDiffOut{}, refusal.New(refusal.NotFound, "the task has no such commit since it was created", "name a commit in full, as task_commits lists it")
	}
	diff, err := repo.DiffCommit(ctx, git.OID(in.Commit), o)
	if err != nil {
		return verbs.TaskDiffOut{}, diffing(err)
	}
	out := renderDiff(diff, in.Stat, true)
	out.Base, out.Commits = string(diff.From), 1
	return out, nil
}

func renderDiff(diff git.Diff, stat, commit bool) verbs.TaskDiffOut {
	out := verbs.TaskDiffOut{
		Count: diff.Count, Added: diff.Added, Removed: diff.Removed, Files: make([]verbs.FileChange, 0, len(diff.Files)), Patch: diff.Patch, Truncated: diff.Truncated,
	}
	if stat {
		out.Patch, out.Truncated = "", diff.FilesCut
	}
	for _, f := range diff.Files {
		file := verbs.FileChange{
			Path: shownPath(f.Path), Kind: f.Kind, Added: f.Added, Removed: f.Removed, Binary: f.Binary, Large: f.Large, Nested: f.Nested, Unread: f.Unreadable,
			Mode: modes(f), State: stateOf(f),
		}
		if f.OldPath != "" {
			file.OldPath = shownPath(f.OldPath)
		}
		if commit {
			file.State = ""
		}
		out.Files = append(out.Files, file)
	}
	return out
}

// modes are those before and after where they say something: nothing of a plain file that was and is one.
func modes(f git.FileChange) string {
	const plain, none = "100644", "000000"
	usual := func(m string) bool { return m == plain || m == none || m == "" }
	switch {
	case usual(f.OldMode) && usual(f.NewMode):
		return ""
	case f.OldMode == f.NewMode || f.OldMode == none:
		return f.NewMode
	case f.NewMode == none:
		return f.OldMode
	}
	return f.OldMode + " " + f.NewMode
}

func stateOf(f git.FileChange) string {
	switch {
	case f.Conflicted:
		return "conflicted"
	case f.Staged && (f.Unstaged || f.Untracked):
		return "both"
	case f.Staged:
		return "staged"
	case f.Untracked && f.OldPath == "":
		return "untracked"
	case f.Unstaged || f.Untracked:
		return "unstaged"
	}
	return "committed"
}

// diffing returns what differs here from how the errors of git look to the callers of other verbs.
func diffing(err error) error {
	switch {
	case errors.Is(err, git.ErrBadPath):
		return refusal.New(refusal.BadInput, "the path is absolute, leads out of the checkout, or holds a NUL", "name a file relative to the top of the checkout").Because(err)
	case errors.Is(err, git.ErrUnrelated):
		return refusal.New(refusal.Conflict, "the task's history and the default branch's have nothing in common", "compare with the base").Because(err)
	}
	return err
}
