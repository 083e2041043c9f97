package git

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Repo is one repository on disk, seen from its main worktree. It holds no open
// files and is safe for use by many goroutines.
type Repo struct {
	Root      string // top level of the main worktree: absolute, links resolved
	CommonDir string // the directory that all worktrees share: absolute, links resolved

	git     *Git
	sha256  bool
	partial bool // a partial clone: objects may be missing
	absent  bool // it is gone
}

// Absent is a repository that is gone. It is for Purge, which then removes what is in a store of ours, and for nothing else.
func (g *Git) Absent(commonDir string) *Repo {
	return &Repo{CommonDir: commonDir, git: g, absent: true}
}

// Open opens the repository that path lies in. A subdirectory or a linked
// worktree leads to the main worktree. It returns ErrBadPath, ErrNotRepository,
// ErrBare, ErrUnsafeOwner, ErrUnsupported or ErrNoCommits, wrapped.
func (g *Git) Open(ctx context.Context, path string) (*Repo, error) {
	r, err := g.open(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("open repository %q: %w", path, err)
	}
	return r, nil
}

func (g *Git) open(ctx context.Context, path string) (*Repo, error) {
	path, err := cleanPath(path)
	if err != nil {
		return nil, err
	}
	place, err := g.discover(ctx, path)
	if err != nil {
		return nil, err
	}
	root := place.top
	if place.gitDir != place.common || root == "" {
		if root, err = g.mainWorktree(ctx, place.common); err != nil {
			return nil, err
		}
	}
	if _, err := cleanPath(root); err != nil {
		return nil, err
	}
	r := &Repo{Root: root, CommonDir: place.common, git: g}
	if err := r.checkFormat(ctx); err != nil {
		return nil, err
	}
	out, err := g.run(ctx, call{args: []string{"for-each-ref", "--count=1", "--format=%(objectname)",
		"refs/heads", "refs/remotes", "refs/tags"}, at: root})
	if err != nil {
		return nil, err
	}
	if len(out) == 0 {
		if _, err := r.Resolve(ctx, "HEAD"); err != nil {
			return nil, fmt.Errorf("%w (make a first commit)", ErrNoCommits)
		}
	}
	return r, nil
}

// place is where git says that a path lies.
type place struct {
	top            string // top level of the worktree; "" inside a git directory
	gitDir, common string
}

// discover asks git what path lies in.
func (g *Git) discover(ctx context.Context, path string) (place, error) {
	p, _, err := g.discoverMore(ctx, path, 0)
	return p, err
}

// discoverMore also returns the n lines that rev-parse prints for the arguments
// more; none when it could not answer one of them.
func (g *Git) discoverMore(ctx context.Context, path string, n int, more ...string) (place, []string, error) {
	out, err := g.run(ctx, call{at: path, limit: 64 << 10, args: append([]string{"rev-parse", "--path-format=absolute",
		"--is-bare-repository", "--is-inside-work-tree", "--git-dir", "--git-common-dir", "--show-toplevel"}, more...)})
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if err != nil && (exitCode(err) != 128 || len(lines) < 4) {
		return place{}, nil, openError(err)
	}
	// git answers in order and stops at the first question that has no answer:
	// at the fifth in a git directory, later where HEAD has no commit.
	switch {
	case len(lines) >= 4 && lines[0] == "true":
		return place{}, nil, ErrBare
	case len(lines) < 4, lines[1] == "true" && len(lines) < 5, err == nil && len(lines) != 5+n:
		return place{}, nil, fmt.Errorf("git directory of it: %w", ErrBadPath)
	}
	p := place{gitDir: realPath(lines[2]), common: realPath(lines[3])}
	for _, l := range lines[2:min(len(lines), 5)] {
		if !filepath.IsAbs(l) { // a line of a path that holds a line break
			return place{}, nil, ErrBadPath
		}
	}
	if lines[1] != "true" {
		return p, nil, nil
	}
	p.top = lines[4]
	if err != nil {
		return p, nil, nil
	}
	return p, lines[5:], nil
}

// mainWorktree returns the top level of the main worktree of a repository that
// was reached through a linked worktree or through its git directory.
func (g *Git) mainWorktree(ctx context.Context, common string) (string, error) {
	// The usual place first; then core.worktree (submodules), which git reads
	// when it starts inside the git directory.
	for _, at := range []string{filepath.Dir(common), common} {
		out, err := g.run(ctx, call{at: at, limit: 64 << 10, args: []string{
			"rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir"}})
		if err != nil {
			if exitCode(err) < 0 {
				return "", err
			}
			continue
		}
		lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
		if len(lines) != 2 {
			return "", ErrBadPath
		}
		found := lines[1]
		if real, err := filepath.EvalSymlinks(found); err == nil {
			found = real
		}
		if found == common {
			return lines[0], nil
		}
	}
	out, err := g.run(ctx, call{at: common, limit: 4 << 10, args: []string{"rev-parse", "--is-bare-repository"}})
	if err != nil {
		return "", openError(err)
	}
	if strings.TrimSpace(string(out)) == "true" {
		return "", ErrBare
	}
	return "", fmt.Errorf("main worktree of %s is not known to git: %w", common, ErrUnsupported)
}

// checkFormat refuses ref storage that this package cannot read whole (it reads
// reflogs as files), and learns the length of object ids.
func (r *Repo) checkFormat(ctx context.Context) error {
	out, err := r.git.run(ctx, call{at: r.Root, limit: 64 << 10, args: []string{
		"config", "-z", "--get-regexp", `^(extensions\.(objectformat|refstorage|partialclone)|remote\..*\.promisor)$`}})
	if err != nil && exitCode(err) != 1 {
		return err
	}
	for _, rec := range splitNUL(out) {
		key, value, _ := strings.Cut(rec, "\n")
		switch {
		case key == "extensions.refstorage" && !strings.EqualFold(value, "files"):
			return fmt.Errorf("ref storage %q: %w", value, ErrUnsupported)
		case key == "extensions.objectformat" && strings.EqualFold(value, "sha256"):
			r.sha256 = true
		case key == "extensions.partialclone", strings.HasSuffix(key, ".promisor") && value != "false":
			r.partial = true
		}
	}
	return nil
}

// openError turns git's refusal to open a directory into what callers tell apart.
func openError(err error) error {
	var exit *ExitError
	if !errors.As(err, &exit) {
		return err
	}
	kind := error(nil)
	switch {
	case stderrHas(err, "dubious ownership", "unsafe repository"):
		kind = ErrUnsafeOwner
	case stderrHas(err, "unknown repository extension", "Expected git repo version", "invalid value for 'extensions.", "unknown ref storage"):
		kind = ErrUnsupported
	case stderrHas(err, "not a git repository", "cannot change to"):
		kind = ErrNotRepository
	default:
		return err
	}
	return fmt.Errorf("%w: %w", kind, err)
}

// cleanPath returns path cleaned. It must be absolute, valid UTF-8 and free of
// line breaks and NUL: git's own files (gitdir, alternates) are made of lines.
func cleanPath(path string) (string, error) {
	if !filepath.IsAbs(path) || strings.ContainsAny(path, "\n\r\x00") || !utf8.ValidString(path) {
		return "", ErrBadPath
	}
	return filepath.Clean(path), nil
}
