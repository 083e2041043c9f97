//go:build unix

package gitview

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"termic/app/git"
)

// start is what a private directory starts with.
type start struct {
	head    string    // the text of HEAD
	branch  git.OID   // of the task's branch
	refs    []git.Ref // all others, sorted by name
	stashes string    // the log of refs/stash
	index   []byte    // nil: as on the host
}

// start is a copy of the host's state, or what an archive kept of an earlier private directory.
func (t Task) start(ctx context.Context, w git.Linked, kept *Kept, copied []git.Ref) (start, error) {
	s := start{head: "ref: " + t.branchRef(), branch: w.Head, refs: copied}
	if kept == nil {
		return s, nil
	}
	p, err := t.pins(ctx)
	if err != nil {
		return start{}, err
	}
	if err := kept.check(t, p); err != nil {
		return start{}, err
	}
	if err := t.startBranch(ctx, w, kept, &s); err != nil {
		return start{}, err
	}
	s.addRefs(kept)
	s.startStashes(kept, t.Repo.SHA256())
	at := s.branch
	switch {
	case kept.Head == t.branchRef():
	case slices.ContainsFunc(s.refs, func(r git.Ref) bool { return r.Name == kept.Head }):
		s.head, at = "ref: "+kept.Head, kept.Commit
	case kept.Head == "" && kept.Commit != "":
		s.head, at = string(kept.Commit), kept.Commit
	}
	tree := kept.Index
	if tree == "" {
		tree = at
	}
	s.index, err = t.Repo.IndexOf(ctx, w, tree)
	return s, err
}

// check refuses what Keep cannot have returned for this task: a ref to an object that no pin keeps makes every git in
// the cage fail once it is collected.
func (k *Kept) check(t Task, p pins) error {
	need := func(what string, oid git.OID) error {
		if oid != "" && !slices.Contains(p.all, oid) {
			return fmt.Errorf("%s of the archive, %s, is not kept in the project: %w", what, oid, ErrBadTask)
		}
		return nil
	}
	for what, oid := range map[string]git.OID{"the branch": k.Branch, "HEAD": k.Commit, "the staged state": k.Index} {
		if err := need(what, oid); err != nil {
			return err
		}
	}
	for _, r := range k.Refs {
		if !plainRef(r.Name) || r.Name == "refs/stash" || r.Name == t.branchRef() {
			return fmt.Errorf("ref %q of the archive: %w", clip(r.Name), ErrBadTask)
		}
		if err := need("ref "+r.Name, r.OID); err != nil {
			return err
		}
	}
	for _, s := range k.Stashes {
		if err := need("a stash", s.OID); err != nil {
			return err
		}
	}
	return nil
}

// startBranch puts the branch where the agent had it, if that is not in the host's: then the agent sees the host's too.
func (t Task) startBranch(ctx context.Context, w git.Linked, kept *Kept, s *start) error {
	if kept.Branch == "" || kept.Branch == w.Head {
		return nil
	}
	behind, err := t.Repo.IsAncestor(ctx, kept.Branch, w.Head)
	if err != nil || behind {
		return err
	}
	s.branch = kept.Branch
	s.put(git.Ref{Name: "refs/remotes/project/" + t.Branch, OID: w.Head})
	return nil
}

// addRefs adds the kept refs. They outrank those of the project, also where one name would be the other's directory.
func (s *start) addRefs(kept *Kept) {
	inWay := map[string]bool{}
	for _, r := range kept.Refs {
		for i := range r.Name {
			if r.Name[i] == '/' {
				inWay[r.Name[:i]] = true
			}
		}
	}
	s.refs = slices.DeleteFunc(slices.Clone(s.refs), func(r git.Ref) bool {
		return inWay[r.Name] || slices.ContainsFunc(kept.Refs, func(k KeptRef) bool { return strings.HasPrefix(r.Name, k.Name+"/") })
	})
	for _, r := range kept.Refs {
		s.put(git.Ref{Name: r.Name, OID: r.OID})
	}
}

// startStashes makes the log of stashes, the oldest first, and the ref at the newest (git-stash(1): refs/stash). git
// takes a line of the time 0 for a damaged one.
func (s *start) startStashes(kept *Kept, sha256 bool) {
	if len(kept.Stashes) == 0 {
		return
	}
	old := strings.Repeat("0", 40)
	if sha256 {
		old = strings.Repeat("0", 64)
	}
	var log strings.Builder
	for _, stash := range slices.Backward(kept.Stashes) {
		message := strings.Map(func(c rune) rune {
			if c < 0x20 || c == 0x7f {
				return ' '
			}
			return c
		}, stash.Message)
		fmt.Fprintf(&log, "%s %s termic <termic@localhost> 1 +0000\t%s\n", old, stash.OID, message)
		old = string(stash.OID)
	}
	s.stashes = log.String()
	s.put(git.Ref{Name: "refs/stash", OID: kept.Stashes[0].OID})
}

// put sets one ref; they stay sorted.
func (s *start) put(ref git.Ref) {
	i, there := slices.BinarySearchFunc(s.refs, ref.Name, func(r git.Ref, name string) int { return strings.Compare(r.Name, name) })
	if there {
		s.refs[i] = ref
		return
	}
	s.refs = slices.Insert(s.refs, i, ref)
}
