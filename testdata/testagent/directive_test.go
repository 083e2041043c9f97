package main

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestParsePrompt(t *testing.T) {
	tests := []struct {
		name, prompt string
		want         []directive
		fails        bool
	}{
		{"text is no directive", "fix the bug\nplease", nil, false},
		{"nothing", "", nil, false},
		{"say keeps its blanks", "say  a  b", []directive{{verb: "say", text: " a  b"}}, false},
		{"lines are done in turn", "work 200ms\n\nsay x\n", []directive{{verb: "work", time: 200 * time.Millisecond}, {verb: "say", text: "x"}}, false},
		{"a carriage return at the end is none", "say x\r\nexit 3\r", []directive{{verb: "say", text: "x"}, {verb: "exit", n: 3}}, false},
		{"write", "write a/b.txt two words", []directive{{verb: "write", path: "a/b.txt", text: "two words"}}, false},
		{"write an empty line", "write a", []directive{{verb: "write", path: "a"}}, false},
		{"write nowhere", "write", nil, true},
		{"work without a time", "work hard", nil, true},
		{"flood", "flood 100", []directive{{verb: "flood", n: 100}}, false},
		{"flood with words", "flood the zone", nil, true},
		{"a call", `call task_new {"name":"a b"}`,
			[]directive{{verb: "call", tool: "task_new", args: map[string]any{"name": "a b"}}}, false},
		{"a call without arguments", "call task_agents", []directive{{verb: "call", tool: "task_agents", args: map[string]any{}}}, false},
		{"a call with half an object", `call task_new {"name":`, nil, true},
		{"a call of nothing", "call", nil, true},
		{"a kept call", `let t = call x {}`, []directive{{verb: "call", tool: "x", args: map[string]any{}, keep: "t"}}, false},
		{"let without a call is text", "let t = 5", nil, false},
		{"env", "env", []directive{{verb: "env"}}, false},
		{"a sentence that begins with env is text", "env variables matter", nil, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := parsePrompt(test.prompt)
			if (err != nil) != test.fails || (err == nil && !reflect.DeepEqual(got, test.want)) {
				t.Errorf("parsePrompt(%q) = %+v, %v; want %+v", test.prompt, got, err, test.want)
			}
		})
	}
}

func FuzzParsePrompt(f *testing.F) {
	f.Add("say x\nlet t = call v {\"a\":[1]}\nwork 1s")
	f.Fuzz(func(t *testing.T, prompt string) {
		list, err := parsePrompt(prompt)
		if err == nil && len(list) > strings.Count(prompt, "\n")+1 {
			t.Errorf("%d directives from %q", len(list), prompt)
		}
	})
}

func TestReferences(t *testing.T) {
	kept := values{"t": map[string]any{"id": "T1", "tabs": []any{map[string]any{"n": 7.0}}, "task": map[string]any{"name": `a"b`}}}
	tests := []struct {
		name     string
		in, want any // want nil: an error
	}{
		{"a whole string becomes the value", "$t.tabs.0.n", 7.0},
		{"a text value stays text", "$t.id", "T1"},
		{"inside a text it is text", "see $t.id and $t.tabs.0.n.", "see T1 and 7."},
		{"in objects and lists", map[string]any{"a": []any{"$t.id", 1.0, nil}}, map[string]any{"a": []any{"T1", 1.0, nil}}},
		{"a quote stays one character", "$t.task.name", `a"b`},
		{"money is no reference", "costs $5 and $HOME", "costs $5 and $HOME"},
		{"a name that is not kept", "$u.id", nil},
		{"a step that is not there", "see $t.nothing", nil},
		{"an index out of range", "$t.tabs.1.n", nil},
		{"a step below text", "$t.id.x", nil},
		{"a fault inside an object", map[string]any{"a": "$u.id"}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := kept.fill(test.in)
			if (err != nil) != (test.want == nil) || (err == nil && !reflect.DeepEqual(got, test.want)) {
				t.Errorf("fill(%v) = %v, %v; want %v", test.in, got, err, test.want)
			}
		})
	}
}

func TestKeys(t *testing.T) {
	paste := func(s string) key { return key{keyPaste, s} }
	text := func(s string) key { return key{keyText, s} }
	enter := key{kind: keyEnter}
	tests := []struct {
		name, in string
		want     []key
	}{
		{"typed and sent", "ab\r", []key{text("ab"), enter}},
		{"a paste holds its line ends", "\x1b[200~a\rb\r\nc\x1b[201~", []key{paste("a\nb\nc")}},
		{"a control character in a paste is text", "\x1b[200~a\x03b\x1b[201~", []key{paste("a\x03b")}},
		{"an escape in a paste is text", "\x1b[200~\x1b[A\x1b[201~x", []key{paste("\x1b[A"), text("x")}},
		{"an Enter at once belongs to the paste", "\x1b[200~a\x1b[201~\r", []key{paste("a"), text("\n")}},
		{"line feed is text", "a\nb", []key{text("a"), text("\n"), text("b")}},
		{"arrows and answers are dropped", "\x1b[A\x1b[?62;22c\x1b]7501;?\x1b\\\x1bP>|termic\x1b\\x", []key{text("x")}},
		{"UTF-8", "é—\x7f", []key{text("é—"), {kind: keyErase}}},
		{"control keys", "\x03\x04\x15\x01", []key{{kind: keyInterrupt}, {kind: keyEnd}, {kind: keyClear}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var whole, bytewise keyReader
			at := time.Unix(1, 0)
			if got := whole.feed([]byte(test.in), at); !reflect.DeepEqual(got, test.want) {
				t.Errorf("feed(%q) = %+v, want %+v", test.in, got, test.want)
			}
			var got []key
			for i := range len(test.in) {
				got = append(got, bytewise.feed([]byte{test.in[i]}, at)...)
			}
			if joined := join(got); !reflect.DeepEqual(joined, join(test.want)) {
				t.Errorf("byte by byte: %+v, want %+v", joined, join(test.want))
			}
		})
	}
	var r keyReader
	at := time.Unix(1, 0)
	r.feed([]byte("\x1b[200~a\x1b[201~"), at)
	if got := r.feed([]byte("\r"), at.Add(enterGrace)); !reflect.DeepEqual(got, []key{enter}) {
		t.Errorf("Enter after the grace: %+v", got)
	}
	if got := r.feed([]byte("\x1b"), at); got != nil {
		t.Errorf("a lone ESC at once: %+v", got)
	}
	if got := r.flush(); !reflect.DeepEqual(got, []key{{kind: keyEscape}}) {
		t.Errorf("a lone ESC after a while: %+v", got)
	}
}

// join puts neighbouring texts together: how typed text is cut says nothing.
func join(keys []key) []key {
	var out []key
	for _, k := range keys {
		if n := len(out); n > 0 && k.kind == keyText && out[n-1].kind == keyText {
			out[n-1].text += k.text
			continue
		}
		out = append(out, k)
	}
	return out
}

func TestDescribeEnvHidesTheToken(t *testing.T) {
	got := describeEnv([]string{"PATH=/bin", "TERMIC_TASK=fix", "TERMIC_MCP_TOKEN=s3cret", "A=b=c"})
	want := []string{"env A", "env PATH", "env TERMIC_MCP_TOKEN (6 bytes)", "env TERMIC_TASK=fix"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("describeEnv = %q, want %q", got, want)
	}
}

func TestFlags(t *testing.T) {
	tests := []struct {
		name string
		args []string
		code int
		ok   bool
	}{
		{"none", nil, 0, true},
		{"all", []string{"-prompt", "x", "-signals", "status", "-spin=false", "-start", "1s", "-trust"}, 0, true},
		{"a signal of tomorrow", []string{"-signals", "smell"}, 2, false},
		{"a prompt without its flag", []string{"hello"}, 2, false},
		{"a flag of tomorrow", []string{"-x"}, 2, false},
		{"version", []string{"--version"}, 0, false},
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if _, code, ok := parseFlags(test.args, null); code != test.code || ok != test.ok {
				t.Errorf("parseFlags(%q) = %d, %v", test.args, code, ok)
			}
		})
	}
}
