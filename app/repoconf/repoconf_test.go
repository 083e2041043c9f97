package repoconf

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseNamesWhatItDoesNotUnderstand(t *testing.T) {
	for name, c := range map[string]struct {
		in    string
		setup string // of the settings, joined; what is wrong takes it away
		want  string // problems, one a line
	}{
		"everything that there is": {"setup = [\"npm ci\", \"make\"]\nrun = \"npm start\"\narchive = []\ncopy = [\".env\", \"a/b\"]\nagent = \"claude\"\nhosts = [\"a.example.org\", \"*.b.example.org\"]\nread = [\"/opt/sdk\"]\nwrite = []\n", "npm ci|make", ""},
		"nothing":                  {"# a comment\n", "", ""},
		"one text for a list":      {"setup = \"make\"", "make", ""},
		"a list with comments":     {"setup = [ # first\n \"make\", # then\n]", "make", ""},
		"an unknown key":           {"setup = \"make\"\n\nsteup = \"make\"", "", "line 3, column 1: there is no key \"steup\""},
		"two unknown keys":         {"x = 1\n  y = 2", "", "line 1, column 1: there is no key \"x\"\nline 2, column 3: there is no key \"y\""},
		"a table":                  {"[setup]\ncommand = \"make\"", "", "line 1, column 2: setup has to be a text or a list"},
		"a dotted key":             {"setup.command = \"make\"", "", "line 1, column 1: there is no key \"setup.command\""},
		"a number":                 {"setup = 1", "", "line 1, column 1: setup has to be a text or a list"},
		"a number in a list":       {"setup = [\"make\", 1]", "", "line 1, column 1: setup has to be a text or a list"},
		"a list for a text":        {"agent = [\"claude\"]", "", "line 1, column 1: agent has to be a text"},
		"an empty command":         {"setup = \"\"", "", "line 1, column 1: setup: \"\" is empty"},
		"a control character":      {"setup = \"\\u001b[31m\"", "", "line 1, column 1: setup: \"\\x1b[31m\" is empty"},
		"a path out of it":         {"copy = [\"../x\"]", "", "line 1, column 1: copy: \"../x\" is no path"},
		"git's own":                {"copy = [\".GIT/config\"]", "", "line 1, column 1: copy: \".GIT/config\" is no path"},
		"the whole checkout":       {"copy = [\"./\"]", "", "line 1, column 1: copy: \"./\" is no path"},
		"patterns":                 {"setup = \"make\"\ncopy = [\"**/node_modules\", \"*.env\", \"a/**/b/[xy]\", \"dist/\"]", "make", ""},
		"stars within a name":      {"copy = [\"a**\"]", "", "line 1, column 1: copy: \"a**\" is no pattern"},
		"an open bracket":          {"copy = [\"[a\"]", "", "line 1, column 1: copy: \"[a\" is no pattern"},
		"too deep":                 {"copy = [\"**/a/**/b/**\"]", "", "line 1, column 1: copy: \"**/a/**/b/**\" has more than two"},
		"a relative path":          {"read = [\"x\"]", "", "line 1, column 1: read: "},
		"no host":                  {"hosts = [\"a b\"]", "", "line 1, column 1: hosts: "},
		"twice":                    {"setup = \"a\"\nsetup = \"b\"", "", "line 2, column 1: "},
		"no TOML":                  {"setup = \"a\"\nrun = ", "", "line 2, "},
		"what only the person may": {"setup = \"make\"\nmcp = true\ncage = \"off\"\nprojects = []", "make", "line 2, column 1: mcp has no effect here\nline 3, column 1: cage has no effect here\nline 4, column 1: projects has no effect here"},
		"too many":                 {"setup = [" + strings.Repeat("\"a\",", 33) + "]", "", "line 1, column 1: setup has 33 items"},
		"too large":                {"# " + strings.Repeat("x", MaxBytes), "", "line 1, column 1: the file is larger"},
	} {
		t.Run(name, func(t *testing.T) {
			got, problems := Parse([]byte(c.in))
			if s := strings.Join(got.Setup, "|"); s != c.setup {
				t.Errorf("setup %q, want %q", s, c.setup)
			}
			checkProblems(t, problems, c.want)
		})
	}
}

func checkProblems(t *testing.T, got []Problem, want string) {
	t.Helper()
	var wants []string
	if want != "" {
		wants = strings.Split(want, "\n")
	}
	if len(got) != len(wants) {
		t.Fatalf("problems %v, want %q", got, wants)
	}
	for i, p := range got {
		if !strings.HasPrefix(p.String(), wants[i]) {
			t.Errorf("problem %q, want %q", p, wants[i])
		}
	}
}

func TestThePersonsFileHasTheSameKeysAndWins(t *testing.T) {
	for name, c := range map[string]struct{ in, setup, want string }{
		"comments and a last comma": {"{\n // mine\n \"setup\": [\"a\", \"b\",],\n}", "a|b", ""},
		"empty":                     {" \n", "", ""},
		"an unknown key":            {"{\n  \"steup\": \"a\"\n}", "", "line 2, column 3: there is no key \"steup\""},
		"a number":                  {"{\"setup\": 1}", "", "line 1, column 2: setup has to be"},
		"null in a list":            {"{\"setup\": [null]}", "", "line 1, column 2: setup has to be"},
		"null":                      {"{\"setup\": null}", "", "line 1, column 2: setup has to be"},
		"twice":                     {"{\"setup\": \"a\", \"setup\": \"b\"}", "", "line 1, column 16: setup is there twice"},
		"no object":                 {"[]", "", "line 1, column 1: the file has to hold one object"},
		"no JSON":                   {"{\n  \"setup\": x\n}", "", "line 2, column 12: invalid literal"},
	} {
		t.Run(name, func(t *testing.T) {
			got, problems := ParseMine([]byte(c.in))
			if s := strings.Join(got.Setup, "|"); s != c.setup {
				t.Errorf("setup %q, want %q", s, c.setup)
			}
			checkProblems(t, problems, c.want)
		})
	}
	repo, _ := Parse([]byte("setup = \"theirs\"\nrun = \"theirs\"\nhosts = [\"a.example.org\"]"))
	mine, _ := ParseMine([]byte(`{"setup": "mine", "hosts": []}`))
	got := Merge(repo, mine)
	if !reflect.DeepEqual(got.Setup, []string{"mine"}) || !reflect.DeepEqual(got.Run, []string{"theirs"}) || len(got.Hosts) != 0 || !got.Given["hosts"] {
		t.Errorf("%+v", got)
	}
	if !reflect.DeepEqual(repo.Setup, []string{"theirs"}) {
		t.Error("merging changed what was merged")
	}
}

// Every key is in each of the places that name it.
func TestEveryKeyIsMergedAndShown(t *testing.T) {
	for _, key := range Keys() {
		value := map[string]string{"copy": "x", "read": "/x", "write": "/x", "hosts": "x.example.org"}[key]
		if value == "" {
			value = "x"
		}
		mine, problems := ParseMine([]byte(`{"` + key + `": "` + value + `"}`))
		if len(problems) > 0 {
			t.Fatalf("%s: %v", key, problems)
		}
		if got := Merge(Settings{}, mine).Values(key); len(got) != 1 || got[0] != value {
			t.Errorf("%s: merged to %q", key, got)
		}
	}
}

// What a file says is all of what it says: with any problem that matters it says nothing, and no input panics.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"setup = [\"a\"]\n", "[x]\ny=1", "a.b.c = {d = [1]}", "setup = '''\na'''", "{\"setup\": [\"a\",]}", "mcp = true", "\"\" = 1", "{\"\\ud800\":1}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, parse := range []func([]byte) (Settings, []Problem){Parse, ParseMine} {
			got, problems := parse(data)
			bad := false
			for _, p := range problems {
				if p.Line < 1 || p.Column < 1 || p.What == "" {
					t.Errorf("problem without a place: %+v", p)
				}
				bad = bad || !p.Harmless
			}
			if bad && (len(got.Given) > 0 || got.Commands() || got.Agent != "") {
				t.Errorf("%v, and still %+v", problems, got)
			}
			for _, key := range Keys() {
				if len(got.Values(key)) > 0 && !got.Given[key] {
					t.Errorf("%s has values and is not there", key)
				}
			}
		}
	})
}
