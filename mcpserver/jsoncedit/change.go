package jsoncedit

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// set returns the whole document, its mark included, with the member at path, and how many objects were made.
func (d *document) set(path []string, value json.RawMessage) ([]byte, int, error) {
	if d.blank {
		text := d.render(nest(path, value), "", "  ")
		return slices.Concat(d.mark, d.src, text, []byte(d.newline)), len(path), nil
	}
	way, err := d.walk(path)
	if err != nil {
		return nil, 0, err
	}
	if len(way) == len(path) {
		old := way[len(way)-1].member().Value
		text := d.render(value, d.lineIndent(old.StartOffset), d.unit())
		return d.splice(old.StartOffset, old.EndOffset, text), 0, nil
	}
	holder := &d.root
	if len(way) > 0 {
		holder = &way[len(way)-1].member().Value
	}
	object, ok := holder.Value.(*hujson.Object)
	if !ok {
		return nil, 0, d.fail(holder.StartOffset, "an object should stand here")
	}
	made := len(path) - 1 - len(way)
	return d.insert(holder, object, path[len(way)], nest(path[len(way)+1:], value)), made, nil
}

// nest returns value within objects of the names.
func nest(names []string, value json.RawMessage) json.RawMessage {
	for _, name := range slices.Backward(names) {
		value = slices.Concat([]byte("{"), []byte(hujson.String(name)), []byte(":"), value, []byte("}"))
	}
	return value
}

// splice returns the whole document with other text between two offsets.
func (d *document) splice(start, end int, text []byte) []byte {
	return slices.Concat(d.mark, d.src[:start], text, d.src[end:])
}

// insert adds a member at the end of an object. A comment behind the last member stays with that one.
func (d *document) insert(holder *hujson.Value, object *hujson.Object, name string, value json.RawMessage) []byte {
	separator := d.separator(holder, object)
	extra := []byte(object.AfterExtra)
	kept := afterComments(extra)
	if endsInLineComment(extra[:kept]) && !strings.Contains(separator, "\n") {
		separator = d.newline + separator
	}
	text := separator + string(hujson.String(name)) + ": "
	if i := strings.LastIndexByte(separator, '\n'); i >= 0 {
		text += string(d.render(value, separator[i+1:], d.unit()))
	} else {
		text += string(compact(value))
	}
	last := len(object.Members) - 1
	if last < 0 {
		at := holder.StartOffset + 1 + kept
		return d.splice(at, at, []byte(text+d.tail(holder)))
	}
	end := object.Members[last].Value.EndOffset
	if trailing := object.Members[last].Value.AfterExtra; trailing != nil {
		at := end + len(trailing) + 1 + kept
		return d.splice(at, at, []byte(text+","))
	}
	return d.splice(end, end+kept, slices.Concat([]byte(","), extra[:kept], []byte(text)))
}

// separator returns the white space before a new member: as before the last one, or a line of its own.
func (d *document) separator(holder *hujson.Value, object *hujson.Object) string {
	if len(object.Members) == 0 {
		return d.newline + d.lineIndent(holder.StartOffset) + d.unit()
	}
	before := string(object.Members[len(object.Members)-1].Name.BeforeExtra)
	if i := strings.LastIndexByte(before, '\n'); i >= 0 {
		indent := before[i+1:]
		return d.newline + indent[:len(indent)-len(strings.TrimLeft(indent, " \t"))]
	}
	if strings.Trim(before, " \t") != "" {
		return " "
	}
	return before
}

// tail is what stands behind the only member of an object that was empty.
func (d *document) tail(holder *hujson.Value) string {
	return d.newline + d.lineIndent(holder.StartOffset)
}

// dropMember returns the whole document without a member, its comma, and the white space before it. The comments
// before it stay.
func (d *document) dropMember(s spot) []byte {
	member := s.member()
	before := []byte(member.Name.BeforeExtra)
	start := member.Name.StartOffset - len(before) + afterComments(before)
	end := member.Value.EndOffset
	last := s.index == len(s.object.Members)-1
	trailing := member.Value.AfterExtra != nil
	if !last || trailing {
		end += len(member.Value.AfterExtra) + 1 // the comma
	}
	switch {
	case len(s.object.Members) == 1:
		if tail := d.tail(s.holder); bytes.HasPrefix(d.src[end:], []byte(tail)) {
			end += len(tail)
		}
	case last && !trailing:
		comma := member.Name.StartOffset - len(before) - 1
		return slices.Concat(d.mark, d.src[:comma], d.src[comma+1:start], d.src[end:])
	}
	return d.splice(start, end, nil)
}

// afterComments returns where the last comment in extra ends, before the line break that ends it; 0 without one.
func afterComments(extra []byte) int {
	end := 0
	for i := 0; i < len(extra); {
		switch {
		case bytes.HasPrefix(extra[i:], []byte("//")):
			n := bytes.IndexByte(extra[i:], '\n')
			if n < 0 {
				return len(extra)
			}
			end = i + n
			if extra[end-1] == '\r' {
				end--
			}
			i += n
		case bytes.HasPrefix(extra[i:], []byte("/*")):
			n := bytes.Index(extra[i+2:], []byte("*/"))
			if n < 0 {
				return len(extra)
			}
			i += n + 4
			end = i
		default:
			i++
		}
	}
	return end
}

// endsInLineComment tells whether what follows on the line would be part of a comment.
func endsInLineComment(extra []byte) bool {
	return len(extra) > 0 && !bytes.HasSuffix(extra, []byte("*/"))
}

// lineIndent returns the white space at the start of the line that offset is in.
func (d *document) lineIndent(offset int) string {
	line := d.src[bytes.LastIndexByte(d.src[:offset], '\n')+1 : offset]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// unit is one step of indentation: that of the root's first member, else two spaces.
func (d *document) unit() string {
	if object, ok := d.root.Value.(*hujson.Object); ok && len(object.Members) > 0 {
		name := object.Members[0].Name
		indent := d.lineIndent(name.StartOffset)
		if bytes.IndexByte(name.BeforeExtra, '\n') >= 0 && indent != "" {
			return indent
		}
	}
	return "  "
}

// render returns JSON text over several lines, the first without indentation.
func (d *document) render(value json.RawMessage, prefix, unit string) []byte {
	var b bytes.Buffer
	if err := json.Indent(&b, value, prefix, unit); err != nil {
		return value // decode has read it, so this cannot be
	}
	return bytes.ReplaceAll(b.Bytes(), []byte("\n"), []byte(d.newline))
}

func compact(value json.RawMessage) []byte {
	var b bytes.Buffer
	if err := json.Compact(&b, value); err != nil {
		return value
	}
	return b.Bytes()
}
