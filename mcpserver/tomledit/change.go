package tomledit

import (
	"bytes"
	"slices"
)

// drop returns the document without the places. A section takes one empty line before it with it. What ends the
// document without a line break takes the one before it, so that the end is as it was.
func (d *document) drop(places []place) []byte {
	out := d.src
	for _, p := range slices.Backward(places) {
		start := p.start
		if p.section {
			start = d.beforeEmptyLine(start)
		}
		if p.end == len(d.src) && !endsLine(d.src[:p.end]) {
			start = d.beforeNewline(start)
		}
		// The place behind this one may have taken the line break at its end.
		out = slices.Concat(out[:min(start, len(out))], out[min(p.end, len(out)):])
	}
	return out
}

func endsLine(b []byte) bool { return len(b) > 0 && b[len(b)-1] == '\n' }

// beforeNewline returns the offset before the line break that ends at offset, or offset where there is none.
func (d *document) beforeNewline(offset int) int {
	before := d.src[d.head:offset]
	if !endsLine(before) {
		return offset
	}
	before = before[:len(before)-1]
	if len(before) > 0 && before[len(before)-1] == '\r' {
		before = before[:len(before)-1]
	}
	return d.head + len(before)
}

// beforeEmptyLine returns the offset before the empty line that ends at offset, or offset where there is none.
func (d *document) beforeEmptyLine(offset int) int {
	start := d.beforeNewline(offset)
	if start == d.head || endsLine(d.src[:start]) {
		return start
	}
	return offset
}

// appendBlock returns the document with a table at its end, after an empty line. A document without a final line
// break still has none afterwards.
func (d *document) appendBlock(block string) []byte {
	switch {
	case len(d.src) == d.head:
		return slices.Concat(d.src, []byte(block+d.newline))
	case endsLine(d.src):
		return slices.Concat(d.src, []byte(d.newline+block+d.newline))
	}
	return slices.Concat(d.src, []byte(d.newline+d.newline+block))
}

// replace returns the document with other text in a place, which ends its line as the place did.
func (d *document) replace(p place, text string) []byte {
	end := p.end
	if endsLine(d.src[:end]) {
		end = d.beforeNewline(end)
	}
	return slices.Concat(d.src[:p.start], []byte(text), d.src[end:])
}

// replaceValue returns the document with another value of a key.
func (d *document) replaceValue(p place, value string) []byte {
	return slices.Concat(d.src[:p.keyEnd], []byte(" = "+value), d.src[p.to:])
}

// insertKey returns the document with a new key: at the end of its table, else beside dotted keys of the same
// table at the top, else as a dotted key at the very top.
func (d *document) insertKey(path []string, value string) []byte {
	parent := path[:len(path)-1]
	last := -1
	for i, e := range d.list {
		if e.header && slices.Equal(e.path, parent) {
			return d.insertLine(d.sectionEnd(i), renderKey(path[len(parent):])+" = "+value)
		}
		if !e.header && e.under < 0 && len(e.path) > len(parent) && slices.Equal(e.path[:len(parent)], parent) {
			last = i
		}
	}
	line := renderKey(path) + " = " + value
	if last >= 0 {
		return d.insertLine(d.list[last].end, line)
	}
	return slices.Concat(d.src[:d.head], []byte(line+d.newline), d.src[d.head:])
}

// insertLine returns the document with a line at offset, which is the start of a line or the document's end.
func (d *document) insertLine(offset int, line string) []byte {
	if offset > d.head && !bytes.HasSuffix(d.src[:offset], []byte("\n")) {
		return slices.Concat(d.src[:offset], []byte(d.newline+line), d.src[offset:])
	}
	return slices.Concat(d.src[:offset], []byte(line+d.newline), d.src[offset:])
}
