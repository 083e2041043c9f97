package verbs

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"termic/registry"
)

func TestEveryDefinedVerbIsListedOnce(t *testing.T) {
	listed := map[string]bool{}
	for _, verb := range All() {
		if listed[verb.Name] {
			t.Errorf("%s is listed twice", verb.Name)
		}
		listed[verb.Name] = true
	}
	defined := 0
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if selector, ok := n.(*ast.SelectorExpr); ok && selector.Sel.Name == "Define" {
				defined++
			}
			return true
		})
	}
	if defined != len(listed) {
		t.Errorf("%d verbs are defined, %d are listed in All", defined, len(listed))
	}
}

func TestTextsAreSentencesForPeople(t *testing.T) {
	for _, verb := range All() {
		if strings.HasSuffix(verb.Summary, ".") || strings.ToLower(verb.Summary[:1]) != verb.Summary[:1] {
			t.Errorf("%s: summary %q is not a lower-case phrase", verb.Name, verb.Summary)
		}
		if !strings.HasSuffix(verb.Doc, ".") {
			t.Errorf("%s: doc is not a sentence", verb.Name)
		}
	}
}

func TestNoSchemaSaysNull(t *testing.T) {
	for _, verb := range All() {
		for _, schema := range []any{verb.InSchema(), verb.OutSchema()} {
			text, err := json.Marshal(schema)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), `"null"`) {
				t.Errorf("%s: a schema allows null: %s", verb.Name, text)
			}
		}
	}
}

// TestTextOfATaskNamesItsSource: what an agent reads of another's words says whose they are. A verb that comes and returns
// what is in a task to agents is asked for it here.
func TestTextOfATaskNamesItsSource(t *testing.T) {
	texts := []string{"text", "patch"}
	tried := 0
	for _, verb := range All() {
		if verb.Reach != registry.ReachContent || verb.Audience&registry.ForScoped == 0 || verb.Bounded {
			continue // a wait returns how it ended, in words of termic's
		}
		for _, name := range texts {
			if verb.OutSchema().Properties[name] == nil {
				continue
			}
			tried++
			if verb.OutSchema().Properties["source"] == nil {
				t.Errorf("%s returns %s of a task and does not say whose it is", verb.Name, name)
			}
		}
	}
	if tried < 3 {
		t.Errorf("only %d texts were found", tried)
	}
}
