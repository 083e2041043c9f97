package task

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"termic/app/git"
	"termic/app/gitview"
)

// obeyedIn returns those of the changes that programs run by themselves, or that instruct agents. What is removed is
// among them where it did so: a hook that is gone protects nobody any more.
func obeyedIn(changes []git.LandChange, hooks string) []gitview.Obeyed {
	var list []gitview.Obeyed
	for _, c := range changes {
		why := gitview.WhyObeyed(c.Path, c.NewMode == "120000", hooks)
		if c.Gitlink() {
			why = gitview.ObeyedSubmodule
		}
		if why == "" {
			continue
		}
		o := gitview.Obeyed{Path: c.Path, Why: why, Change: git.Modified, Blob: string(c.NewOID), Mode: c.NewMode}
		switch {
		case c.OldMode == "000000":
			o.Change = git.Added
		case c.NewMode == "000000":
			o.Change = git.Deleted
		}
		list = append(list, o)
	}
	return list
}

// confirmation stands for what was shown, and for nothing else: other contents have another.
func confirmation(how, tree string, obeyed []gitview.Obeyed) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q\n", how, tree)
	for _, o := range obeyed {
		fmt.Fprintf(h, "%q %q %q %q %q\n", o.Path, o.Why, o.Change, o.Blob, o.Mode)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// admitBase returns *MustBeSeenError when a new task would start from what a cage wrote and be less caged than that
// cage, until the person has seen what in it programs obey. less tells that it is such a task. A scoped caller's task is
// never less caged than its own.
func (s *Tasks) admitBase(ctx context.Context, repo *git.Repo, record Record, base git.OID, confirm string) (less bool, err error) {
	if record.Namespace != "" {
		return false, nil
	}
	imported, err := s.imported(ctx, repo, base)
	if err != nil || !imported {
		return false, err
	}
	since, less, err := s.lessCaged(ctx, repo, record, base)
	if err != nil || !less {
		return false, err
	}
	changes, err := repo.ChangesBetween(ctx, since, base)
	if err != nil {
		return false, err
	}
	obeyed := obeyedIn(changes, "")
	want := confirmation("base", string(base), obeyed)
	if len(obeyed) > 0 && confirm != want {
		return false, &MustBeSeenError{obeyed, want}
	}
	return true, nil
}

// lessCaged tells whether a new task may do more than a task whose cage's work holds the commit base, and returns where
// that work began. A commit of no task that there still is counts as one of the strictest cage.
func (s *Tasks) lessCaged(ctx context.Context, repo *git.Repo, record Record, base git.OID) (since git.OID, less bool, err error) {
	child, err := record.Declared()
	if err != nil {
		return "", false, err
	}
	known := false
	for _, other := range s.List() {
		if other.Project != record.Project || other.ID == record.ID || !other.FromCage() || other.Branch == "" {
			continue
		}
		tip, err := repo.Resolve(ctx, "refs/heads/"+other.Branch)
		if errors.Is(err, git.ErrRefNotFound) {
			continue
		}
		if err != nil {
			return "", false, err
		}
		if holds, err := repo.IsAncestor(ctx, base, tip); err != nil || !holds {
			continue // among others because there is no such commit
		}
		known, since = true, other.Base
		parent, err := other.Declared()
		if err != nil || !other.Mode.Caged() || child.ChildOf(parent, s.Machine.Enforced(parent.Mode)) != nil {
			return since, true, nil
		}
	}
	if !known {
		main, err := repo.DefaultBranch(ctx)
		return main.OID, !record.Mode.Caged(), err
	}
	return since, false, nil
}
