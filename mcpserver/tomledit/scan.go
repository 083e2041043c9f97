package tomledit

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/pelletier/go-toml/v2/unstable"
)

// bom may stand before a document (TOML 1.1, "Encoding"; toml-rs takes one too). The parser does not know it.
var bom = []byte("\xef\xbb\xbf")

// expression is one header or key with its value: whole lines of the document.
type expression struct {
	// start and end enclose its lines; end is behind the line break where there is one.
	start, end int
	// path is absolute: a header's own, or the header's that it stands under and the key's.
	path []string
	// header tells a header from a key; array that it is one of an array of tables.
	header, array bool
	// from, keyEnd and to are where a key starts, where it ends, and where its value ends.
	from, keyEnd, to int
	// inline: the value is an inline table.
	inline bool
	// under is the index of the header that a key stands under; -1 at the top.
	under int
}

// document is a scanned source.
type document struct {
	src     []byte
	head    int // length of a byte order mark
	newline string
	list    []expression
}

// scan splits a document that parses into expressions.
func scan(src []byte) (*document, error) {
	d := &document{src: src, newline: "\n"}
	if bytes.HasPrefix(src, bom) {
		d.head = len(bom)
	}
	if i := bytes.IndexByte(src, '\n'); i > 0 && src[i-1] == '\r' {
		d.newline = "\r\n"
	}
	var parser unstable.Parser
	parser.Reset(src[d.head:])
	under := -1
	for parser.NextExpression() {
		e := d.read(parser.Expression())
		if e.header {
			under = len(d.list)
		} else if e.under = under; under >= 0 {
			e.path = append(slices.Clone(d.list[under].path), e.path...)
		}
		d.list = append(d.list, e)
	}
	if err := parser.Error(); err != nil {
		return nil, fmt.Errorf("scan a document that parsed: %w", err)
	}
	return d, nil
}

// read returns what one node says. A header has no range of its own; those of its keys are enough, since
// nothing but blanks, brackets and a comment shares its line.
func (d *document) read(node *unstable.Node) expression {
	e := expression{under: -1, header: node.Kind != unstable.KeyValue, array: node.Kind == unstable.ArrayTable}
	keys := node.Key()
	for keys.Next() {
		key := keys.Node()
		if e.path == nil {
			e.from = d.head + int(key.Raw.Offset)
		}
		e.keyEnd = d.head + int(key.Raw.Offset+key.Raw.Length)
		e.path = append(e.path, string(key.Data))
	}
	e.to = e.keyEnd
	if !e.header {
		e.to = d.head + int(node.Raw.Offset+node.Raw.Length)
		e.inline = node.Value().Kind == unstable.InlineTable
	}
	e.start = d.head
	if i := bytes.LastIndexByte(d.src[d.head:e.from], '\n'); i >= 0 {
		e.start = d.head + i + 1
	}
	e.end = len(d.src)
	if i := bytes.IndexByte(d.src[e.to:], '\n'); i >= 0 {
		e.end = e.to + i + 1
	}
	return e
}

// fail returns an *Error at an offset.
func (d *document) fail(offset int, reason string) error {
	before := d.src[:offset]
	return &Error{1 + bytes.Count(before, []byte("\n")), offset - bytes.LastIndexByte(before, '\n'), reason}
}

// place is a run of lines that belongs to what is looked for.
type place struct {
	start, end int
	// section: it begins with a header.
	section bool
	// keyEnd and to are those of the expression where the place is a single key; keyEnd is 0 elsewhere.
	keyEnd, to int
}

// find returns the places of what stands at path, in order. It is an *Error when part of it stands where it
// cannot be edited: in an inline table, or in an array of tables.
func (d *document) find(path []string) ([]place, error) {
	var places []place
	for i, e := range d.list {
		above := len(e.path) < len(path) && slices.Equal(e.path, path[:len(e.path)])
		within := len(e.path) >= len(path) && slices.Equal(e.path[:len(path)], path)
		switch {
		case e.array && (above || within):
			return nil, d.fail(e.from, renderKey(e.path)+" is an array of tables")
		case above && !e.header && e.inline:
			return nil, d.fail(e.from, renderKey(e.path)+" is an inline table; write it as a table")
		case above && !e.header:
			return nil, d.fail(e.from, renderKey(e.path)+" is not a table")
		case !within || !e.header && e.under >= 0 && d.inside(e.under, path):
			continue // the latter belongs to its header's place
		case e.header:
			places = append(places, place{start: e.start, end: d.sectionEnd(i), section: true})
		case len(e.path) == len(path):
			places = append(places, place{start: e.start, end: e.end, keyEnd: e.keyEnd, to: e.to})
		default:
			places = append(places, place{start: e.start, end: e.end})
		}
	}
	return places, nil
}

// inside tells whether the header at index i is that of path or of something in it.
func (d *document) inside(i int, path []string) bool {
	header := d.list[i].path
	return len(header) >= len(path) && slices.Equal(header[:len(path)], path)
}

// sectionEnd returns where the last key under the header at index i ends.
func (d *document) sectionEnd(i int) int {
	end := d.list[i].end
	for _, e := range d.list[i+1:] {
		if e.header {
			break
		}
		end = e.end
	}
	return end
}
