package agent

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"termic/app/settle"
)

func TestAPersonsFileIsReadOrSaysWhereItIsWrong(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"the least", `{"command":["aider"]}`, ""},
		{"comments and trailing commas", "{\n  // what runs\n  \"command\": [\"aider\",],\n}", ""},
		{"its own id", `{"id":"aider","command":["aider"]}`, ""},
		{"another's id", `{"command":["aider"],"id":"codex"}`, `aider.json:1:27: id: "codex" is not the file's name`},
		{"nothing", ``, `aider.json:1:1: parsing value: unexpected EOF`},
		{"no JSON", "{\n  command: 1}", `aider.json:2:3: invalid literal: command`},
		{"a list", `[]`, `aider.json:1:1: not an object`},
		{"no command", `{}`, `aider.json:1:1: command: empty`},
		{"a member that is none", "{\"command\":[\"aider\"],\n \"setle\":{}}", `aider.json:2:10: setle: no such member`},
		{"a rule that is none", "{\"command\":[\"aider\"],\n \"settle\":{\"titles\":\n  {\"waits\":[]}}}", `aider.json:3:12: settle.titles.waits: no such member`},
		{"a member twice", "{\"command\":[\"aider\"],\n \"command\":[\"x\"]}", `aider.json:1:12: command: duplicate object member name`},
		{"a number for a text", "{\"command\":[\"aider\"],\n\"title\": 7}", `aider.json:2:10: title: not a text`},
		{"a pattern that is none", "{\"command\":[\"aider\"],\n\"settle\":{\"titles\":{\"working\":[\"ok\",\n  \"(\"]}}}", "aider.json:3:3: settle.titles.working.1: pattern \"(\": error parsing regexp: missing closing ): `(`"},
		{"a time that is none", "{\"command\":[\"aider\"],\"settle\":{\n\"quiet\":\"soon\"}}", `aider.json:2:9: settle.quiet: duration "soon": time: invalid duration "soon"`},
		{"a time that is too long", "{\"command\":[\"aider\"],\"settle\":{\n\"quiet\":\"1h\"}}", `aider.json:2:9: settle: quiet: 1h0m0s is not between 0 and 10m0s`},
		{"an Enter that is too soon", "{\"command\":[\"aider\"],\n\"paste\":{\"enterDelay\":\"1ms\"}}", `aider.json:2:23: paste.enterDelay: 1ms is not between 100ms and 5s`},
		{"a variable of ours", "{\"command\":[\"aider\"],\n\"env\":{\"TERMIC_MCP_TOKEN\":\"x\"}}", `aider.json:2:7: env: TERMIC_MCP_TOKEN is set by termic alone`},
		{"a version that is none", "{\"command\":[\"aider\"],\n\"tried\":\"v1\"}", `aider.json:2:9: tried: "v1" is no version: digits and dots, two parts at least`},
		{"more than anyone writes", strings.Repeat(" ", maxFile) + `{}`, `aider.json: longer than 65536 bytes`},
	} {
		d, err := ParseFile("aider", []byte(c.text))
		if got := errorText(err); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
		if at := (*FileError)(nil); err != nil && (!errors.As(err, &at) || !errors.Is(err, ErrInvalid)) {
			t.Errorf("%s: %T", c.name, err)
		}
		if err == nil && (d.ID != "aider" || d.Title != "aider" || d.Settle.Quiet != settle.Duration(2*time.Second)) {
			t.Errorf("%s: %+v", c.name, d)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func FuzzParseFile(f *testing.F) {
	f.Add("{\n // x\n \"command\": [\"aider\",], \"settle\": {\"titles\": {\"working\": [\"(\"]}},}")
	f.Add(`{"command":["a"],"a/b~c":1}`)
	f.Add(`{"command":["a"],"env":{"A B":"x"}}`)
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ParseFile("x", []byte(text))
		if err == nil {
			if again := d.Validate(); again != nil {
				t.Errorf("taken, and not valid: %v", again)
			}
			return
		}
		at := (*FileError)(nil)
		if !errors.As(err, &at) || at.What == "" {
			t.Fatalf("%T %v", err, err)
		}
		lines := strings.Split(text, "\n")
		if at.Line > len(lines) || at.Line > 0 && (at.Column < 1 || at.Column > len(lines[at.Line-1])+1) {
			t.Errorf("%v is outside of the text", err)
		}
	})
}

func TestTheSetKnowsThePersonsFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "agents")
	s, err := Open(nil, dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get("aider"); !errors.Is(err, ErrUnknown) {
		t.Errorf("without a directory: %v", err)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	write("aider.json", `{"command":["aider"], /* mine */}`)
	write("broken.json", `{`)
	write("claude.json", `{"command":["/tmp/evil"]}`)
	write("Bad.json", `{"command":["x"]}`)
	write(".aider.json", `{`) // an editor's
	write("notes.md", `{`)
	if err := os.Symlink("aider.json", filepath.Join(dir, "link.json")); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(dir, "pipe.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	if d, err := s.Get("aider"); err != nil || d.Command[0] != "aider" || d.Builtin {
		t.Errorf("get: %+v, %v", d, err)
	}
	if d, err := s.Get("claude"); err != nil || !d.Builtin {
		t.Errorf("a file in the place of a built-in one: %+v, %v", d, err)
	}
	if got := ids(s.List()); got != "shell claude codex gemini opencode aider" {
		t.Errorf("list: %s", got)
	}
	var said []string
	for _, fault := range second(s.Files()) {
		said = append(said, fault.Error())
	}
	for i, want := range []string{"Bad.json: name it", "broken.json:1:2: ", "claude.json: an agent of this id comes with termic", "link.json: ", "pipe.json: "} {
		if i >= len(said) || !strings.HasPrefix(said[i], want) {
			t.Errorf("faults %q, want one that begins with %q", said, want)
		}
	}
	if _, err := s.Add(Definition{ID: "aider", Command: []string{"x"}}); !errors.Is(err, ErrExists) {
		t.Errorf("added beside a file: %v", err)
	}
	if err := s.Remove("aider"); !errors.Is(err, ErrFile) {
		t.Errorf("removed: %v", err)
	}
	write("aider.json", `{"command":["aider","--dark"]}`) // it is read anew
	if d, err := s.Get("aider"); err != nil || len(d.Command) != 2 {
		t.Errorf("after a change: %+v, %v", d, err)
	}
	if err := os.Remove(filepath.Join(dir, "aider.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Add(Definition{ID: "aider", Command: []string{"x"}}); err != nil {
		t.Errorf("added once the file is gone: %v", err)
	}
	write("aider.json", `{"command":["aider"]}`)
	if faults := second(s.Files()); !errors.Is(errors.Join(faults...), ErrExists) {
		t.Errorf("a file beside one that was added: %v", faults)
	}
}

func second[A, B any](_ A, b B) B { return b }

func TestVersionsThatADefinitionIsNotFor(t *testing.T) {
	for _, c := range []struct{ name, tried, says, want string }{
		{"the one that was tried", "2.1.332", "2.1.332 (Claude Code)", ""},
		{"a newer one", "0.171.0", "codex-cli 0.180.2", ""},
		{"a newer one with fewer parts", "1.18.33", "1.19", ""},
		{"an older one", "0.171.0", "codex-cli 0.99.0", "older than 0.171.0"},
		{"an older last part", "2.1.332", "2.1.331 (Claude Code)", "older than 2.1.332"},
		{"the next major one", "2.1.332", "3.0.0", "another major version than 2.1.332"},
		{"no number in what it says", "2.1.332", "Claude Code", ""},
		{"nobody tried any", "", "1.0.0", ""},
		{"it says nothing", "2.1.332", "", ""},
	} {
		got := Definition{Title: "X", Tried: c.tried}.Unsupported(c.says)
		if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	for _, d := range Builtin() {
		if (d.Tried == "") != d.Shell {
			t.Errorf("%s does not say with which version it was tried", d.ID)
		}
	}
}
