package git

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Worktree is one record of `git worktree list`.
type Worktree struct {
	Dir      string
	Head     OID    // "" when unborn
	Branch   string // "" when detached
	Main     bool
	Bare     bool
	Locked   bool
	Reason   string // why it is locked
	Prunable bool   // git thinks that its directory is gone
}

// Worktrees returns git's records, the main worktree first. A git that fails is
// an error: "no worktrees" is never concluded from silence.
func (r *Repo) Worktrees(ctx context.Context) ([]Worktree, error) {
	out, err := r.git.run(ctx, call{at: r.Root, args: []string{"worktree", "list", "--porcelain", "-z"}})
	if err != nil {
		return nil, fmt.Errorf("list worktrees: %w", err)
	}
	list, err := parseWorktrees(string(out))
	if err != nil {
		return nil, fmt.Errorf("list worktrees: %w", err)
	}
	return list, nil
}

// parseWorktrees reads records of "key value" attributes, each ended by NUL and
// each record by an empty one. There is always at least the main worktree.
func parseWorktrees(s string) ([]Worktree, error) {
	var list []Worktree
	for record := range strings.SplitSeq(s, "\x00\x00") {
		if record == "" {
			continue
		}
		var w Worktree
		for attr := range strings.SplitSeq(strings.TrimSuffix(record, "\x00"), "\x00") {
			key, value, _ := strings.Cut(attr, " ")
			switch key {
			case "worktree":
				w.Dir = value
			case "HEAD":
				if oid := OID(value); oid.Valid() {
					w.Head = oid
				}
			case "branch":
				w.Branch = strings.TrimPrefix(value, "refs/heads/")
			case "bare":
				w.Bare = true
			case "locked":
				w.Locked, w.Reason = true, value
			case "prunable":
				w.Prunable = true
			}
		}
		if w.Dir == "" {
			return nil, fmt.Errorf("unexpected record %q", clip(record, 80))
		}
		w.Main = len(list) == 0
		list = append(list, w)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("git named no worktree at all")
	}
	return list, nil
}

// linkedDir returns the record directory (<common>/worktrees/<id>) that the
// .git file of the checkout at dir points to, after checking that the record
// points back. dir must be a real directory, not a link. Anything else is
// ErrMainWorktree: no other place may be taken for a linked worktree of ours.
func (r *Repo) linkedDir(dir string) (string, error) {
	info, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	refuse := func(why string) error { return fmt.Errorf("%s: %s: %w", dir, why, ErrMainWorktree) }
	if !info.IsDir() {
		return "", refuse("not a directory")
	}
	text, err := readSmall(filepath.Join(dir, ".git"), 8<<10)
	if err != nil {
		return "", refuse("its .git is no file that git wrote")
	}
	record, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), "gitdir: ")
	if !ok {
		return "", refuse("its .git file names no git directory")
	}
	if !filepath.IsAbs(record) { // worktree.useRelativePaths of a person's git
		record = filepath.Join(dir, record)
	}
	record = realPath(record)
	if filepath.Dir(record) != filepath.Join(r.CommonDir, "worktrees") {
		return "", refuse("its git directory is not of this repository")
	}
	back, err := recordTarget(record)
	if err != nil || back != filepath.Join(realPath(dir), ".git") {
		return "", refuse("the repository's record names another directory")
	}
	return record, nil
}

// recordTarget returns the .git file that a record of the repository names, with
// links in its directory resolved.
func recordTarget(record string) (string, error) {
	text, err := readSmall(filepath.Join(record, "gitdir"), 8<<10)
	if err != nil {
		return "", err
	}
	target := strings.TrimRight(string(text), "\r\n")
	if !filepath.IsAbs(target) {
		target = filepath.Join(record, target)
	}
	return filepath.Join(realPath(filepath.Dir(target)), filepath.Base(target)), nil
}

// realPath resolves the links of path as far as it exists: what is missing at
// its end is kept as it is.
func realPath(path string) string {
	path = filepath.Clean(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(realPath(parent), filepath.Base(path))
}

// within reports whether path is dir or lies below it; both are clean.
func within(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

// readSmall reads a regular file of at most limit bytes without following a
// link at its end and without ever blocking on a FIFO or a device.
func readSmall(path string, limit int64) ([]byte, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s: more than %d bytes: %w", path, limit, ErrTooLarge)
	}
	return data, nil
}

// openRegular opens a regular file for reading, without following a link at its end.
func openRegular(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: not a regular file", path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
