package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// planFiles merges the work into the main worktree's commit, and plans the files and the index that come of it.
// at is the commit that the task's checkout is at.
func (p *LandPlan) planFiles(ctx context.Context, ts *scratch, to view, o LandOptions, ident []string, at OID) error {
	if err := to.finished(); err != nil {
		return err
	}
	r := p.repo
	ps, err := r.newScratch(ctx, to, asPerson)
	if err != nil {
		return err
	}
	defer ps.remove()
	if err := r.copyShallow(ps); err != nil {
		return err
	}
	if err := ps.borrow(filepath.Join(ts.dir, "objects")); err != nil {
		return err
	}
	base, err := p.landBase(ctx, ps, o.Earlier)
	if err != nil {
		return err
	}
	merged, err := ps.mergeTree(ctx, p.Landed.Work, o.Label, base)
	if err != nil {
		return err
	}
	p.Landed.Result = merged.tree
	if p.Changes, err = ps.treeChanges(ctx, string(to.head.oid)+"^{tree}", merged.tree); err != nil {
		return err
	}
	if o.How == LandChanges {
		p.leaveOutGitlinks()
	}
	for path := range merged.stages {
		p.Landed.Conflicts = append(p.Landed.Conflicts, Path(path))
	}
	slices.Sort(p.Landed.Conflicts)
	if err := p.anything(ctx, o, at); err != nil {
		return err
	}
	if err := p.backUp(o.How); err != nil {
		return err
	}
	// After the copies: what is changed between the two shows here, what is changed later shows when the files are replaced.
	if err := p.checkOverlap(ctx, ps, o.How); err != nil {
		return err
	}
	if err := p.stageFiles(ctx, ps, merged.tree); err != nil {
		return err
	}
	if err := p.planIndex(ctx, ps, to, merged, o.How); err != nil {
		return err
	}
	if o.How == LandMerge {
		if err := p.planMerge(ctx, ps, merged, o, ident); err != nil {
			return err
		}
	}
	return p.bringObjects(ctx, ps, merged)
}

// anything returns ErrNothing when the landing would change nothing: for a merge, when the project has the commits of the
// task, which is at the commit at, and all its files. That of the files that were not committed is made anew each time,
// so that it says nothing.
func (p *LandPlan) anything(ctx context.Context, o LandOptions, at OID) error {
	if len(p.Changes) > 0 || len(p.Landed.Conflicts) > 0 {
		return nil
	}
	if o.How == LandMerge {
		has, err := p.repo.IsAncestor(ctx, at, p.Landed.Head)
		if err != nil {
			return err
		}
		if !has {
			return nil
		}
	}
	if o.How == LandChanges && len(p.Landed.LeftOut) > 0 {
		return &LeftOutError{Paths: p.Landed.LeftOut}
	}
	return ErrNothing
}

// leaveOutGitlinks moves the commits of submodules from the changes to what is left out: no file says which commit a
// submodule is at, only the index does.
func (p *LandPlan) leaveOutGitlinks() {
	p.Changes = slices.DeleteFunc(p.Changes, func(c LandChange) bool {
		if c.Gitlink() {
			p.Landed.LeftOut = append(p.Landed.LeftOut, Path(c.Path))
		}
		return c.Gitlink()
	})
	slices.Sort(p.Landed.LeftOut)
}

// merged is what a merge came to.
type merged struct {
	tree   OID
	stages map[string][]string // of conflicted paths: "<mode> <oid> <stage>"
}

// mergeTree merges a commit into the stand-in's HEAD. Files with conflicts have the usual markers. No merge driver is
// configured there, and no file is written. base is a tree to merge from instead of the last common commit's; "" for none.
func (s *scratch) mergeTree(ctx context.Context, work OID, label string, base OID) (merged, error) {
	if base != "" {
		var err error
		if work, err = s.rebase(ctx, base, work); err != nil {
			return merged{}, err
		}
	}
	name := string(work)
	if s.git.checkLabel(ctx, label) {
		ref := filepath.Join(s.dir, "refs", "heads", filepath.FromSlash(label))
		if err := os.MkdirAll(filepath.Dir(ref), 0o700); err != nil {
			return merged{}, err
		}
		if err := os.WriteFile(ref, []byte(string(work)+"\n"), 0o600); err != nil {
			return merged{}, err
		}
		name = label
	}
	out, err := s.run(ctx, call{args: []string{"merge-tree", "--write-tree", "-z", "--no-messages", "HEAD", name}, timeout: diffTimeout})
	if err != nil && exitCode(err) != 1 {
		if stderrHas(err, "unrelated histories") {
			return merged{}, errors.Join(ErrUnrelated, err)
		}
		return merged{}, err
	}
	m := merged{stages: map[string][]string{}}
	for i, rec := range splitNUL(out) {
		if i == 0 {
			m.tree = OID(rec)
			continue
		}
		meta, path, ok := strings.Cut(rec, "\t")
		if !ok || len(strings.Fields(meta)) != 3 {
			return merged{}, fmt.Errorf("unexpected answer %q of git merge-tree", clip(rec, 80))
		}
		m.stages[path] = append(m.stages[path], meta)
	}
	if !m.tree.Valid() || (err != nil) != (len(m.stages) > 0) {
		return merged{}, fmt.Errorf("git merge-tree: %d conflicts in %q: %w", len(m.stages), clip(string(m.tree), 80), err)
	}
	return m, nil
}

// checkLabel reports whether a label can stand for the work: one that git would take for an object id cannot.
func (g *Git) checkLabel(ctx context.Context, label string) bool {
	return !oidRE.MatchString(label) && label != "" && g.CheckBranchName(ctx, label) == nil
}

// planIndex works out the index that goes with the files: with the conflicts of uncommitted changes, all of it for a
// merge. Uncommitted changes without a conflict leave it alone.
func (p *LandPlan) planIndex(ctx context.Context, ps *scratch, to view, m merged, how LandHow) error {
	l := &p.Landed
	before, err := copySum(filepath.Join(to.gitDir, "index"), filepath.Join(p.keep, "index.before"))
	if err != nil {
		return fmt.Errorf("copy index: %w", err)
	}
	entries, sum, err := ps.entries(ctx)
	if err != nil {
		return err
	}
	l.IndexSum, l.Entries = before, sum
	for i := range l.Files {
		if !l.Files[i].Git {
			l.Files[i].Entry = entries[string(l.Files[i].Path)]
		}
	}
	if how == LandChanges && len(m.stages) == 0 {
		return nil
	}
	if how == LandMerge {
		if _, err := ps.run(ctx, call{args: []string{"read-tree", "-i", "-m", string(l.Head), string(m.tree)}}); err != nil {
			return fmt.Errorf("index of the merge: %w", err)
		}
	}
	if len(m.stages) > 0 {
		var in strings.Builder
		for path, stages := range m.stages {
			fmt.Fprintf(&in, "0 %s\t%s\x00", ps.none, path)
			for _, s := range stages {
				fmt.Fprintf(&in, "%s\t%s\x00", s, path)
			}
		}
		if _, err := ps.run(ctx, call{args: []string{"update-index", "-z", "--index-info"}, stdin: strings.NewReader(in.String())}); err != nil {
			return fmt.Errorf("conflicts of the index: %w", err)
		}
	}
	if _, l.EntriesAfter, err = ps.entries(ctx); err != nil {
		return err
	}
	l.IndexAfterSum, err = copySum(filepath.Join(ps.dir, "index"), filepath.Join(p.keep, "index.after"))
	return err
}

// entries returns the index entries of the stand-in, "<mode> <oid>" by path (of the first stage there is), and a
// digest of all of them.
func (s *scratch) entries(ctx context.Context) (map[string]string, string, error) {
	out, err := s.run(ctx, call{args: []string{"ls-files", "--stage", "-z"}, limit: 1 << 30})
	if err != nil {
		return nil, "", fmt.Errorf("list the index: %w", err)
	}
	m := map[string]string{}
	for _, rec := range splitNUL(out) {
		meta, path, _ := strings.Cut(rec, "\t")
		if f := strings.Fields(meta); len(f) == 3 && m[path] == "" {
			m[path] = f[0] + " " + f[1]
		}
	}
	sum := sha256.Sum256(out)
	return m, hex.EncodeToString(sum[:]), nil
}

// planMerge makes the merge commit, or for a conflict the files that tell git of an unfinished merge.
func (p *LandPlan) planMerge(ctx context.Context, ps *scratch, m merged, o LandOptions, ident []string) error {
	l := &p.Landed
	if len(m.stages) == 0 {
		var err error
		l.NewHead, err = ps.commitTree(ctx, m.tree, o.Subject, ident, l.Head, l.Work)
		p.mergeTo = l.NewHead
		return err
	}
	message := o.Subject + "\n\n# Conflicts:\n"
	for _, path := range l.Conflicts {
		quoted, _ := path.MarshalText()
		message += "#\t" + string(quoted) + "\n"
	}
	stage := filepath.Join(p.keep, "stage.git")
	if err := os.MkdirAll(stage, 0o700); err != nil {
		return err
	}
	for name, text := range map[string]string{"MERGE_HEAD": string(l.Work) + "\n", "MERGE_MSG": message, "MERGE_MODE": "no-ff"} {
		if err := os.WriteFile(filepath.Join(stage, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return p.afterStates(stage, true)
}

// bringObjects brings into the repository what commits and conflicts name.
func (p *LandPlan) bringObjects(ctx context.Context, ps *scratch, m merged) error {
	l := &p.Landed
	trees := []string{string(m.tree), string(l.Tree)}
	list, err := ps.objectsOf(ctx, trees, l.Head)
	if err != nil {
		return err
	}
	for _, stages := range m.stages { // the base's side may be in neither tree
		for _, s := range stages {
			if f := strings.Fields(s); f[0] != modeGitlink {
				list += f[1] + "\n"
			}
		}
	}
	list += string(l.Work) + "\n"
	if p.mergeTo != "" {
		list += string(p.mergeTo) + "\n"
	}
	return p.repo.importObjects(ctx, ps, list)
}
