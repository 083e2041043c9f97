package render

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"termic/registry"
)

// field is one field of a Go struct with its JSON Schema.
type field struct {
	name   string
	goType reflect.Type
	schema *jsonschema.Schema
	tag    string
}

// fieldsOf returns the fields of a struct type that JSON knows, in order.
func fieldsOf(t reflect.Type, schema *jsonschema.Schema) ([]field, error) {
	var fields []field
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || !f.IsExported() || name == "-" {
			continue
		}
		property := schema.Properties[name]
		if name == "" || property == nil {
			return nil, fmt.Errorf("field %s of %s has no JSON name or no schema", f.Name, t)
		}
		goType := f.Type
		if goType.Kind() == reflect.Pointer { // tells "not said" from the zero value
			goType = goType.Elem()
		}
		fields = append(fields, field{name, goType, property, f.Tag.Get("cli")})
	}
	return fields, nil
}

func (f field) kind() (Kind, error) {
	switch k := f.goType.Kind(); {
	case k == reflect.String:
		return String, nil
	case k == reflect.Bool:
		return Boolean, nil
	case k >= reflect.Int && k <= reflect.Int64:
		return Integer, nil
	case k == reflect.Struct:
		return Object, nil
	case k == reflect.Slice && f.goType.Elem().Kind() == reflect.String:
		return Strings, nil
	case k == reflect.Slice && f.goType.Elem().Kind() == reflect.Struct:
		return Objects, nil
	}
	return "", fmt.Errorf("field %s: no surface can show a %s", f.name, f.goType)
}

// enum returns the allowed values, of the items for a list.
func (f field) enum() []string {
	values := f.schema.Enum
	if f.schema.Items != nil {
		values = f.schema.Items.Enum
	}
	var words []string
	for _, value := range values {
		words = append(words, fmt.Sprint(value))
	}
	return words
}

func (f field) max() int {
	switch {
	case f.schema.MaxLength != nil:
		return *f.schema.MaxLength
	case f.schema.MaxItems != nil:
		return *f.schema.MaxItems
	case f.schema.Maximum != nil:
		return int(*f.schema.Maximum)
	}
	return 0
}

func argumentsOf(verb *registry.Verb) ([]Argument, error) {
	fields, err := fieldsOf(verb.InType(), verb.InSchema())
	if err != nil {
		return nil, err
	}
	var arguments []Argument
	for _, f := range fields {
		kind, err := f.kind()
		if err != nil {
			return nil, err
		}
		a := Argument{
			Name: f.name, Doc: f.schema.Description, Kind: kind, Enum: f.enum(), Max: f.max(),
			Required: slices.Contains(verb.InSchema().Required, f.name),
		}
		t, err := parseTag(f.tag, argumentWords, true)
		if err == nil {
			err = t.apply(&a)
		}
		if err != nil {
			return nil, fmt.Errorf("argument %s: %w", f.name, err)
		}
		arguments = append(arguments, a)
	}
	return arguments, nil
}

func membersOf(t reflect.Type, schema *jsonschema.Schema) ([]Member, error) {
	fields, err := fieldsOf(t, schema)
	if err != nil {
		return nil, err
	}
	var members []Member
	for _, f := range fields {
		m, err := newMember(f)
		if err != nil {
			return nil, fmt.Errorf("result %s: %w", f.name, err)
		}
		m.Optional = !slices.Contains(schema.Required, f.name)
		members = append(members, m)
	}
	return members, nil
}

func newMember(f field) (Member, error) {
	kind, err := f.kind()
	if err != nil {
		return Member{}, err
	}
	t, err := parseTag(f.tag, resultWords, false)
	if err != nil {
		return Member{}, err
	}
	m := Member{
		Name: f.name, Doc: f.schema.Description, Kind: kind, Enum: f.enum(),
		Column: t.has("col"), Raw: t.has("raw"), Said: t.has("said"), Text: t.has("text"), Note: t.has("note"), Hidden: t.has("hide"),
	}
	switch {
	case len(t.words) > 1:
		return Member{}, fmt.Errorf("is more than one of column, raw, said, text, note and hidden")
	case (m.Raw || m.Said) && kind != String:
		return Member{}, fmt.Errorf("is raw but no string")
	case m.Text && kind != String:
		return Member{}, fmt.Errorf("is text but no string")
	case m.Column && (kind == Object || kind == Objects):
		return Member{}, fmt.Errorf("is a column but holds objects")
	}
	switch kind {
	case Object:
		m.Members, err = membersOf(f.goType, f.schema)
	case Objects:
		m.Members, err = membersOf(f.goType.Elem(), f.schema.Items)
	}
	return m, err
}
