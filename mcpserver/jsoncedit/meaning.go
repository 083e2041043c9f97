package jsoncedit

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
)

// decode returns what JSON text means, numbers as they are written.
func decode(raw []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return value, nil
}

// lookUp returns what stands at path, through objects only.
func lookUp(value any, path []string) (any, bool) {
	for _, part := range path {
		object, ok := value.(map[string]any)
		if !ok {
			return nil, false
		}
		if value, ok = object[part]; !ok {
			return nil, false
		}
	}
	return value, true
}

func same(a, b any) bool { return reflect.DeepEqual(a, b) }

// checkMeaning returns an *Error unless out means what the document does, but for path, where it has wanted; nil
// is nothing. made of the objects on the way may come and go with it.
func (d *document) checkMeaning(out []byte, path []string, wanted any, made int) error {
	after, err := parse(out)
	if err != nil {
		return d.fail(0, "the edited document would not parse: "+err.Error())
	}
	if has, found := lookUp(after.meaning, path); found != (wanted != nil) || found && !same(has, wanted) {
		return d.fail(0, "the edited document would not have the member as it was meant")
	}
	if !same(without(d.meaning, path, made), without(after.meaning, path, made)) {
		return d.fail(0, "the edit would change more than the member")
	}
	return nil
}

// without returns value without what stands at path, and without the last made objects on the way if they are
// empty then.
func without(value any, path []string, made int) any {
	object, ok := value.(map[string]any)
	if !ok {
		return value
	}
	out := map[string]any{}
	for name, inner := range object {
		out[name] = inner
	}
	if len(path) == 1 {
		delete(out, path[0])
		return out
	}
	inner, there := out[path[0]]
	if !there {
		return out
	}
	rest := without(inner, path[1:], made)
	if empty, ok := rest.(map[string]any); ok && len(empty) == 0 && len(path)-1 <= made {
		delete(out, path[0])
	} else {
		out[path[0]] = rest
	}
	return out
}
