package git

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// maxFiles bounds the file lists of Status and Diff; the counts go on.
const maxFiles = 20_000

// FileStatus is one changed path. Path and Orig are git's bytes, which need not
// be valid UTF-8, relative to the top level, with "/" between components.
type FileStatus struct {
	Path string
	Code string // two letters of git-status(1): staged, then unstaged; "??" untracked
	Orig string // where a renamed or copied file came from
}

// Status is the state of one checkout. A directory that is a repository of its
// own is one untracked path that ends in "/".
type Status struct {
	Branch    string // "" when detached
	Head      OID    // "" when the branch has no commit yet
	Detached  bool
	Files     []FileStatus // at most 20,000
	Truncated bool         // there are more files than Files holds; the counts are right

	// A path may count as staged and as unstaged; a conflicted one is neither.
	Staged, Unstaged, Untracked, Conflicted int

	InProgress string // rebase, merge, cherry-pick, revert, bisect, am; "" for none
}

// Clean reports whether nothing is changed, untracked, or unfinished.
func (s Status) Clean() bool {
	return s.Staged+s.Unstaged+s.Untracked+s.Conflicted == 0 && s.InProgress == ""
}

// Status returns the state of the checkout at dir, main or linked. It changes
// neither the index nor anything else, waits for no lock, and runs no program
// that the repository or the checkout names. It returns ErrNotWorktree for a
// directory that is no checkout of this repository.
func (r *Repo) Status(ctx context.Context, dir string) (Status, error) {
	s, err := r.status(ctx, dir)
	if err != nil {
		return Status{}, fmt.Errorf("status of %s: %w", dir, err)
	}
	return s, nil
}

func (r *Repo) status(ctx context.Context, dir string) (Status, error) {
	v, err := r.view(ctx, dir)
	if err != nil {
		return Status{}, err
	}
	operation, err := v.inProgress()
	if err != nil {
		return Status{}, err
	}
	sc, err := r.newScratch(ctx, v, asPerson)
	if err != nil {
		return Status{}, err
	}
	defer sc.remove()
	out, err := sc.run(ctx, call{args: []string{"status", "--porcelain=v2", "-z", "--untracked-files=all", "--ignore-submodules=all", "--no-ahead-behind"}})
	if err != nil {
		return Status{}, err
	}
	s, err := parseStatus(string(out))
	if err != nil {
		return Status{}, err
	}
	if err := r.dropSame(ctx, sc, &s); err != nil {
		return Status{}, err
	}
	s.Branch, s.Head, s.Detached = v.head.branch, v.head.oid, v.head.branch == ""
	s.InProgress = operation
	return s, nil
}

// dropSame takes back changes that are none: large files as their pointers say.
func (r *Repo) dropSame(ctx context.Context, sc *scratch, s *Status) error {
	var paths []string
	for _, f := range s.Files {
		if f.Code[1] == 'M' {
			paths = append(paths, f.Path)
		}
	}
	same, err := r.lfsSame(ctx, sc, paths)
	if err != nil {
		return err
	}
	for i := range s.Files {
		if f := &s.Files[i]; same[f.Path] {
			f.Code = f.Code[:1] + "."
			s.Unstaged--
		}
	}
	s.Files = slices.DeleteFunc(s.Files, func(f FileStatus) bool { return f.Code == ".." })
	return nil
}

// parseStatus reads `status --porcelain=v2 -z` (git-status(1), "Porcelain Format
// Version 2"). It takes any input: what it does not know is an error.
func parseStatus(out string) (Status, error) {
	var s Status
	for out != "" {
		var rec string
		rec, out, _ = strings.Cut(out, "\x00")
		f, fields := FileStatus{}, 0
		kind, _, _ := strings.Cut(rec, " ")
		switch kind {
		case "#", "!":
			continue
		case "?":
			f.Code, f.Path = "??", strings.TrimPrefix(rec, "? ")
		case "1":
			fields = 8
		case "2":
			fields = 9
		case "u":
			fields = 10
		default:
			return Status{}, fmt.Errorf("unexpected status record %q", clip(rec, 80))
		}
		if fields > 0 {
			parts := strings.SplitN(rec, " ", fields+1)
			if len(parts) != fields+1 || len(parts[1]) != 2 {
				return Status{}, fmt.Errorf("unexpected status record %q", clip(rec, 80))
			}
			f.Code, f.Path = parts[1], parts[fields]
		}
		if kind == "2" {
			f.Orig, out, _ = strings.Cut(out, "\x00")
		}
		if f.Path == "" || kind == "2" && f.Orig == "" {
			return Status{}, fmt.Errorf("status record without a path: %q", clip(rec, 80))
		}
		s.count(kind, f)
	}
	return s, nil
}

func (s *Status) count(kind string, f FileStatus) {
	switch {
	case kind == "?":
		s.Untracked++
	case kind == "u":
		s.Conflicted++
	default:
		if f.Code[0] != '.' {
			s.Staged++
		}
		if f.Code[1] != '.' {
			s.Unstaged++
		}
	}
	if len(s.Files) < maxFiles {
		s.Files = append(s.Files, f)
	} else {
		s.Truncated = true
	}
}
