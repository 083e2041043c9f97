package render_test

import (
	"encoding/json"
	"strings"
	"testing"

	"termic/registry"
	"termic/registry/render"
	"termic/registry/verbs"
)

type (
	toolIn struct {
		Name string   `json:"name" max:"8" jsonschema:"what to call it"`
		Tags []string `json:"tags,omitempty" jsonschema:"labels"`
	}
	toolOut struct {
		Made toolMade `json:"made" jsonschema:"what was made"`
	}
	toolMade struct {
		ID string `json:"id" jsonschema:"its id"`
	}
)

func toolVerb(name string, change func(*registry.Verb)) *registry.Verb {
	verb := registry.Verb{
		Name: name, Summary: "make a thing", Doc: "Makes a thing.",
		Class: registry.Write, Scope: registry.Full, Audience: registry.ForFull, Reach: registry.ReachSelf,
	}
	change(&verb)
	return registry.Define[toolIn, toolOut](verb).Verb()
}

func TestToolIsTheVerb(t *testing.T) {
	got, err := json.MarshalIndent(render.Tools([]*registry.Verb{toolVerb("thing_make", func(*registry.Verb) {})}), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	const want = `[
  {
    "name": "thing_make",
    "title": "Make a thing",
    "description": "Makes a thing.",
    "inputSchema": {
      "type": "object",
      "properties": {
        "name": {
          "type": "string",
          "description": "what to call it",
          "maxLength": 8
        },
        "tags": {
          "type": "array",
          "items": {
            "type": "string"
          },
          "description": "labels"
        }
      },
      "$schema": "https://json-schema.org/draft/2020-12/schema",
      "required": [
        "name"
      ],
      "additionalProperties": false
    },
    "outputSchema": {
      "type": "object",
      "properties": {
        "made": {
          "type": "object",
          "properties": {
            "id": {
              "type": "string",
              "description": "its id"
            }
          },
          "description": "what was made",
          "required": [
            "id"
          ],
          "additionalProperties": false
        }
      },
      "$schema": "https://json-schema.org/draft/2020-12/schema",
      "required": [
        "made"
      ],
      "additionalProperties": false
    },
    "annotations": {
      "readOnlyHint": false,
      "destructiveHint": false,
      "idempotentHint": false,
      "openWorldHint": false
    },
    "_meta": {
      "termic/class": "write"
    }
  }
]`
	if string(got) != want {
		t.Errorf("got %s", got)
	}
}

func TestHintsComeFromTheVerbsOwnFieldsOnly(t *testing.T) {
	for _, row := range []struct {
		says   string
		change func(*registry.Verb)
		want   render.ToolAnnotations
		ask    bool
	}{
		{"a read", func(v *registry.Verb) { v.Class = registry.Read }, render.ToolAnnotations{ReadOnly: true}, false},
		{"a write", func(v *registry.Verb) {}, render.ToolAnnotations{}, false},
		{"a destructive verb asks a person", func(v *registry.Verb) { v.Class = registry.Destructive }, render.ToolAnnotations{Destructive: true}, true},
		{"an idempotent one", func(v *registry.Verb) { v.Idempotent = true }, render.ToolAnnotations{Idempotent: true}, false},
		{"one that reaches out", func(v *registry.Verb) { v.OpenWorld = true }, render.ToolAnnotations{OpenWorld: true}, false},
	} {
		verb := toolVerb("thing_make", row.change)
		tool := render.Tools([]*registry.Verb{verb})[0]
		if tool.Annotations != row.want || tool.Meta.AskPerson != row.ask || tool.Meta.Class != verb.Class {
			t.Errorf("%s: got %+v, meta %+v", row.says, tool.Annotations, tool.Meta)
		}
	}
}

func TestEveryVerbIsAToolThatClosesItsSchemas(t *testing.T) {
	all := verbs.All()
	tools := render.Tools(all)
	if len(tools) != len(all) {
		t.Fatalf("%d tools for %d verbs", len(tools), len(all))
	}
	for i, tool := range tools {
		if tool.Name != all[i].Name {
			t.Errorf("tool %d is %s, want %s: the order is the registry's", i, tool.Name, all[i].Name)
		}
		if all[i].InSchema().Schema != "" {
			t.Errorf("%s: the verb's own schema was changed", tool.Name)
		}
		for _, schema := range []any{tool.InputSchema, tool.OutputSchema} {
			text, err := json.Marshal(schema)
			if err != nil {
				t.Fatal(err)
			}
			var loose any
			if err := json.Unmarshal(text, &loose); err != nil {
				t.Fatal(err)
			}
			checkClosed(t, tool.Name, loose)
		}
	}
}

// checkClosed fails when an object with properties anywhere in a schema takes others.
func checkClosed(t *testing.T, name string, schema any) {
	t.Helper()
	switch schema := schema.(type) {
	case map[string]any:
		if schema["type"] == "object" && schema["additionalProperties"] != false {
			t.Errorf("%s: an object of its schema is open: %v", name, schema)
		}
		for _, part := range schema {
			checkClosed(t, name, part)
		}
	case []any:
		for _, part := range schema {
			checkClosed(t, name, part)
		}
	}
}

func TestADisabledToolSaysSo(t *testing.T) {
	tool := render.Tools([]*registry.Verb{verbs.TaskArchive.Verb()})[0]
	off := tool.Disabled()
	if !off.Meta.Disabled || !strings.HasPrefix(off.Description, "Disabled for you") || !strings.HasSuffix(off.Description, tool.Description) {
		t.Errorf("%+v", off)
	}
	if tool.Meta.Disabled || strings.Contains(tool.Description, "Disabled") {
		t.Errorf("the tool itself changed: %+v", tool)
	}
}
