package store

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// Migration returns the data of the next version. It must not keep or change its argument, and what it returns is JSON.
type Migration func(jsontext.Value) (jsontext.Value, error)

// migrate applies steps to doc's data. A step that fails is ErrMigration rather than ErrCorrupt: the file is whole, and
// a termic whose migration is better will read it, so it must stay where it is.
func migrate(doc document, steps []Migration) (jsontext.Value, error) {
	raw := doc.Data
	for i, step := range steps {
		next, err := step(raw)
		if err == nil && !next.IsValid() {
			err = errors.New("result is not JSON")
		}
		if err != nil {
			return nil, fmt.Errorf("%w from version %d: %w", ErrMigration, doc.Version+i, err)
		}
		raw = next
	}
	return raw, nil
}

// maxBackups bounds the search for a free name, should every look fail.
const maxBackups = 100

// backup keeps the bytes of an old version as REL.vN.bak. A backup that is there with other content (somebody went back
// to an older termic and on again) stays, and the new one gets a number.
func (s *Store) backup(rel string, version int, old []byte) error {
	name := fmt.Sprintf("%s.v%d.bak", rel, version)
	for n := 2; n <= maxBackups; n++ {
		have, found, err := s.read(name)
		if found && bytes.Equal(have, old) {
			return nil
		}
		if err != nil && ours(err) {
			return err
		}
		if !found && err == nil {
			return s.replace(name, old)
		}
		name = fmt.Sprintf("%s.v%d.%d.bak", rel, version, n)
	}
	return fmt.Errorf("%w: no free name for a backup of version %d", ErrMigration, version)
}
