package app

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// commandLinesWith returns the command lines of the machine that hold a text.
func commandLinesWith(t *testing.T, text []byte) (found []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(files) == 0 {
		t.Fatalf("no command lines to look at: %v", err)
	}
	for _, name := range files {
		line, err := os.ReadFile(name)
		if err == nil && bytes.Contains(line, text) { // else it is gone meanwhile
			found = append(found, string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return found
}

// TestNoAgentHasItsTokenOnACommandLine starts a stand-in for each agent's program with what the agent is started with.
func TestNoAgentHasItsTokenOnACommandLine(t *testing.T) {
	r := newRig(t)
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	programs, kept := t.TempDir(), t.TempDir()
	// It stays the interpreter of its own script, so that its arguments are to be seen for as long as it runs.
	const standIn = `#!/bin/sh
name=${0##*/}
[ "$1" = --version ] && { echo 1; exit; }
printf %s "$TERMIC_MCP_TOKEN" >"KEPT/$name.half" && mv "KEPT/$name.half" "KEPT/$name"
while read -r line; do :; done
`
	agents := []string{"claude", "codex", "gemini", "opencode"}
	for _, name := range agents {
		script := bytes.ReplaceAll([]byte(standIn), []byte("KEPT"), []byte(kept))
		if err := os.WriteFile(filepath.Join(programs, name), script, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r.environ = append(r.environ[1:], "PATH="+programs+":"+os.Getenv("PATH"))
	r.start()
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	for _, name := range agents {
		t.Run(name, func(t *testing.T) {
			r.must("task_new", `{"project":"demo","name":%q,"agent":%q}`, "of-"+name, name)
			var token []byte
			for end := time.Now().Add(time.Minute); len(token) == 0 && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
				token, _ = os.ReadFile(filepath.Join(kept, name))
			}
			if len(token) < 40 {
				t.Fatalf("it got no token: %q", token)
			}
			if found := commandLinesWith(t, []byte(filepath.Join(programs, name))); len(found) == 0 {
				t.Error("twin: the agent's own command line is not found, so this looks in the wrong place")
			}
			if found := commandLinesWith(t, token); len(found) > 0 {
				t.Errorf("on a command line: %q", found)
			}
			// Twin: where one is put on a command line, it is found.
			input, held, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer held.Close()
			told := exec.Command("/bin/sh", "-c", "read -r line; true", "sh", string(token))
			told.Stdin = input
			if err := told.Start(); err != nil {
				t.Fatal(err)
			}
			input.Close()
			if found := commandLinesWith(t, token); len(found) != 1 {
				t.Errorf("twin: put there and not found: %q", found)
			}
			held.Close()
			_ = told.Wait() // read fails at the end of its input, and that is all
		})
	}
}
