package task

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"termic/app/git"
	"termic/registry/ident"
)

// CheckoutGoneError is a task whose checkout is not where it was and not known to git elsewhere.
type CheckoutGoneError struct {
	// Confirm is the word with which it can be archived all the same.
	Confirm string
}

func (e *CheckoutGoneError) Error() string { return "the task's checkout is gone" }

// Located returns a task whose checkout is looked for first: one that was moved with git (git worktree move) is where
// git's record of it says from then on.
func (s *Tasks) Located(id ident.Task) (Record, bool) {
	record, ok := s.Get(id)
	if !ok || !record.lacksCheckout() {
		return record, ok
	}
	s.mu.RLock()
	t := s.tasks[id]
	s.mu.RUnlock()
	if t == nil || !t.life.TryLock() { // somebody changes it right now
		return record, ok
	}
	defer t.life.Unlock()
	return s.follow(t), true
}

// lacksCheckout tells that nothing is where a live task's checkout should be.
func (r Record) lacksCheckout() bool {
	return r.Stage == Live && r.OwnCheckout && !exists(r.Dir)
}

// follow takes over where a moved checkout is. The task's life is locked. A caged task's cage knows its checkout by its
// place, and others' cages hide it by that: it is not followed but has to come back.
func (s *Tasks) follow(t *task) Record {
	record := t.record().clone()
	to := s.movedTo(record)
	if to == "" || record.Mode.Caged() {
		return record
	}
	saved, err := s.save(t, func(r *Record) { r.Dir = to })
	if err != nil {
		s.Log.Error("new place of a checkout not saved", "task", record.ID, "cause", err)
		return record
	}
	s.Log.Info("checkout was moved", "task", record.ID, "dir", to)
	return saved
}

// movedTo returns where a checkout is that is not in its place, "" when git does not know.
func (s *Tasks) movedTo(record Record) string {
	if !record.lacksCheckout() {
		return ""
	}
	project, ok := s.Projects.Get(record.Project)
	if !ok {
		return ""
	}
	to := git.LockedWith(project.CommonDir, lockReason(record.ID))
	if to == record.Dir || to == "" || !exists(filepath.Join(to, ".git")) {
		return ""
	}
	return to
}

// FormerProject returns the id of a project that is not known any more, of which a task has its checkout or its archive in the
// repository: the list of projects was lost or set aside, and the repository is added again. Empty when there is none.
func (s *Tasks) FormerProject(ctx context.Context, repo *git.Repo) (ident.Project, error) {
	for _, record := range s.List() {
		if _, known := s.Projects.Get(record.Project); known {
			continue
		}
		if git.LockedWith(repo.CommonDir, lockReason(record.ID)) != "" || !record.OwnCheckout && record.Dir == repo.Root {
			return record.Project, nil
		}
		pins, err := repo.Refs(ctx, "refs/termic/"+string(record.ID))
		if err != nil || len(pins) > 0 {
			return record.Project, err
		}
	}
	return "", nil
}

// CheckoutTrouble says in words that a task's checkout is not where it was, and what to do; both are empty when it is.
func (s *Tasks) CheckoutTrouble(record Record) (what, remedy string) {
	_, known := s.Projects.Get(record.Project)
	if known && (record.Stage != Live || !record.OwnCheckout || exists(filepath.Join(record.Dir, ".git"))) {
		return "", ""
	}
	project, ok := s.Projects.Get(record.Project)
	if !ok {
		return "its project is not known any more", "add the repository again, and its tasks are its own again: termic project add PATH"
	}
	root, dir := quoteArg(project.Root), quoteArg(record.Dir)
	to := s.movedTo(record)
	switch {
	case !exists(project.Root):
		return "the project's repository is not where it was: nothing is at " + project.Root, "bring it back there; nothing of the task is lost by that"
	case to != "":
		return "checkout moved to " + to + ", where its cage does not find it", fmt.Sprintf("git -C %s worktree move -f -f %s %s", root, quoteArg(to), dir)
	case !exists(record.Dir):
		return "checkout missing: nothing is at " + record.Dir,
			fmt.Sprintf("if you moved it: git -C %s worktree repair NEW-PLACE; else archive it, which keeps branch and commits: termic archive %s", root, record.Name)
	}
	return "checkout broken: there is no .git in " + record.Dir,
		fmt.Sprintf("git -C %s worktree repair %s; if that does not help, move the directory away and archive the task", root, dir)
}

// quoteArg writes a path for a shell.
func quoteArg(path string) string {
	for _, c := range path {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '/' || c == '.' || c == '_' || c == '-') {
			return strconv.Quote(path)
		}
	}
	return path
}

// goneWord confirms that a task's checkout is gone, and with it what was in its files alone.
func goneWord(record Record) string {
	sum := sha256.Sum256([]byte("gone " + string(record.ID) + " " + record.Dir))
	return hex.EncodeToString(sum[:8])
}

// Halves returns the directories beside a project's checkouts that an interrupted restore had begun to write.
func (s *Tasks) Halves() []string {
	found, err := filepath.Glob(filepath.Join(globEscape(Checkouts(s.Store, s.Settings)), "*", "*.interrupted-*"))
	if err != nil { // never: the pattern is well formed
		return nil
	}
	var dirs []string
	for _, path := range found {
		if info, err := os.Lstat(path); err == nil && info.IsDir() {
			dirs = append(dirs, path)
		}
	}
	return dirs
}
