package handlers

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"termic/app/git"
	"termic/app/task"
	"termic/registry"
	"termic/registry/refusal"
	"termic/registry/verbs"
)

func (s Services) bindReview(r *registry.Router) {
	bind(r, verbs.TaskStage, s.taskStage)
	bind(r, verbs.TaskUnstage, s.taskUnstage)
	bind(r, verbs.TaskCommit, s.taskCommit)
	bind(r, verbs.TaskDiscard, s.taskDiscard)
	bind(r, verbs.TaskDiscards, s.taskDiscards)
}

func (s Services) taskStage(ctx context.Context, call registry.Call, in verbs.TaskStageIn) (verbs.TaskStageOut, error) {
	sel, err := selection(in.Paths, in.All)
	if err != nil {
		return verbs.TaskStageOut{}, err
	}
	done, err := s.Tasks.Stage(ctx, call.Subject.Task, sel)
	return verbs.TaskStageOut{Files: done.Files, LeftOut: shownNames(done.LeftOut)}, reviewing(err)
}

func (s Services) taskUnstage(ctx context.Context, call registry.Call, in verbs.TaskUnstageIn) (verbs.TaskStageOut, error) {
	sel, err := selection(in.Paths, in.All)
	if err != nil {
		return verbs.TaskStageOut{}, err
	}
	done, err := s.Tasks.Unstage(ctx, call.Subject.Task, sel)
	return verbs.TaskStageOut{Files: done.Files}, reviewing(err)
}

func (s Services) taskCommit(ctx context.Context, call registry.Call, in verbs.TaskCommitIn) (verbs.TaskCommitOut, error) {
	done, err := s.Tasks.Commit(ctx, call.Subject.Task, in.Message, in.All)
	return verbs.TaskCommitOut{Commit: string(done.OID), Branch: done.Branch, Files: done.Files, LeftOut: shownNames(done.LeftOut)}, reviewing(err)
}

func (s Services) taskDiscard(ctx context.Context, call registry.Call, in verbs.TaskDiscardIn) (verbs.TaskDiscardOut, error) {
	var done task.Discard
	outcome := "discarded"
	switch {
	case in.Undo && (in.All || len(in.Paths) > 0):
		return verbs.TaskDiscardOut{}, refusal.New(refusal.BadInput, "undo brings all of one discard back", "leave paths and all out; see: termic discards")
	case !in.Undo && in.ID != "":
		return verbs.TaskDiscardOut{}, refusal.New(refusal.BadInput, "an id says which discard to undo", "add --undo")
	case in.Undo:
		var err error
		if done, err = s.Tasks.UndoDiscard(ctx, call.Subject.Task, in.ID); err != nil {
			return verbs.TaskDiscardOut{}, reviewing(err)
		}
		outcome = "undone"
	default:
		sel, err := selection(in.Paths, in.All)
		if err != nil {
			return verbs.TaskDiscardOut{}, err
		}
		if done, err = s.Tasks.Discard(ctx, call.Subject.Task, sel); err != nil {
			return verbs.TaskDiscardOut{}, reviewing(err)
		}
	}
	out := verbs.TaskDiscardOut{Outcome: outcome, ID: done.ID, Files: len(done.Paths), Paths: firstNames(done.Paths)}
	if len(done.LeftOut) > 0 {
		out.LeftOut = shownPaths(done.LeftOut)
	}
	return out, nil
}

func (s Services) taskDiscards(_ context.Context, call registry.Call, _ verbs.TaskDiscardsIn) (verbs.TaskDiscardsOut, error) {
	list, err := s.Tasks.Discards(call.Subject.Task)
	if err != nil {
		return verbs.TaskDiscardsOut{}, err
	}
	out := verbs.TaskDiscardsOut{Discards: []verbs.Discard{}}
	for _, d := range list {
		out.Discards = append(out.Discards, verbs.Discard{ID: d.ID, When: d.When.UTC().Format(time.RFC3339), Files: len(d.Paths), Paths: firstNames(d.Paths)})
	}
	return out, nil
}

// selection is what paths or all name.
func selection(paths []string, all bool) (git.Selection, error) {
	switch {
	case all && len(paths) > 0:
		return git.Selection{}, refusal.New(refusal.BadInput, "both paths and all were given", "leave one of them out")
	case !all && len(paths) == 0:
		return git.Selection{}, refusal.New(refusal.BadInput, "neither paths nor all were given", "name files, or add --all")
	}
	sel := git.Selection{All: all}
	for _, p := range paths {
		sel.Paths = append(sel.Paths, givenPath(p))
	}
	return sel, nil
}

// givenPath is the path that shownPath shows as text. A name that begins with a double quote is always shown quoted.
func givenPath(text string) string {
	if strings.HasPrefix(text, `"`) {
		if path, err := strconv.Unquote(text); err == nil {
			return path
		}
	}
	return text
}

func shownNames(paths []string) []string {
	if len(paths) == 0 {
		return nil
	}
	return firstNames(paths)
}

func firstNames(paths []string) []string {
	list := make([]string, 0, min(len(paths), maxPaths))
	for _, p := range paths[:min(len(paths), maxPaths)] {
		list = append(list, shownPath(p))
	}
	return list
}

// reviewing returns what differs here from how the errors of git look to the callers of other verbs.
func reviewing(err error) error {
	var unknown *git.NoChangeError
	var filtered *git.FilteredError
	var blocked *git.BlockedError
	var edited *git.EditedError
	var lost *git.UnkeepableError
	var no *refusal.Refusal
	switch {
	case errors.As(err, &unknown):
		no = refusal.Newf(refusal.BadInput, "name files as termic diff lists them", "no file that git has, or would take, is called so (ignored ones, sockets and the like are left alone): %s", named(unknown.Paths))
	case errors.As(err, &filtered):
		no = refusal.Newf(refusal.Conflict, "use git in a terminal of the task", "a filter of git's belongs to these files, and none runs here: %s", filters(filtered.Files))
	case errors.As(err, &edited):
		no = refusal.Newf(refusal.Conflict, "put it aside first", "changed or made since, so that bringing back what was discarded would lose it: %s", named(edited.Paths))
	case errors.As(err, &lost):
		no = refusal.Newf(refusal.Conflict, "use git in a terminal of the task", "these cannot be read, or are larger than is copied (%d GiB each, %d GiB together): %s",
			git.MaxLandFile>>30, git.MaxLandTotal>>30, named(lost.Paths))
	case errors.As(err, &blocked):
		no = refusal.Newf(refusal.Conflict, "move them away first", "ignored files are in a directory where a file would come back: %s", named(blocked.Paths))
	case errors.Is(err, git.ErrBadPath):
		no = refusal.New(refusal.BadInput, "a path is empty, absolute, leads out of the checkout, or into a git directory", "name files relative to the top of the checkout")
	case errors.Is(err, git.ErrNothing):
		no = refusal.New(refusal.Conflict, "there is nothing to discard", "")
	default:
		return err
	}
	return no.Because(err)
}
