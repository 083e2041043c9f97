package handlers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"termic/app/git"
	"termic/app/gitview"
	"termic/app/task"
	"termic/registry"
	"termic/registry/refusal"
	"termic/registry/verbs"
)

// maxPaths bounds the names of one answer; their number is told in any case.
const maxPaths = 1000

func (s Services) taskApply(ctx context.Context, call registry.Call, in verbs.TaskApplyIn) (verbs.TaskApplyOut, error) {
	if in.Undo {
		if in.As != "" || in.Branch != "" || in.Message != "" || in.Preview || in.Confirm != "" {
			return verbs.TaskApplyOut{}, refusal.New(refusal.BadInput, "undo takes the last landing back as it was, and nothing else can be said of it", "leave the rest out")
		}
		landed, err := s.Tasks.Unland(ctx, call.Subject.Task)
		if err != nil {
			return verbs.TaskApplyOut{}, err
		}
		out := renderLanding(task.Landing{Landed: landed})
		out.Outcome, out.Files, out.Conflicts = "undone", len(landed.Files), []string{}
		return out, nil
	}
	done, err := s.Tasks.Land(ctx, call.Subject.Task, task.Land{
		How: git.LandHow(cmp.Or(in.As, string(git.LandChanges))), Branch: in.Branch, Message: in.Message, Preview: in.Preview, Confirm: in.Confirm,
	})
	if err != nil {
		return verbs.TaskApplyOut{}, err
	}
	out := renderLanding(done)
	switch {
	case in.Preview:
		out.Outcome, out.Commit = "preview", ""
	case len(out.Conflicts) > 0:
		out.Outcome = "conflicts"
	}
	return out, nil
}

func renderLanding(done task.Landing) verbs.TaskApplyOut {
	l := done.Landed
	out := verbs.TaskApplyOut{
		Outcome: "landed", As: string(l.How), Files: len(done.Changes), Paths: []string{}, Conflicts: shownPaths(l.Conflicts), LeftOut: shownPaths(l.LeftOut),
		Commit: string(l.NewHead), Branch: l.New, Obeyed: []verbs.ObeyedFile{}, Confirm: done.Confirm,
	}
	for _, c := range done.Changes[:min(len(done.Changes), maxPaths)] {
		out.Paths = append(out.Paths, shownPath(c.Path))
	}
	for _, o := range done.Obeyed[:min(len(done.Obeyed), maxPaths)] {
		out.Obeyed = append(out.Obeyed, verbs.ObeyedFile{Path: shownPath(o.Path), Why: string(o.Why), Kind: o.Change})
	}
	return out
}

func shownPaths(paths []git.Path) []string {
	list := []string{}
	for _, p := range paths[:min(len(paths), maxPaths)] {
		list = append(list, shownPath(string(p)))
	}
	return list
}

// shownPath is a path for people: quoted when it holds what acts on a terminal, or is no UTF-8.
func shownPath(path string) string {
	if quoted := strconv.Quote(path); !utf8.ValidString(path) || len(quoted) != len(path)+2 {
		return quoted
	}
	return path
}

// landing returns the refusals of landing and of bases from a cage, or nil.
func landing(err error) *refusal.Refusal {
	var seen *task.MustBeSeenError
	var over *git.OverlapError
	var edited *git.EditedError
	var filtered *git.FilteredError
	var lost *git.UnkeepableError
	var unfinished *git.UnfinishedError
	var leftOut *git.LeftOutError
	var half *git.HalfError
	var written *git.WrittenError
	switch {
	case errors.As(err, &half) && len(half.Paths) == 0:
		return refusal.New(refusal.Conflict, "it was interrupted and could not be taken back whole; what was there before is kept",
			"the app's log says why; then undo it; the next start of the app tries that as well")
	case errors.As(err, &half):
		return refusal.Newf(refusal.Conflict, "put these files aside, then undo it; the next start of the app tries that as well",
			"it was interrupted and could not be taken back whole; what was there before is kept: %s", named(half.Paths))
	case errors.As(err, &written):
		return refusal.Newf(refusal.Busy, "try again when nobody writes there", "somebody changed files at the same moment, and nothing else was changed: %s", named(written.Paths))
	case errors.Is(err, git.ErrNoExchange):
		return refusal.New(refusal.Conflict, "the file system of the checkout can neither exchange two names nor link files: what somebody writes at the same moment would be lost",
			"land as a branch, or use git in a terminal")
	case errors.As(err, &leftOut):
		return refusal.Newf(refusal.Conflict, "commits of submodules land as a merge or a branch; move the rest yourself",
			"all that is left to land are submodules, nested repositories and the like: %s", strings.Join(shownPaths(leftOut.Paths[:min(len(leftOut.Paths), maxObeyed)]), ", "))
	case errors.As(err, &unfinished):
		return refusal.Newf(refusal.Conflict, "finish or abort it first: git status", "a %s is unfinished in %s", unfinished.Operation, shownPath(unfinished.Dir))
	case errors.As(err, &seen):
		return refusal.Newf(refusal.Unconfirmed, "look at them (termic diff), then add --confirm "+seen.Confirm,
			"it comes from a cage, and brings files that programs obey although nobody tells them to: %s", obeyedNames(seen.Obeyed))
	case errors.As(err, &over) && over.Staged:
		return refusal.Newf(refusal.Conflict, "commit or unstage it first", "what is staged in the project's checkout would become part of the merge: %s", named(over.Paths))
	case errors.As(err, &over):
		return refusal.Newf(refusal.Conflict, "commit them, put them aside, or land as a branch", "the project's checkout has changes of its own in the same places: %s", named(over.Paths))
	case errors.As(err, &edited):
		return refusal.Newf(refusal.Conflict, "put your changes aside first, or keep what landed", "changed since it landed, so that undoing would lose it: %s", named(edited.Paths))
	case errors.As(err, &lost):
		return refusal.Newf(refusal.Conflict, "let git ignore them, or commit them in the task", "these cannot be read, are called .git, or are larger than lands uncommitted (%d GiB each, %d GiB together): %s",
			git.MaxLandFile>>30, git.MaxLandTotal>>30, named(lost.Paths))
	case errors.As(err, &filtered):
		return refusal.Newf(refusal.Conflict, "commit them in the task, or land as changes", "uncommitted files that a filter belongs to cannot be committed for you: %s", filters(filtered.Files))
	}
	return nil
}

// maxObeyed is how many files a refusal names; a preview lists all of them.
const maxObeyed = 20

func obeyedNames(list []gitview.Obeyed) string {
	var names []string
	for _, o := range list[:min(len(list), maxObeyed)] {
		names = append(names, fmt.Sprintf("%s (%s, %s)", shownPath(o.Path), o.Change, o.Why))
	}
	if more := len(list) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more (add --preview to see all)", more))
	}
	return strings.Join(names, ", ")
}

// filters names files with what makes a filter of git's belong to each.
func filters(files []git.Filtered) string {
	var names []string
	for _, f := range files[:min(len(files), maxObeyed)] {
		from := "git's attributes outside of the checkout"
		if f.From != "" {
			from = shownPath(f.From)
		}
		names = append(names, fmt.Sprintf("%s (filter=%s in %s)", shownPath(f.Path), shownPath(clip(f.Filter)), from))
	}
	if more := len(files) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// clip shortens the name of a filter, which anybody may choose.
func clip(name string) string {
	const most = 40
	if len(name) > most {
		return name[:most] + "…"
	}
	return name
}

func named(paths []string) string {
	var names []string
	for _, p := range paths[:min(len(paths), maxObeyed)] {
		names = append(names, shownPath(p))
	}
	if more := len(paths) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}
