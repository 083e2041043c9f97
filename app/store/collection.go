package store

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Collection describes a directory of files of one kind, one for each id (tasks/ID.json).
type Collection[T any] struct {
	dir   string
	proto File[T]
}

// DefineCollection describes the files dir/ID.json. The rest is as with Define.
func DefineCollection[T any](dir string, version int, migrations ...Migration) Collection[T] {
	return Collection[T]{dir, Define[T](dir, version, migrations...)}
}

// File returns the description of one file. Ids are lower-case letters, digits, "_" and "-", else ErrName.
func (c Collection[T]) File(id string) (File[T], error) {
	if !validFile.MatchString(id) {
		return File[T]{}, fmt.Errorf("%w: id %q in %s", ErrName, id, c.dir)
	}
	f := c.proto
	f.rel = c.dir + "/" + id + ".json"
	return f, nil
}

// IDs returns the ids that have a file, sorted. Backups, files set aside and whatever else lies there are not among them.
func (c Collection[T]) IDs(s *Store) ([]string, error) {
	done, err := s.writing()
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", c.dir, err)
	}
	defer done()
	d, err := s.root.Open(c.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", c.dir, err)
	}
	defer d.Close()
	entries, err := d.ReadDir(-1)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", c.dir, err)
	}
	var ids []string
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ".json"); ok && validFile.MatchString(id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}
