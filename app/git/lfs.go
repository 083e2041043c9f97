package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

const (
	// lfsPaths and lfsBytes bound what one look at a checkout spends on files that
	// large file storage may have written; the rest shows as changed.
	lfsPaths = 1000
	lfsBytes = 1 << 30
)

// lfsPointer is the blob that stands for a file in git-lfs
// (github.com/git-lfs/git-lfs, docs/spec.md).
var lfsPointer = regexp.MustCompile(`^version https://git-lfs\.github\.com/spec/v1\n(?:ext-[^\n]*\n)*oid sha256:([0-9a-f]{64})\nsize ([0-9]{1,15})\n$`)

// lfsSame returns those of the paths whose file is what its pointer in the index
// says. git's own way to know is the lfs program, which does not run here; without
// this, a file whose time is in doubt (right after a checkout) would show as changed.
func (r *Repo) lfsSame(ctx context.Context, s *scratch, paths []string) (map[string]bool, error) {
	if len(paths) == 0 || !exists(filepath.Join(r.CommonDir, "lfs")) {
		return nil, nil
	}
	out, err := s.run(ctx, call{args: []string{"check-attr", "-z", "--stdin", "filter"}, stdin: strings.NewReader(string(joinNUL(paths)))})
	if err != nil {
		return nil, fmt.Errorf("look for large files: %w", err)
	}
	var candidates []string
	fields := splitNUL(out) // path, attribute, value
	for i := 0; i+2 < len(fields) && len(candidates) < lfsPaths; i += 3 {
		if fields[i+2] == "lfs" {
			candidates = append(candidates, fields[i])
		}
	}
	pointers, err := s.pointers(ctx, candidates)
	if err != nil {
		return nil, err
	}
	same := map[string]bool{}
	budget := int64(lfsBytes)
	for path, pointer := range pointers {
		m := lfsPointer.FindSubmatch(pointer)
		if m == nil {
			continue
		}
		size, err := strconv.ParseInt(string(m[2]), 10, 64)
		if err != nil || size > budget {
			continue
		}
		file := filepath.Join(s.work, filepath.FromSlash(path))
		if info, err := os.Lstat(file); err != nil || info.Size() != size {
			continue
		}
		budget -= size
		if sum, err := sha256File(file, size); err == nil && sum == string(m[1]) {
			same[path] = true
		}
	}
	return same, nil
}

// pointers returns the blobs that the index has for the paths.
func (s *scratch) pointers(ctx context.Context, paths []string) (map[string][]byte, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	out, err := s.run(ctx, call{args: append([]string{"ls-files", "--stage", "-z", "--"}, paths...)})
	if err != nil {
		return nil, err
	}
	var names, ids []string
	for _, rec := range splitNUL(out) {
		meta, path, _ := strings.Cut(rec, "\t")
		if f := strings.Fields(meta); len(f) == 3 && f[2] == "0" {
			names, ids = append(names, path), append(ids, f[1])
		}
	}
	blobs, err := s.blobs(ctx, ids, outputLimit)
	if err != nil {
		return nil, err
	}
	m := map[string][]byte{}
	for i, n := range names {
		m[n] = blobs[i]
	}
	return m, nil
}

// sha256File hashes a regular file of at most size bytes.
func sha256File(path string, size int64) (string, error) {
	f, err := openRegular(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, size+1)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
