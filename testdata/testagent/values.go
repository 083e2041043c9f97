package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// values are the results that let kept, by name.
type values map[string]any

var referencePattern = regexp.MustCompile(`\$[a-z][a-z0-9]*(?:\.[A-Za-z0-9_]+)+`)

// fill replaces the references in every string of a decoded JSON value.
func (v values) fill(x any) (any, error) {
	switch x := x.(type) {
	case string:
		if referencePattern.FindString(x) == x && x != "" {
			return v.lookup(x)
		}
		return v.fillText(x)
	case []any:
		out := make([]any, len(x))
		for i := range x {
			var err error
			if out[i], err = v.fill(x[i]); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(x))
		for k := range x {
			var err error
			if out[k], err = v.fill(x[k]); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return x, nil
}

// fillText replaces the references in text; what is no string stands there as JSON.
func (v values) fillText(text string) (string, error) {
	var fault error
	out := referencePattern.ReplaceAllStringFunc(text, func(ref string) string {
		x, err := v.lookup(ref)
		if err != nil {
			fault = err
			return ref
		}
		if s, ok := x.(string); ok {
			return s
		}
		b, err := json.Marshal(x)
		if err != nil {
			fault = err
		}
		return string(b)
	})
	return out, fault
}

// lookup follows "$name.path.0" into the kept results.
func (v values) lookup(ref string) (any, error) {
	steps := strings.Split(ref[1:], ".")
	x, ok := v[steps[0]]
	for _, step := range steps[1:] {
		if !ok {
			break
		}
		switch at := x.(type) {
		case map[string]any:
			x, ok = at[step]
		case []any:
			i, err := strconv.Atoi(step)
			ok = err == nil && i >= 0 && i < len(at)
			if ok {
				x = at[i]
			}
		default:
			ok = false
		}
	}
	if !ok {
		return nil, fmt.Errorf("nothing is kept as %s", ref)
	}
	return x, nil
}
