package agent

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

const (
	sessionID = "6f1a2b3c-0000-4000-8000-000000000001"
	prompt    = "fix the bug\nand say how"
	mcpURL    = "http://127.0.0.1:24311/mcp"
)

// TestBuiltinLaunches pins the command line and the added variables of every built-in agent, for every way in
// which it is started. No uncaged line may hold a flag or variable that bypasses a question of the agent's.
func TestBuiltinLaunches(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Command lines of the built-in agents. Written by `go test ./app/agent -update`; read the diff.\n")
	for _, d := range Builtin() {
		for _, run := range []struct {
			name string
			o    LaunchOptions
		}{
			{"plain", LaunchOptions{}},
			{"prompt", LaunchOptions{Prompt: prompt}},
			{"session and prompt", LaunchOptions{Session: sessionID, Prompt: prompt}},
			{"resume and prompt", LaunchOptions{Session: sessionID, Resume: true, Prompt: prompt}},
			{"told of the control plane", LaunchOptions{MCPURL: mcpURL, Prompt: prompt}},
			{"told of one that serves older revisions", LaunchOptions{MCPURL: mcpURL, OlderMCP: true, Prompt: prompt}},
			{"uncaged, without questions", LaunchOptions{Bypass: true, Dir: "/tmp/a dir", Prompt: prompt}},
			{"with hooks", LaunchOptions{Hook: "/opt/it's/termic", Plugins: "/data/plugins", Prompt: prompt}},
			{"caged", LaunchOptions{Hook: "/home/x/.termic/hook", Plugins: "/p", Caged: true, Dir: "/tmp/a \"dir\"", Prompt: prompt}},
		} {
			run.o.Program = "/bin/" + d.ID
			fmt.Fprintf(&b, "\n== %s, %s\n", d.ID, run.name)
			argv, env, passed, err := d.Launch(run.o)
			if err != nil {
				fmt.Fprintf(&b, "error: %v\n", err)
				continue
			}
			for _, a := range argv {
				fmt.Fprintf(&b, "%q\n", a)
			}
			for _, e := range env {
				fmt.Fprintf(&b, "env %q\n", e)
			}
			fmt.Fprintf(&b, "prompt passed: %v\n", passed)
			if !run.o.Caged && !run.o.Bypass {
				checkNoBypass(t, d, argv, env)
			}
		}
	}
	golden(t, "testdata/launch.golden", b.String())
}

func checkNoBypass(t *testing.T, d Definition, argv, env []string) {
	t.Helper()
	line := strings.Join(append(argv, env...), "\x00")
	for _, word := range append(d.Bypass, pairs(d.BypassEnv)...) {
		if word != "-c" && strings.Contains(line, word) { // -c sets any value; the value is a word of its own
			t.Errorf("%s: an uncaged start holds %q: %q %q", d.ID, word, argv, env)
		}
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got:\n%s", file, got)
	}
}

// TestPromptIsNeverAnythingElse: what could be read as a flag or a subcommand is typed instead, and so is what
// does not belong on a command line. Each refusal has a twin that is passed.
func TestPromptIsNeverAnythingElse(t *testing.T) {
	positional := Definition{ID: "a", Command: []string{"a"}, Prompt: PromptArg{Style: PromptPositional}}
	flagged := Definition{ID: "a", Command: []string{"a"}, Prompt: PromptArg{Style: PromptFlag, Flag: "--prompt"}}
	typed := Definition{ID: "a", Command: []string{"a"}}
	tests := []struct {
		name   string
		d      Definition
		prompt string
		want   string // the last argument, or empty when it is typed
	}{
		{"a sentence is passed", positional, "update the docs", "update the docs"},
		{"one word may be a subcommand", positional, "update", ""},
		{"so may one between blanks", positional, " update\n", ""},
		{"a flag is no prompt", positional, "--yolo do it", ""},
		{"nor after blanks", positional, "\n -p x", ""},
		{"a hyphen inside is passed", positional, "do -p x", "do -p x"},
		{"behind a flag one word is safe", flagged, "update", "--prompt=update"},
		{"behind a flag a hyphen is safe", flagged, "--yolo", "--prompt=--yolo"},
		{"an escape sequence is typed, where it is cleaned", flagged, "a \x1b[201~ b", ""},
		{"a C1 control too", flagged, "a \u009b b", ""},
		{"broken UTF-8 too", flagged, "a \xff b", ""},
		{"tabs and lines are passed", flagged, "a\tb\nc", "--prompt=a\tb\nc"},
		{"the longest is passed", flagged, strings.Repeat("x", maxPromptArg), "--prompt=" + strings.Repeat("x", maxPromptArg)},
		{"a longer one is typed", flagged, strings.Repeat("x", maxPromptArg+1), ""},
		{"an agent that takes none is typed at", typed, "do it", ""},
		{"no prompt is no argument", flagged, "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			argv, _, passed, err := test.d.Launch(LaunchOptions{Prompt: test.prompt})
			if err != nil || passed != (test.want != "") {
				t.Fatalf("passed %v, %v", passed, err)
			}
			last := argv[len(argv)-1]
			if passed && (last != test.want || len(argv) != 2) || !passed && len(argv) != 1 {
				t.Errorf("argv %.80q", argv)
			}
		})
	}
}

func FuzzPromptOnTheCommandLine(f *testing.F) {
	f.Add("do it")
	f.Add("-x")
	f.Add("update\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, d := range Builtin() {
			plain, _, _, _ := d.Launch(LaunchOptions{})
			argv, _, passed, err := d.Launch(LaunchOptions{Prompt: text})
			if err != nil {
				if !errors.Is(err, ErrInvalid) || !strings.ContainsRune(text, 0) {
					t.Fatal(err)
				}
				continue
			}
			if !passed {
				if len(argv) != len(plain) {
					t.Fatalf("%s: not passed, yet %q", d.ID, argv)
				}
				continue
			}
			last := argv[len(argv)-1]
			if len(argv) != len(plain)+1 || !strings.HasSuffix(last, text) {
				t.Fatalf("%s: %q", d.ID, argv)
			}
			if d.Prompt.Style == PromptPositional && (last[0] == '-' || !strings.ContainsAny(last, " \t\n")) {
				t.Fatalf("%s: %q can be a flag or a subcommand", d.ID, last)
			}
		}
	})
}

func TestLaunchRefuses(t *testing.T) {
	d := claude()
	tests := []struct {
		name string
		o    LaunchOptions
		want string // empty: it is taken
	}{
		{"a NUL in the prompt", LaunchOptions{Prompt: "a\x00b"}, "prompt"},
		{"a session that is a flag", LaunchOptions{Session: "--help"}, "session"},
		{"a session with a path", LaunchOptions{Session: "../x"}, "session"},
		{"resume without a session", LaunchOptions{Resume: true}, "resume"},
		{"a cage without its directory", LaunchOptions{Caged: true}, "dir"},
		{"an address of another machine", LaunchOptions{MCPURL: "http://127.0.0.1.example.org:80/mcp"}, "mcpURL"},
		{"an address that ends a quotation", LaunchOptions{MCPURL: `http://127.0.0.1:1/mcp","x":"`}, "mcpURL"},
		{"a hook by a relative path", LaunchOptions{Hook: "termic"}, "hook"},
		{"a hook with a line end in its path", LaunchOptions{Hook: "/a\nb"}, "hook"},
		{"twin: all of it right", LaunchOptions{Prompt: "a b", Session: sessionID, Resume: true, Caged: true, Dir: "/x", MCPURL: mcpURL, Hook: "/opt/it's/termic"}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, _, _, err := d.Launch(test.o)
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !errors.Is(err, ErrInvalid) || !strings.HasPrefix(err.Error(), test.want+":") {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
	if _, _, _, err := shell().Launch(LaunchOptions{Session: sessionID, Resume: true}); !errors.Is(err, ErrInvalid) {
		t.Errorf("a shell resumes a session: %v", err)
	}
}

// TestLaunchLeavesTheDefinitionAlone: the returned slices are the caller's own.
func TestLaunchLeavesTheDefinitionAlone(t *testing.T) {
	d := Definition{ID: "a", Command: make([]string, 1, 8)}
	d.Command[0] = "a"
	argv, _, _, _ := d.Launch(LaunchOptions{Program: "/bin/a"})
	argv[0] = "changed"
	if d.Command[0] != "a" {
		t.Error("Launch shares the definition's slice")
	}
}
