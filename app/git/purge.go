package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// Remains is what an archive holds, and what of it would be nowhere else when it is purged.
type Remains struct {
	// Commits that only the archive's refs in the project reach.
	Commits int
	// Staged and Files are the changes against Head that only the store has.
	Staged, Files int
	Beside        int   // files beside the trees
	Bytes         int64 // that the store holds for it
	Unknown       bool  // the project's repository is gone, so that nothing could be compared
}

// Remains looks at what a purge of the archive would destroy. The branch stays in the project in any case.
func (r *Repo) Remains(ctx context.Context, a *Archived) (Remains, error) {
	w := Remains{Bytes: a.Bytes}
	for _, b := range a.Beside {
		if !b.Mode.IsDir() {
			w.Beside++
		}
	}
	refs, err := r.git.run(ctx, call{gitDir: r.CommonDir, args: []string{"for-each-ref", "--format=%(objectname)", "refs/termic/" + a.ID + "/"}})
	if err != nil {
		return w, fmt.Errorf("list refs of %s: %w", a.ID, err)
	}
	if len(refs) > 0 {
		out, err := r.git.run(ctx, call{gitDir: r.CommonDir, stdin: strings.NewReader(string(refs)), timeout: archiveTimeout, args: []string{
			"rev-list", "--count", "--ignore-missing", "--stdin", "--not", "--branches", "--tags", "--remotes", "--glob=refs/stash"}})
		if err != nil {
			return w, fmt.Errorf("count commits of %s: %w", a.ID, err)
		}
		if w.Commits, err = strconv.Atoi(strings.TrimSpace(string(out))); err != nil {
			return w, err
		}
	}
	st, err := r.openStore(ctx, a.Store)
	if err != nil {
		return w, err
	}
	from := string(a.Head)
	if from == "" {
		from = string(a.State) // no common file: all count
	}
	for n, tree := range map[*int]OID{&w.Staged: a.IndexTree, &w.Files: a.WorktreeTree} {
		out, err := st.run(ctx, call{args: []string{"diff-tree", "-r", "-z", "--name-only", "--no-renames", from + "^{tree}", string(tree)}})
		if err != nil {
			return w, fmt.Errorf("compare the archive of %s: %w", a.ID, err)
		}
		*n = len(splitNUL(out))
	}
	return w, nil
}

// Purge destroys an archive: its refs in the project, its names, its pack and its copies in the store. The branch stays.
// others are the archives of the same store that stay: what they share is left.
func (r *Repo) Purge(ctx context.Context, a *Archived, others []*Archived) error {
	if err := r.purge(ctx, a, others); err != nil {
		return fmt.Errorf("purge the archive of %s: %w", a.ID, err)
	}
	return nil
}

func (r *Repo) purge(ctx context.Context, a *Archived, others []*Archived) error {
	if err := checkID(a.ID); err != nil {
		return err
	}
	st, err := r.openStore(ctx, a.Store)
	if err != nil {
		return err
	}
	if !r.absent {
		if err := r.DropPins(ctx, a.ID); err != nil {
			return err
		}
	}
	out, err := st.run(ctx, call{args: []string{"for-each-ref", "--format=delete %(refname)", "refs/termic/" + a.ID + "/"}})
	if err != nil {
		return err
	}
	if len(out) > 0 {
		if _, err := st.run(ctx, call{args: []string{"update-ref", "--no-deref", "--stdin"}, stdin: strings.NewReader(string(out))}); err != nil {
			return err
		}
	}
	if err := RemoveTree(st.besideDir(a.ID)); err != nil {
		return err
	}
	return st.dropPack(a, others)
}

// DropCopies removes the copies that an archive keeps beside its trees, after it was restored.
func (r *Repo) DropCopies(ctx context.Context, a *Archived) error {
	if err := checkID(a.ID); err != nil {
		return err
	}
	st, err := r.openStore(ctx, a.Store)
	if err == nil {
		err = RemoveTree(st.besideDir(a.ID))
	}
	if err != nil {
		return fmt.Errorf("drop copies of %s: %w", a.ID, err)
	}
	return nil
}

// Left returns what there is of an archive in its store, in bytes of the disk.
func (a *Archived) Left() (bytes int64) {
	st := &store{dir: a.Store}
	return st.size(a)
}

// Discard removes an archive that another one of the same id has taken the place of. Copies beside the trees go when the
// other is made.
func (r *Repo) Discard(ctx context.Context, old, instead *Archived) error {
	st, err := r.openStore(ctx, old.Store)
	if err != nil {
		return fmt.Errorf("discard an archive of %s: %w", old.ID, err)
	}
	var in strings.Builder
	for what, oid := range old.commits() {
		if ref := old.ref(what); ref != instead.ref(what) {
			fmt.Fprintf(&in, "delete %s %s\n", ref, oid)
		}
	}
	if in.Len() > 0 {
		if _, err := st.run(ctx, call{args: []string{"update-ref", "--no-deref", "--stdin"}, stdin: strings.NewReader(in.String())}); err != nil {
			return fmt.Errorf("discard an archive of %s: %w", old.ID, err)
		}
	}
	return st.dropPack(old, []*Archived{instead})
}

// dropPack removes an archive's pack. Each pack holds all that its archive has beside the project, so no other archive
// needs it, unless it has the same one.
func (st *store) dropPack(a *Archived, others []*Archived) error {
	for _, o := range others {
		if o.Pack == a.Pack {
			return nil
		}
	}
	var all error
	for _, path := range st.packFiles(a) {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			all = errors.Join(all, err)
		}
	}
	return all
}
