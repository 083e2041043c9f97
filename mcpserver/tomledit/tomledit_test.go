package tomledit

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var (
	ourTable = []string{"mcp_servers", "termic"}
	ourKey   = []string{"features", "mcp_2026_07_28"}
	entries  = []Entry{
		{[]string{"url"}, "http://127.0.0.1:4711/mcp"},
		{[]string{"args"}, []string{"a b", `c"d\`}},
		{[]string{"enabled"}, true},
		{[]string{"startup_timeout_sec"}, int64(20)},
		{[]string{"tools", "task_list", "approval_mode"}, "approve"},
	}
	rendered = "[mcp_servers.termic]\nurl = \"http://127.0.0.1:4711/mcp\"\nargs = [\"a b\", \"c\\\"d\\\\\"]\nenabled = true\n" +
		"startup_timeout_sec = 20\ntools.task_list.approval_mode = \"approve\""
)

func corpus(t testing.TB) map[string]string {
	t.Helper()
	files, err := filepath.Glob("testdata/corpus/*.toml")
	if err != nil || len(files) < 10 {
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

func TestEveryDocumentOfTheCorpusTakesTheEntryAndGivesItBack(t *testing.T) {
	for name, src := range corpus(t) {
		t.Run(name, func(t *testing.T) {
			checkProperties(t, src, true)
		})
	}
}

// checkProperties holds the promises of the package on one document; mustTake: it is one that can be edited.
func checkProperties(t *testing.T, src string, mustTake bool) {
	t.Helper()
	set := func(x []byte) ([]byte, error) { return SetTable(x, ourTable, entries) }
	drop := func(x []byte) ([]byte, error) { return DropTable(x, ourTable) }
	checkPair(t, src, mustTake, ourTable, set, drop)
	set = func(x []byte) ([]byte, error) { return SetKey(x, ourKey, true) }
	drop = func(x []byte) ([]byte, error) { return DropKey(x, ourKey) }
	checkPair(t, src, mustTake, ourKey, set, drop)
}

func checkPair(t *testing.T, src string, mustTake bool, path []string, set, drop func([]byte) ([]byte, error)) {
	t.Helper()
	before, parseErr := parse([]byte(src))
	out, err := set([]byte(src))
	if parseErr != nil {
		if mustTake {
			t.Fatal(parseErr)
		}
		var where *Error
		if !errors.As(err, &where) || where.Line < 1 || where.Column < 1 {
			t.Errorf("an unparsable document: %q, %v", out, err)
		}
		if got, err := drop([]byte(src)); err == nil {
			t.Errorf("dropped from an unparsable document: %q", got)
		}
		return
	}
	if err != nil {
		if mustTake {
			t.Errorf("set: %v", err)
		}
		return
	}
	twice, err := set(out)
	if err != nil || string(twice) != string(out) {
		t.Errorf("set twice: %v\n%q\nonce:\n%q", err, twice, out)
	}
	after, err := parse(out)
	if err != nil {
		t.Fatalf("the result does not parse: %v\n%s", err, out)
	}
	if _, there := lookUp(after, path); !there {
		t.Error("the entry is not there")
	}
	if !same(without(before, path), without(after, path)) {
		t.Errorf("something else changed:\n%s", out)
	}
	if _, had := lookUp(before, path); had {
		return
	}
	back, err := drop(out)
	if err != nil || string(back) != src {
		t.Errorf("drop after set: %v\n%q\nwant\n%q", err, back, src)
	}
}

func TestTablesAreSetWhereTheyBelong(t *testing.T) {
	for name, c := range map[string]struct{ src, want string }{
		"in an empty document":          {"", rendered + "\n"},
		"after an empty line":           {"a = 1\n", "a = 1\n\n" + rendered + "\n"},
		"without a final line break":    {"a = 1", "a = 1\n\n" + rendered},
		"after a byte order mark":       {"\xef\xbb\xbf", "\xef\xbb\xbf" + rendered + "\n"},
		"with the document's line ends": {"a = 1\r\n", "a = 1\r\n\r\n" + strings.ReplaceAll(rendered, "\n", "\r\n") + "\r\n"},
		"in place of an older one": {
			"[mcp_servers.termic]\nurl = \"old\" # mine\n\n# about b\n[b]\n", rendered + "\n\n# about b\n[b]\n"},
		"in place of one at the end": {"[b]\n[mcp_servers.termic]\nurl = \"old\"", "[b]\n" + rendered},
		"in place of one in pieces": {
			"[mcp_servers.termic.env]\nA = 1\n[b]\n[mcp_servers.termic]\nurl = \"old\"\n", "[b]\n\n" + rendered + "\n"},
		"in place of an inline table of its own": {
			"[mcp_servers]\nother = {}\ntermic = { url = \"old\" }\n", "[mcp_servers]\nother = {}\n\n" + rendered + "\n"},
		"in place of dotted keys":       {"mcp_servers.termic.url = 1\nx = 2\nmcp_servers.termic.b = 3\n", "x = 2\n\n" + rendered + "\n"},
		"under a quoted name of itself": {"[ \"mcp_servers\" . 'termic' ]\nurl = 1\n", rendered + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := SetTable([]byte(c.src), ourTable, entries)
			if err != nil || string(got) != c.want {
				t.Errorf("%v\n%q\nwant\n%q", err, got, c.want)
			}
		})
	}
}

func TestKeysAreSetWhereTheyBelong(t *testing.T) {
	for name, c := range map[string]struct{ src, want string }{
		"at the end of its table": {
			"[features]\na = true # x\n\n# b\n[b]\n", "[features]\na = true # x\nmcp_2026_07_28 = true\n\n# b\n[b]\n"},
		"in its empty table":           {"[features]", "[features]\nmcp_2026_07_28 = true"},
		"beside dotted keys":           {"features.a = 1\nb = 2\n", "features.a = 1\nfeatures.mcp_2026_07_28 = true\nb = 2\n"},
		"at the top without its table": {"# c\n[b]\n", "features.mcp_2026_07_28 = true\n# c\n[b]\n"},
		"in place of another value": {
			"[features]\n'mcp_2026_07_28'= false # no\n", "[features]\n'mcp_2026_07_28' = true # no\n"},
		"after a value of several lines": {"[features]\na = [\n1,\n]", "[features]\na = [\n1,\n]\nmcp_2026_07_28 = true"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := SetKey([]byte(c.src), ourKey, true)
			if err != nil || string(got) != c.want {
				t.Errorf("%v\n%q\nwant\n%q", err, got, c.want)
			}
		})
	}
}

func TestWhatCannotBeEditedIsRefusedWithItsPlace(t *testing.T) {
	for name, c := range map[string]struct {
		src          string
		line, column int
	}{
		"a document that does not parse":   {"a = 1\nb = = 2\n", 2, 5},
		"a key that is there twice":        {"a = 1\nb = 2\na = 3\n", 3, 1},
		"an inline table of servers":       {"a = 1\n  mcp_servers = { x = {} }\n", 2, 3},
		"an inline table with the entry":   {"mcp_servers = { termic = { url = 1 } }\n", 1, 1},
		"an array of tables in its place":  {"\n[[mcp_servers.termic]]\nurl = 1\n", 2, 3},
		"an array of tables above it":      {"[[mcp_servers]]\nx = 1\n", 1, 3},
		"a value where a table should be":  {"mcp_servers = 1\n", 1, 1},
		"bytes that are no UTF-8":          {"a = \"\xff\"\n", 1, 6},
		"a document that ends in a string": {"a = \"", 1, 5},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := SetTable([]byte(c.src), ourTable, entries)
			var where *Error
			if !errors.As(err, &where) || where.Line != c.line || where.Column != c.column {
				t.Errorf("%q, %v; want line %d, column %d", got, err, c.line, c.column)
			}
		})
	}
	for name, src := range map[string]string{
		"an inline table of features": "features = { a = true }\n",
		"a table of the key's name":   "[features.mcp_2026_07_28]\nx = 1\n",
		"an array of features":        "[[features]]\n",
	} {
		if got, err := SetKey([]byte(src), ourKey, true); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestDroppingTakesTheEntryWhateverItsForm(t *testing.T) {
	for name, c := range map[string]struct{ src, want string }{
		"nothing there":           {"a = 1", "a = 1"},
		"in the middle":           {"[a]\nx = 1\n\n[mcp_servers.termic]\nurl = 1\n\n[b]\n", "[a]\nx = 1\n\n[b]\n"},
		"with its own tables":     {"[mcp_servers.termic]\nurl = 1\n[mcp_servers.termic.env]\nA = 1", ""},
		"its comment above stays": {"# about termic\n[mcp_servers.termic]\nurl = 1\n", "# about termic\n"},
		"a neighbour stays":       {"[mcp_servers.termic2]\nurl = 1\n[mcp_servers.termic]\n", "[mcp_servers.termic2]\nurl = 1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := DropTable([]byte(c.src), ourTable)
			if err != nil || string(got) != c.want {
				t.Errorf("%v\n%q\nwant\n%q", err, got, c.want)
			}
		})
	}
}

func TestAValueThatCannotBeWrittenIsRefused(t *testing.T) {
	for _, value := range []any{nil, 1.5, "\xff", []string{"\xff"}, map[string]any{}} {
		if got, err := SetKey(nil, ourKey, value); err == nil {
			t.Errorf("%v: %q", value, got)
		}
		if got, err := SetTable(nil, ourTable, []Entry{{[]string{"a"}, value}}); err == nil {
			t.Errorf("%v: %q", value, got)
		}
	}
}

func TestGetReadsThroughTablesOnly(t *testing.T) {
	src := []byte("a.b = 1\nc = [{d = 2}]\n")
	if got, found, err := Get(src, "a", "b"); err != nil || !found || got != int64(1) {
		t.Errorf("%v %v %v", got, found, err)
	}
	for _, path := range [][]string{{"a", "x"}, {"a", "b", "c"}, {"c", "d"}} {
		if got, found, _ := Get(src, path...); found {
			t.Errorf("%v: %v", path, got)
		}
	}
}

// FuzzEdit holds every promise of the package on any bytes.
func FuzzEdit(f *testing.F) {
	for _, src := range corpus(f) {
		f.Add(src)
	}
	f.Add("[mcp_servers.termic]\nurl = 1\n[features]\nmcp_2026_07_28 = false")
	f.Add("mcp_servers = { termic = {} }\nfeatures = {}")
	f.Add("[[mcp_servers]]\n[mcp_servers.termic]\n")
	f.Fuzz(func(t *testing.T, src string) { checkProperties(t, src, false) })
}

// FuzzStrings writes any text as a value and as a name and reads it back.
func FuzzStrings(f *testing.F) {
	f.Add("a", "b")
	f.Add("\x00\x7f\u2028\"\\\r\n", "é.\"]#")
	f.Fuzz(func(t *testing.T, name, value string) {
		out, err := SetTable(nil, []string{"t", name}, []Entry{{[]string{name}, value}})
		if err != nil {
			return // not UTF-8
		}
		if got, found, err := Get(out, "t", name, name); err != nil || !found || got != value {
			t.Errorf("%q: %v, %v, %v", out, got, found, err)
		}
	})
}
