package registry

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
)

// mold is a schema compiled to check JSON text in one pass, without making values of it: each call's arguments and
// result go through one. It knows the keywords that newShape makes, and says yes only where the schema's own validator
// does (TestAMoldTakesOnlyWhatTheSchemaTakes, FuzzMold). Where it says no, that validator decides and finds the words: a
// mold is a way to a yes that costs a tenth.
type mold struct {
	kind    jsontext.Kind // of the value; 0 is any value
	integer bool
	// of objects
	properties map[string]*property
	required   uint64 // bits of the properties that must be there
	others     *mold  // of members that are no properties; nil: there may be none
	// of arrays
	items    *mold
	maxItems int
	// of strings
	enum                 map[string]bool // as written in JSON, without quotes
	minLength, maxLength int
	// of numbers
	minimum, maximum *float64
}

type property struct {
	*mold
	bit uint64
}

// noLimit stands for a limit that a schema does not state.
const noLimit = int(^uint(0) >> 1)

// newMold compiles a schema; nil when it has a keyword that a mold does not know.
func newMold(s *jsonschema.Schema) *mold {
	m := &mold{maxItems: noLimit, maxLength: noLimit}
	kind, known := map[string]jsontext.Kind{"": 0, "object": '{', "array": '[', "string": '"', "integer": '0', "number": '0', "boolean": 't'}[s.Type]
	if !known || !onlyKnown(s) || len(s.Properties) > 64 {
		return nil
	}
	m.kind, m.integer, m.minimum, m.maximum = kind, s.Type == "integer", s.Minimum, s.Maximum
	for at, limit := range map[*int]*int{&m.maxItems: s.MaxItems, &m.maxLength: s.MaxLength, &m.minLength: s.MinLength} {
		if limit != nil {
			*at = *limit
		}
	}
	for _, value := range s.Enum {
		text, ok := value.(string)
		if written, err := json.Marshal(text); !ok || err != nil || len(written) != len(text)+2 {
			return nil
		}
		if m.enum == nil {
			m.enum = map[string]bool{}
		}
		m.enum[text] = true
	}
	if s.Items != nil {
		if m.items = newMold(s.Items); m.items == nil {
			return nil
		}
	} else if kind == '[' {
		m.items = &mold{}
	}
	if kind == '{' && !m.object(s) {
		return nil
	}
	return m
}

// object compiles the keywords of objects, and returns whether it could.
func (m *mold) object(s *jsonschema.Schema) bool {
	m.properties = map[string]*property{}
	for name, schema := range s.Properties {
		inner := newMold(schema)
		if inner == nil {
			return false
		}
		m.properties[name] = &property{inner, 1 << len(m.properties)}
	}
	for _, name := range s.Required {
		if m.properties[name] == nil {
			return false
		}
		m.required |= m.properties[name].bit
	}
	switch {
	case s.AdditionalProperties == nil:
		m.others = &mold{}
	case !isFalse(s.AdditionalProperties):
		m.others = newMold(s.AdditionalProperties)
		return m.others != nil
	}
	return true
}

// isFalse tells whether a schema takes nothing: what the library writes as false.
func isFalse(s *jsonschema.Schema) bool {
	return reflect.DeepEqual(s, &jsonschema.Schema{Not: &jsonschema.Schema{}})
}

// onlyKnown tells whether a schema has no keyword but those that a mold knows, and such as constrain nothing.
func onlyKnown(s *jsonschema.Schema) bool {
	return reflect.DeepEqual(*s, jsonschema.Schema{
		Type: s.Type, Properties: s.Properties, Required: s.Required, AdditionalProperties: s.AdditionalProperties, PropertyOrder: s.PropertyOrder,
		Items: s.Items, MaxItems: s.MaxItems, Enum: s.Enum, MinLength: s.MinLength, MaxLength: s.MaxLength, Minimum: s.Minimum, Maximum: s.Maximum,
		Description: s.Description, Title: s.Title, Default: s.Default, Schema: s.Schema,
	})
}

// takes tells whether raw is one JSON value that certainly fits the schema.
func (m *mold) takes(raw []byte) bool { return m.read(raw) }

// takesWritten is takes for what Marshal wrote just now, which has looked for members that are there twice already, in raw
// values of the type too (TestAResultHasNoMemberTwice).
func (m *mold) takesWritten(raw []byte) bool { return m.read(raw, twiceIsFine) }

var twiceIsFine = jsontext.AllowDuplicateNames(true)

func (m *mold) read(raw []byte, options ...jsontext.Options) bool {
	if m == nil {
		return false
	}
	r := readers.Get().(*reader)
	defer readers.Put(r)
	r.buffer = *bytes.NewBuffer(raw)
	r.decoder.Reset(&r.buffer, options...)
	decoder := r.decoder
	return m.value(decoder) && len(bytes.TrimLeft(raw[decoder.InputOffset():], " \t\r\n")) == 0
}

// reader is a decoder that is used again: most of what a check costs is what a new one allocates to find members that are
// there twice.
type reader struct {
	decoder *jsontext.Decoder
	buffer  bytes.Buffer
}

var readers = sync.Pool{New: func() any { return &reader{decoder: jsontext.NewDecoder(bytes.NewReader(nil))} }}

// value reads one value and tells whether it fits.
func (m *mold) value(d *jsontext.Decoder) bool {
	kind := d.PeekKind()
	if kind == 'f' {
		kind = 't'
	}
	if m.kind != 0 && m.kind != kind {
		return false
	}
	switch m.kind {
	case '{':
		return m.members(d)
	case '[':
		return m.elements(d)
	}
	raw, err := d.ReadValue()
	switch {
	case err != nil:
		return false
	case m.kind == '"':
		return m.text(raw[1 : len(raw)-1])
	case m.kind == '0':
		return m.number(raw)
	}
	return true
}

// text takes what is between the quotes. A limit is counted in characters, of which there are at most as many as bytes;
// where that leaves a doubt the answer is no.
func (m *mold) text(written []byte) bool {
	if m.enum != nil && !m.enum[string(written)] {
		return false
	}
	return len(written) <= m.maxLength && (m.minLength == 0 || m.minLength == 1 && len(written) > 0)
}

func (m *mold) number(written []byte) bool {
	if m.integer && bytes.ContainsAny(written, ".eE") {
		return false
	}
	if m.minimum == nil && m.maximum == nil {
		return true
	}
	n, err := strconv.ParseFloat(string(written), 64)
	return err == nil && (m.minimum == nil || n >= *m.minimum) && (m.maximum == nil || n <= *m.maximum)
}

func (m *mold) elements(d *jsontext.Decoder) bool {
	if _, err := d.ReadToken(); err != nil {
		return false
	}
	for n := 0; d.PeekKind() != ']'; n++ {
		if n >= m.maxItems || !m.items.value(d) {
			return false
		}
	}
	_, err := d.ReadToken()
	return err == nil
}

func (m *mold) members(d *jsontext.Decoder) bool {
	if _, err := d.ReadToken(); err != nil {
		return false
	}
	missing := m.required
	for d.PeekKind() != '}' {
		name, err := d.ReadValue()
		if err != nil {
			return false
		}
		inner := m.others
		if known := m.properties[string(name[1:len(name)-1])]; known != nil {
			inner, missing = known.mold, missing&^known.bit
		} else if bytes.IndexByte(name, '\\') >= 0 {
			return false // it may be a property, written otherwise
		}
		if inner == nil || !inner.value(d) {
			return false
		}
	}
	_, err := d.ReadToken()
	return err == nil && missing == 0
}
