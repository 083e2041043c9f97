package store

import (
	"fmt"
	"sync"
)

// File describes one data file: its name, today's version, and how older ones become today's. Make it with Define.
type File[T any] struct {
	rel        string // slash-separated, with .json
	version    int
	migrations []Migration
}

// Define describes the file name.json that holds a T. Versions start at 1; migrations[0] makes version 2 of version 1, and so
// on, so there are version-1 of them. Define panics on anything else: it is called for package variables.
//
// T is encoded by the rules of encoding/json/v2. A time.Duration is written as "1m30s".
func Define[T any](name string, version int, migrations ...Migration) File[T] {
	if !validFile.MatchString(name) || version < 1 || len(migrations) != version-1 {
		panic(fmt.Sprintf("store: file %q of version %d with %d migrations", name, version, len(migrations)))
	}
	return File[T]{name + ".json", version, migrations}
}

// Name returns the file's path within the data directory.
func (f File[T]) Name() string { return f.rel }

// fileState is what the store knows of one file.
type fileState struct {
	mu sync.Mutex // held over every read and write of the file: they never interleave
	// known: what is on disk is absent, of our version, or set aside, so a save loses nothing. Until then a save looks first.
	known bool
}

func (s *Store) state(rel string) *fileState {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.files[rel]
	if st == nil {
		st = &fileState{}
		s.files[rel] = st
	}
	return st
}

// Load returns what the file holds, or the zero value when it is absent.
//
// An older version is migrated: the old file is kept as NAME.vN.bak, then today's version is written. ErrMigration when that
// is not possible and ErrNewer for a version that we do not know; both leave the file alone and make Save refuse.
// A file that cannot be read or understood is set aside, reported by Problems, and counts as absent.
func (f File[T]) Load(s *Store) (T, error) {
	st, done, err := f.begin(s)
	if err != nil {
		var zero T
		return zero, fmt.Errorf("load %s: %w", f.rel, err)
	}
	defer done()
	v, err := f.load(s, st)
	if err != nil {
		return v, fmt.Errorf("load %s: %w", f.rel, err)
	}
	return v, nil
}

// Save makes v the file's content. Whatever fails, the old content is whole: ErrNoSpace, ErrReadOnly, ErrTooLarge.
//
// A file that was not loaded before is looked at first, so that a newer, older or corrupt one gets the same care as from
// Load: ErrNewer and ErrMigration refuse, ErrNotKept when it is corrupt and could not be set aside.
func (f File[T]) Save(s *Store, v T) error {
	data, err := encode(f.version, v)
	if err != nil {
		return fmt.Errorf("save %s: %w", f.rel, err)
	}
	st, done, err := f.begin(s)
	if err != nil {
		return fmt.Errorf("save %s: %w", f.rel, err)
	}
	defer done()
	if err := f.save(s, st, data); err != nil {
		return fmt.Errorf("save %s: %w", f.rel, err)
	}
	return nil
}

// Update loads the file, lets change edit the value, and saves it, with no other load or save of the file in between.
// An error of change is returned as it is, and nothing is saved.
func (f File[T]) Update(s *Store, change func(*T) error) error {
	st, done, err := f.begin(s)
	if err != nil {
		return fmt.Errorf("update %s: %w", f.rel, err)
	}
	defer done()
	v, err := f.load(s, st)
	if err != nil {
		return fmt.Errorf("update %s: %w", f.rel, err)
	}
	if err := change(&v); err != nil {
		return err
	}
	data, err := encode(f.version, v)
	if err == nil {
		err = f.save(s, st, data)
	}
	if err != nil {
		return fmt.Errorf("update %s: %w", f.rel, err)
	}
	return nil
}

// Remove deletes the file; an absent one is no error. Backups and files set aside stay.
func (f File[T]) Remove(s *Store) error {
	st, done, err := f.begin(s)
	if err != nil {
		return fmt.Errorf("remove %s: %w", f.rel, err)
	}
	defer done()
	if err := s.remove(f.rel); err != nil {
		return fmt.Errorf("remove %s: %w", f.rel, err)
	}
	st.known = true
	return nil
}

// begin locks the file and keeps the store open until done.
func (f File[T]) begin(s *Store) (*fileState, func(), error) {
	if f.version == 0 {
		return nil, nil, fmt.Errorf("%w: file was not made by Define", ErrName)
	}
	closing, err := s.writing()
	if err != nil {
		return nil, nil, err
	}
	st := s.state(f.rel)
	st.mu.Lock()
	return st, func() { st.mu.Unlock(); closing() }, nil
}

// load is Load for callers that hold st.mu.
func (f File[T]) load(s *Store, st *fileState) (T, error) {
	var zero T
	st.known = false
	old, found, err := s.read(f.rel)
	if err != nil && ours(err) {
		return zero, err
	}
	if err != nil {
		st.known = s.setAside(f.rel, err)
		return zero, nil
	}
	if !found {
		st.known = true
		return zero, nil
	}
	doc, err := decode(old, f.version)
	if err == nil && doc.Version > f.version {
		return zero, &NewerError{f.rel, doc.Version, f.version}
	}
	raw := doc.Data
	if err == nil && doc.Version < f.version {
		if raw, err = migrate(doc, f.migrations[doc.Version-1:]); err != nil {
			return zero, err
		}
	}
	var v T
	if err == nil {
		err = decodeValue(raw, &v)
	}
	if err != nil {
		st.known = s.setAside(f.rel, err)
		return zero, nil
	}
	if doc.Version < f.version {
		return v, f.upgrade(s, st, doc.Version, old, v)
	}
	st.known = true
	return v, nil
}

// upgrade keeps the old bytes, then writes v in today's version. After an error the old file is still in its place.
func (f File[T]) upgrade(s *Store, st *fileState, from int, old []byte, v T) error {
	data, err := encode(f.version, v)
	if err != nil {
		return err
	}
	if err := s.backup(f.rel, from, old); err != nil {
		return err
	}
	if err := s.replace(f.rel, data); err != nil {
		return err
	}
	st.known = true
	return nil
}

// save is Save for callers that hold st.mu.
func (f File[T]) save(s *Store, st *fileState, data []byte) error {
	if !st.known {
		if _, err := f.load(s, st); err != nil {
			return err
		}
	}
	if !st.known {
		return ErrNotKept
	}
	return s.replace(f.rel, data)
}
