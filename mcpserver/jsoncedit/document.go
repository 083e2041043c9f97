package jsoncedit

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// bom may stand before a document (RFC 8259 section 8.1 lets a reader ignore it). The parser does not know it.
var bom = []byte("\xef\xbb\xbf")

// maxDepth bounds nesting: the parser recurses. encoding/json has the same bound.
const maxDepth = 10_000

// document is a parsed source. Offsets are those in src, which has no byte order mark.
type document struct {
	mark, src []byte
	newline   string
	// blank: there is no value, only white space.
	blank   bool
	root    hujson.Value
	meaning any
}

// parse returns the document, or an *Error.
func parse(src []byte) (*document, error) {
	d := &document{src: src, newline: "\n"}
	if bytes.HasPrefix(src, bom) {
		d.mark, d.src = bom, src[len(bom):]
	}
	if i := bytes.IndexByte(d.src, '\n'); i > 0 && d.src[i-1] == '\r' {
		d.newline = "\r\n"
	}
	if d.blank = len(bytes.Trim(d.src, " \t\r\n")) == 0; d.blank {
		d.meaning = map[string]any{}
		return d, nil
	}
	if !utf8.Valid(d.src) {
		return nil, d.fail(invalidAt(d.src), "not UTF-8")
	}
	if at := tooDeep(d.src); at >= 0 {
		return nil, d.fail(at, fmt.Sprintf("nested deeper than %d", maxDepth))
	}
	// A comment may end the document without a line break, which the parser asks for.
	var err error
	if d.root, err = hujson.Parse(append(bytes.Clone(d.src), '\n')); err != nil {
		return nil, d.parseError(err)
	}
	plain := d.root.Clone()
	plain.Standardize()
	if d.meaning, err = decode(plain.Pack()); err != nil {
		return nil, d.fail(0, err.Error())
	}
	return d, nil
}

func invalidAt(b []byte) int {
	at := 0
	for at < len(b) {
		r, size := utf8.DecodeRune(b[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return at
}

// tooDeep returns where brackets nest deeper than maxDepth, or -1. It knows strings and comments, and takes
// anything else for what it looks like.
func tooDeep(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch {
		case b[i] == '{' || b[i] == '[':
			if depth++; depth > maxDepth {
				return i
			}
		case b[i] == '}' || b[i] == ']':
			depth--
		case b[i] == '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case bytes.HasPrefix(b[i:], []byte("//")):
			for i < len(b) && b[i] != '\n' {
				i++
			}
		case bytes.HasPrefix(b[i:], []byte("/*")):
			end := bytes.Index(b[i+2:], []byte("*/"))
			if end < 0 {
				return -1
			}
			i += 2 + end + 1
		}
	}
	return -1
}

var parserPlace = regexp.MustCompile(`^hujson: line (\d+), column (\d+): `)

// parseError returns the parser's error with its place, which it gives in words only.
func (d *document) parseError(err error) error {
	text := err.Error()
	place := parserPlace.FindStringSubmatch(text)
	if place == nil {
		return &Error{1, 1, text}
	}
	line, lineErr := strconv.Atoi(place[1])
	column, columnErr := strconv.Atoi(place[2])
	if errors.Join(lineErr, columnErr) != nil {
		return &Error{1, 1, text}
	}
	reason := strings.TrimPrefix(text, place[0])
	if end := d.fail(len(d.src), reason).(*Error); line > end.Line {
		return end // at the line break that was added
	}
	return &Error{line, column, reason}
}

// fail returns an *Error at an offset.
func (d *document) fail(offset int, reason string) error {
	before := d.src[:offset]
	return &Error{1 + bytes.Count(before, []byte("\n")), offset - bytes.LastIndexByte(before, '\n'), reason}
}

// spot is one member of an object.
type spot struct {
	holder *hujson.Value // the object
	object *hujson.Object
	index  int
}

func (s spot) member() *hujson.ObjectMember { return &s.object.Members[s.index] }

// alone tells whether the object has this member only, and no comment.
func (s spot) alone() bool {
	member := s.member()
	return len(s.object.Members) == 1 && member.Name.BeforeExtra.IsStandard() && member.Name.AfterExtra.IsStandard() &&
		member.Value.BeforeExtra.IsStandard() && member.Value.AfterExtra.IsStandard() && s.object.AfterExtra.IsStandard()
}

// walk returns the members on the way along path, as many as there are. It is an *Error when one on the way is
// no object or stands there twice: programs differ in which of two they take.
func (d *document) walk(path []string) ([]spot, error) {
	var way []spot
	holder := &d.root
	for _, name := range path {
		object, ok := holder.Value.(*hujson.Object)
		if !ok {
			return nil, d.fail(holder.StartOffset, "an object should stand here")
		}
		found := -1
		for i, member := range object.Members {
			if member.Name.Value.(hujson.Literal).String() != name {
				continue
			}
			if found >= 0 {
				return nil, d.fail(member.Name.StartOffset, strconv.Quote(name)+" is there twice")
			}
			found = i
		}
		if found < 0 {
			return way, nil
		}
		way = append(way, spot{holder, object, found})
		holder = &object.Members[found].Value
	}
	return way, nil
}
