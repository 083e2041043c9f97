package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"time"
)

// Problem is one data file that could not be used, for the person to see.
type Problem struct {
	File string // its path within the data directory
	Kept string // the absolute path where its content is now; empty when it could not be moved and so is still in its place
	Err  error  // why
}

func (p Problem) Error() string {
	if p.Kept == "" {
		return fmt.Sprintf("%s: %v", p.File, p.Err)
	}
	return fmt.Sprintf("%s: %v; kept as %s", p.File, p.Err, p.Kept)
}

func (p Problem) Unwrap() error { return p.Err }

// Problems returns what went wrong with data files since Open, oldest first.
func (s *Store) Problems() []Problem {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Problem(nil), s.problems...)
}

// setAside moves a file that cannot be used to REL.corrupt-TIME, whatever it is (also a directory or a link), and notes
// the problem. It reports whether the name is free now.
func (s *Store) setAside(rel string, cause error) bool {
	kept, err := s.moveAside(rel)
	if err != nil {
		s.note(Problem{File: rel, Err: fmt.Errorf("%w; %w: %w", cause, ErrNotKept, classify(err))})
		return false
	}
	s.note(Problem{File: rel, Kept: filepath.Join(s.dir, kept), Err: cause})
	return true
}

// moveAside returns the new name. A directory that cannot be synced is no reason to call the file not kept: after a power
// cut it is at worst back under its old name, and found corrupt again.
func (s *Store) moveAside(rel string) (string, error) {
	stamp := time.Now().UTC().Format("20060102T150405Z")
	for n := 1; ; n++ {
		kept := rel + ".corrupt-" + stamp
		if n > 1 {
			kept = fmt.Sprintf("%s-%d", kept, n)
		}
		// rename(2) would overwrite. Between the look and the rename only this process writes here (the lock).
		if _, err := s.root.Lstat(kept); err == nil {
			continue
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if err := s.root.Rename(rel, kept); err != nil {
			return "", err
		}
		_ = syncDir(s.root, path.Dir(rel))
		return kept, nil
	}
}

// note adds a problem. One that is still unsolved is told once, however often the file is tried.
func (s *Store) note(p Problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, old := range s.problems {
		if old.File == p.File && old.Kept == "" {
			s.problems[i] = p
			return
		}
	}
	s.problems = append(s.problems, p)
}
