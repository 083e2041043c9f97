// Package tomledit sets and drops one table or one key of a TOML document and changes no other byte: comments,
// order, quoting, line ends, a byte order mark and a missing final line break stay as they are.
//
// What cannot be edited safely is refused with its line and column: a document that does not parse, a table that
// is written as an inline table, an array of tables where a table should be. After an edit the result is parsed
// again and compared with what was meant, so a mistake of this package is an error and never a damaged file.
//
// Properties, fuzzed: Drop(Set(x)) == x where x lacks the entry; setting twice equals setting once; everything
// else in the document means what it meant.
package tomledit

import (
	"fmt"
	"strings"
)

// Error says where in the document something stands that keeps it from being edited.
type Error struct {
	// Line and Column count from 1; the column counts bytes.
	Line, Column int
	Reason       string
}

func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
}

// Entry is one key of a table, dotted when it has several parts, with a value that is a string, a bool, an int64
// or a []string.
type Entry struct {
	Key   []string
	Value any
}

// Get returns what stands at path, as go-toml has it (map[string]any, []any, string, int64, …), and whether
// there is something. An unparsable document is an *Error.
func Get(src []byte, path ...string) (any, bool, error) {
	root, err := parse(src)
	if err != nil {
		return nil, false, err
	}
	value, found := lookUp(root, path)
	return value, found, nil
}

// SetTable returns src in which the table at path holds the entries and nothing else. A table that has them
// already stays as it is written. A new one is appended, after an empty line. The error is an *Error where the
// document stands against it.
func SetTable(src []byte, path []string, entries []Entry) ([]byte, error) {
	wanted, err := tableOf(entries)
	if err != nil {
		return nil, fmt.Errorf("set table %s: %w", strings.Join(path, "."), err)
	}
	return edit(src, path, wanted, func(d *document) ([]byte, error) {
		block := renderTable(path, entries, d.newline)
		places, err := d.find(path)
		if err != nil {
			return nil, err
		}
		if len(places) == 1 && places[0].section {
			return d.replace(places[0], block), nil
		}
		rest, err := scan(d.drop(places))
		if err != nil {
			return nil, err
		}
		return rest.appendBlock(block), nil
	})
}

// DropTable returns src without the table at path and all that is in it; without one it returns src.
func DropTable(src []byte, path []string) ([]byte, error) { return drop(src, path) }

// SetKey returns src in which the key at path has the value. It is added at the end of its table, or, where there
// is none, before the first table as a dotted key: no empty table can then remain when it is dropped.
func SetKey(src []byte, path []string, value any) ([]byte, error) {
	text, err := renderValue(value)
	if err != nil {
		return nil, fmt.Errorf("set key %s: %w", strings.Join(path, "."), err)
	}
	return edit(src, path, value, func(d *document) ([]byte, error) {
		places, err := d.find(path)
		if err != nil {
			return nil, err
		}
		switch {
		case len(places) == 1 && places[0].keyEnd > 0:
			return d.replaceValue(places[0], text), nil
		case len(places) > 0:
			return nil, d.fail(places[0].start, renderKey(path)+" is a table, not a key")
		}
		return d.insertKey(path, text), nil
	})
}

// DropKey returns src without the key at path; without one it returns src.
func DropKey(src []byte, path []string) ([]byte, error) { return drop(src, path) }

// edit runs change unless path has the wanted value already, and checks what came of it.
func edit(src []byte, path []string, wanted any, change func(*document) ([]byte, error)) ([]byte, error) {
	before, err := parse(src)
	if err != nil {
		return nil, err
	}
	had, found := lookUp(before, path)
	if found && same(had, plain(wanted)) {
		return src, nil
	}
	d, err := scan(src)
	if err != nil {
		return nil, err
	}
	out, err := change(d)
	if err != nil {
		return nil, err
	}
	if err := d.checkMeaning(out, before, path, plain(wanted)); err != nil {
		return nil, err
	}
	if found {
		return out, nil
	}
	back, err := drop(out, path)
	if err != nil || string(back) != string(src) {
		return nil, d.fail(len(d.src), "the entry could not be taken out again without a trace")
	}
	return out, nil
}

func drop(src []byte, path []string) ([]byte, error) {
	before, err := parse(src)
	if err != nil {
		return nil, err
	}
	if _, found := lookUp(before, path); !found {
		return src, nil
	}
	d, err := scan(src)
	if err != nil {
		return nil, err
	}
	places, err := d.find(path)
	if err != nil {
		return nil, err
	}
	out := d.drop(places)
	if err := d.checkMeaning(out, before, path, nil); err != nil {
		return nil, err
	}
	return out, nil
}
