package task

import (
	"context"
	"errors"
	"regexp"
	"slices"

	"termic/app/git"
	"termic/registry/ident"
	"termic/registry/refusal"
)

// base resolves what a new task starts from: the named ref, or the project's default branch. A scoped caller's
// is the default branch, or a commit of its own task or of one that descends from it (I7).
func (s *Tasks) base(ctx context.Context, repo *git.Repo, record Record, ref string) (git.OID, error) {
	main, err := repo.DefaultBranch(ctx)
	if ref == "" || record.Namespace != "" && ref == main.Name {
		return main.OID, err
	}
	if record.Namespace == "" {
		return repo.Resolve(ctx, ref)
	}
	return s.scopedBase(ctx, repo, record, ref)
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
