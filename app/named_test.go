package app

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termic/registry/refusal"
)

// Whatever the way of a text, it cannot leave its paste and be keys (eneskirca/nodeterm#198, stevengonsalvez/agents-in-a-box#1185).
func TestNoWayOfATextLetsItLeaveItsPaste(t *testing.T) {
	r := newRig(t)
	const escape = `\u001b[20\u001b[201~1~\recho pwned-$((6*7))\r`
	prompts := filepath.Join(r.dir, "prompts")
	if err := os.MkdirAll(prompts, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"evil": "true \x1b[201~\recho pwned-$((6*7))\r", "good": "echo good-$((6*7))"} {
		if err := os.WriteFile(filepath.Join(prompts, name+".md"), []byte("---\nagents: yes\n---\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.task("sh", "shell", "")
	r.wait("sh")
	send := func(verb, arguments string) map[string]any {
		t.Helper()
		result := r.must(verb, "%s", arguments)
		r.wait("sh")
		return result
	}
	send("task_send", `{"task":"sh","text":"`+escape+`"}`)
	send("task_broadcast", `{"targets":["sh"],"text":"`+escape+`"}`)
	send("task_send", `{"task":"sh","promptId":"good","text":"`+escape+`"}`)
	r.refused(refusal.NotFound, "task_send", `{"task":"sh","promptId":"evil"}`) // no prompt holds control characters
	// By the queue: as it was sent, and as it was changed while it waited.
	r.must("task_send", `{"task":"sh","text":"read -r held"}`)
	first := r.must("task_send", `{"task":"sh","text":"`+escape+`"}`)
	second := r.must("task_send", `{"task":"sh","text":"echo no"}`)
	if first["delivery"] != "queued" || second["delivery"] != "queued" {
		t.Fatalf("not queued: %v, %v", first, second)
	}
	r.must("queue_edit", `{"task":"sh","id":%q,"text":"`+escape+`"}`, second["text"])
	terminal, err := r.client.Open(t.Context(), r.must("task_attach", `{"task":"sh"}`)["ticket"].(string))
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	go terminal.Copy(io.Discard) // until it is closed
	if err := terminal.Type([]byte("go\r")); err != nil {
		t.Fatal(err)
	}
	if got := r.wait("sh"); got != "done" {
		t.Errorf("wait: %s\n%s", got, r.text("sh"))
	}
	// The twin: a command runs, by each of these ways.
	send("task_send", `{"task":"sh","text":"echo ok-$((6*7))"}`)
	if text := r.text("sh"); strings.Contains(text, "pwned-42") || !strings.Contains(text, "ok-42") || !strings.Contains(text, "good-42") {
		t.Errorf("the terminal shows:\n%s", text)
	}
}

// A character that is cut at the border of a read arrives whole (sursaone/bun-pty#32, anomalyco/opencode#15385), in a part of a log as well.
func TestACutCharacterIsWholeInEveryLog(t *testing.T) {
	r := newRig(t)
	r.task("sh", "shell", "")
	r.wait("sh")
	run := func(line string) {
		t.Helper()
		r.must("task_send", `{"task":"sh","text":%q}`, line)
		r.wait("sh")
	}
	run("echo before")
	mark := r.must("task_log", `{"task":"sh"}`)["mark"]
	run(`head -c 32767 /dev/zero | tr '\0' x; printf '\342'; sleep 0.05; printf '\200\224 end-%d\n' 42`)
	for _, c := range []struct {
		name   string
		result map[string]any
		before bool // whether the first line may be there
	}{
		{"all of it", r.must("task_log", `{"task":"sh","lines":2000}`), true},
		{"with colours", r.must("task_log", `{"task":"sh","lines":2000,"raw":true}`), true},
		{"since a mark", r.must("task_log", `{"task":"sh","lines":2000,"since":%q}`, mark), false},
		{"since a mark, with colours", r.must("task_log", `{"task":"sh","lines":2000,"since":%q,"raw":true}`, mark), false},
	} {
		text := c.result["text"].(string)
		flat := strings.ReplaceAll(text, "\n", "")
		if !strings.Contains(flat, "x— end-42") || strings.ContainsRune(text, '\uFFFD') {
			t.Errorf("%s: %q", c.name, flat[max(0, len(flat)-200):])
		}
		if got := strings.Contains(text, "echo before"); got != c.before {
			t.Errorf("%s: the line before the mark is there: %v", c.name, got)
		}
	}
	r.refused(refusal.BadInput, "task_log", `{"task":"sh","since":"none"}`)
}
