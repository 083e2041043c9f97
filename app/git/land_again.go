package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// landBase returns the tree that a merge begins at where some of the work landed before and is in the main worktree's commit
// by now: without it git would merge what landed with itself, and call each further change of the same lines a conflict.
// It is the last common commit's tree, in which every file that HEAD has exactly as it landed is as the work then had
// it. What the person dropped or changed since is not among those. "" where there is no such file.
func (p *LandPlan) landBase(ctx context.Context, ps *scratch, earlier EarlierLanding) (OID, error) {
	if !earlier.Work.Valid() || !earlier.Result.Valid() || !ps.hasTrees(ctx, earlier.Work, earlier.Result) {
		return "", nil
	}
	fork, err := p.repo.mergeBaseIn(ctx, ps, p.Landed.Head, p.Landed.Work)
	if err != nil || fork == "" {
		return "", err
	}
	landed, err := ps.treeChanges(ctx, string(fork)+"^{tree}", earlier.Work)
	if err != nil {
		return "", err
	}
	since, err := ps.treeChanges(ctx, string(earlier.Result), p.Landed.Head+"^{tree}")
	if err != nil {
		return "", err
	}
	other := map[string]bool{} // HEAD has it otherwise than it landed
	for _, c := range since {
		other[c.Path] = true
	}
	entries := map[string]string{}
	for _, c := range landed {
		switch {
		case other[c.Path] || c.Gitlink():
		case c.NewMode == modeNone:
			entries[c.Path] = ""
		default:
			entries[c.Path] = c.NewMode + " " + string(c.NewOID)
		}
	}
	if len(entries) == 0 {
		return "", nil
	}
	env := "GIT_INDEX_FILE=" + filepath.Join(ps.dir, "index.base")
	if _, err := ps.run(ctx, call{args: []string{"read-tree", string(fork)}, env: []string{env}}); err != nil {
		return "", err
	}
	if err := ps.setEntries(ctx, entries, env); err != nil {
		return "", err
	}
	out, err := ps.run(ctx, call{args: []string{"write-tree", "--missing-ok"}, env: []string{env}})
	if err != nil {
		return "", fmt.Errorf("tree of what landed before: %w", err)
	}
	return OID(strings.TrimSpace(string(out))), nil
}

// hasTrees reports whether all of the trees are there: those of a record of an older version are not.
func (s *scratch) hasTrees(ctx context.Context, trees ...OID) bool {
	for _, t := range trees {
		if _, err := s.run(ctx, call{args: []string{"cat-file", "-e", string(t) + "^{tree}"}}); err != nil {
			return false
		}
	}
	return true
}

// mergeBaseIn returns the last common commit of two that a stand-in has; "" for none.
func (r *Repo) mergeBaseIn(ctx context.Context, s *scratch, a, b OID) (OID, error) {
	out, err := s.run(ctx, call{args: []string{"merge-base", string(a), string(b)}})
	if exitCode(err) == 1 {
		return "", nil
	}
	return OID(strings.TrimSpace(string(out))), err
}

// rebase makes HEAD of the stand-in, and returns the work, as commits on one that has the tree base: git finds that as
// what both have in common. (merge-tree has --merge-base only since 2.40.)
func (s *scratch) rebase(ctx context.Context, base, work OID) (OID, error) {
	from, err := s.commitTree(ctx, base, "base", identity)
	if err != nil {
		return "", err
	}
	head, err := s.treeOf(ctx, "HEAD")
	if err != nil {
		return "", err
	}
	ours, err := s.commitTree(ctx, head, "ours", identity, from)
	if err != nil {
		return "", err
	}
	tree, err := s.treeOf(ctx, work)
	if err != nil {
		return "", err
	}
	theirs, err := s.commitTree(ctx, tree, "theirs", identity, from)
	if err != nil {
		return "", err
	}
	return theirs, os.WriteFile(filepath.Join(s.dir, "HEAD"), []byte(string(ours)+"\n"), 0o600)
}

// landedPrefix is where the trees of a checkout's last landing are kept in the project, each named after itself.
func landedPrefix(id string) string { return "refs/termic/" + id + "/landed/" }

// KeepLanded keeps the trees of a landing in the project and lets go of those of earlier ones; with the zero value of all.
func (r *Repo) KeepLanded(ctx context.Context, id string, l Landed) error {
	if err := checkID(id); err != nil {
		return err
	}
	refs, err := r.Refs(ctx, strings.TrimSuffix(landedPrefix(id), "/"))
	if err != nil {
		return err
	}
	wanted := map[string]OID{}
	for _, tree := range []OID{l.Tree, l.Result} {
		if tree != "" && l.Result != "" {
			wanted[landedPrefix(id)+string(tree)] = tree
		}
	}
	var changes []RefChange
	for _, ref := range refs {
		if wanted[ref.Name] == ref.OID {
			delete(wanted, ref.Name)
			continue
		}
		changes = append(changes, RefChange{Name: ref.Name, From: ref.OID})
	}
	for name, tree := range wanted {
		changes = append(changes, RefChange{Name: name, To: tree})
	}
	return r.UpdateRefs(ctx, "termic: landed", changes)
}
