package agent

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"termic/app/settle"
)

func TestBuiltinsAreValid(t *testing.T) {
	var ids []string
	for _, d := range Builtin() {
		ids = append(ids, d.ID)
		if err := d.Validate(); err != nil {
			t.Errorf("%s: %v", d.ID, err)
		}
		if !d.Builtin || d.Title == "" || d.Paste.MaxBytes == 0 || d.Paste.EnterDelay == 0 || isZero(d.Settle) {
			t.Errorf("%s is not complete: %+v", d.ID, d)
		}
		if d.Shell != (d.ID == "shell") {
			t.Errorf("%s: shell %v", d.ID, d.Shell)
		}
	}
	if got := strings.Join(ids, " "); got != "shell claude codex gemini opencode" {
		t.Errorf("built-in agents: %s", got)
	}
}

// TestBuiltinTitles pins how the titles that were seen (2026-11-29) are read, by the state that follows after a
// delivery: a working title first, then the one in the table.
func TestBuiltinTitles(t *testing.T) {
	tests := []struct {
		agent, working, title string
		want                  settle.State
	}{
		{"claude", "◐ Claude Code", "✳ Claude Code", settle.Done},
		{"claude", "◐ Claude Code", "◑ Claude Code", settle.Working},
		{"codex", "⠋ work", "work", settle.Done},
		{"codex", "⠋ work", "[ ! ] Action Required | fix it | work", settle.Waiting},
		{"codex", "⠋ work", "[ . ] Action Required | fix it | work", settle.Waiting},
		{"codex", "⠋ work", "⠙ fix it | work", settle.Working},
		{"gemini", "✦  Working… (work)   ", "◇  Ready (work)   ", settle.Done},
		{"gemini", "✦  Working… (work)   ", "✋  Action Required (work)   ", settle.Waiting},
	}
	for _, test := range tests {
		t.Run(test.agent+" "+test.title, func(t *testing.T) {
			d, ok := builtin(test.agent)
			if !ok {
				t.Fatal("no such agent")
			}
			m := settle.New(d.Settle)
			at := time.Unix(1, 0)
			m.Observe(settle.Observation{At: at, Kind: settle.KindDelivered, Seq: 1})
			at = at.Add(time.Second)
			m.Observe(settle.Observation{At: at, Kind: settle.KindTitle, Text: test.working})
			if state, _, _ := m.State(); state != settle.Working {
				t.Fatalf("%q: %s", test.working, state)
			}
			at = at.Add(time.Second)
			m.Observe(settle.Observation{At: at, Kind: settle.KindTitle, Text: test.title})
			m.Observe(settle.Observation{At: at.Add(time.Second)})
			if state, by, _ := m.State(); state != test.want || by != settle.Title {
				t.Errorf("%q: %s by %s, want %s", test.title, state, by, test.want)
			}
		})
	}
}

func TestDefinitionsRoundTripThroughJSON(t *testing.T) {
	for _, d := range Builtin() {
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var back Definition
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		if back.Builtin {
			t.Errorf("%s: a file can say that it is built in", d.ID)
		}
		again, err := json.Marshal(back)
		if err != nil || string(again) != string(text) {
			t.Errorf("%s: %s\nbecame %s, %v", d.ID, text, again, err)
		}
	}
	var d Definition
	err := json.Unmarshal([]byte(`{"id":"a","command":["a"],"settle":{"titles":{"idle":["("]}}}`), &d)
	if err == nil {
		t.Error("a pattern that does not compile is read")
	}
}

func TestValidateRefuses(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Definition)
		want   string // the field; empty: it is taken
	}{
		{"twin: nothing changed", func(*Definition) {}, ""},
		{"no id", func(d *Definition) { d.ID = "" }, "id"},
		{"an id of 32", func(d *Definition) { d.ID = strings.Repeat("a", 32) }, ""},
		{"an id of 33", func(d *Definition) { d.ID = strings.Repeat("a", 33) }, "id"},
		{"capitals in the id", func(d *Definition) { d.ID = "Aider" }, "id"},
		{"a line after the id", func(d *Definition) { d.ID = "aider\n" }, "id"},
		{"no command", func(d *Definition) { d.Command = nil }, "command"},
		{"an empty program", func(d *Definition) { d.Command = []string{""} }, "command"},
		{"a relative path", func(d *Definition) { d.Command = []string{"./aider"} }, "command"},
		{"a parent", func(d *Definition) { d.Command = []string{".."} }, "command"},
		{"an absolute path", func(d *Definition) { d.Command = []string{"/opt/aider"} }, ""},
		{"a program that looks like a flag", func(d *Definition) { d.Command = []string{"-c"} }, "command"},
		{"the login shell", func(d *Definition) { d.Command = []string{LoginShell} }, ""},
		{"a NUL in an argument", func(d *Definition) { d.Command = []string{"a", "b\x00"} }, "command"},
		{"too many arguments", func(d *Definition) { d.Fresh = make([]string, 65) }, "fresh"},
		{"a long argument", func(d *Definition) { d.Resume = []string{strings.Repeat("x", 4097)} }, "resume"},
		{"a control character in the title", func(d *Definition) { d.Title = "a\x1b[2J" }, "title"},
		{"a prompt style of tomorrow", func(d *Definition) { d.Prompt.Style = "stdin" }, "prompt.style"},
		{"a flag that is none", func(d *Definition) { d.Prompt = PromptArg{PromptFlag, "prompt"} }, "prompt.flag"},
		{"a flag without its style", func(d *Definition) { d.Prompt.Flag = "--p" }, "prompt.flag"},
		{"a variable that is no name", func(d *Definition) { d.Env = map[string]string{"A=B": ""} }, "env"},
		{"a variable of ours", func(d *Definition) { d.Env = map[string]string{"TERMIC_MCP_TOKEN": "x"} }, "env"},
		{"one of ours in a cage", func(d *Definition) { d.BypassEnv = map[string]string{"TERMIC_TASK": "x"} }, "bypassEnv"},
		{"a variable", func(d *Definition) { d.Env = map[string]string{"A_B1": "x=y"} }, ""},
		{"an Enter that is too soon", func(d *Definition) { d.Paste.EnterDelay = settle.Duration(99 * time.Millisecond) }, "paste.enterDelay"},
		{"an Enter just late enough", func(d *Definition) { d.Paste.EnterDelay = settle.Duration(100 * time.Millisecond) }, ""},
		{"a paste over the limit", func(d *Definition) { d.Paste.MaxBytes = MaxPaste + 1 }, "paste.maxBytes"},
		{"a bracketing of tomorrow", func(d *Definition) { d.Paste.Bracketed = "maybe" }, "paste.bracketed"},
		{"a state that nobody has", func(d *Definition) { d.Cage.State = "aider" }, "cage.state"},
		{"the state of another agent", func(d *Definition) { d.Cage.State = StateClaude }, ""},
		{"a host that is an address", func(d *Definition) { d.Cage.Hosts = []string{"10.0.0.1"} }, "cage.hosts"},
		{"hosts", func(d *Definition) { d.Cage.Hosts = []string{"*.example.com", "example.com:8443"} }, ""},
		{"a key that is no variable", func(d *Definition) { d.Cage.Keys = []string{"A=B"} }, "cage.keys"},
		{"a key of ours", func(d *Definition) { d.Cage.Keys = []string{"TERMIC_MCP_TOKEN"} }, "cage.keys"},
		{"a variable of ours passed", func(d *Definition) { d.Cage.Pass = []string{"TERMIC_DATA_DIR"} }, "cage.pass"},
		{"a key", func(d *Definition) { d.Cage.Keys = []string{"AIDER_KEY"} }, ""},
		{"more hosts than anyone has", func(d *Definition) { d.Cage.Hosts = make([]string, 65) }, "cage"},
		{"a variable of ours for the control plane", func(d *Definition) { d.MCP.Env = map[string]string{"TERMIC_MCP_URL": "x"} }, "mcp.env"},
		{"a NUL in an argument for the control plane", func(d *Definition) { d.MCP.Args = []string{"\x00"} }, "mcp.args"},
		{"an argument for the control plane", func(d *Definition) { d.MCP.Args = []string{"--mcp={url}"} }, ""},
		{"rules with a fault", func(d *Definition) { d.Settle.Quiet = -1 }, "settle"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := Definition{ID: "aider", Command: []string{"aider"}}
			test.change(&d)
			err := d.Validate()
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !errors.Is(err, ErrInvalid) || !strings.HasPrefix(err.Error(), test.want+":") {
				t.Errorf("error %v, want one about %s", err, test.want)
			}
		})
	}
}

func TestSet(t *testing.T) {
	s, err := Open([]Definition{
		{ID: "zed", Command: []string{"zed"}},
		{ID: "Bad", Command: []string{"bad"}},
		{ID: "claude", Command: []string{"/tmp/evil"}},
	}, "")
	if !errors.Is(err, ErrInvalid) || !errors.Is(err, ErrBuiltin) {
		t.Errorf("Open: %v", err)
	}
	added, err := s.Add(Definition{ID: "aider", Command: []string{"aider", "--no-git"}, Builtin: true})
	if err != nil || added.Builtin || added.Title != "aider" || added.Paste.MaxBytes != MaxPaste || added.Settle.Quiet == 0 {
		t.Errorf("Add: %+v, %v", added, err)
	}
	for _, test := range []struct {
		name string
		do   func() error
		want error
	}{
		{"an id twice", func() error { _, err := s.Add(Definition{ID: "aider", Command: []string{"x"}}); return err }, ErrExists},
		{"a built-in id", func() error { _, err := s.Add(Definition{ID: "codex", Command: []string{"x"}}); return err }, ErrBuiltin},
		{"a fault", func() error { _, err := s.Add(Definition{ID: "x"}); return err }, ErrInvalid},
		{"get what is not there", func() error { _, err := s.Get("nothing"); return err }, ErrUnknown},
		{"get a built-in", func() error { _, err := s.Get("claude"); return err }, nil},
		{"get an own", func() error { _, err := s.Get("aider"); return err }, nil},
		{"remove a built-in", func() error { return s.Remove("shell") }, ErrBuiltin},
		{"remove what is not there", func() error { return s.Remove("nothing") }, ErrUnknown},
	} {
		if err := test.do(); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
	}
	if got := ids(s.List()); got != "shell claude codex gemini opencode aider zed" {
		t.Errorf("List: %s", got)
	}
	if err := s.Remove("zed"); err != nil || ids(s.Custom()) != "aider" {
		t.Errorf("Remove: %v, left %s", err, ids(s.Custom()))
	}
	again, err := Open(s.Custom(), "")
	if err != nil || !reflect.DeepEqual(again.Custom(), s.Custom()) {
		t.Errorf("what was kept does not come back the same: %v", err)
	}
}

func ids(list []Definition) string {
	var out []string
	for _, d := range list {
		out = append(out, d.ID)
	}
	return strings.Join(out, " ")
}

func TestSetIsBounded(t *testing.T) {
	s, _ := Open(nil, "")
	for i := range maxCustom {
		if _, err := s.Add(Definition{ID: "a" + strings.Repeat("x", i%20) + string(rune('a'+i/20)), Command: []string{"a"}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Add(Definition{ID: "one-more", Command: []string{"a"}}); !errors.Is(err, ErrFull) {
		t.Errorf("one more than the bound: %v", err)
	}
}
