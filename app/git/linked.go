package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ErrStaged is a checkout whose index holds something that a move of its commit would overwrite.
var ErrStaged = errors.New("staged changes are in the way")

// Linked is an ordinary linked worktree as its record says; nothing was asked of its files.
type Linked struct {
	Dir        string // top level, links resolved
	GitDir     string // its record, <common>/worktrees/<name>
	Branch     string // "" when detached
	Head       OID    // "" when the branch has no commit
	Locked     bool
	InProgress string // an unfinished operation, as in Status
}

// Linked reads the record of the linked worktree at dir. git discovers nothing: the record is found through
// the .git file and has to point back, otherwise ErrMainWorktree. A .git that is no such file is refused too.
func (r *Repo) Linked(ctx context.Context, dir string) (Linked, error) {
	l, err := r.linked(ctx, dir)
	if err != nil {
		return Linked{}, fmt.Errorf("linked worktree %s: %w", dir, err)
	}
	return l, nil
}

func (r *Repo) linked(ctx context.Context, dir string) (Linked, error) {
	dir, err := cleanPath(dir)
	if err != nil {
		return Linked{}, err
	}
	record, err := r.linkedDir(dir)
	if err != nil {
		return Linked{}, err
	}
	h, err := r.readHead(ctx, record)
	if err != nil {
		return Linked{}, err
	}
	v := view{dir: realPath(dir), gitDir: record, head: h}
	operation, err := v.inProgress()
	if err != nil {
		return Linked{}, err
	}
	return Linked{Dir: v.dir, GitDir: record, Branch: h.branch, Head: h.oid, InProgress: operation,
		Locked: exists(filepath.Join(record, "locked"))}, nil
}

// CarryIndex brings the index of a linked worktree from the tree of one commit to that of another, and keeps what
// is staged and what git knows of the files; files are neither read nor written. ErrStaged when something staged
// differs from both. With dry nothing is changed.
func (r *Repo) CarryIndex(ctx context.Context, w Linked, from, to OID, dry bool) error {
	if !from.Valid() || !to.Valid() {
		return fmt.Errorf("carry the index from %q to %q: %w", clip(string(from), 80), clip(string(to), 80), ErrBadRef)
	}
	args := []string{"read-tree"}
	if dry {
		args = append(args, "-n")
	}
	args = append(args, "-i", "-m", string(from), string(to))
	err := r.retryLocked(ctx, func() error {
		_, err := r.git.run(ctx, call{gitDir: w.GitDir, write: true, args: args,
			config: []string{"submodule.recurse=false", "core.splitIndex=false", "core.untrackedCache=false"}})
		return err
	})
	if stderrHas(err, "would be overwritten by merge", "not uptodate", "Cannot merge", "cannot merge") {
		return fmt.Errorf("%w: %w", ErrStaged, err)
	}
	return err
}

// Setting is one effective line of the configuration.
type Setting struct {
	Key   string // section and name in lower case, the subsection between them as it is
	Value string // "true" for a key without a value
}

// Settings returns the effective configuration at a linked worktree, in git's order: a later line wins where only
// one can count.
func (r *Repo) Settings(ctx context.Context, w Linked) ([]Setting, error) {
	out, err := r.git.run(ctx, call{gitDir: w.GitDir, limit: 16 << 20, args: []string{"config", "-z", "--list"}})
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	var list []Setting
	for _, rec := range splitNUL(out) {
		key, value, ok := strings.Cut(rec, "\n")
		if !ok {
			value = "true" // git-config(1)
		}
		list = append(list, Setting{Key: key, Value: value})
	}
	return list, nil
}

// Ref is one ref of the repository.
type Ref struct {
	Name     string // in full
	OID      OID    // what it points at, a tag object where it is one
	Kind     string // commit, tag, tree, blob
	Created  int64  // Unix seconds; of the tag or the commit
	Upstream string // of a branch: full name of the ref that it follows; "" for none
	Symbolic bool   // stands for another ref
}

// Refs returns the refs that are or are below one of the names, in order of their names.
func (r *Repo) Refs(ctx context.Context, names ...string) ([]Ref, error) {
	for _, n := range names {
		if err := checkFullRef(n); err != nil {
			return nil, err
		}
	}
	out, err := r.git.run(ctx, call{at: r.Root, args: append([]string{"for-each-ref",
		"--format=%(refname) %(objectname) %(objecttype) 0%(creatordate:unix) [%(upstream)] [%(symref)]"}, names...)})
	if err != nil {
		return nil, fmt.Errorf("list refs: %w", err)
	}
	var refs []Ref
	for line := range strings.Lines(string(out)) { // no name of a ref holds a space or a bracket
		f := strings.Fields(line)
		if len(f) != 6 || !OID(f[1]).Valid() {
			return nil, fmt.Errorf("list refs: unexpected line %q", clip(line, 80))
		}
		created, err := strconv.ParseInt(f[3], 10, 64)
		if err != nil {
			created = 0 // a tag or commit with a date that is none
		}
		refs = append(refs, Ref{Name: f[0], OID: OID(f[1]), Kind: f[2], Created: created,
			Upstream: strings.Trim(f[4], "[]"), Symbolic: f[5] != "[]"})
	}
	return refs, nil
}

// RefsWithin returns those of the refs, by full name, whose commits are in the history of a commit.
func (r *Repo) RefsWithin(ctx context.Context, commit OID, names ...string) ([]string, error) {
	if !commit.Valid() {
		return nil, fmt.Errorf("commit %q: %w", clip(string(commit), 80), ErrBadRef)
	}
	for _, n := range names {
		if err := checkFullRef(n); err != nil {
			return nil, err
		}
	}
	out, err := r.git.run(ctx, call{at: r.Root, args: []string{"for-each-ref", "--merged=" + string(commit), "--format=%(refname)"}})
	if err != nil {
		return nil, fmt.Errorf("list refs within %s: %w", commit, err)
	}
	return slices.DeleteFunc(strings.Fields(string(out)), func(n string) bool { return !slices.Contains(names, n) }), nil
}

// RefChange is one step of a transaction. Without From the ref must not exist; without To it is deleted.
type RefChange struct {
	Name     string
	To, From OID
}

// UpdateRefs makes all changes or none, on disk when it returns; ErrRefMoved when a ref is not where its change says.
func (r *Repo) UpdateRefs(ctx context.Context, reason string, changes []RefChange) error {
	if len(changes) == 0 {
		return nil
	}
	var in strings.Builder
	for _, c := range changes {
		if err := checkFullRef(c.Name); err != nil {
			return err
		}
		for _, oid := range []OID{c.To, c.From} {
			if oid != "" && !oid.Valid() {
				return fmt.Errorf("%s: object id %q: %w", c.Name, clip(string(oid), 80), ErrBadRef)
			}
		}
		switch {
		case c.To == "" && c.From == "":
			return fmt.Errorf("delete %s: %w", c.Name, ErrRefMoved)
		case c.To == "":
			fmt.Fprintf(&in, "delete %s\x00%s\x00", c.Name, c.From)
		case c.From == "":
			fmt.Fprintf(&in, "create %s\x00%s\x00", c.Name, c.To)
		default:
			fmt.Fprintf(&in, "update %s\x00%s\x00%s\x00", c.Name, c.To, c.From)
		}
	}
	err := r.retryLocked(ctx, func() error {
		_, err := r.git.run(ctx, call{at: r.Root, write: true, config: append([]string{"core.fsync=all"}, refTimeouts...),
			args: []string{"update-ref", "--no-deref", "-m", reason, "-z", "--stdin"}, stdin: strings.NewReader(in.String())})
		return err
	})
	if err != nil {
		return fmt.Errorf("update refs: %w", refError(err))
	}
	return nil
}

// IsAncestor reports whether the commit old is next or an ancestor of it.
func (r *Repo) IsAncestor(ctx context.Context, old, next OID) (bool, error) {
	_, err := r.git.run(ctx, call{at: r.Root, args: []string{"merge-base", "--is-ancestor", string(old), string(next)}})
	if exitCode(err) == 1 {
		return false, nil
	}
	return err == nil, err
}

// SHA256 reports whether object ids have 64 digits.
func (r *Repo) SHA256() bool { return r.sha256 }

// Partial reports whether the repository is a partial clone: objects may be missing.
func (r *Repo) Partial() bool { return r.partial }

// ObjectDir returns the repository's object directory, as git says.
func (r *Repo) ObjectDir(ctx context.Context) (string, error) {
	out, err := r.git.run(ctx, call{at: r.Root, limit: 64 << 10, args: []string{"rev-parse", "--path-format=absolute", "--git-path", "objects"}})
	if err != nil {
		return "", fmt.Errorf("find the object directory: %w", err)
	}
	return cleanPath(strings.TrimSuffix(string(out), "\n"))
}

// FiltersUsed returns the names of the filters that attributes give to files of a linked worktree's index. The
// files are not looked at: attributes come from the index and from the repository's own.
func (r *Repo) FiltersUsed(ctx context.Context, w Linked) ([]string, error) {
	files, err := r.git.run(ctx, call{gitDir: w.GitDir, args: []string{"ls-files", "-z"}})
	if err != nil {
		return nil, fmt.Errorf("list files: %w", err)
	}
	out, err := r.git.run(ctx, call{gitDir: w.GitDir, stdin: bytes.NewReader(files), limit: 1 << 30,
		args: []string{"check-attr", "-z", "--cached", "--stdin", "filter"}})
	if err != nil {
		return nil, fmt.Errorf("look for filters: %w", err)
	}
	var names []string
	fields := splitNUL(out) // path, attribute, value
	for i := 0; i+2 < len(fields); i += 3 {
		if v := fields[i+2]; v != "unspecified" && v != "unset" && v != "set" && !slices.Contains(names, v) {
			names = append(names, v)
		}
	}
	return names, nil
}

// IndexOf returns an index file of the tree of a commit, or of a tree, for the checkout of a linked worktree: what the
// worktree's own index knows of files that are the same is in it. Neither the worktree nor its index is changed.
func (r *Repo) IndexOf(ctx context.Context, w Linked, tree OID) ([]byte, error) {
	if !tree.Valid() {
		return nil, fmt.Errorf("index of %q: %w", clip(string(tree), 80), ErrBadRef)
	}
	sc, err := r.newScratch(ctx, view{dir: w.Dir, gitDir: w.GitDir, head: head{oid: w.Head, branch: w.Branch}}, asPerson)
	if err != nil {
		return nil, err
	}
	defer sc.remove()
	if _, err := sc.run(ctx, call{args: []string{"read-tree", "--reset", string(tree)}}); err != nil {
		return nil, fmt.Errorf("index of %s: %w", tree, err)
	}
	return readSmall(filepath.Join(sc.dir, "index"), 1<<30)
}
