package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Selection names changed files of a checkout. The zero value names none.
type Selection struct {
	All bool
	// Paths are files, or directories with everything below them, relative to the top level. Each is a name and never a
	// pattern.
	Paths []string
}

// ErrNoChange is a selected path at which there is nothing that git knows or would list.
var ErrNoChange = errors.New("no such file in the checkout or in its commit")

// NoChangeError is ErrNoChange with the paths.
type NoChangeError struct{ Paths []string }

func (e *NoChangeError) Error() string { return fmt.Sprintf("%v: %q", ErrNoChange, e.Paths) }

// Is makes errors.Is(err, ErrNoChange) true.
func (e *NoChangeError) Is(target error) bool { return target == ErrNoChange }

// check returns ErrBadPath for a path that leads out of the checkout or into a git directory.
func (s Selection) check() error {
	for _, p := range s.Paths {
		bad := p == "" || strings.HasPrefix(p, "/") || strings.Contains(p, "\x00") || refusedName(p)
		for part := range strings.SplitSeq(strings.TrimSuffix(p, "/"), "/") {
			bad = bad || part == "" || part == "." || part == ".."
		}
		if bad {
			return fmt.Errorf("%q: %w", clip(p, 80), ErrBadPath)
		}
	}
	return nil
}

// has reports whether a path is selected.
func (s Selection) has(path string) bool {
	return s.All || slices.ContainsFunc(s.Paths, func(p string) bool { return below(path, p) })
}

// below reports whether path is dir, or below it. A repository in the checkout is listed with a "/" at its end.
func below(path, dir string) bool {
	dir = strings.TrimSuffix(dir, "/")
	return strings.TrimSuffix(path, "/") == dir || strings.HasPrefix(path, dir+"/")
}

// known returns *NoChangeError for selected paths that are neither among the changes, nor in the index, nor in HEAD.
// What is there and unchanged is no mistake: whoever asks twice gets the same answer.
func (s *scratch) known(ctx context.Context, sel Selection, head OID, changes ...[]string) error {
	var open []string
	for _, p := range sel.Paths {
		found := slices.ContainsFunc(changes, func(list []string) bool {
			return slices.ContainsFunc(list, func(path string) bool { return below(path, p) })
		})
		if !found {
			open = append(open, p)
		}
	}
	if len(open) == 0 {
		return nil
	}
	ask := [][]string{{"ls-files", "-z", "--"}}
	if head != "" {
		ask = append(ask, []string{"ls-tree", "-r", "-z", "--name-only", "--full-tree", string(head), "--"})
	}
	for _, args := range ask {
		out, err := s.run(ctx, call{args: append(args, open...)})
		if err != nil {
			return err
		}
		there := splitNUL(out)
		open = slices.DeleteFunc(open, func(p string) bool {
			return slices.ContainsFunc(there, func(path string) bool { return below(path, p) })
		})
		if len(open) == 0 {
			return nil
		}
	}
	return &NoChangeError{Paths: open}
}

// settledIndex returns *UnfinishedError when a selected path has conflicts in the index: which side is meant is for
// whoever resolves them to say.
func (s *scratch) settledIndex(ctx context.Context, sel Selection) error {
	out, err := s.run(ctx, call{args: []string{"ls-files", "--unmerged", "-z"}})
	if err != nil {
		return err
	}
	for _, rec := range splitNUL(out) {
		if _, path, _ := strings.Cut(rec, "\t"); sel.has(path) {
			return &UnfinishedError{Dir: s.work, Operation: "merge"}
		}
	}
	return nil
}

// headChange is a path whose index entry is not HEAD's. Mode and OID are HEAD's, modeNone where HEAD has no such path.
type headChange struct {
	path, mode string
	oid        OID
}

// stagedAgainst lists the paths at which the index differs from a commit; all of it for none.
func (s *scratch) stagedAgainst(ctx context.Context, head OID) ([]headChange, error) {
	from := string(head)
	if from == "" {
		out, err := s.run(ctx, call{args: []string{"mktree"}}) // of nothing
		if err != nil {
			return nil, err
		}
		from = strings.TrimSpace(string(out))
	}
	out, err := s.run(ctx, call{args: []string{"diff-index", "--cached", "-z", "--raw", "--no-renames", "--no-abbrev", "--ignore-submodules=dirty", from}})
	if err != nil {
		return nil, err
	}
	var list []headChange
	fields := splitNUL(out)
	for i := 0; i+1 < len(fields); i += 2 {
		f := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		if len(f) != 5 {
			return nil, fmt.Errorf("unexpected diff record %q", clip(fields[i], 80))
		}
		list = append(list, headChange{path: fields[i+1], mode: f[0], oid: OID(f[2])})
	}
	return list, nil
}

// refresh has the index know again of files that are as it says. Contents are read sealed, so that no filter runs.
func (s *scratch) refresh(ctx context.Context) error {
	_, err := s.run(ctx, call{args: []string{"update-index", "-q", "--refresh", "--ignore-submodules"}, timeout: diffTimeout})
	if exitCode(err) == 1 { // some files differ
		return nil
	}
	return err
}
