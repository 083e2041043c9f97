package git

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// discardChanges is the LandHow of a Discarded: a discard is a landing of HEAD's own files in the checkout itself.
const discardChanges LandHow = "discard"

// DiscardOptions say what to discard.
type DiscardOptions struct {
	Dir string // the checkout
	ID  string // as in ArchiveOptions
	Selection
	// Keep is an empty directory of ours, for what undoing needs.
	Keep string
}

// Discarded is what UndoDiscard needs, together with the directory DiscardOptions.Keep. It is plain data: the caller keeps
// it, before DiscardPlan.Apply.
type Discarded struct {
	Landed
	// Pin is the ref that keeps what was staged; "" where nothing was.
	Pin  string `json:"pin,omitempty"`
	Tree OID    `json:"pinned,omitempty"`
}

// DiscardPlan is a discard that has not happened.
type DiscardPlan struct {
	Discarded Discarded
	plan      LandPlan
}

// BlockedError names directories that hold ignored files, where a discard would bring a file back.
type BlockedError struct{ Paths []string }

func (e *BlockedError) Error() string {
	return fmt.Sprintf("ignored files are in the way: %q", e.Paths)
}

// PlanDiscard works out what it takes to bring selected files of a checkout back to HEAD: what is staged and unstaged of
// them goes, untracked ones are removed, ignored ones stay. It copies them first. Repositories in the checkout,
// commits of submodules, sockets and FIFOs that are untracked are left alone and named. It returns ErrNothing when there
// is nothing to discard, ErrBadPath, *NoChangeError, *UnfinishedError, *FilteredError, *UnkeepableError for what cannot be
// copied, ErrNotWorktree.
func (r *Repo) PlanDiscard(ctx context.Context, o DiscardOptions) (*DiscardPlan, error) {
	p, err := r.planDiscard(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("discard in %s: %w", o.Dir, err)
	}
	return p, nil
}

func (r *Repo) planDiscard(ctx context.Context, o DiscardOptions) (*DiscardPlan, error) {
	if err := errors.Join(checkID(o.ID), o.check()); err != nil {
		return nil, err
	}
	v, err := r.view(ctx, o.Dir)
	if err != nil {
		return nil, err
	}
	if err := v.finished(); err != nil {
		return nil, err
	}
	if v.head.oid == "" {
		return nil, ErrNoCommits
	}
	sc, err := r.newScratch(ctx, v, asPerson)
	if err != nil {
		return nil, err
	}
	defer sc.remove()
	d := &DiscardPlan{plan: LandPlan{repo: r, keep: o.Keep, Landed: Landed{Version: landVersion, ID: o.ID, How: discardChanges, Nonce: rand.Text()[:12],
		When: time.Now().UTC().Truncate(time.Second), Root: v.dir, GitDir: v.gitDir, Head: v.head.oid, At: v.head.branch}}}
	p := &d.plan
	entries, err := d.choose(ctx, sc, o.Selection)
	if err != nil {
		return nil, err
	}
	if len(p.Changes) == 0 {
		return nil, ErrNothing
	}
	if err := p.backUp(discardChanges); err != nil {
		return nil, err
	}
	if err := p.stageFiles(ctx, sc, v.head.oid+"^{tree}"); err != nil {
		return nil, err
	}
	if err := d.planEntries(ctx, sc, entries); err != nil {
		return nil, err
	}
	d.Discarded.Landed = p.Landed
	return d, nil
}

// choose fills in the changes, and returns the index entries that HEAD has for those of them that are staged.
func (d *DiscardPlan) choose(ctx context.Context, sc *scratch, sel Selection) (map[string]string, error) {
	p := &d.plan
	if err := sc.settledIndex(ctx, sel); err != nil {
		return nil, err
	}
	if err := sc.refresh(ctx); err != nil {
		return nil, err
	}
	staged, err := sc.stagedAgainst(ctx, p.Landed.Head)
	if err != nil {
		return nil, err
	}
	changed, err := sc.changed(ctx)
	if err != nil {
		return nil, err
	}
	same, err := p.repo.lfsSame(ctx, sc, changed.tracked)
	if err != nil {
		return nil, err
	}
	changed.tracked = slices.DeleteFunc(changed.tracked, func(path string) bool { return same[path] })
	differs := map[string]bool{}
	for _, c := range staged {
		differs[c.path] = true
	}
	for _, path := range slices.Concat(changed.tracked, changed.untracked) {
		differs[path] = true
	}
	if err := sc.known(ctx, sel, p.Landed.Head, keys(differs)); err != nil {
		return nil, err
	}
	chosen := choosePaths(differs, sel)
	head, err := sc.headEntries(ctx, p.Landed.Head, chosen)
	if err != nil {
		return nil, err
	}
	return d.decide(ctx, sc, chosen, staged, head)
}

// choosePaths returns the selected ones of the paths that differ, in order, with those that stand in their way: a file where a
// directory was, and what is in a directory where a file was.
func choosePaths(differs map[string]bool, sel Selection) []string {
	chosen := map[string]bool{}
	for path := range differs {
		if !sel.has(path) {
			continue
		}
		chosen[path] = true
		for dir := filepath.Dir(path); dir != "."; dir = filepath.Dir(dir) {
			if differs[dir] {
				chosen[dir] = true
			}
		}
	}
	for path := range differs {
		for dir := filepath.Dir(path); dir != "."; dir = filepath.Dir(dir) {
			if chosen[dir] && differs[dir] {
				chosen[path] = true
			}
		}
	}
	list := keys(chosen)
	slices.Sort(list)
	return list
}

func keys(m map[string]bool) []string {
	list := make([]string, 0, len(m))
	for k := range m {
		list = append(list, k)
	}
	return list
}

// decide says what becomes of each chosen path.
func (d *DiscardPlan) decide(ctx context.Context, sc *scratch, chosen []string, staged []headChange, head map[string]string) (map[string]string, error) {
	p, entries := &d.plan, map[string]string{}
	inIndex := map[string]bool{}
	for _, c := range staged {
		inIndex[c.path] = true
	}
	root, err := os.OpenRoot(sc.work)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var back, lost, blocked []string
	total := int64(0)
	removed := map[string]bool{}
	for _, path := range chosen {
		removed[path] = true
	}
	for _, path := range chosen {
		mode, oid, _ := strings.Cut(head[path], " ")
		c := LandChange{Path: path, OldMode: modeNone, NewMode: modeNone, NewOID: OID(oid)}
		if mode != "" {
			c.NewMode = mode
		}
		if strings.HasSuffix(path, "/") || c.Gitlink() {
			p.Landed.LeftOut = append(p.Landed.LeftOut, Path(path))
			continue
		}
		info, err := lstatBeneath(root, path)
		switch {
		case err != nil:
			return nil, err
		case info == nil, info.Mode()&os.ModeSymlink != 0:
		case info.IsDir():
			if in, err := othersIn(root, path, removed); err != nil || in {
				blocked = append(blocked, path)
			}
		case !info.Mode().IsRegular():
			lost = append(lost, path)
		default:
			if total += info.Size(); info.Size() > MaxLandFile || total > MaxLandTotal || !readable(filepath.Join(sc.work, filepath.FromSlash(path))) {
				lost = append(lost, path)
			}
		}
		if inIndex[path] {
			entries[path] = head[path]
		}
		if c.NewMode != modeNone {
			back = append(back, path)
		}
		p.Changes = append(p.Changes, c)
	}
	switch {
	case len(lost) > 0:
		return nil, &UnkeepableError{Paths: lost[:min(len(lost), 100)]}
	case len(blocked) > 0:
		return nil, &BlockedError{Paths: blocked}
	}
	return entries, sc.refuseFiltered(ctx, back)
}

// headEntries returns the entries "<mode> <oid>" that a commit has for paths.
func (s *scratch) headEntries(ctx context.Context, head OID, paths []string) (map[string]string, error) {
	out, err := s.run(ctx, call{args: []string{"ls-tree", "-r", "-z", "--full-tree", string(head)}, limit: 1 << 30})
	if err != nil {
		return nil, err
	}
	wanted := map[string]bool{}
	for _, p := range paths {
		wanted[p] = true
	}
	m := map[string]string{}
	for _, rec := range splitNUL(out) {
		meta, path, _ := strings.Cut(rec, "\t")
		if f := strings.Fields(meta); len(f) == 3 && wanted[path] {
			m[path] = f[0] + " " + f[2]
		}
	}
	return m, nil
}

// planEntries works out the index that goes with the files, and a tree that keeps what was staged of them.
func (d *DiscardPlan) planEntries(ctx context.Context, sc *scratch, entries map[string]string) error {
	l := &d.plan.Landed
	before, sum, err := sc.entries(ctx)
	if err != nil {
		return err
	}
	intended, err := sc.intended(ctx, l.Head)
	if err != nil {
		return err
	}
	for i := range l.Files {
		path := string(l.Files[i].Path)
		l.Files[i].Entry, l.Files[i].EntryAfter = before[path], before[path]
		if e, ok := entries[path]; ok {
			l.Files[i].EntryAfter, l.Files[i].Intent = e, intended[path]
		}
	}
	l.Entries = sum
	if l.IndexSum, err = copySum(filepath.Join(l.GitDir, "index"), filepath.Join(d.plan.keep, "index.before")); err != nil {
		return fmt.Errorf("copy index: %w", err)
	}
	if len(entries) == 0 {
		return nil
	}
	if err := d.planPin(ctx, sc, entries, before); err != nil {
		return err
	}
	if err := sc.setEntries(ctx, entries); err != nil {
		return err
	}
	if err := sc.assumeAgain(ctx); err != nil {
		return err
	}
	if _, l.EntriesAfter, err = sc.entries(ctx); err != nil {
		return err
	}
	l.IndexAfterSum, err = copySum(filepath.Join(sc.dir, "index"), filepath.Join(d.plan.keep, "index.after"))
	return err
}

// planPin makes a tree of the staged contents, so that git does not collect what nothing else names any more.
func (d *DiscardPlan) planPin(ctx context.Context, sc *scratch, entries, before map[string]string) error {
	staged := map[string]string{}
	for path := range entries {
		if e := before[path]; e != "" && !strings.HasPrefix(e, modeGitlink) {
			staged[fmt.Sprint(len(staged))] = e
		}
	}
	if len(staged) == 0 {
		return nil
	}
	env := "GIT_INDEX_FILE=" + filepath.Join(sc.dir, "index.pin")
	if err := sc.setEntries(ctx, staged, env); err != nil {
		return err
	}
	out, err := sc.run(ctx, call{args: []string{"write-tree", "--missing-ok"}, env: []string{env}})
	if err != nil {
		return err
	}
	d.Discarded.Tree = OID(strings.TrimSpace(string(out)))
	d.Discarded.Pin = "refs/termic/" + d.plan.Landed.ID + "/discard/" + strings.ToLower(d.plan.Landed.Nonce)
	return d.plan.repo.importObjects(ctx, sc, string(d.Discarded.Tree)+"\n")
}

// MoveKeep says that the directory DiscardOptions.Keep was moved.
func (d *DiscardPlan) MoveKeep(dir string) { d.plan.MoveKeep(dir) }

// Apply makes the planned discard true. Discarded must be on disk by then. What ends this process in the middle leaves what
// UndoDiscard takes back; an error has taken it back already. It returns what LandPlan.Apply does.
func (d *DiscardPlan) Apply(ctx context.Context) error {
	err := d.apply(ctx)
	if err == nil {
		d.plan.repo.settleIndex(context.WithoutCancel(ctx), d.plan.Landed.Root)
	}
	return err
}

func (d *DiscardPlan) apply(ctx context.Context) error {
	r, l := d.plan.repo, &d.plan.Landed
	unlock, err := repoLocks.lock(ctx, l.GitDir)
	if err != nil {
		return err
	}
	defer unlock()
	if d.Discarded.Pin != "" {
		if err := r.SetRef(ctx, d.Discarded.Pin, d.Discarded.Tree, ""); err != nil {
			return err
		}
	}
	if err := d.plan.apply(ctx); err != nil { // not Apply: we hold the lock, and bring the index up to date without it
		var half *HalfError
		if errors.As(err, &half) { // there is something left to bring back
			return err
		}
		return errors.Join(err, r.ForgetDiscard(context.WithoutCancel(ctx), d.Discarded))
	}
	return nil
}

// ForgetDiscard lets go of what a discard kept in the repository: it cannot be taken back any more.
func (r *Repo) ForgetDiscard(ctx context.Context, d Discarded) error {
	if d.Pin == "" {
		return nil
	}
	now, err := r.readRef(ctx, d.Pin)
	if err != nil || now == "" {
		return err
	}
	return r.DeleteRef(ctx, d.Pin, now)
}

// UndoDiscard brings back what a discard took from the checkout at dir, whole or interrupted: files with their permission
// bits and times, links, untracked files, and what was staged of them. keep is DiscardOptions.Keep. What was changed
// since in the same files is not overwritten: *EditedError names it, and nothing is done. It may be interrupted and called
// again. The caller forgets it then (ForgetDiscard).
func (r *Repo) UndoDiscard(ctx context.Context, dir string, d Discarded, keep string) error {
	if err := r.undoDiscard(ctx, dir, d.Landed, keep); err != nil {
		return fmt.Errorf("undo a discard in %s: %w", dir, err)
	}
	return nil
}

func (r *Repo) undoDiscard(ctx context.Context, dir string, l Landed, keep string) error {
	if l.Version != landVersion {
		return fmt.Errorf("record of version %d: %w", l.Version, ErrUnsupported)
	}
	v, err := r.view(ctx, dir)
	if err != nil {
		return err
	}
	// The checkout may have been archived and restored, or moved, since. A lock that a crash left is still known.
	if err := l.dropOwnLock(filepath.Join(v.gitDir, "index.lock")); err != nil {
		return err
	}
	l.Root, l.GitDir, l.NewHead = v.dir, v.gitDir, ""
	return r.editIndex(ctx, dir, func(v view, sc *scratch) (string, error) {
		roots, err := openRoots(&l)
		if err != nil {
			return "", err
		}
		defer roots.close()
		now, _, err := sc.entries(ctx)
		if err != nil {
			return "", err
		}
		if err := l.settle(roots); err != nil {
			return "", err
		}
		l.lateWrites(keep)
		if err := l.uneditedSince(roots, now); err != nil {
			return "", err
		}
		files := l
		files.IndexAfterSum = "" // the index is edited below, path by path: others may have changed since
		if err := r.undoWhole(context.WithoutCancel(ctx), &files, keep, roots); err != nil {
			return "", err
		}
		if err := sc.bringEntriesBack(ctx, l.Files); err != nil {
			return "", err
		}
		return "", sc.refresh(ctx)
	})
}

// bringEntriesBack gives the index the entries of before a discard.
func (s *scratch) bringEntriesBack(ctx context.Context, files []LandedFile) error {
	entries, intended := map[string]string{}, map[string]string{}
	for _, f := range files {
		switch {
		case f.Entry == f.EntryAfter:
		case f.Intent:
			entries[string(f.Path)], intended[string(f.Path)] = "", f.Entry
		default:
			entries[string(f.Path)] = f.Entry
		}
	}
	if err := s.setEntries(ctx, entries); err != nil {
		return err
	}
	return s.intend(ctx, intended)
}

// uneditedSince returns *EditedError when a file, or what is staged of it, is neither as before nor as the discard left it.
func (l *Landed) uneditedSince(roots roots, entries map[string]string) error {
	edited, err := l.editedFiles(roots)
	if err != nil {
		return err
	}
	for _, f := range l.Files {
		e, path := entries[string(f.Path)], string(f.Path)
		if e != f.Entry && e != f.EntryAfter && !slices.Contains(edited, path) {
			edited = append(edited, path)
		}
	}
	if len(edited) > 0 {
		return &EditedError{Paths: edited}
	}
	return nil
}
