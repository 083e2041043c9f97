package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"termic/registry/refusal"
	"termic/registry/render"
	"termic/registry/verbs"
)

func TestVisible(t *testing.T) {
	rows := []struct {
		name, text   string
		lines        bool
		want, wanted string
	}{
		{name: "plain text", text: "naïve 日本 ~", want: "naïve 日本 ~"},
		{name: "lines and tabs that are kept", text: "a\tb\nc", lines: true, want: "a\tb\nc"},
		{name: "lines and tabs that are not", text: "a\tb\nc", want: "a b c"},
		{name: "a title", text: "\x1b]0;x\a", lines: true, want: `\x1b]0;x\x07`},
		{name: "a carriage return", text: "good\rbad", lines: true, want: `good\x0dbad`},
		{name: "a C1 introducer", text: "\u009b2J", want: `\x9b2J`},
		{name: "DEL", text: "a\x7f", want: `a\x7f`},
		{name: "just outside the controls", text: "\u00a0 ~", want: "\u00a0 ~"},
		{name: "text turned around", text: "a\u202eb\u2066c", want: `a\u202eb\u2066c`},
		{name: "no UTF-8", text: "a\xffb", want: `a\xffb`},
		{name: "a replacement character of its own", text: "a\ufffdb", want: "a\ufffdb"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if got := visible(row.text, row.lines); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

// Whatever the text: nothing that acts is left, it is UTF-8, and once is enough. JSON stays the same JSON.
func FuzzVisible(f *testing.F) {
	f.Add("plain")
	f.Add("\x1b[2J\u009b\u202e\xff\r\n\t")
	f.Fuzz(func(t *testing.T, text string) {
		shown := visible(text, false)
		if strings.ContainsFunc(shown, acts) || !utf8.ValidString(shown) {
			t.Fatalf("%q is shown as %q", text, shown)
		}
		if again := visible(shown, false); again != shown {
			t.Fatalf("%q becomes %q", shown, again)
		}
		raw, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		escaped := escapeJSON(string(raw))
		var before, after string
		if err := errors.Join(json.Unmarshal(raw, &before), json.Unmarshal([]byte(escaped), &after)); err != nil || before != after {
			t.Fatalf("%q becomes %q (%v)", before, after, err)
		}
		if strings.ContainsFunc(escaped, acts) {
			t.Fatalf("%q is left in JSON: %q", text, escaped)
		}
	})
}

func TestTablesFitTheTerminalAndLoseNothing(t *testing.T) {
	long := "https://example.com/a/very/long/path and some words that go on and on until they wrap"
	tab := table{rows: [][]string{{"ID", "N", "WHAT"}, {"t-aaaaaaaaaaaaaaaa", "7", long}, {"日本", "1234", "short"}}, right: []bool{false, true, false}}
	whole := tab.String(0)
	if want := "ID                     N  WHAT\nt-aaaaaaaaaaaaaaaa     7  " + long + "\n日本                1234  short\n"; whole != want {
		t.Errorf("without a terminal:\n%s\nwant:\n%s", whole, want)
	}
	for _, cols := range []int{200, 80, 60, 46} {
		text := tab.String(cols)
		for line := range strings.SplitSeq(text, "\n") {
			if width := widthOf(line); width > cols {
				t.Errorf("%d columns: a line has %d: %q", cols, width, line)
			}
		}
		letters := func(s string) int { return len(strings.Join(strings.Fields(s), "")) }
		if letters(text) != letters(whole) {
			t.Errorf("%d columns: text was lost:\n%s", cols, text)
		}
	}
	if text := tab.String(10); !strings.Contains(text, "t-aaaaaaaaaaaaaaaa") {
		t.Errorf("an id was broken on a tiny terminal:\n%s", text)
	}
}

func TestWrap(t *testing.T) {
	rows := []struct {
		name, text string
		width      int
		want       string
	}{
		{"nothing", "", 10, ""},
		{"what fits", "one two", 7, "one two"},
		{"one cell too many", "one two", 6, "one|two"},
		{"wide characters", "日本 日本", 8, "日本|日本"},
		{"a path", "/home/me/src/shop", 10, "/home/me/|src/shop"},
		{"a long word", "aaaaabbbbbcc", 5, "aaaaa|bbbbb|cc"},
		{"wide characters that do not fit evenly", "日本語", 5, "日本|語"},
		{"two spaces", "a  b", 10, "a  b"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if got := strings.Join(wrap(row.text, row.width), "|"); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

// Whatever the text: no line is too long but where one character is, and nothing but spaces is lost.
func FuzzWrap(f *testing.F) {
	f.Add("some words /and/a/path 日本語", uint8(5))
	f.Fuzz(func(t *testing.T, text string, narrow uint8) {
		width := int(narrow) + 1
		lines := wrap(text, width)
		for _, line := range lines {
			if widthOf(line) > width && breakAt(line, width) < len(line) {
				t.Fatalf("%q: line %q has %d cells, more than %d", text, line, widthOf(line), width)
			}
		}
		whole := strings.ReplaceAll(text, " ", "")
		if got := strings.ReplaceAll(strings.Join(lines, ""), " ", ""); got != whole {
			t.Fatalf("%q becomes %q", text, lines)
		}
	})
}

func TestRawTextIsMadeHarmless(t *testing.T) {
	const text, harmless = "a\x1b]0;x\ab", `a\x1b]0;x\x07b`
	for name, row := range map[string]struct {
		p    printer
		said bool // an agent's words; else a patch
		want string
	}{
		"a patch into a pipe":                        {printer{}, false, text},
		"a patch onto a terminal":                    {printer{cols: 80}, false, harmless},
		"an agent's words into a pipe":               {printer{}, true, harmless},
		"an agent's words onto a terminal":           {printer{cols: 80}, true, harmless},
		"an agent's words into a pipe, with --raw":   {printer{asIs: true}, true, text},
		"an agent's words on a terminal, with --raw": {printer{cols: 80, asIs: true}, true, text},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			row.p.out = &out
			if err := row.p.raw(text, row.said); err != nil || out.String() != row.want+"\n" {
				t.Errorf("%q, %v; want %q", &out, err, row.want)
			}
		})
	}
}

// Names, findings and reasons come from elsewhere: none of them acts, in a table, beside a key or in a message.
func TestNothingFromElsewhereActs(t *testing.T) {
	evil := "a\x1b[2J\u009bb\nc\u202e"
	raw, err := json.Marshal(map[string]any{
		"task":     map[string]any{"name": evil, "path": evil, "tabs": []any{map[string]any{"name": evil}}},
		"delivery": evil,
	})
	if err != nil {
		t.Fatal(err)
	}
	forms, err := render.Forms(verbs.All())
	if err != nil {
		t.Fatal(err)
	}
	for _, asJSON := range []bool{false, true} {
		var out, said bytes.Buffer
		p := newPrinter(&out, &said, asJSON)
		if err := p.result(forms[0], raw); err != nil {
			t.Fatal(err)
		}
		p.note("%s", evil)
		if err := p.refused(refusal.New(refusal.Conflict, evil, evil), nil); err != nil {
			t.Fatal(err)
		}
		all := strings.ReplaceAll(out.String()+said.String(), "\n", "")
		if !strings.Contains(all, "[2J") || strings.ContainsFunc(all, acts) {
			t.Errorf("json %v: printed %q", asJSON, all)
		}
	}
}

func TestMembersAreAddedToAnyObject(t *testing.T) {
	for raw, want := range map[string]string{"": `{"x":1}`, "{}": `{"x":1}`, " { } ": `{"x":1}`, `{"a":{}}`: `{"a":{},"x":1}`} {
		if got := withMember(json.RawMessage(raw), "x", 1); string(got) != want && !sameJSON(got, want) {
			t.Errorf("%q becomes %s, want %s", raw, got, want)
		}
	}
}

func sameJSON(a []byte, b string) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, []byte(b)) == nil && x.String() == y.String()
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestAFullDiskIsNoSuccess(t *testing.T) {
	var said bytes.Buffer
	status := Main(context.Background(), verbs.All(), []string{"version"}, Env{Stdout: fullDisk{}, Stderr: &said, Version: "1"})
	if status != refusal.StorageFailed.Exit() || !strings.Contains(said.String(), "standard output cannot be written") {
		t.Errorf("status %d, stderr %q", status, &said)
	}
}

// What help --json says of the built-in commands, and what they are, must be the same.
func TestBuiltinsAreWhatTheyAreSaidToBe(t *testing.T) {
	forms, err := render.Forms(verbs.All())
	if err != nil {
		t.Fatal(err)
	}
	s := &session{printer: &printer{}, forms: forms}
	root := s.root()
	for _, builtin := range render.Builtins() {
		if cmd := child(root, builtin.Name); cmd == nil || cmd.RunE == nil || cmd.Use != builtin.Usage {
			t.Errorf("the command %s is not there, or does nothing, or is used otherwise", builtin.Name)
		}
	}
	want := len(render.Builtins())
	tops := map[string]bool{}
	for _, form := range forms {
		if form.Verb.CLI.Path != "" {
			tops[strings.Fields(form.Verb.CLI.Path)[0]] = true
		}
	}
	if got := len(root.Commands()); got != want+len(tops) {
		t.Errorf("there are %d commands, want %d built in and %d for verbs", got, want, len(tops))
	}
	for _, flag := range render.CommonFlags() {
		if root.PersistentFlags().Lookup(flag.Name) == nil {
			t.Errorf("the flag --%s of every command is not there", flag.Name)
		}
	}
}

func TestEveryCommandsExampleParses(t *testing.T) {
	app := startApp(t, t.Cleanup)
	for _, v := range verbs.All() {
		if v.CLI.Path == "" || v.Stream {
			continue
		}
		t.Run(v.CLI.Path, func(t *testing.T) {
			cmd := exec.Command("sh", "-c", "exec termic "+v.CLI.Example+" --timeout 1ms --json")
			if !v.Bounded && v.CLI.Then == "" {
				cmd = exec.Command("sh", "-c", "exec termic "+v.CLI.Example+" --json")
			}
			cmd.Env = append(os.Environ(), "TERMIC_DATA_DIR="+app.dir)
			app.takeCalls()
			out, _ := cmd.CombinedOutput()
			if calls := app.takeCalls(); len(calls) == 0 || !strings.HasPrefix(calls[0], v.Name+" ") || strings.Contains(string(out), "bad_input") {
				t.Errorf("%q calls %q and prints %s", v.CLI.Example, calls, out)
			}
		})
	}
}

func TestCtrlCDuringAWaitEndsItAtOnce(t *testing.T) {
	for name, arguments := range map[string][]string{
		"a wait":       {"wait", "forever"},
		"after a verb": {"send", "forever", "hello", "--wait"},
		"as JSON":      {"send", "forever", "hello", "--wait", "--json"},
	} {
		t.Run(name, func(t *testing.T) {
			app := startApp(t, t.Cleanup)
			var out, said bytes.Buffer
			cmd := exec.Command("termic", arguments...)
			cmd.Env = append(os.Environ(), "TERMIC_DATA_DIR="+app.dir)
			cmd.Stdout, cmd.Stderr = &out, &said
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for <-app.begun != verbs.TaskWait.Verb().Name {
			}
			if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			err := cmd.Wait()
			if cmd.ProcessState.ExitCode() != render.Interrupted {
				t.Errorf("exit: %v, want status %d", err, render.Interrupted)
			}
			asJSON := arguments[len(arguments)-1] == "--json"
			if said := said.String(); strings.Contains(said, "termic: interrupted; what is under way in the app goes on\n") == asJSON {
				t.Errorf("stderr: %q", said)
			}
			if asJSON && !(strings.Contains(out.String(), `"delivery": "submitted"`) && strings.Contains(out.String(), `"code": "cancelled"`)) {
				t.Errorf("stdout: %s", &out)
			}
		})
	}
}

func TestServeStopsInOrderOnASignal(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command("termic", "serve", "--data-dir", dir)
	cmd.Env = os.Environ()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, len("serving "+dir+"\n"))
	if _, err := out.Read(line); err != nil || string(line) != "serving "+dir+"\n" {
		t.Fatalf("serve says %q, %v", line, err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("serve ends with %v, want status 0", err)
	}
}
