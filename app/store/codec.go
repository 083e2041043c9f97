package store

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxFile bounds a data file in bytes, and with it what a damaged one costs to look at. A record of a task is about 2 KiB,
// so 16 MiB hold 8,000 of them in one file.
const maxFile = 16 << 20

// document is what a data file looks like. Version stays at the top in all versions to come, since it is what tells them apart.
type document struct {
	Version int            `json:"version"`
	Data    jsontext.Value `json:"data"`
}

// encoding writes files that a person can read and compare. Text that is no UTF-8 (a title from a terminal) must not make
// a whole file unsaveable: its bad bytes become U+FFFD.
var encoding = json.JoinOptions(
	json.Deterministic(true),
	jsontext.WithIndent("  "),
	jsontext.AllowInvalidUTF8(true),
	json.WithMarshalers(json.MarshalToFunc(func(e *jsontext.Encoder, d time.Duration) error {
		return e.WriteToken(jsontext.String(d.String()))
	})),
)

// decoding is strict about the JSON itself: duplicate names and invalid UTF-8 are errors, since a file with either is not
// what we wrote, and which of two values counts would be a guess.
//
// A member that T does not know is ignored, and gone after the next save. To refuse it would turn a harmless hand
// edit, or a file of a later build with the same version, into a corrupt one; to keep it would let stale members live for ever.
// So a version goes up whenever an older termic that drops a new member would lose something.
var decoding = json.WithUnmarshalers(json.UnmarshalFromFunc(func(d *jsontext.Decoder, v *time.Duration) error {
	var text string
	if err := json.UnmarshalDecode(d, &text); err != nil {
		return err
	}
	var err error
	*v, err = time.ParseDuration(text)
	return err
}))

// encode returns the bytes of a file. ErrTooLarge when Load would not take them back.
func encode[T any](version int, v T) ([]byte, error) {
	data, err := json.Marshal(struct {
		Version int `json:"version"`
		Data    T   `json:"data"`
	}{version, v}, encoding)
	if err != nil {
		return nil, err
	}
	if len(data) >= maxFile {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(data), maxFile)
	}
	return append(data, '\n'), nil
}

// decode splits a file into version and data, or returns ErrCorrupt. The data of a version that we do not know is not
// looked at, and may be missing.
func decode(b []byte, known int) (document, error) {
	var doc document
	if err := json.Unmarshal(b, &doc); err != nil {
		return doc, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if doc.Version < 1 {
		return doc, fmt.Errorf("%w: no version", ErrCorrupt)
	}
	if doc.Version <= known && len(doc.Data) == 0 {
		return doc, fmt.Errorf("%w: no data", ErrCorrupt)
	}
	return doc, nil
}

// decodeValue decodes the data of today's version into v, or returns ErrCorrupt.
func decodeValue[T any](raw jsontext.Value, v *T) error {
	if err := json.Unmarshal(raw, v, decoding); err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return nil
}

// read returns the bytes of a file; found is false when it is absent.
func (s *Store) read(rel string) (b []byte, found bool, err error) {
	f, err := openRegular(s.root, rel)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	b, err = readBounded(f, maxFile)
	return b, err == nil, err
}
