package jsoncedit

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var (
	ours  = []string{"mcpServers", "termic"}
	entry = json.RawMessage(`{"command":"/opt/termic","args":["mcp-stdio","--client","x y"],"env":{}}`)
)

func corpus(t testing.TB) map[string]string {
	t.Helper()
	files, err := filepath.Glob("testdata/corpus/*.json*")
	if err != nil || len(files) < 15 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	out := map[string]string{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(name)] = string(text)
	}
	return out
}

func TestEveryDocumentOfTheCorpusTakesTheMemberAndGivesItBack(t *testing.T) {
	for name, src := range corpus(t) {
		t.Run(name, func(t *testing.T) {
			for _, path := range [][]string{ours, {"mcp", "termic"}, {"servers", "termic"}, {"context_servers", "termic"}, {"x"}, {"x", "y", "z"}} {
				checkProperties(t, src, path, true)
			}
		})
	}
}

// checkProperties holds the promises of the package on one document; mustTake: it is one that can be edited.
func checkProperties(t *testing.T, src string, path []string, mustTake bool) {
	t.Helper()
	before, parseErr := parse([]byte(src))
	out, made, err := Set([]byte(src), path, entry)
	if parseErr != nil {
		if mustTake {
			t.Fatal(parseErr)
		}
		var where *Error
		if !errors.As(err, &where) || where.Line < 1 || where.Column < 1 {
			t.Errorf("an unparsable document: %q, %v", out, err)
		}
		if got, err := Drop([]byte(src), path, 0); err == nil {
			t.Errorf("dropped from an unparsable document: %q", got)
		}
		return
	}
	if err != nil {
		if mustTake {
			t.Errorf("set %v: %v", path, err)
		}
		return
	}
	twice, more, err := Set(out, path, entry)
	if err != nil || more != 0 || string(twice) != string(out) {
		t.Errorf("set twice: %v\n%q\nonce:\n%q", err, twice, out)
	}
	after, err := parse(out)
	if err != nil {
		t.Fatalf("the result does not parse: %v\n%s", err, out)
	}
	if has, _, err := Get(out, path...); err != nil || !strings.Contains(string(has), "mcp-stdio") {
		t.Errorf("the member is not there: %s, %v", has, err)
	}
	if !same(without(before.meaning, path, made), without(after.meaning, path, made)) {
		t.Errorf("something else changed:\n%s", out)
	}
	if _, had := lookUp(before.meaning, path); had {
		return
	}
	back, err := Drop(out, path, made)
	if err != nil || string(back) != src {
		t.Errorf("drop after set: %v\n%q\nwant\n%q\nset:\n%s", err, back, src, out)
	}
	kept, err := Drop(out, path, 0)
	if err != nil {
		t.Errorf("drop and keep what was made: %v", err)
	} else if _, found, err := Get(kept, path[:len(path)-1]...); err != nil || !found && len(path) > 1 {
		t.Errorf("what was made did not stay: %v\n%s", err, kept)
	}
}

func TestMembersLookLikeTheirNeighbours(t *testing.T) {
	value := json.RawMessage(`{"a":[1]}`)
	for name, c := range map[string]struct{ src, want string }{
		"in an empty document": {"", "{\n  \"mcpServers\": {\n    \"termic\": {\n      \"a\": [\n        1\n      ]\n    }\n  }\n}\n"},
		"on one line where the others are": {
			`{"mcpServers":{"x":1},"y":2}`, `{"mcpServers":{"x":1,"termic": {"a":[1]}},"y":2}`},
		"with their indentation": {
			"{\n\t\"mcpServers\": {\n\t\t\"x\": 1\n\t}\n}", "{\n\t\"mcpServers\": {\n\t\t\"x\": 1,\n\t\t\"termic\": {\n\t\t\t\"a\": [\n\t\t\t\t1\n\t\t\t]\n\t\t}\n\t}\n}"},
		"behind their comments, with their comma": {
			"{\n \"mcpServers\": {\n  \"x\": 1, // one\n  // two\n },\n}", "{\n \"mcpServers\": {\n  \"x\": 1, // one\n  // two\n  \"termic\": {\n   \"a\": [\n    1\n   ]\n  },\n },\n}"},
		"a comment behind the last one stays with it": {
			"{\n  \"x\": 1 // one\n}", "{\n  \"x\": 1, // one\n  \"mcpServers\": {\n    \"termic\": {\n      \"a\": [\n        1\n      ]\n    }\n  }\n}"},
		"in place of an older one": {
			"{\n  \"mcpServers\": { /*x*/ \"termic\": 1 /*y*/ }\n}", "{\n  \"mcpServers\": { /*x*/ \"termic\": {\n    \"a\": [\n      1\n    ]\n  } /*y*/ }\n}"},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := Set([]byte(c.src), ours, value)
			if err != nil || string(got) != c.want {
				t.Errorf("%v\n%s\nwant\n%s", err, got, c.want)
			}
		})
	}
}

func TestWhatCannotBeEditedIsRefusedWithItsPlace(t *testing.T) {
	for name, c := range map[string]struct {
		src          string
		line, column int
	}{
		"a document that does not parse": {"{\n  \"a\": 1\n  \"b\": 2\n}", 3, 3},
		"a document that ends early":     {"{\n  \"a\": ", 2, 8},
		"no object":                      {"[1]", 1, 1},
		"two documents":                  {"{}\n{}", 2, 1},
		"no object where servers are":    {"{\n  \"mcpServers\": []\n}", 2, 17},
		"servers that are there twice":   {"{\"mcpServers\": {},\n\"mcpServers\": {}}", 2, 1},
		"bytes that are no UTF-8":        {"{\"a\": \"\xff\"}", 1, 8},
		"only a comment":                 {"// nothing\n", 2, 1},
		"brackets without end":           {strings.Repeat("[", 1_000_000), 1, maxDepth + 1},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := Set([]byte(c.src), ours, entry)
			var where *Error
			if !errors.As(err, &where) || where.Line != c.line || where.Column != c.column {
				t.Errorf("%q, %v; want line %d, column %d", got, err, c.line, c.column)
			}
		})
	}
}

func TestDroppingTakesTheMemberWhereverItStands(t *testing.T) {
	for name, c := range map[string]struct {
		src  string
		made int
		want string
	}{
		"nothing there":                     {"{}", 1, "{}"},
		"the first":                         {`{"mcpServers":{"termic":1,"x":2}}`, 1, `{"mcpServers":{"x":2}}`},
		"in the middle":                     {`{"mcpServers":{"a":1, /*t*/ "termic":1, /*x*/ "x":2}}`, 1, `{"mcpServers":{"a":1, /*t*/ /*x*/ "x":2}}`},
		"the last":                          {`{"mcpServers":{"a":1,"termic":1}}`, 1, `{"mcpServers":{"a":1}}`},
		"the last with a comma":             {`{"mcpServers":{"a":1,"termic":1,}}`, 1, `{"mcpServers":{"a":1,}}`},
		"the only one with its object":      {`{"y":1,"mcpServers":{"termic":1}}`, 1, `{"y":1}`},
		"the only one without its object":   {`{"y":1,"mcpServers":{"termic":1}}`, 0, `{"y":1,"mcpServers":{}}`},
		"an object that holds a comment":    {`{"y":1,"mcpServers":{"termic":1 /* keep */}}`, 1, `{"y":1,"mcpServers":{ /* keep */}}`},
		"an object that another moved into": {`{"mcpServers":{"termic":1,"x":1}}`, 2, `{"mcpServers":{"x":1}}`},
		"the whole document":                {"{\"mcpServers\":{\"termic\":1}}\n", 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Drop([]byte(c.src), ours, c.made)
			if err != nil || string(got) != c.want {
				t.Errorf("%v\n%s\nwant\n%s", err, got, c.want)
			}
		})
	}
}

// FuzzEdit holds every promise of the package on any bytes.
func FuzzEdit(f *testing.F) {
	for _, src := range corpus(f) {
		f.Add(src)
	}
	f.Add(`{"mcpServers":{"termic":{}},"mcpServers":{}}`)
	f.Fuzz(func(t *testing.T, src string) {
		checkProperties(t, src, ours, false)
		checkProperties(t, src, []string{"x"}, false)
	})
}
