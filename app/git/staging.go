package git

import (
	"context"
	"fmt"
	"slices"
)

// Staged is what a Stage or an Unstage changed.
type Staged struct {
	Files int
	// LeftOut are selected paths that are no files: repositories in the checkout, sockets and the like.
	LeftOut []string
}

// Stage brings the index of the checkout at dir to the state of selected files, untracked ones included and ignored ones
// not, as git add does. Contents are read sealed (package comment): line endings are converted, and no filter, hook or
// fsmonitor runs. Commits of submodules stay as they are staged. It returns ErrBadPath, *NoChangeError,
// *UnfinishedError, *FilteredError for files that a filter program would have to convert, *UnkeepableError, ErrBusy,
// ErrIndexLocked, ErrIndexChanged, ErrNotWorktree.
func (r *Repo) Stage(ctx context.Context, dir string, sel Selection) (Staged, error) {
	var out Staged
	err := sel.check()
	if err == nil {
		err = r.editIndex(ctx, dir, func(v view, sc *scratch) (string, error) {
			var objects string
			var err error
			out, objects, err = r.stage(ctx, v, sc, sel)
			return objects, err
		})
	}
	if err != nil {
		return Staged{}, fmt.Errorf("stage in %s: %w", dir, err)
	}
	return out, nil
}

func (r *Repo) stage(ctx context.Context, v view, sc *scratch, sel Selection) (Staged, string, error) {
	var out Staged
	if err := sc.settledIndex(ctx, sel); err != nil {
		return out, "", err
	}
	changed, err := sc.changed(ctx)
	if err != nil {
		return out, "", err
	}
	if err := sc.known(ctx, sel, v.head.oid, changed.tracked, changed.untracked); err != nil {
		return out, "", err
	}
	before, _, err := sc.entries(ctx)
	if err != nil {
		return out, "", err
	}
	plan, err := sc.stageAll(ctx, limits{file: landFile, total: landTotal, only: sel.has,
		same: func(paths []string) (map[string]bool, error) { return r.lfsSame(ctx, sc, paths) }})
	if err != nil {
		return out, "", err
	}
	var lost []string
	for path, l := range plan.left {
		if l.why == nested || l.why == special {
			out.LeftOut = append(out.LeftOut, path)
		} else {
			lost = append(lost, path)
		}
	}
	slices.Sort(out.LeftOut)
	if len(lost) > 0 {
		slices.Sort(lost)
		return out, "", &UnkeepableError{Paths: lost[:min(len(lost), 100)]}
	}
	after, _, err := sc.entries(ctx)
	if err != nil {
		return out, "", err
	}
	objects := ""
	var stored []string
	for path, e := range after {
		if before[path] != e {
			out.Files++
			objects += blobOf(e) + "\n"
			stored = append(stored, path)
		}
	}
	for path := range before {
		if _, ok := after[path]; !ok {
			out.Files++
		}
	}
	return out, objects, sc.refuseFiltered(ctx, stored)
}

// Unstage gives selected paths of the index the entries that HEAD has, as git reset does. Files are not touched. The
// errors are those of Stage.
func (r *Repo) Unstage(ctx context.Context, dir string, sel Selection) (Staged, error) {
	var out Staged
	err := sel.check()
	if err == nil {
		err = r.editIndex(ctx, dir, func(v view, sc *scratch) (string, error) {
			out = Staged{}
			if err := sc.settledIndex(ctx, sel); err != nil {
				return "", err
			}
			staged, err := sc.stagedAgainst(ctx, v.head.oid)
			if err != nil {
				return "", err
			}
			entries, paths := map[string]string{}, []string{}
			for _, c := range staged {
				paths = append(paths, c.path)
				if sel.has(c.path) {
					entries[c.path] = c.entry()
				}
			}
			out.Files = len(entries)
			if err := sc.knownIn(ctx, sel, v.head.oid, paths); err != nil || len(entries) == 0 {
				return "", err
			}
			if err := sc.setEntries(ctx, entries); err != nil {
				return "", err
			}
			return "", sc.refresh(ctx)
		})
	}
	if err != nil {
		return Staged{}, fmt.Errorf("unstage in %s: %w", dir, err)
	}
	return out, nil
}

// knownIn is known, where untracked files count as well: what was unstaged may be one of them now.
func (s *scratch) knownIn(ctx context.Context, sel Selection, head OID, staged []string) error {
	if err := s.known(ctx, sel, head, staged); err == nil {
		return nil
	}
	changed, err := s.changed(ctx)
	if err != nil {
		return err
	}
	return s.known(ctx, sel, head, staged, changed.untracked)
}

// entry is HEAD's entry of a path, "<mode> <oid>"; "" where HEAD has none.
func (c headChange) entry() string {
	if c.mode == modeNone {
		return ""
	}
	return c.mode + " " + string(c.oid)
}

// blobOf is the object of an entry "<mode> <oid>".
func blobOf(entry string) string { return entry[len(modeNone)+1:] }
