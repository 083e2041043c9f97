package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// surveyMost bounds how many ignored entries are counted: dependency folders
	// hold hundreds of thousands.
	surveyMost = 1_000_000
	// surveyRepos bounds the list of repositories in ignored folders.
	surveyRepos = 100
)

// found is what a walk over a checkout saw beside the files that git lists.
type found struct {
	nested       []string // directories with a .git of their own, outside ignored ones
	emptyDirs    []string
	ignoredFiles int
	ignoredBytes int64
	ignoredMore  bool
	ignoredRepos []string
}

// survey walks the checkout without following links. Every .git below the top
// is a repository that a commit would lose, submodules included.
func (s *scratch) survey(ctx context.Context) (found, error) {
	out, err := s.run(ctx, call{args: []string{"ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"}})
	if err != nil {
		return found{}, err
	}
	w := &walker{ctx: ctx, root: s.work, ignored: map[string]bool{}}
	for _, p := range splitNUL(out) {
		w.ignored[strings.TrimSuffix(p, "/")] = true
	}
	if err := w.walk("", false); err != nil {
		return found{}, err
	}
	slices.Sort(w.nested)
	return w.found, nil
}

type walker struct {
	found
	ctx     context.Context
	root    string
	ignored map[string]bool
	seen    int // ignored entries
}

// walk visits one directory; rel is its path from the top, "" for the top.
func (w *walker) walk(rel string, ignored bool) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	entries, err := os.ReadDir(filepath.Join(w.root, rel))
	if err != nil {
		if ignored {
			w.ignoredMore = true
			return nil
		}
		if errors.Is(err, fs.ErrPermission) { // git passes over it in silence
			return &UnkeepableError{Paths: []string{rel}}
		}
		return err
	}
	if len(entries) == 0 && !ignored && rel != "" {
		w.emptyDirs = append(w.emptyDirs, rel)
	}
	if rel != "" && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ".git" }) {
		if !ignored {
			w.nested = append(w.nested, rel)
			return nil
		}
		if len(w.ignoredRepos) < surveyRepos {
			w.ignoredRepos = append(w.ignoredRepos, rel)
		}
	}
	for _, e := range entries {
		if rel == "" && e.Name() == ".git" {
			continue
		}
		if err := w.entry(filepath.Join(rel, e.Name()), e, ignored); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) entry(path string, e fs.DirEntry, ignored bool) error {
	ignored = ignored || w.ignored[path]
	if ignored {
		if w.seen++; w.seen > surveyMost {
			w.ignoredMore = true
			return nil
		}
	}
	if e.IsDir() {
		return w.walk(path, ignored)
	}
	if ignored {
		w.ignoredFiles++
		if info, err := e.Info(); err == nil {
			w.ignoredBytes += info.Size()
		}
	}
	return nil
}

// ownModules names the submodule repositories that a linked worktree holds in
// its record, and that would go with it, checked out or not.
func (r *Repo) ownModules(v view) []string {
	if v.gitDir == r.CommonDir {
		return nil
	}
	entries, err := os.ReadDir(filepath.Join(v.gitDir, "modules"))
	if err != nil { // there is none
		return nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, ".git/modules/"+e.Name())
	}
	return names
}
