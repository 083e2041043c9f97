package tomledit

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// parse returns what a document means, or an *Error.
func parse(src []byte) (map[string]any, error) {
	head := 0
	if bytes.HasPrefix(src, bom) {
		head = len(bom)
	}
	root := map[string]any{}
	err := toml.Unmarshal(src[head:], &root)
	var where *toml.DecodeError
	switch {
	case err == nil:
		return root, nil
	case errors.As(err, &where):
		line, column := where.Position()
		return nil, &Error{line, column, strings.TrimPrefix(where.Error(), "toml: ")}
	}
	return nil, &Error{1, 1, strings.TrimPrefix(err.Error(), "toml: ")}
}

// lookUp returns what stands at path, through tables only.
func lookUp(root map[string]any, path []string) (any, bool) {
	var value any = root
	for _, part := range path {
		table, ok := value.(map[string]any)
		if !ok {
			return nil, false
		}
		if value, ok = table[part]; !ok {
			return nil, false
		}
	}
	return value, true
}

// checkMeaning returns an *Error unless out means what before does, but for path, where it has wanted; nil is
// nothing. Tables on the way that only the entry made may come and go with it.
func (d *document) checkMeaning(out []byte, before map[string]any, path []string, wanted any) error {
	after, err := parse(out)
	if err != nil {
		return d.fail(d.head, "the edited document would not parse: "+err.Error())
	}
	if has, _ := lookUp(after, path); !same(has, wanted) {
		return d.fail(d.head, "the edited document would not have the entry as it was meant")
	}
	if !same(without(before, path), without(after, path)) {
		return d.fail(d.head, "the edit would change more than the entry")
	}
	return nil
}

// without returns root without what stands at path, and without the tables on the way that are empty then.
func without(root map[string]any, path []string) map[string]any {
	out := map[string]any{}
	for name, value := range root {
		out[name] = value
	}
	if len(path) == 1 {
		delete(out, path[0])
	} else if inner, ok := out[path[0]].(map[string]any); ok {
		if rest := without(inner, path[1:]); len(rest) > 0 {
			out[path[0]] = rest
		} else {
			delete(out, path[0])
		}
	}
	return out
}

// same compares parsed values; a NaN equals a NaN.
func same(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for name, value := range a {
			if other, there := b[name]; !there || !same(value, other) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, same)
	case float64:
		if b, ok := b.(float64); ok && math.IsNaN(a) {
			return math.IsNaN(b)
		}
	}
	return reflect.DeepEqual(a, b)
}

// plain returns a value as the parser returns it.
func plain(value any) any {
	list, ok := value.([]string)
	if !ok {
		return value
	}
	items := make([]any, len(list))
	for i, item := range list {
		items[i] = item
	}
	return items
}

// tableOf returns what a table of the entries means.
func tableOf(entries []Entry) (map[string]any, error) {
	root := map[string]any{}
	for _, e := range entries {
		if _, err := renderValue(e.Value); err != nil {
			return nil, fmt.Errorf("%s: %w", strings.Join(e.Key, "."), err)
		}
		table := root
		for _, part := range e.Key[:len(e.Key)-1] {
			inner, ok := table[part].(map[string]any)
			if !ok {
				inner = map[string]any{}
				table[part] = inner
			}
			table = inner
		}
		table[e.Key[len(e.Key)-1]] = plain(e.Value)
	}
	return root, nil
}
