package registry_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/google/jsonschema-go/jsonschema"

	"termic/registry"
	"termic/registry/verbs"
)

type moldIn struct {
	Name  string         `json:"name" min:"1" max:"5" jsonschema:"a"`
	Mode  string         `json:"mode,omitempty" enum:"off,enforce-fs" jsonschema:"a"`
	Modes []string       `json:"modes,omitempty" enum:"a,b" max:"2" jsonschema:"a"`
	Count int            `json:"count,omitempty" min:"0" max:"10" jsonschema:"a"`
	Share float64        `json:"share,omitempty" jsonschema:"a"`
	On    bool           `json:"on,omitempty" jsonschema:"a"`
	Maybe *bool          `json:"maybe,omitempty" jsonschema:"a"`
	Inner []moldInner    `json:"inner,omitempty" jsonschema:"a"`
	Any   any            `json:"any,omitempty" jsonschema:"a"`
	Words map[string]int `json:"words,omitempty" jsonschema:"a"`
}

type moldInner struct {
	ID string `json:"id" jsonschema:"a"`
}

var moldVerb = registry.Define[moldIn, moldIn](registry.Verb{
	Name: "thing_mold", Summary: "a", Doc: "A.", Class: registry.Read, Scope: registry.Full, Reach: registry.ReachSelf,
}).Verb()

// schemaTakes is what the library says, which decides.
func schemaTakes(t testing.TB, schema *jsonschema.Schema, raw string) bool {
	t.Helper()
	resolved, err := schema.CloneSchemas().Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	var loose any
	return jsonv2.Unmarshal([]byte(raw), &loose) == nil && resolved.Validate(loose) == nil
}

func TestAMoldTakesOnlyWhatTheSchemaTakes(t *testing.T) {
	for _, row := range []struct {
		says, raw   string
		mold, fully bool // what the mold says, and what is true
	}{
		{"the least", `{"name":"a"}`, true, true},
		{"everything", `{"name":"a","mode":"enforce-fs","modes":["a","b"],"count":10,"share":0.5,"on":true,"maybe":false,"inner":[{"id":""}],"any":[{}],"words":{"x":1}}`, true, true},
		{"white space", " {\n\"name\" : \"a\" } \n", true, true},
		{"nothing", ``, false, false},
		{"half of it", `{"name":"a"`, false, false},
		{"text after it", `{"name":"a"} x`, false, false},
		{"two of them", `{"name":"a"}{"name":"a"}`, false, false},
		{"a list", `[]`, false, false},
		{"null", `null`, false, false},
		{"a member missing", `{}`, false, false},
		{"an inner member missing", `{"name":"a","inner":[{}]}`, false, false},
		{"a member twice", `{"name":"a","name":"a"}`, false, false},
		{"a member twice, once escaped", `{"name":"a","n\u0061me":"a"}`, false, false},
		{"a member twice within any", `{"name":"a","any":{"b":1,"b":2}}`, false, false},
		{"an unknown member", `{"name":"a","other":1}`, false, false},
		{"a member in another case", `{"Name":"a"}`, false, false},
		{"an escaped member, which is the schema's to read", `{"n\u0061me":"a"}`, false, true},
		{"null for a text", `{"name":null}`, false, false},
		{"null for an optional one", `{"name":"a","maybe":null}`, false, false},
		{"null for a list", `{"name":"a","modes":null}`, false, false},
		{"a number for a text", `{"name":1}`, false, false},
		{"a text for a number", `{"name":"a","count":"1"}`, false, false},
		{"a number for a truth value", `{"name":"a","on":1}`, false, false},
		{"an empty text", `{"name":""}`, false, false},
		{"the longest text", `{"name":"aaaaa"}`, true, true},
		{"a text one too long", `{"name":"aaaaaa"}`, false, false},
		{"a text of more bytes than characters, which is the schema's to count", `{"name":"äöü"}`, false, true},
		{"a text of as many escapes", `{"name":"\u0061\u0061"}`, false, true},
		{"not of the enum", `{"name":"a","mode":"on"}`, false, false},
		{"of the enum but longer", `{"name":"a","mode":"offf"}`, false, false},
		{"not of the list's enum", `{"name":"a","modes":["c"]}`, false, false},
		{"a list one too long", `{"name":"a","modes":["a","a","a"]}`, false, false},
		{"the least number", `{"name":"a","count":0}`, true, true},
		{"below it", `{"name":"a","count":-1}`, false, false},
		{"above the greatest", `{"name":"a","count":11}`, false, false},
		{"a fraction", `{"name":"a","count":1.5}`, false, false},
		{"a whole number with a point, which is the schema's to judge", `{"name":"a","count":1.0}`, false, true},
		{"a huge number", `{"name":"a","count":1e999}`, false, false},
		{"invalid UTF-8", "{\"name\":\"\xff\"}", false, false},
		{"half a surrogate pair", `{"name":"\ud800"}`, false, false},
		{"a value of a map that is no number", `{"name":"a","words":{"x":"y"}}`, false, false},
	} {
		compiled, takes := registry.Mold(moldVerb, false, []byte(row.raw))
		if truth := schemaTakes(t, moldVerb.InSchema(), row.raw); !compiled || takes != row.mold || truth != row.fully {
			t.Errorf("%s: the mold says %v, the schema %v; want %v and %v", row.says, takes, truth, row.mold, row.fully)
		}
	}
}

func TestEveryVerbHasAMold(t *testing.T) {
	for _, verb := range verbs.All() {
		for _, result := range []bool{false, true} {
			if compiled, _ := registry.Mold(verb, result, nil); !compiled {
				t.Errorf("%s (result %v): a keyword of its schema makes each call slow; teach it to mold.go", verb.Name, result)
			}
		}
	}
}

// FuzzMold: what a mold takes, the schema takes.
func FuzzMold(f *testing.F) {
	all := append(verbs.All(), moldVerb)
	for i, verb := range all {
		f.Add(uint8(i), false, `{"task":"fix","name":"a","text":"b","timeoutMs":1}`)
		f.Add(uint8(i), true, example(verb.OutSchema()))
	}
	resolved := map[*jsonschema.Schema]*jsonschema.Resolved{}
	for _, verb := range all {
		for _, schema := range []*jsonschema.Schema{verb.InSchema(), verb.OutSchema()} {
			made, err := schema.CloneSchemas().Resolve(nil)
			if err != nil {
				f.Fatal(err)
			}
			resolved[schema] = made
		}
	}
	f.Fuzz(func(t *testing.T, pick uint8, result bool, raw string) {
		verb := all[int(pick)%len(all)]
		if _, takes := registry.Mold(verb, result, []byte(raw)); !takes {
			return
		}
		schema := verb.InSchema()
		if result {
			schema = verb.OutSchema()
		}
		var loose any
		if err := jsonv2.Unmarshal([]byte(raw), &loose); err != nil {
			t.Fatalf("%s: took what is not JSON: %v: %q", verb.Name, err, raw)
		}
		if err := resolved[schema].Validate(loose); err != nil {
			t.Fatalf("%s: took what the schema does not: %v: %q", verb.Name, err, raw)
		}
	})
}

// example returns a value that fits a schema, with every property.
func example(s *jsonschema.Schema) string {
	switch {
	case len(s.Enum) > 0:
		text, _ := json.Marshal(s.Enum[0])
		return string(text)
	case s.Type == "object":
		var members []string
		for name, property := range s.Properties {
			members = append(members, fmt.Sprintf("%q:%s", name, example(property)))
		}
		return "{" + strings.Join(members, ",") + "}"
	case s.Type == "array":
		return "[" + example(s.Items) + "]"
	case s.Type == "string":
		return `"a"`
	case s.Type == "integer" || s.Type == "number":
		return "1"
	}
	return "true"
}

func TestMoldsTakeWhatIsUsual(t *testing.T) {
	for _, verb := range append(verbs.All(), moldVerb) {
		text := example(verb.OutSchema())
		if _, takes := registry.Mold(verb, true, []byte(text)); !takes || !schemaTakes(t, verb.OutSchema(), text) {
			t.Errorf("%s: its mold does not take %s", verb.Name, text)
		}
	}
}
