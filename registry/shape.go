package registry

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
)

// shape is a Go struct type together with the JSON Schema (2020-12) inferred from it. Field tags:
//
//	json:"name,omitempty"  name; omitempty or omitzero makes the field optional
//	jsonschema:"text"      the one description of the field, on every surface
//	enum:"a,b"             the allowed values of a string
//	max:"n"                longest string, longest list, or largest number
//	min:"n"                smallest number
//	cli:"…"                how the command line offers it; see package render
//
// Schema and validator are made at their first use: the command line needs those of one verb of all, and its
// person waits for every millisecond.
type shape struct {
	what      string
	goType    reflect.Type
	schema    func() *jsonschema.Schema
	validator func() *jsonschema.Resolved
	// mold says yes to most of what fits, and costs little; what it does not take the validator decides.
	mold func() *mold
}

func newShape[T any](what string) (*shape, error) {
	goType := reflect.TypeFor[T]()
	if goType.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%s: %s is not a struct", what, goType)
	}
	s := &shape{what: what, goType: goType}
	s.schema = sync.OnceValue(s.infer)
	s.validator = sync.OnceValue(s.resolve)
	s.mold = sync.OnceValue(func() *mold { return newMold(s.schema()) })
	return s, nil
}

// infer makes the schema. It panics where the type's tags do not fit, which is a mistake in the source; so does
// resolve. NewRouter asks for every validator, so such a program does not start.
func (s *shape) infer() *jsonschema.Schema {
	schema, err := jsonschema.ForType(s.goType, nil)
	if err == nil {
		err = refine(schema, s.goType)
	}
	if err != nil {
		panic("registry: " + s.what + ": " + err.Error())
	}
	return schema
}

func (s *shape) resolve() *jsonschema.Resolved {
	resolved, err := s.schema().Resolve(nil)
	if err != nil {
		panic("registry: " + s.what + ": " + err.Error())
	}
	return resolved
}

// refine narrows the inferred schema by our tags, says that lists are never null (an empty list is []),
// and insists on a description for every field.
func refine(s *jsonschema.Schema, t reflect.Type) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if len(s.Types) > 0 {
		s.Types = slices.DeleteFunc(s.Types, func(name string) bool { return name == "null" })
		if len(s.Types) == 1 {
			s.Type, s.Types = s.Types[0], nil
		}
	}
	switch {
	case t.Kind() == reflect.Slice && s.Items != nil:
		return refine(s.Items, t.Elem())
	case t.Kind() != reflect.Struct || s.Properties == nil:
		return nil
	}
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		property := s.Properties[name]
		if name == "" || name == "-" || property == nil {
			continue
		}
		if property.Description == "" {
			return fmt.Errorf("field %s of %s has no description", name, t)
		}
		if err := refine(property, field.Type); err != nil {
			return err
		}
		if err := bound(property, field.Tag); err != nil {
			return fmt.Errorf("field %s of %s: %w", name, t, err)
		}
	}
	return nil
}

// bound applies the enum, max and min tags.
func bound(s *jsonschema.Schema, tag reflect.StructTag) error {
	if enum := tag.Get("enum"); enum != "" {
		target := s
		if s.Items != nil {
			target = s.Items
		}
		for _, value := range strings.Split(enum, ",") {
			target.Enum = append(target.Enum, value)
		}
	}
	for _, limit := range []string{"min", "max"} {
		text := tag.Get(limit)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("tag %s: %w", limit, err)
		}
		switch {
		case limit == "max" && s.Type == "string":
			s.MaxLength = &n
		case limit == "max" && s.Type == "array":
			s.MaxItems = &n
		case limit == "max" && s.Type == "integer":
			s.Maximum = jsonschema.Ptr(float64(n))
		case limit == "min" && s.Type == "integer":
			s.Minimum = jsonschema.Ptr(float64(n))
		case limit == "min" && s.Type == "string":
			s.MinLength = &n
		default:
			return fmt.Errorf("tag %s does not fit type %q", limit, s.Type)
		}
	}
	return nil
}

// decode reads raw strictly into a value of the shape's type: valid UTF-8, no member twice, none unknown,
// nothing after the value, every required member there, every value within its bounds. No arguments at all
// are the empty object.
func (s *shape) decode(raw json.RawMessage) (any, error) {
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	if !s.mold().takes(raw) {
		var loose any
		if err := jsonv2.Unmarshal(raw, &loose); err != nil {
			return nil, fmt.Errorf("not valid JSON: %w", err)
		}
		if err := s.validator().Validate(loose); err != nil {
			return nil, plain(err)
		}
	}
	value := reflect.New(s.goType)
	if err := jsonv2.Unmarshal(raw, value.Interface()); err != nil {
		return nil, fmt.Errorf("does not fit: %w", err)
	}
	return value.Elem().Interface(), nil
}

// encode writes value, which must be of the shape's type, and checks the result against the schema: a
// promise that the handler broke is caught here and not by the caller. Absent lists become [].
func (s *shape) encode(value any) (json.RawMessage, error) {
	raw, err := jsonv2.Marshal(value, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, err
	}
	if s.mold().takesWritten(raw) {
		return raw, nil
	}
	var loose any
	if err := jsonv2.Unmarshal(raw, &loose); err != nil {
		return nil, err
	}
	if err := s.validator().Validate(loose); err != nil {
		return nil, plain(err)
	}
	return raw, nil
}

// InSchema returns the JSON Schema of the verb's arguments. Callers must not change it.
func (v *Verb) InSchema() *jsonschema.Schema { return v.in.schema() }

// OutSchema returns the JSON Schema of the verb's result. Callers must not change it.
func (v *Verb) OutSchema() *jsonschema.Schema { return v.out.schema() }

// InType returns the Go type of the verb's arguments, for the renderers that read field tags.
func (v *Verb) InType() reflect.Type { return v.in.goType }

// OutType returns the Go type of the verb's result.
func (v *Verb) OutType() reflect.Type { return v.out.goType }
