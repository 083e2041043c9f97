package clients

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termic/mcpserver/jsoncedit"
	"termic/mcpserver/tomledit"
)

var update = flag.Bool("update", false, "write the golden file")

var target = Target{
	Client: "x", URL: "http://127.0.0.1:4711/mcp", Program: "/opt/my apps/termic", DataDir: "/home/me/it's data",
	Reads: []string{"task_list", "task_status"},
}

// documents are the corpora of the editors, which are configurations of real programs above all.
func documents(t *testing.T, format Format) map[string][]byte {
	t.Helper()
	pattern := "../jsoncedit/testdata/corpus/*"
	if format == TOML {
		pattern = "../tomledit/testdata/corpus/*"
	}
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	out := map[string][]byte{}
	for _, name := range files {
		if out[filepath.Base(name)], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestEveryClientTakesItsEntryAndGivesItBack(t *testing.T) {
	for _, c := range All() {
		for name, src := range documents(t, c.Format) {
			out, written, err := c.Write(src, target, true)
			if err != nil {
				t.Errorf("%s in %s: %v", c.Name, name, err)
				continue
			}
			if state, err := c.Judge(out, target, &written); err != nil || state != Current {
				t.Errorf("%s in %s: state %q, %v", c.Name, name, state, err)
			}
			if on, err := c.HasExtra(out); err != nil || !on {
				t.Errorf("%s in %s: the further key is not set", c.Name, name)
			}
			again, _, err := c.Write(out, target, true)
			if err != nil || !bytes.Equal(again, out) {
				t.Errorf("%s in %s: written twice differs", c.Name, name)
			}
			back, err := c.Drop(out, written)
			if err != nil || !bytes.Equal(back, src) {
				t.Errorf("%s in %s: %v\n%q\nwant\n%q", c.Name, name, err, back, src)
			}
		}
	}
}

func TestEntriesAreWhatEachClientTakes(t *testing.T) {
	var b strings.Builder
	for _, c := range All() {
		out, _, err := c.Write(nil, target, true)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString("== " + c.Name + " " + c.FileIn(EnvOf([]string{"HOME=/home/me"}, false), func(string) bool { return false }) + "\n" + string(out))
		text, err := c.Instructions(target, "FILE", "/data/clients/x.token")
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString("-- by hand\n" + text)
	}
	text, err := Another("mine").Instructions(target, "", "/data/clients/mine.token")
	if err != nil {
		t.Fatal(err)
	}
	b.WriteString("== another client\n" + text)
	golden := "testdata/entries.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || b.String() != string(want) {
		t.Errorf("entries changed; run with -update and look at the difference: %v\n%s", err, Diff(golden, string(want), b.String()))
	}
	if strings.Contains(b.String(), "termic_") {
		t.Error("an entry holds what looks like a token")
	}
}

func TestEveryClientIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range All() {
		if seen[c.Name] || c.Name == "" || c.Title == "" || c.Speaks == "" || c.After == "" || c.Format == NoFile || len(c.Path) == 0 {
			t.Errorf("%q lacks something or is there twice", c.Name)
		}
		seen[c.Name] = true
		if c.Extra != nil && c.Format != TOML {
			t.Errorf("%s has a further key, which only TOML clients can", c.Name)
		}
		for _, m := range c.Entry(target) {
			if c.Format == JSON && len(m.Key) != 1 {
				t.Errorf("%s: entries of JSON clients are flat: %v", c.Name, m.Key)
			}
		}
		if got, ok := Find(c.Name); !ok || got.Title != c.Title {
			t.Errorf("%s is not found", c.Name)
		}
	}
	if _, ok := Find("nothing"); ok {
		t.Error("found what is not there")
	}
}

// What the documentation says of each client is what the data says.
func TestEveryClientIsDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/clients.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range All() {
		tried := c.Tried
		if tried == "" {
			tried = "not tried"
		}
		if row := "| " + c.Title + " | " + tried + " | "; !strings.Contains(string(doc), row) {
			t.Errorf("docs/clients.md has no row %q", row)
		}
	}
}

func TestAnEntryIsJudgedByWhatWasWritten(t *testing.T) {
	for _, c := range []Client{codex, gemini} {
		mine, written, err := c.Write(nil, target, true)
		if err != nil {
			t.Fatal(err)
		}
		moved := target
		moved.Program, moved.URL = "/elsewhere/termic", "http://127.0.0.1:4712/mcp"
		touched := bytes.Replace(mine, []byte("mcp-"), []byte("mcp-other-"), 1)
		for name, step := range map[string]struct {
			src     []byte
			target  Target
			written *Written
			want    State
		}{
			"nothing anywhere":            {nil, target, nil, Absent},
			"as written":                  {mine, target, &written, Current},
			"as it would be written":      {mine, target, nil, Current},
			"the program or port moved":   {mine, moved, &written, Stale},
			"somebody changed it":         {touched, target, &written, Changed},
			"changed, and moved as well":  {touched, moved, &written, Changed},
			"one of another's making":     {touched, target, nil, Foreign},
			"another installation's":      {mine, moved, nil, Foreign},
			"somebody took it out":        {nil, target, &written, Missing},
			"somebody reformatted it all": {reformatted(t, c, mine), target, &written, Current},
		} {
			if got, err := c.Judge(step.src, step.target, step.written); err != nil || got != step.want {
				t.Errorf("%s, %s: %q, %v; want %q", c.Name, name, got, err, step.want)
			}
		}
		if _, err := c.Judge([]byte("{[}"), target, nil); err == nil {
			t.Errorf("%s: an unparsable configuration was judged", c.Name)
		}
	}
}

func reformatted(t *testing.T, c Client, src []byte) []byte {
	t.Helper()
	if c.Format == TOML {
		return bytes.ReplaceAll(src, []byte(" = "), []byte("="))
	}
	var b bytes.Buffer
	if err := json.Compact(&b, src); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestTheFurtherKeyGoesOnlyWhenItIsOurs(t *testing.T) {
	key := codex.Extra.Path
	for name, c := range map[string]struct {
		src    string
		extra  bool
		change string // what somebody makes of the key afterwards
		put    bool
		stays  any
		lacks  string // after it was written
	}{
		"allowed and absent: put in, taken out":        {"", true, "", true, nil, ""},
		"not allowed: not put in":                      {"", false, "", false, nil, "all your MCP servers"},
		"there already: left alone":                    {"[features]\nmcp_2026_07_28 = true\n", true, "", false, true, ""},
		"switched off by the person: left alone":       {"[features]\nmcp_2026_07_28 = false\n", true, "", false, false, "features.mcp_2026_07_28 stands in the file as false and is left so: set it to true there yourself"},
		"put in, then changed by the person: it stays": {"", true, "false", true, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			out, written, err := codex.Write([]byte(c.src), target, c.extra)
			if err != nil || written.Extra != c.put {
				t.Fatalf("put %v, %v", written.Extra, err)
			}
			if lacks, err := codex.Lacks(out); err != nil || (lacks == "") != (c.lacks == "") || !strings.Contains(lacks, c.lacks) {
				t.Errorf("lacks %q, %v; want %q", lacks, err, c.lacks)
			}
			if c.change != "" {
				out = bytes.Replace(out, []byte("mcp_2026_07_28 = true"), []byte("mcp_2026_07_28 = "+c.change), 1)
			}
			out, err = codex.Drop(out, written)
			if err != nil {
				t.Fatal(err)
			}
			if got, _, err := tomledit.Get(out, key...); err != nil || got != c.stays {
				t.Errorf("%v, %v; want %v\n%s", got, err, c.stays, out)
			}
		})
	}
}

func TestPlacesFollowTheEnvironment(t *testing.T) {
	none := func(string) bool { return false }
	for name, c := range map[string]struct {
		client Client
		env    []string
		mac    bool
		exists func(string) bool
		want   string
	}{
		"claude at home":               {claude, []string{"HOME=/h"}, false, none, "/h/.claude.json"},
		"claude in a directory of its": {claude, []string{"HOME=/h", "CLAUDE_CONFIG_DIR=/c"}, false, none, "/c/.claude.json"},
		"codex at home":                {codex, []string{"HOME=/h"}, false, none, "/h/.codex/config.toml"},
		"codex elsewhere":              {codex, []string{"HOME=/h", "CODEX_HOME=/c"}, false, none, "/c/config.toml"},
		"a relative path is none":      {codex, []string{"HOME=/h", "CODEX_HOME=c"}, false, none, "/h/.codex/config.toml"},
		"opencode, new":                {opencode, []string{"HOME=/h"}, false, none, "/h/.config/opencode/opencode.jsonc"},
		"opencode, with plain JSON":    {opencode, []string{"HOME=/h", "XDG_CONFIG_HOME=/x"}, false, func(f string) bool { return strings.HasSuffix(f, ".json") }, "/x/opencode/opencode.json"},
		"VS Code":                      {vscode, []string{"HOME=/h"}, false, none, "/h/.config/Code/User/mcp.json"},
		"VS Code on macOS":             {vscode, []string{"HOME=/h"}, true, none, "/h/Library/Application Support/Code/User/mcp.json"},
		"Zed on macOS":                 {zed, []string{"HOME=/h"}, true, none, "/h/.config/zed/settings.json"},
		"no home":                      {gemini, nil, false, none, ""},
		"no home but a directory":      {codex, []string{"CODEX_HOME=/c"}, false, none, "/c/config.toml"},
		"a client without a file":      {Another("mine"), []string{"HOME=/h"}, false, none, ""},
	} {
		if got := c.client.FileIn(EnvOf(c.env, c.mac), c.exists); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestShellWordsSurviveAShell(t *testing.T) {
	for word, want := range map[string]string{
		"/opt/termic": "/opt/termic", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$(x)": "'$(x)'", "a;b": "'a;b'", "ü": "'ü'",
	} {
		if got := shellWord(word); got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
	}
}

func TestDiffShowsTheChangeAndLittleElse(t *testing.T) {
	before := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n"
	after := "1\n2\nnew\n3\n4\n5\n6\n7\n8\n9\n10\n11\n"
	want := "--- f\n+++ f\n@@ -1,5 +1,6 @@\n 1\n 2\n+new\n 3\n 4\n 5\n@@ -9,4 +10,3 @@\n 9\n 10\n 11\n-12\n"
	if got := Diff("f", before, after); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := Diff("f", before, before); got != "" {
		t.Errorf("no difference: %q", got)
	}
	if got := Diff("f", "", "a"); got != "--- f\n+++ f\n@@ -0,0 +1,1 @@\n+a\n\\ No newline at end of file\n" {
		t.Errorf("into nothing: %q", got)
	}
	long := strings.Repeat("a\nb\n", 3000)
	if got := Diff("f", "x\n"+long+"y\n", "z\n"+strings.Repeat("c\n", 6000)+"w\n"); !strings.Contains(got, "-x\n") || !strings.Contains(got, "+w\n") {
		t.Error("two long texts are not compared")
	}
}

func TestEditsOfBrokenFilesAreRefusedWithTheirPlace(t *testing.T) {
	if _, _, err := codex.Write([]byte("a = \n"), target, true); !isTOMLError(err) {
		t.Errorf("%v", err)
	}
	if _, _, err := gemini.Write([]byte("{\n]"), target, true); !isJSONError(err) {
		t.Errorf("%v", err)
	}
}

func isTOMLError(err error) bool { _, ok := err.(*tomledit.Error); return ok }
func isJSONError(err error) bool { _, ok := err.(*jsoncedit.Error); return ok }
