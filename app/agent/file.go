package agent

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tailscale/hujson"

	"termic/app/safefile"
)

const (
	// fileSuffix is what a person's definition ends in: JSON with comments and trailing commas.
	fileSuffix = ".json"
	// maxFile bounds one file in bytes; the longest built-in definition has 3 KiB.
	maxFile = 64 << 10
	// maxFiles bounds a directory of definitions.
	maxFiles = 128
)

// FileError says where in a person's file what is wrong. It wraps ErrInvalid or why the file cannot be read.
type FileError struct {
	File         string // its name in the directory, as it may be printed
	Line, Column int    // from 1, the column in bytes; 0 when it is about the file as a whole
	What         string
	Err          error
}

func (e *FileError) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.What
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.What)
}

func (e *FileError) Unwrap() error { return e.Err }

// ParseFile reads one definition of the person's own, the one of the file ID.json, and fills in its defaults. A member that a
// definition does not have is an error, so that no misspelt rule counts for nothing. The error is a *FileError.
func ParseFile(id string, data []byte) (Definition, error) {
	file := printable(id) + fileSuffix
	if len(data) > maxFile {
		return Definition{}, &FileError{File: file, What: fmt.Sprintf("longer than %d bytes", maxFile), Err: ErrInvalid}
	}
	tree, err := hujson.Parse(data)
	if err != nil {
		return Definition{}, syntaxError(file, err)
	}
	plain := slices.Clone(data)
	if plain, err = hujson.Standardize(plain); err != nil { // offsets stay: comments become blanks
		return Definition{}, syntaxError(file, err)
	}
	var d Definition
	if err := json.Unmarshal(plain, &d, json.RejectUnknownMembers(true)); err != nil {
		return Definition{}, valueError(file, data, &tree, err)
	}
	if d.ID == "" {
		d.ID = id
	}
	if d.ID != id {
		return Definition{}, placed(file, data, &tree, "/id", fmt.Sprintf("id: %q is not the file's name", d.ID))
	}
	if err := d.Validate(); err != nil {
		what := strings.TrimSuffix(err.Error(), ": "+ErrInvalid.Error())
		return Definition{}, placed(file, data, &tree, pointerOf(what), what)
	}
	return d.Normalize(), nil
}

// place is how hujson says where a mistake is.
var place = regexp.MustCompile(`^(?:hujson: )?line (\d+), column (\d+): (.*)$`)

// syntaxError is a mistake in the language itself.
func syntaxError(file string, err error) *FileError {
	e := &FileError{File: file, What: err.Error(), Err: ErrInvalid}
	if m := place.FindStringSubmatch(err.Error()); m != nil {
		e.Line, _ = strconv.Atoi(m[1]) // digits: one that is too long stays 0
		e.Column, _ = strconv.Atoi(m[2])
		e.What = m[3]
	}
	return e
}

// valueError is a member that is none, or holds what it may not.
func valueError(file string, data []byte, tree *hujson.Value, err error) *FileError {
	var twice *jsontext.SyntacticError // what hujson does not look for: a member twice, bytes that are no UTF-8
	if errors.As(err, &twice) {
		return placed(file, data, tree, string(twice.JSONPointer), memberOf(string(twice.JSONPointer), twice.Err.Error()))
	}
	var at *json.SemanticError
	if !errors.As(err, &at) {
		return &FileError{File: file, What: err.Error(), Err: ErrInvalid}
	}
	what := "not what belongs there"
	switch {
	case errors.Is(at.Err, json.ErrUnknownName):
		what = "no such member"
	case at.Err != nil:
		what = at.Err.Error()
	case at.GoType != nil && kinds[at.GoType.Kind()] != "":
		what = "not " + kinds[at.GoType.Kind()]
	}
	return placed(file, data, tree, string(at.JSONPointer), memberOf(string(at.JSONPointer), what))
}

// memberOf puts the member's name before what is wrong with it.
func memberOf(pointer, what string) string {
	if name := strings.ReplaceAll(strings.TrimPrefix(pointer, "/"), "/", "."); name != "" {
		return printable(name) + ": " + what
	}
	return what
}

// kinds is what a person calls the values that a member takes.
var kinds = map[reflect.Kind]string{
	reflect.String: "a text", reflect.Bool: "true or false", reflect.Int: "a whole number", reflect.Slice: "a list", reflect.Map: "an object", reflect.Struct: "an object",
}

// fieldPath is how Validate begins: the field, and for rules the one in them.
var fieldPath = regexp.MustCompile(`^([a-zA-Z]+(?:\.[a-zA-Z]+)*)(?:\[(\d+)\])?: `)

// pointerOf returns the JSON pointer of the field that an error of Validate begins with.
func pointerOf(what string) string {
	var pointer strings.Builder
	for {
		m := fieldPath.FindStringSubmatch(what)
		if m == nil {
			return pointer.String()
		}
		for name := range strings.SplitSeq(m[1], ".") {
			pointer.WriteString("/" + name)
		}
		if m[2] != "" {
			pointer.WriteString("/" + m[2])
		}
		what = what[len(m[0]):]
	}
}

// placed puts a mistake where the pointer leads, or as near to it as the file goes.
func placed(file string, data []byte, tree *hujson.Value, pointer, what string) *FileError {
	e := &FileError{File: file, What: what, Err: ErrInvalid}
	for {
		if found := tree.Find(pointer); found != nil {
			before := data[:found.StartOffset]
			e.Line, e.Column = 1+bytes.Count(before, []byte("\n")), len(before)-bytes.LastIndexByte(before, '\n')
			return e
		}
		cut := strings.LastIndexByte(pointer, '/')
		if cut < 0 {
			return e
		}
		pointer = pointer[:cut]
	}
}

// readDir returns the definitions of a directory, which need not be there, and what is wrong with the others. Only the files
// themselves are read: no link is followed, and no pipe is waited for.
func readDir(path string) (list []Definition, faults []error) {
	dir, err := safefile.Hold(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, []error{fmt.Errorf("open agents: %w", err)}
	}
	defer dir.Close()
	entries, more, err := dir.List(maxFiles)
	if err != nil {
		return nil, []error{fmt.Errorf("list agents: %w", err)}
	}
	if more {
		faults = append(faults, fmt.Errorf("more than %d files: the rest is left out: %w", maxFiles, ErrInvalid))
	}
	for _, entry := range entries {
		id, ok := strings.CutSuffix(entry.Name, fileSuffix)
		if !ok || strings.HasPrefix(entry.Name, ".") {
			continue // an editor's
		}
		d, err := readFile(dir, id)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b Definition) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(faults, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return list, faults
}

func readFile(dir *safefile.Dir, id string) (Definition, error) {
	file := printable(id) + fileSuffix
	if !idPattern.MatchString(id) {
		return Definition{}, &FileError{File: file, What: "name it with 1 to 32 of a-z, 0-9 and hyphen", Err: ErrInvalid}
	}
	if _, ok := builtin(id); ok {
		return Definition{}, &FileError{File: file, What: "an agent of this id " + ErrBuiltin.Error(), Err: ErrBuiltin}
	}
	data, err := dir.Read(id+fileSuffix, maxFile)
	if err != nil {
		return Definition{}, &FileError{File: file, What: err.Error(), Err: err}
	}
	return ParseFile(id, data)
}

// printable is a file's name as it may be shown.
func printable(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, name)
	return string([]rune(clean)[:min(len([]rune(clean)), maxTitle)])
}
