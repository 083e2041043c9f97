package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"termic/app/safefile"
)

// What callers of a Set tell apart.
var (
	ErrUnknown = errors.New("no such agent")     // Get, Remove
	ErrExists  = errors.New("agent exists")      // Add: of the person's own
	ErrBuiltin = errors.New("comes with termic") // Add, Remove: the id of a built-in one
	ErrFull    = errors.New("too many agents")   // Add
	ErrFile    = errors.New("defined in a file") // Remove: it goes when the person removes the file
)

// maxCustom bounds the person's own definitions.
const maxCustom = 128

// Set is the agents that there are: the built-in ones, the person's own that were added, and those in files of the person's. It is
// safe for concurrent use. Keeping what was added on disk is the caller's affair. Files are read anew at each call: they are few, and the
// person edits them with any editor.
type Set struct {
	dir    string // of the person's files, or empty
	mu     sync.Mutex
	custom map[string]Definition // normalized
}

// Open returns the set with the person's own definitions, and the directory of the person's files, which need not be there. Those that
// are not valid are left out; the error joins why, and the set is good for use all the same.
func Open(custom []Definition, dir string) (*Set, error) {
	s := &Set{dir: dir, custom: map[string]Definition{}}
	var faults []error
	for _, d := range custom {
		if _, err := s.Add(d); err != nil {
			faults = append(faults, err)
		}
	}
	return s, errors.Join(faults...)
}

// Get returns a definition by its id, or an error that wraps ErrUnknown.
func (s *Set) Get(id string) (Definition, error) {
	if d, ok := builtin(id); ok {
		return d, nil
	}
	if d, ok := s.added(id); ok {
		return d, nil
	}
	if d, err := s.file(id); !errors.Is(err, fs.ErrNotExist) {
		return d, err
	}
	return Definition{}, fmt.Errorf("agent %q: %w", id, ErrUnknown)
}

func (s *Set) added(id string) (Definition, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, ok := s.custom[id]
	return d, ok
}

// file returns the definition in a file of the person's; the error wraps fs.ErrNotExist where there is no such file.
func (s *Set) file(id string) (Definition, error) {
	if s.dir == "" || !idPattern.MatchString(id) {
		return Definition{}, fs.ErrNotExist
	}
	dir, err := safefile.Hold(s.dir)
	if err != nil {
		return Definition{}, err
	}
	defer dir.Close()
	return readFile(dir, id)
}

// List returns the built-in definitions in their own order, then the person's own by id.
func (s *Set) List() []Definition {
	list, _ := s.Files()
	list = append(list, s.Custom()...)
	slices.SortFunc(list, func(a, b Definition) int { return strings.Compare(a.ID, b.ID) })
	return append(Builtin(), list...)
}

// Files returns the definitions in files of the person's, and what is wrong with the others: each is a *FileError, or about all of them.
func (s *Set) Files() (list []Definition, faults []error) {
	if s.dir == "" {
		return nil, nil
	}
	list, faults = readDir(s.dir)
	list = slices.DeleteFunc(list, func(d Definition) bool {
		_, added := s.added(d.ID)
		if added {
			faults = append(faults, &FileError{File: d.ID + fileSuffix, What: "an agent of this id was added already: termic agent remove " + d.ID, Err: ErrExists})
		}
		return added
	})
	return list, faults
}

// Custom returns the person's own definitions that were added, by id: what there is to keep.
func (s *Set) Custom() []Definition {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Definition, 0, len(s.custom))
	for _, d := range s.custom {
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b Definition) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// Add takes in a definition of the person's own and returns it with its defaults. The error wraps ErrInvalid,
// ErrBuiltin, ErrExists or ErrFull.
func (s *Set) Add(d Definition) (Definition, error) {
	if err := d.Validate(); err != nil {
		return Definition{}, fmt.Errorf("add agent %q: %w", d.ID, err)
	}
	if _, ok := builtin(d.ID); ok {
		return Definition{}, fmt.Errorf("add agent %q: %w", d.ID, ErrBuiltin)
	}
	if _, err := s.file(d.ID); !errors.Is(err, fs.ErrNotExist) {
		return Definition{}, fmt.Errorf("add agent %q: %w in a file", d.ID, ErrExists)
	}
	d.Builtin = false
	d = d.Normalize()
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.custom[d.ID]; ok {
		return Definition{}, fmt.Errorf("add agent %q: %w", d.ID, ErrExists)
	}
	if len(s.custom) >= maxCustom {
		return Definition{}, fmt.Errorf("add agent %q: %w", d.ID, ErrFull)
	}
	s.custom[d.ID] = d
	return d, nil
}

// Remove drops a definition of the person's own that was added. The error wraps ErrUnknown, ErrBuiltin or ErrFile.
func (s *Set) Remove(id string) error {
	if _, ok := builtin(id); ok {
		return fmt.Errorf("remove agent %q: %w", id, ErrBuiltin)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.custom[id]; !ok {
		if _, err := s.file(id); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove agent %q: %w", id, ErrFile)
		}
		return fmt.Errorf("remove agent %q: %w", id, ErrUnknown)
	}
	delete(s.custom, id)
	return nil
}

// Builtin returns the definitions that come with the program, shell first. Each call makes new ones.
func Builtin() []Definition {
	list := []Definition{shell(), claude(), codex(), gemini(), opencode()}
	for i := range list {
		list[i] = list[i].Normalize()
		list[i].Builtin = true
	}
	return list
}

func builtin(id string) (Definition, bool) {
	for _, d := range Builtin() {
		if d.ID == id {
			return d, true
		}
	}
	return Definition{}, false
}
