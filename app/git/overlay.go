package git

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// overlay is how the archived files differ from Head's tree.
type overlay struct {
	remove []string
	write  []overlayFile
	// besides are paths that trees do not hold and that come back otherwise: empty directories, and what is kept beside.
	besides []string
}

type overlayFile struct {
	path, mode string
	oid        OID
}

const (
	modeExec    = "100755"
	modeLink    = "120000"
	modeGitlink = "160000" // a submodule: an empty directory
)

// overlay compares the archived files with Head's. The files in written are
// written in any case: their bytes are those of the blob, which is not what the
// person's configuration (line endings, filters) makes of it.
func (s *scratch) overlay(ctx context.Context, a *Archived, written map[string]bool) (*overlay, error) {
	from := string(a.Head) + "^{tree}"
	if a.Head == "" {
		out, err := s.run(ctx, call{args: []string{"mktree"}}) // of nothing
		if err != nil {
			return nil, err
		}
		from = strings.TrimSpace(string(out))
	}
	out, err := s.run(ctx, call{args: []string{"diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", from, string(a.WorktreeTree)}})
	if err != nil {
		return nil, err
	}
	o := &overlay{}
	fields := splitNUL(out)
	for i := 0; i+1 < len(fields); i += 2 {
		f := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		if len(f) != 5 {
			return nil, fmt.Errorf("unexpected diff record %q", clip(fields[i], 80))
		}
		path := fields[i+1]
		if f[4] == "D" {
			o.remove = append(o.remove, path)
			continue
		}
		o.write = append(o.write, overlayFile{path: path, mode: f[1], oid: OID(f[3])})
	}
	return o, s.addWritten(ctx, a, o, written)
}

// addWritten adds the files that are to be written although they are as in Head.
func (s *scratch) addWritten(ctx context.Context, a *Archived, o *overlay, written map[string]bool) error {
	missing := maps.Clone(written)
	for _, f := range o.write {
		delete(missing, f.path)
	}
	if len(missing) == 0 {
		return nil
	}
	out, err := s.run(ctx, call{args: []string{"ls-tree", "-r", "-z", "--full-tree", string(a.WorktreeTree)}})
	if err != nil {
		return err
	}
	for _, rec := range splitNUL(out) {
		meta, path, _ := strings.Cut(rec, "\t")
		if f := strings.Fields(meta); len(f) == 3 && missing[path] {
			o.write = append(o.write, overlayFile{path: path, mode: f[0], oid: OID(f[2])})
		}
	}
	return nil
}

// writeFiles brings the checkout from Head's files to the archived ones. Files
// that are the same are not touched. Everything stays below root.
func (s *scratch) writeFiles(ctx context.Context, root *os.Root, a *Archived, o *overlay) error {
	for _, p := range o.remove {
		if err := root.Remove(filepath.FromSlash(p)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for dir := filepath.Dir(p); dir != "."; dir = filepath.Dir(dir) {
			if root.Remove(dir) != nil { // not empty
				break
			}
		}
	}
	if _, err := s.run(ctx, call{args: []string{"read-tree", string(a.WorktreeTree)}}); err != nil {
		return err
	}
	var list strings.Builder
	for _, f := range o.write {
		if f.mode == modeGitlink {
			continue
		}
		// What is in the way is of another kind: checkout-index writes files only.
		if info, err := root.Lstat(filepath.FromSlash(f.path)); err == nil && !info.IsDir() {
			if err := root.Remove(filepath.FromSlash(f.path)); err != nil {
				return err
			}
		}
		list.WriteString(f.path + "\x00")
	}
	if list.Len() == 0 {
		return nil
	}
	_, err := s.run(ctx, call{args: []string{"checkout-index", "-z", "--force", "--ignore-skip-worktree-bits", "--stdin"},
		stdin: strings.NewReader(list.String()), timeout: archiveTimeout})
	return err
}

// except leaves out what was written over by what the archive keeps beside its trees, which was compared then, and learns
// which directories may stand in the place of files.
func (o *overlay) except(a *Archived, emptyDirs []string) {
	var paths []string
	for _, b := range a.Beside {
		if !b.Git {
			paths = append(paths, b.Path)
		}
	}
	slices.Sort(paths)
	o.besides = append(slices.Clone(emptyDirs), paths...)
	o.write = slices.DeleteFunc(o.write, func(f overlayFile) bool { return covered(paths, f.path) })
	o.remove = slices.DeleteFunc(o.remove, func(p string) bool { return covered(paths, p) })
}

// verify reads every written file back and compares it with its object id, by
// our own hashing. The executable bit counts where the file system has one.
func (o *overlay) verify(root *os.Root, sha256, execBit bool) error {
	for _, p := range o.remove {
		if info, err := root.Lstat(filepath.FromSlash(p)); err == nil && !(info.IsDir() && o.isDir(p)) {
			return fmt.Errorf("%s is still there", p)
		}
	}
	for _, f := range o.write {
		if f.mode == modeGitlink {
			continue
		}
		got, exec, err := hashFile(root, filepath.FromSlash(f.path), sha256)
		if err != nil {
			return fmt.Errorf("read %s back: %w", f.path, err)
		}
		if got != f.oid || execBit && f.mode != modeLink && exec != (f.mode == modeExec) {
			return fmt.Errorf("%s was not restored: %s, not %s %s", f.path, got, f.mode, f.oid)
		}
	}
	return nil
}

// isDir tells whether a directory of that path comes back, where a file was.
func (o *overlay) isDir(path string) bool {
	return slices.ContainsFunc(o.write, func(f overlayFile) bool { return strings.HasPrefix(f.path, path+"/") }) ||
		slices.ContainsFunc(o.besides, func(p string) bool { return p == path || strings.HasPrefix(p, path+"/") })
}

// hashFile returns the id of the blob that a file, or a link's text, makes, and
// whether its owner may execute it.
func hashFile(root *os.Root, path string, wide bool) (_ OID, exec bool, err error) {
	info, err := root.Lstat(path)
	if err != nil {
		return "", false, err
	}
	var src io.Reader
	size := info.Size()
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := root.Readlink(path)
		if err != nil {
			return "", false, err
		}
		src, size = strings.NewReader(to), int64(len(to))
	case info.Mode().IsRegular():
		f, err := root.Open(path)
		if err != nil {
			return "", false, err
		}
		defer f.Close()
		src = f
	default:
		return "", false, errors.New("neither a file nor a link")
	}
	var h hash.Hash = sha1.New()
	if wide {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", size)
	if _, err := io.Copy(h, src); err != nil {
		return "", false, err
	}
	return OID(hex.EncodeToString(h.Sum(nil))), info.Mode()&0o100 != 0, nil
}
