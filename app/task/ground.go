package task

import (
	"path/filepath"

	"termic/registry/refusal"
)

// OutsideTasks refuses a repository that is where tasks write or in termic's own directories: in what was made in a cage the
// hooks and the configuration are its agent's, and as a project everything of it would be the person's. root and common are
// as git says them.
func (s *Tasks) OutsideTasks(root, common string) error {
	for _, path := range []string{root, common} {
		if where := s.writtenBy(followed(path)); where != "" {
			return refusal.Newf(refusal.Conflict, "clone it to a place of your own and add that: a clone brings neither hooks nor configuration along",
				"the repository is in %s, so that what is in it need not be yours", where)
		}
	}
	return nil
}

// writtenBy says in whose place a path is; empty when it is in none of ours and of no task's.
func (s *Tasks) writtenBy(path string) string {
	for _, t := range s.List() {
		if t.OwnCheckout && t.Dir != "" && within(followed(t.Dir), path) {
			return "the checkout of task " + t.Name
		}
		for _, shared := range t.Write.Items() {
			if within(followed(shared), path) {
				return "a directory that task " + t.Name + " may write"
			}
		}
	}
	switch {
	case within(followed(s.Store.Dir()), path):
		return "termic's data directory"
	case within(followed(Checkouts(s.Store, s.Settings)), path):
		return "the directory of the checkouts of tasks"
	}
	return ""
}

// followed is where a path leads, and the path itself when that cannot be told.
func followed(path string) string {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		return to
	}
	return filepath.Clean(path)
}
