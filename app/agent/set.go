package agent

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// What callers of a Set tell apart.
var (
	ErrUnknown = errors.New("no such agent")     // Get, Remove
	ErrExists  = errors.New("agent exists")      // Add: of the person's own
	ErrBuiltin = errors.New("comes with termic") // Add, Remove: the id of a built-in one
	ErrFull    = errors.New("too many agents")   // Add
)

// maxCustom bounds the person's own definitions.
const maxCustom = 128

// Set is the agents that there are: the built-in ones and the person's own. It is safe for concurrent use. Keeping
// it on disk is the caller's affair.
type Set struct {
	mu     sync.Mutex
	custom map[string]Definition // normalized
}

// Open returns the set with the person's own definitions. Those that are not valid are left out; the error joins
// why, and the set is good for use all the same.
func Open(custom []Definition) (*Set, error) {
	s := &Set{custom: map[string]Definition{}}
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
	s.mu.Lock()
	defer s.mu.Unlock()
	if d, ok := s.custom[id]; ok {
		return d, nil
	}
	return Definition{}, fmt.Errorf("agent %q: %w", id, ErrUnknown)
}

// List returns the built-in definitions in their own order, then the person's own by id.
func (s *Set) List() []Definition { return append(Builtin(), s.Custom()...) }

// Custom returns the person's own definitions by id: what there is to keep.
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

// Remove drops a definition of the person's own. The error wraps ErrUnknown or ErrBuiltin.
func (s *Set) Remove(id string) error {
	if _, ok := builtin(id); ok {
		return fmt.Errorf("remove agent %q: %w", id, ErrBuiltin)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.custom[id]; !ok {
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
