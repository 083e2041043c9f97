// Package jsoncedit sets and drops one member of a JSON document that may have comments and trailing commas, and
// changes no other byte: comments, order, indentation, line ends, a byte order mark and a missing final line
// break stay as they are.
//
// What cannot be edited safely is refused with its line and column. After an edit the result is parsed again and
// compared with what was meant, so a mistake of this package is an error and never a damaged file.
//
// Properties, fuzzed: Drop(Set(x)) == x where x lacks the member; setting twice equals setting once; everything
// else in the document means what it meant.
package jsoncedit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
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

// Get returns what stands at path as plain JSON, and whether there is something. A blank document is empty.
func Get(src []byte, path ...string) (json.RawMessage, bool, error) {
	d, err := parse(src)
	if err != nil {
		return nil, false, err
	}
	value, found := lookUp(d.meaning, path)
	if !found {
		return nil, false, nil
	}
	raw, err := json.Marshal(value)
	return raw, true, err
}

// Set returns src in which the member at path has the value, which is JSON text. A member that means the same
// already stays as it is written. made is how many of the objects around it were not there: Drop takes as many
// of them away again. The error is an *Error where the document stands against it.
func Set(src []byte, path []string, value json.RawMessage) (out []byte, made int, err error) {
	d, err := parse(src)
	if err != nil {
		return nil, 0, err
	}
	wanted, err := decode(value)
	if err != nil {
		return nil, 0, fmt.Errorf("set member: %w", err)
	}
	had, found := lookUp(d.meaning, path)
	if found && same(had, wanted) {
		return src, 0, nil
	}
	out, made, err = d.set(path, value)
	if err != nil {
		return nil, 0, err
	}
	if err := d.checkMeaning(out, path, wanted, made); err != nil {
		return nil, 0, err
	}
	if found {
		return out, made, nil
	}
	back, err := Drop(out, path, made)
	if err != nil || !bytes.Equal(back, src) {
		return nil, 0, d.fail(len(d.src), "the member could not be taken out again without a trace")
	}
	return out, made, nil
}

// Drop returns src without the member at path; without one it returns src. Of the objects around it, up to made
// go too, as long as nothing else is in them, not even a comment.
func Drop(src []byte, path []string, made int) ([]byte, error) {
	d, err := parse(src)
	if err != nil {
		return nil, err
	}
	if _, found := lookUp(d.meaning, path); !found {
		return src, nil
	}
	way, err := d.walk(path)
	if err != nil {
		return nil, err
	}
	left := made
	for ; left > 0 && len(way) > 1 && way[len(way)-1].alone(); left-- {
		way = way[:len(way)-1]
	}
	var out []byte
	if left > 0 && len(way) == 1 && way[0].alone() {
		out = d.dropRoot()
	} else {
		out = d.dropMember(way[len(way)-1])
	}
	if err := d.checkMeaning(out, path, nil, made); err != nil {
		return nil, err
	}
	return out, nil
}

// dropRoot returns the document without its value and the line break behind it.
func (d *document) dropRoot() []byte {
	rest := d.src[d.root.EndOffset:]
	for _, newline := range []string{"\r\n", "\n"} {
		if bytes.HasPrefix(rest, []byte(newline)) {
			rest = rest[len(newline):]
			break
		}
	}
	return slices.Concat(d.src[:d.root.StartOffset], rest)
}

// Indent returns JSON text over several lines, for people to read; what is no JSON stays as it is.
func Indent(raw json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return string(raw)
	}
	return b.String() + "\n"
}
