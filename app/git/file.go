package git

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// ErrNotFile is a path of a commit that is no regular file there.
var ErrNotFile = errors.New("not a regular file in that commit")

// FileAt returns a file's bytes as a commit has them, at most limit: no filter, no line ending is converted, nothing is
// fetched. It is nil when the commit has no such path, ErrNotFile when that is a link or a directory, and ErrTooLarge
// beyond the limit.
func (r *Repo) FileAt(ctx context.Context, commit OID, path string, limit int64) ([]byte, error) {
	if !commit.Valid() {
		return nil, fmt.Errorf("file of %q: %w", clip(string(commit), 80), ErrBadRef)
	}
	s, err := r.bareScratch(r.git.inherited["TMPDIR"], "", asPerson, config{"core.bare": "true"})
	if err != nil {
		return nil, err
	}
	defer s.remove()
	out, err := s.run(ctx, call{args: []string{"ls-tree", "-z", "--full-tree", string(commit), "--", path}, limit: 64 << 10})
	if err != nil {
		return nil, fmt.Errorf("look for %s in %s: %w", path, commit, err)
	}
	meta, name, ok := strings.Cut(strings.TrimSuffix(string(out), "\x00"), "\t")
	f := strings.Fields(meta)
	switch {
	case len(out) == 0:
		return nil, nil
	case !ok || len(f) != 3 || name != path || f[1] != "blob" || f[0] == modeLink:
		return nil, fmt.Errorf("%s of %s: %w", path, commit, ErrNotFile)
	}
	data, err := s.run(ctx, call{args: []string{"cat-file", "blob", f[2]}, limit: limit})
	if err != nil {
		return nil, fmt.Errorf("read %s of %s: %w", path, commit, err)
	}
	return append([]byte{}, data...), nil
}
