package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// halfFiles bounds the files that an interrupted restore may have left half written: it writes one after the other.
const halfFiles = 20

// RemoveHalfRestored removes what an interrupted restore wrote at dir, if nothing is lost with it: each file holds what its archive, or
// the commit of that, has at its path, or a part of that. Otherwise it removes nothing and returns false: somebody wrote
// there, or the person's configuration makes other bytes of the commit's files.
func (r *Repo) RemoveHalfRestored(ctx context.Context, a Archived, dir string) (bool, error) {
	seen, err := os.Lstat(dir)
	if err != nil {
		return false, fmt.Errorf("remove half a restore %s: %w", dir, err)
	}
	nothing, err := r.holdsNothingElse(ctx, &a, dir)
	if err == nil && nothing {
		err = removeTree(dir, seen)
	}
	if err != nil {
		return false, fmt.Errorf("remove half a restore %s: %w", dir, err)
	}
	return nothing, nil
}

// halfRestore is a directory that is compared with an archive.
type halfRestore struct {
	repo   *Repo
	st     *store
	a      *Archived
	root   *os.Root
	blobs  map[string][]OID // of the archive's files and its commit's, by path
	beside map[string]Beside
	half   []string // regular files that are none of them
}

func (r *Repo) holdsNothingElse(ctx context.Context, a *Archived, dir string) (bool, error) {
	if err := a.check(); err != nil {
		return false, err
	}
	st, err := r.openStore(ctx, a.Store)
	if err != nil {
		return false, err
	}
	if err := st.has(ctx, a); err != nil {
		return false, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false, err
	}
	defer root.Close()
	h := &halfRestore{repo: r, st: st, a: a, root: root, blobs: map[string][]OID{}, beside: map[string]Beside{}}
	for _, b := range a.Beside {
		if !b.Git {
			h.beside[b.Path] = b
		}
	}
	for _, tree := range []OID{a.WorktreeTree, a.Head} {
		if err := h.list(ctx, tree); err != nil {
			return false, err
		}
	}
	err = fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil || e.IsDir() {
			return err
		}
		return h.entry(filepath.ToSlash(path))
	})
	if err == nil {
		err = h.halves(ctx)
	}
	if errors.Is(err, errNotOurs) || errors.Is(err, fs.ErrPermission) {
		return false, nil
	}
	return err == nil, err
}

// errNotOurs is a file that holds what the archive does not.
var errNotOurs = errors.New("not of the archive")

// list notes what a tree has at each path.
func (h *halfRestore) list(ctx context.Context, tree OID) error {
	if tree == "" {
		return nil
	}
	out, err := h.st.run(ctx, call{args: []string{"ls-tree", "-r", "-z", "--full-tree", string(tree)}, limit: 1 << 30})
	if err != nil {
		return err
	}
	for _, rec := range splitNUL(out) {
		meta, path, _ := strings.Cut(rec, "\t")
		if f := strings.Fields(meta); len(f) == 3 && f[1] == "blob" {
			h.blobs[path] = append(h.blobs[path], OID(f[2]))
		}
	}
	return nil
}

// entry returns errNotOurs for what is neither the archive's nor, perhaps, a part of that.
func (h *halfRestore) entry(path string) error {
	info, err := h.root.Lstat(filepath.FromSlash(path))
	if err != nil {
		return err
	}
	kind := info.Mode().Type()
	if path == ".git" && kind == 0 && h.ownGitFile() {
		return nil
	}
	if kind == 0 || kind == fs.ModeSymlink {
		oid, _, err := hashFile(h.root, filepath.FromSlash(path), h.repo.sha256)
		if err != nil {
			return err
		}
		if slices.Contains(h.blobs[path], oid) {
			return nil
		}
	}
	b, kept := h.beside[path]
	switch {
	case kind == fs.ModeSymlink && kept:
		if to, err := h.root.Readlink(filepath.FromSlash(path)); err != nil || b.Mode.Type() != kind || to != b.Link {
			return errors.Join(errNotOurs, err)
		}
		return nil
	case kind == fs.ModeNamedPipe && kept && b.Mode.Type() == kind:
		return nil
	case kind == 0 && len(h.half) < halfFiles && (kept || len(h.blobs[path]) > 0):
		h.half = append(h.half, path)
		return nil
	}
	return errNotOurs
}

// ownGitFile reports whether the checkout's .git file leads into the project, as git writes it.
func (h *halfRestore) ownGitFile() bool {
	text, err := readSmall(filepath.Join(h.root.Name(), ".git"), 8<<10)
	record, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	return err == nil && (len(text) == 0 || ok && within(filepath.Clean(record), filepath.Join(h.repo.CommonDir, "worktrees")))
}

// halves returns errNotOurs unless each of the files that are not whole is a part of what the archive has at its path.
func (h *halfRestore) halves(ctx context.Context) error {
	for _, path := range h.half {
		ok, err := h.partOfBeside(ctx, path)
		if err == nil && !ok {
			ok, err = h.partOfBlob(ctx, path)
		}
		if err != nil {
			return err
		}
		if !ok {
			return errNotOurs
		}
	}
	return nil
}

func (h *halfRestore) partOfBeside(ctx context.Context, path string) (bool, error) {
	b, ok := h.beside[path]
	if !ok || !b.Mode.IsRegular() || b.Name != filepath.Base(b.Name) {
		return false, nil
	}
	whole, err := openRegular(filepath.Join(h.st.besideDir(h.a.ID), b.Name))
	if err != nil {
		return false, err
	}
	defer whole.Close()
	return h.partOf(ctx, path, whole, b.Size)
}

func (h *halfRestore) partOfBlob(ctx context.Context, path string) (bool, error) {
	for _, oid := range h.blobs[path] {
		data, err := h.st.sealed().blobs(ctx, []string{string(oid)}, bigFile+outputLimit)
		if errors.Is(err, ErrTooLarge) {
			continue
		}
		if err != nil {
			return false, err
		}
		if ok, err := h.partOf(ctx, path, bytes.NewReader(data[0]), int64(len(data[0]))); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// partOf reports whether each block of a file is as in a whole one, or holds nothing but zeros: it was not written yet.
func (h *halfRestore) partOf(ctx context.Context, path string, whole io.ReaderAt, size int64) (bool, error) {
	f, err := h.root.Open(filepath.FromSlash(path))
	if err != nil {
		return false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > size {
		return false, err
	}
	same := true
	_, err = contents(ctx, f, info.Size(), func(at int64, data []byte) error {
		want := make([]byte, len(data))
		if n, err := whole.ReadAt(want, at); n < len(want) {
			return err
		}
		same = same && bytes.Equal(data, want)
		return nil
	})
	return same, err
}
