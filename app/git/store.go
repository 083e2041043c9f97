package git

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/renameio/v2"
)

// store is a bare repository of ours for what a project should not hold: dirty
// files of archived checkouts. It borrows the project's objects; nothing else
// ever writes to it, and no cage sees it.
type store struct {
	repo *Repo
	dir  string
}

// temp is where scratch directories of this store are made: on the disk of the
// store, which must hold their contents anyway, and not on a small /tmp.
func (st *store) temp() string { return filepath.Join(st.dir, "scratch") }

// openStore opens the store at dir, or makes it.
func (r *Repo) openStore(ctx context.Context, dir string) (*store, error) {
	dir, err := cleanPath(dir)
	if err != nil {
		return nil, fmt.Errorf("archive store: %w", err)
	}
	unlock, err := repoLocks.lock(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	st := &store{repo: r, dir: dir}
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		err = st.create()
		if err != nil {
			return nil, fmt.Errorf("make archive store %s: %w", dir, err)
		}
	}
	if err := st.borrow(); err != nil {
		return nil, fmt.Errorf("open archive store %s: %w", dir, err)
	}
	if err := os.MkdirAll(st.temp(), 0o700); err != nil {
		return nil, err
	}
	return st, st.sweep(time.Now())
}

// staleAfter is the age at which a scratch directory belongs to nobody: no call
// that uses one lasts so long.
const staleAfter = 24 * time.Hour

// sweep removes scratch directories that a crash left behind.
func (st *store) sweep(now time.Time) error {
	entries, err := os.ReadDir(st.temp())
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && now.Sub(info.ModTime()) > staleAfter {
			err = RemoveTree(filepath.Join(st.temp(), e.Name()))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// create makes the repository under another name and renames it, so that a
// store either is whole or is not there.
func (st *store) create() error {
	if err := os.MkdirAll(filepath.Dir(st.dir), 0o700); err != nil {
		return err
	}
	half := filepath.Join(filepath.Dir(st.dir), ".store-"+rand.Text())
	defer RemoveTree(half) //nolint:errcheck // gone when all went well
	for _, d := range []string{"info", "refs", "objects/info", "objects/pack"} {
		if err := os.MkdirAll(filepath.Join(half, d), 0o700); err != nil {
			return err
		}
	}
	cfg := config{"core.bare": "true", "core.sparsecheckout": "false", "core.fsync": "all"}
	for name, text := range map[string]string{
		"HEAD":                    "ref: refs/heads/none\n",
		"config":                  cfg.text(st.repo.sha256),
		"objects/info/alternates": st.alternates(),
	} {
		if err := os.WriteFile(filepath.Join(half, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	err := os.Rename(half, st.dir)
	if errors.Is(err, fs.ErrExist) { // another process was faster
		return nil
	}
	return err
}

func (st *store) alternates() string { return filepath.Join(st.repo.CommonDir, "objects") + "\n" }

// borrow checks that the store is one, and points it at where the project is now.
func (st *store) borrow() error {
	path := filepath.Join(st.dir, "objects", "info", "alternates")
	now, err := readSmall(path, 64<<10)
	if err != nil {
		return fmt.Errorf("not an archive store: %w", err)
	}
	if string(now) == st.alternates() {
		return nil
	}
	return renameio.WriteFile(path, []byte(st.alternates()), 0o600)
}

// sealed is the store as a git directory of ours without a checkout.
func (st *store) sealed() *scratch {
	return &scratch{git: st.repo.git, dir: st.dir, none: st.repo.none()}
}

// run runs git on the store, sealed.
func (st *store) run(ctx context.Context, c call) ([]byte, error) {
	if c.timeout == 0 {
		c.timeout = archiveTimeout
	}
	return st.sealed().run(ctx, c)
}

// ref is where a commit of an archive is kept in the store. Its name holds the
// commit, so that no archive ever moves what another one named.
func (a *Archived) ref(what string) string {
	return "refs/termic/" + a.ID + "/" + what + "/" + string(a.commits()[what])
}

// commits are the archive's commits by name.
func (a *Archived) commits() map[string]OID {
	return map[string]OID{"index": a.Index, "worktree": a.Worktree, "state": a.State}
}

// take moves the archive's commits with everything that Head's tree does not
// hold into the store, as one pack, and names them there.
func (st *store) take(ctx context.Context, sc *scratch, a *Archived) error {
	trees := []string{string(a.Index) + "^{tree}", string(a.Worktree) + "^{tree}", string(a.State) + "^{tree}"}
	list, err := sc.objectsOf(ctx, trees, a.Head)
	if err != nil {
		return err
	}
	for _, c := range a.commits() {
		list += string(c) + "\n"
	}
	pack, err := sc.pack(ctx, list)
	if err != nil {
		return err
	}
	defer pack.Close()
	out, err := st.run(ctx, call{args: []string{"index-pack", "--stdin"}, stdin: pack})
	if err != nil {
		return fmt.Errorf("write the pack: %w", err)
	}
	if a.Pack, err = packName(string(out)); err != nil {
		return fmt.Errorf("write the pack: %w", err)
	}
	a.Bytes = st.size(a)
	var in strings.Builder
	for what, oid := range a.commits() {
		fmt.Fprintf(&in, "update %s\x00%s\x00\x00", a.ref(what), oid)
	}
	if _, err := st.run(ctx, call{args: []string{"update-ref", "--no-deref", "-z", "--stdin"}, stdin: strings.NewReader(in.String())}); err != nil {
		return fmt.Errorf("name the archive: %w", refError(err))
	}
	return nil
}

// packName reads what index-pack says: "pack" and the name of what it wrote.
func packName(said string) (string, error) {
	name, ok := strings.CutPrefix(strings.TrimSpace(said), "pack\t")
	if !ok || !OID(name).Valid() {
		return "", fmt.Errorf("unexpected answer %q", clip(said, 80))
	}
	return name, nil
}

// packFiles are the files of an archive's pack.
func (st *store) packFiles(a *Archived) []string {
	if !OID(a.Pack).Valid() {
		return nil
	}
	base := filepath.Join(st.dir, "objects", "pack", "pack-"+a.Pack)
	return []string{base + ".idx", base + ".rev", base + ".pack"}
}

// size is what an archive takes in the store, in bytes.
func (st *store) size(a *Archived) (n int64) {
	files := st.packFiles(a)
	for _, b := range a.Beside {
		if b.Name != "" {
			files = append(files, filepath.Join(st.besideDir(a.ID), b.Name))
		}
	}
	for _, path := range files {
		n += onDisk(path)
	}
	return n
}

// objectsOf lists the trees and blobs below the trees that are not in the tree
// of the commit have, one a line. It walks no history: clones may be shallow.
func (s *scratch) objectsOf(ctx context.Context, trees []string, have OID) (string, error) {
	args := append([]string{"rev-list", "--objects", "--no-object-names"}, trees...)
	if have != "" {
		args = append(args, "--not", string(have)+"^{tree}")
	}
	out, err := s.run(ctx, call{args: args, timeout: archiveTimeout, limit: 1 << 30})
	if err != nil {
		return "", fmt.Errorf("list new objects: %w", err)
	}
	return string(out), nil
}

// pack writes the listed objects into one pack file, open at its start.
func (s *scratch) pack(ctx context.Context, list string) (*os.File, error) {
	f, err := os.CreateTemp(s.dir, "pack-")
	if err != nil {
		return nil, err
	}
	_, err = s.run(ctx, call{args: []string{"pack-objects", "--stdout", "-q"}, stdin: strings.NewReader(list), stdout: f,
		limit: 1 << 50, timeout: archiveTimeout})
	if err == nil {
		_, err = f.Seek(0, 0)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("pack: %w", err)
	}
	return f, nil
}

// has returns an error unless the commits of the record, with the record's
// trees, are in the store.
func (st *store) has(ctx context.Context, a *Archived) error {
	var ask []string
	for _, suffix := range []string{"^{commit}", "^{tree}"} {
		for _, c := range []OID{a.Index, a.Worktree, a.State} {
			ask = append(ask, string(c)+suffix)
		}
	}
	out, err := st.run(ctx, call{args: append([]string{"rev-parse"}, ask...)})
	if err != nil {
		return fmt.Errorf("read the archive store: %w", err)
	}
	want := []OID{a.Index, a.Worktree, a.State, a.IndexTree, a.WorktreeTree, a.StateTree}
	var got []OID
	for f := range strings.FieldsSeq(string(out)) {
		got = append(got, OID(f))
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("the archive store has %q, not %q", got, want)
	}
	return nil
}

// verifyArchive reads back what was written: each pin, each name in the store,
// and the presence of every object below them.
func (r *Repo) verifyArchive(ctx context.Context, st *store, a *Archived) error {
	pins, err := r.pins(ctx, a.ID)
	if err != nil {
		return err
	}
	there, tags, err := r.commitsAmong(ctx, a.Pins)
	if err != nil {
		return err
	}
	there = append(there, tags...)
	for _, p := range a.Pins {
		if !slices.Contains(pins, p) || !slices.Contains(there, p) {
			return fmt.Errorf("commit %s is not pinned in the project", p)
		}
	}
	if err := st.has(ctx, a); err != nil {
		return err
	}
	if err := st.checkBeside(a); err != nil {
		return err
	}
	args := []string{"rev-list", "--objects", "--quiet"}
	if r.partial {
		args = append(args, "--missing=allow-any") // what the clone never fetched
	}
	for what := range a.commits() { // by name: a name that is missing fails too
		args = append(args, a.ref(what)+"^{tree}")
	}
	if _, err := st.run(ctx, call{args: args}); err != nil {
		return fmt.Errorf("read the archive back: %w", err)
	}
	return nil
}
