package task

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"termic/app/git"
)

// copyIn gives a new checkout, in which nobody works yet, copies of the ignored files that the project's settings name, and
// returns which, and what was left out in words. An error is the end of ctx.
//
// A scoped caller's task gets only what its maker was given itself, unchanged since: else a task that cannot read the
// project's files would have one made that can, and read its log (I5; docs/decisions/0030-copies-of-ignored-files.md).
func (s *Tasks) copyIn(ctx context.Context, repo *git.Repo, record Record, names []string, progress func(string)) ([]git.Carried, string, error) {
	if len(names) == 0 {
		return nil, "", nil
	}
	may := s.copiesOf(record)
	copied, left, err := repo.Carry(ctx, git.CarryOptions{Names: names, Dir: record.Dir, May: may, Progress: progress})
	switch {
	case ctx.Err() != nil:
		return nil, "", errors.Join(ctx.Err(), err)
	case err != nil:
		s.Log.Warn("files of the project not copied", "task", record.ID, "cause", err)
		return nil, "the files that the project's settings name could not be copied", nil
	case may != nil && (len(left) > 0 || len(copied) < len(names)): // names are the project's, which the caller may not see
		return copied, "of the files that the project's settings name, those were copied that your own task was given, as far as they have not changed since", nil
	}
	return copied, notCopied(left), nil
}

// copiesOf returns what decides which files a task may get copies of; nil: all. It is for tasks that a caged one made.
func (s *Tasks) copiesOf(record Record) func(git.Carried) bool {
	if record.Namespace == "" {
		return nil
	}
	maker, ok := s.Get(record.Namespace)
	if ok && !maker.Mode.Caged() {
		return nil
	}
	return func(c git.Carried) bool {
		return maker.Project == record.Project && slices.ContainsFunc(maker.Copied, func(m git.Carried) bool { return m.Path == c.Path && m.Print == c.Print })
	}
}

// copyAgain gives a restored checkout its copies again: what was copied into it before, as far as the project's settings still
// name it. What a caged task made gets what it had, or nothing.
func (s *Tasks) copyAgain(ctx context.Context, repo *git.Repo, record Record) []git.Carried {
	if len(record.Copied) == 0 {
		return nil
	}
	settings, err := s.RepoSettings(ctx, record.Project)
	names, why := settings.Commands("copy")
	if err != nil || len(names) == 0 {
		s.Log.Info("files were not copied again into a restored task", "task", record.ID, "why", why, "cause", err)
		return nil
	}
	copied, left, err := repo.Carry(ctx, git.CarryOptions{Names: names, Dir: record.Dir, May: func(c git.Carried) bool {
		return slices.ContainsFunc(record.Copied, func(had git.Carried) bool {
			return had.Path == c.Path && (record.Namespace == "" || had.Print == c.Print)
		})
	}})
	if err != nil || len(left) > 0 {
		s.Log.Warn("not everything was copied again into a restored task", "task", record.ID, "left", notCopied(left), "cause", err)
	}
	return copied
}

// notCopied says what was left out and why. A file that is not there is nothing to say: not everybody has each.
func notCopied(left []git.NotCarried) string {
	const shown = 5
	var list []string
	for _, l := range left {
		if !l.Missing {
			list = append(list, fmt.Sprintf("%q (%s)", l.Name, l.Why))
		}
	}
	if len(list) == 0 {
		return ""
	}
	more := ""
	if n := len(list) - shown; n > 0 {
		list, more = list[:shown], fmt.Sprintf(" and %d more", n)
	}
	return "not copied: " + strings.Join(list, ", ") + more
}

// Copies says what of the files that a project's settings name would be copied into a new task now, and what not.
func (s *Tasks) Copies(ctx context.Context, r RepoSettings, repo *git.Repo) (paths []string, left string, err error) {
	names, why := r.Commands("copy")
	if len(names) == 0 {
		return nil, why, nil
	}
	paths, leftOut, err := repo.Carriable(ctx, names)
	return paths, notCopied(leftOut), err
}
