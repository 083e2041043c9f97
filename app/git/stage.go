package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// leftOut is a changed path that was not read.
type leftOut struct {
	why     reason
	tracked bool // the index knows it
}

type reason int

const (
	large reason = iota + 1
	unreadable
	special // FIFO, socket, device
	nested  // a repository of its own
	refused // a name that git never takes: ".git" in any case
)

// limits bound what stageAll reads; zero means no bound.
type limits struct {
	file, total int64
	// only tells which paths are meant; nil for all.
	only func(path string) bool
	// same returns tracked paths that are unchanged although git cannot tell; nil for none.
	same func(paths []string) (map[string]bool, error)
}

// stageAll brings the scratch index to the state of the checkout, untracked files
// included, and returns what it did. Each file is looked at with
// lstat first, so that FIFOs, devices, huge files and links never block or fill
// anything: only regular files are opened, and a link is its own text.
// Files that change meanwhile cost another round; ErrBusy when that does not end.
func (s *scratch) stageAll(ctx context.Context, lim limits) (stagePlan, error) {
	const rounds = 5
	var lastErr error
	for range rounds {
		out, err := s.changed(ctx)
		if err != nil {
			return stagePlan{}, err
		}
		if lim.only != nil {
			others := func(p string) bool { return !lim.only(p) }
			out.tracked, out.untracked = slices.DeleteFunc(out.tracked, others), slices.DeleteFunc(out.untracked, others)
		}
		if lim.same != nil {
			same, err := lim.same(out.tracked)
			if err != nil {
				return stagePlan{}, err
			}
			out.tracked = slices.DeleteFunc(out.tracked, func(p string) bool { return same[p] })
		}
		plan := s.plan(out, lim)
		if lastErr = s.apply(ctx, plan); lastErr == nil {
			return plan, nil
		}
		if exitCode(lastErr) != 128 { // 128: a path vanished or changed its kind
			return stagePlan{}, lastErr
		}
	}
	return stagePlan{}, fmt.Errorf("%w: %w", ErrBusy, lastErr)
}

// changes are paths that differ from the index, as git listed them.
type changes struct{ tracked, untracked []string }

func (s *scratch) changed(ctx context.Context) (changes, error) {
	var c changes
	out, err := s.run(ctx, call{args: []string{"diff-files", "-z", "--name-only", "--no-renames", "--ignore-submodules=all"}})
	if err != nil {
		return c, err
	}
	seen := map[string]bool{}
	for _, p := range splitNUL(out) { // an unmerged path comes once a stage
		if !seen[p] {
			seen[p] = true
			c.tracked = append(c.tracked, p)
		}
	}
	out, err = s.run(ctx, call{args: []string{"ls-files", "-z", "--others", "--exclude-standard"}})
	if err != nil {
		return c, err
	}
	c.untracked = splitNUL(out)
	return c, nil
}

// stagePlan is what to tell the index.
type stagePlan struct {
	remove, add []string
	left        map[string]leftOut
	untracked   []string // as git listed them
}

func (s *scratch) plan(c changes, lim limits) stagePlan {
	p := stagePlan{left: map[string]leftOut{}, untracked: c.untracked}
	total := int64(0)
	dirs := map[string]bool{}
	for i, path := range append(c.tracked[:len(c.tracked):len(c.tracked)], c.untracked...) {
		tracked := i < len(c.tracked)
		if strings.HasSuffix(path, "/") {
			p.left[path] = leftOut{nested, tracked}
			continue
		}
		if refusedName(path) {
			p.left[path] = leftOut{refused, tracked}
			continue
		}
		file := filepath.Join(s.work, filepath.FromSlash(path))
		info, err := os.Lstat(file)
		switch {
		case !s.reached(path, dirs), errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			if tracked {
				p.remove = append(p.remove, path)
			}
		case err != nil:
			p.left[path] = leftOut{unreadable, tracked}
		case info.Mode()&fs.ModeSymlink != 0:
			p.add = append(p.add, path)
		case info.IsDir(): // a file became a directory: what is in it is untracked
			if tracked {
				p.remove = append(p.remove, path)
			}
		case !info.Mode().IsRegular():
			p.left[path] = leftOut{special, tracked}
			if tracked {
				p.remove = append(p.remove, path)
			}
		case lim.file > 0 && info.Size() > lim.file, lim.total > 0 && total+info.Size() > lim.total:
			p.left[path] = leftOut{large, tracked}
		case !readable(file):
			p.left[path] = leftOut{unreadable, tracked}
		default:
			total += info.Size()
			p.add = append(p.add, path)
		}
	}
	return p
}

// reached reports whether the directories above a path are directories and no links: what a link leads to is not the
// checkout's, and git refuses a path beyond one. dirs is what is known of directories.
func (s *scratch) reached(path string, dirs map[string]bool) bool {
	dir := filepath.Dir(path)
	if dir == "." {
		return true
	}
	ok, known := dirs[dir]
	if !known {
		info, err := os.Lstat(filepath.Join(s.work, filepath.FromSlash(dir)))
		ok = s.reached(dir, dirs) && err == nil && info.IsDir()
		dirs[dir] = ok
	}
	return ok
}

func readable(path string) bool {
	f, err := openRegular(path)
	if err != nil {
		return false
	}
	f.Close()
	return true
}

// apply removes before it adds: a path may have become a directory or the reverse.
func (s *scratch) apply(ctx context.Context, p stagePlan) error {
	for _, step := range []struct {
		mode  string
		paths []string
	}{{"--force-remove", p.remove}, {"--add", p.add}} {
		if len(step.paths) == 0 {
			continue
		}
		args := []string{"update-index", "-z", "--replace", step.mode}
		if step.mode == "--add" {
			args = append(args, "--remove")
		}
		_, err := s.run(ctx, call{args: append(args, "--stdin"), timeout: archiveTimeout,
			stdin: strings.NewReader(strings.Join(step.paths, "\x00") + "\x00")})
		if err != nil {
			return err
		}
	}
	return nil
}

// refusedName reports whether git never takes the path into an index.
func refusedName(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if strings.EqualFold(part, ".git") {
			return true
		}
	}
	return false
}
