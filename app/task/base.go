package task

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"termic/app/git"
	"termic/registry/ident"
	"termic/registry/refusal"
)

// base resolves what a new task starts from: the named ref, or the project's default branch. A scoped caller's
// is the default branch, or a commit of its own task or of one that descends from it (I7). note says why it is not
// origin's, when that was asked for.
func (s *Tasks) base(ctx context.Context, repo *git.Repo, record Record, want New) (base git.OID, note string, err error) {
	ref := want.Base
	main, err := repo.DefaultBranch(ctx)
	switch {
	case err != nil && ref == "":
		return "", "", err
	case record.Namespace != "" && want.Fetch: // the guard has refused it
		return "", "", refusal.New(refusal.NotPermitted, "a scoped caller's base is not fetched", "leave fetch out")
	case want.Fetch:
		return s.fetchedBase(ctx, repo, main, want)
	case ref == "" || record.Namespace != "" && ref == main.Name:
		return main.OID, "", nil
	case record.Namespace == "":
		base, err = repo.Resolve(ctx, ref)
		return base, "", err
	}
	base, err = s.scopedBase(ctx, repo, record, ref)
	return base, "", err
}

// fetchedBase returns where origin has a branch, the default one when none is named. When origin is not reached it is where
// the branch was when it was fetched last, else what ref is here, and note says so.
func (s *Tasks) fetchedBase(ctx context.Context, repo *git.Repo, main git.Branch, want New) (base git.OID, note string, err error) {
	ref := want.Base
	branch := cmp.Or(ref, main.Name)
	for _, prefix := range []string{"refs/heads/", "refs/remotes/origin/", "origin/"} {
		if rest, ok := strings.CutPrefix(branch, prefix); ok {
			branch = rest
			break
		}
	}
	if branch == "" {
		return "", "", refusal.New(refusal.Conflict, "the project has no default branch that could be fetched", "name a branch of origin as base")
	}
	want.say("fetching " + branch + " from origin")
	base, err = repo.FetchBranch(ctx, branch, want.say)
	switch {
	case errors.Is(err, git.ErrRefNotFound), errors.Is(err, git.ErrBadBranch):
		return "", "", refusal.New(refusal.NotFound, "origin has no branch of that name", "only a branch can be fetched first; leave fetch out to start from what is here").Because(err)
	case !errors.Is(err, git.ErrUnreachable):
		return base, "", err
	}
	s.Log.Warn("a task's base was not fetched", "project", repo.Root, "cause", err)
	note, kept := git.Why(err), "refs/remotes/origin/"+branch
	if base, err = repo.Resolve(ctx, kept); err == nil {
		return base, "origin was not reached (" + note + "): the task starts from origin/" + branch + " as it was fetched last", nil
	}
	if !errors.Is(err, git.ErrRefNotFound) {
		return "", "", err
	}
	base, err = repo.Resolve(ctx, cmp.Or(ref, main.Name))
	return base, "origin was not reached (" + note + ") and never was: the task starts from " + branch + " as it is here", err
}

// commitID is a whole commit id, SHA-1 or SHA-256. A part of one would say whether other objects begin with it.
var commitID = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// scopedBase resolves a branch or a commit of the maker or of one of its descendants. Everything else is no such
// ref, whether or not it is there, and is not looked up: only branches of tasks that the maker sees are.
func (s *Tasks) scopedBase(ctx context.Context, repo *git.Repo, record Record, ref string) (git.OID, error) {
	var found git.OID
	for _, seen := range s.family(record.Namespace, record.Project) {
		tip, err := repo.Resolve(ctx, "refs/heads/"+seen.Branch)
		if errors.Is(err, git.ErrRefNotFound) {
			continue
		}
		if err != nil {
			return "", err
		}
		if ref == seen.Branch || ref == string(tip) {
			found = tip
		}
		if !commitID.MatchString(ref) || found != "" {
			continue
		}
		// On the task's own part of its branch: not in what was there before it.
		own, err := repo.IsAncestor(ctx, git.OID(ref), tip)
		if err != nil || !own {
			continue // among others because there is no such commit
		}
		if before, err := repo.IsAncestor(ctx, git.OID(ref), seen.Base); err == nil && (!before || ref == string(seen.Base)) {
			found = git.OID(ref)
		}
	}
	if found == "" {
		return "", refusal.New(refusal.NotFound, "no such branch or commit",
			"start from the project's default branch, or from a branch or a whole commit id of your own task or of one that you made")
	}
	return found, nil
}

// family returns the task and those that descend from it, of one project, that have a checkout of their own.
func (s *Tasks) family(id ident.Task, project ident.Project) []Record {
	return slices.DeleteFunc(s.List(), func(r Record) bool {
		mine := r.ID == id || slices.Contains(r.Parents, id)
		return !mine || r.Project != project || !r.OwnCheckout || r.Stage == Creating || r.Branch == ""
	})
}
