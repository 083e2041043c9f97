package app

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"termic/registry/refusal"
)

// holdCases are about calls that the person has to confirm, and who does.
var holdCases = []boundaryCase{
	{"hold", func(b *built) {
		for _, c := range []struct {
			types string
			code  refusal.Code
		}{{"n\n", refusal.NotPermitted}, {"y\n", ""}} { // the twin is last: it archives the task
			done := b.archive("doomed", b.token)
			if b.flag("doomed", "archived") != false {
				b.t.Error("done without an answer")
			}
			b.types(c.types)
			if code := <-done; code != c.code {
				b.t.Errorf("%q: %q, want %q", c.types, code, c.code)
			}
		}
		if b.flag("doomed", "archived") != true {
			b.t.Error("twin: not done")
		}
	}},
	{"answer", func(b *built) {
		b.lead("eager", "")
		done := b.archive("precious", b.token)
		held := b.must("hold_list", `{}`)["calls"].([]any)[0].(map[string]any)
		answer := fmt.Sprintf(`{"id":%q,"digest":%q,"answer":"once"}`, held["id"], held["digest"])
		b.refused(refusal.UnknownVerb, "hold_answer", "%s", answer)
		if _, err := callOver(b.url, b.token, "hold_answer", answer); err == nil || !strings.Contains(err.Error(), "unknown tool") {
			b.t.Errorf("the client answered itself: %v", err)
		}
		b.refusedInside("eager", map[string]string{"hold_answer " + answer: "unknown tool"})
		select {
		case code := <-done:
			b.t.Fatalf("it went on: %q", code)
		default:
		}
		b.types("y\n") // the twin
		if code := <-done; code != "" {
			b.t.Errorf("twin: %q", code)
		}
	}},
	{"elicit", elicitCase},
}

// types is the person at the terminal.
func (b *built) types(text string) {
	b.t.Helper()
	if _, err := io.WriteString(b.keys, text); err != nil {
		b.t.Fatal(err)
	}
}

// archive has an outside client ask for a task to be archived, and returns once the terminal shows that, with where the
// outcome comes.
func (b *built) archive(name, token string) <-chan refusal.Code {
	b.t.Helper()
	if _, err := b.try("task_status", `{"task":%q}`, name); err != nil {
		b.task(name, "test", "")
		b.rig.wait(name)
	}
	shown := fmt.Sprintf(`task_archive (destructive) with {"task":%q`, name)
	before := strings.Count(b.screen.all(), shown)
	done := make(chan refusal.Code, 1)
	go func() {
		code, err := callOver(b.url, token, "task_archive", fmt.Sprintf(`{"task":%q}`, name))
		if err != nil {
			code = refusal.Code(err.Error())
		}
		done <- code
	}()
	b.until("the person is asked", func() bool { return strings.Count(b.screen.all(), shown) > before })
	return done
}

// elicitCase has a client ask its own person, which it may only where the person said so, once for each call.
func elicitCase(b *built) {
	b.must("client_add", `{"client":"asker","other":true,"confirm":"elicit"}`)
	b.must("client_add", `{"client":"plain","other":true}`)
	asker, plain := b.secret("clients/asker.token"), b.secret("clients/plain.token")
	for _, name := range []string{"asked-one", "asked-two"} {
		b.task(name, "test", "")
		b.rig.wait(name)
	}
	state, said := b.through(asker, "asked-one", "", "")
	if state == "" {
		b.t.Fatalf("not asked: %s", said)
	}
	for name, c := range map[string]struct{ token, task, state, action string }{
		"another task":      {asker, "asked-two", state, "accept"},
		"another client":    {b.token, "asked-one", state, "accept"},
		"an untrusted one":  {plain, "asked-one", state, "accept"},
		"an altered state":  {asker, "asked-one", "A" + state[1:], "accept"},
		"no state of today": {asker, "asked-one", "x", "accept"},
	} {
		if _, said := b.through(c.token, c.task, c.state, c.action); !strings.Contains(said, "not_permitted") {
			b.t.Errorf("%s: %s", name, said)
		}
	}
	if _, said := b.through(asker, "asked-one", state, "accept"); strings.Contains(said, `"isError":true`) || b.flag("asked-one", "archived") != true {
		b.t.Errorf("twin: %s", said)
	}
	b.must("task_restore", `{"task":"asked-one"}`)
	if _, said := b.through(asker, "asked-one", state, "accept"); !strings.Contains(said, "not_permitted") {
		b.t.Errorf("a second time: %s", said)
	}
	if state, said = b.through(asker, "asked-two", "", ""); state == "" {
		b.t.Fatalf("not asked: %s", said)
	}
	if _, said := b.through(asker, "asked-two", state, "decline"); !strings.Contains(said, "not_permitted") || b.flag("asked-two", "archived") != false {
		b.t.Errorf("declined: %s", said)
	}
	done := b.archive("asked-two", plain) // a client that may not ask: the person in the app is asked
	b.types("n\n")
	if code := <-done; code != refusal.NotPermitted {
		b.t.Errorf("%q", code)
	}
	lines := b.audited(func(e map[string]any) bool { return e["caller"] == "asker" && e["rule"] == "elicit" })
	if len(lines) < 6 || lines[0]["phase"] != "held" {
		b.t.Errorf("the log has %v", lines)
	}
}

// through asks for a task to be archived by a client that can ask its person, and returns what it is to ask, and all that
// it was answered.
func (b *built) through(token, task, state, action string) (next, said string) {
	b.t.Helper()
	more := ""
	if state != "" {
		more = fmt.Sprintf(`,"requestState":%q,"inputResponses":{"confirm":{"action":%q,"content":{"allow":%v}}}`, state, action, action == "accept")
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"task_archive","arguments":{"task":%q}%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`, task, more)
	request, err := http.NewRequest(http.MethodPost, b.url, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer " + token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "task_archive",
	} {
		request.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	var out struct {
		Result struct {
			State string `json:"requestState"`
		} `json:"result"`
	}
	if err := json.Unmarshal(text, &out); err != nil {
		b.t.Fatal(err)
	}
	return out.Result.State, string(text)
}

// auditCases are about the record of what was decided.
var auditCases = []boundaryCase{
	{"first", func(b *built) {
		small := b.t.TempDir()
		if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", small).CombinedOutput(); err != nil {
			b.t.Skipf("needs the right to mount a small file system: %v: %s", err, out)
		}
		full := &built{rig: newRigIn(b.t, filepath.Join(small, "data"))}
		defer func() {
			if err := full.stop(); err != nil {
				b.t.Errorf("stop: %v", err)
			}
			if out, err := exec.Command("umount", "-l", small).CombinedOutput(); err != nil {
				b.t.Errorf("umount: %v: %s", err, out)
			}
		}()
		if err := full.stop(); err != nil {
			b.t.Fatal(err)
		}
		full.startBuilt()
		full.must("settings_set", `{"key":"checkouts.dir","value":%q}`, b.t.TempDir())
		full.task("typed", "test", "")
		full.rig.wait("typed")
		full.must("task_send", `{"task":"typed","text":"say before"}`) // the twin
		full.rig.wait("typed")
		fill(b.t, filepath.Join(small, "fill"))
		// The log has a piece of the disk already, which reads use up.
		for n, err := 0, error(nil); err == nil; n++ {
			if _, err = full.try("project_list", `{}`); n > 1000 {
				b.t.Fatal("the log never ends")
			}
		}
		full.refused(refusal.StorageFailed, "task_send", `{"task":"typed","text":"say after"}`)
		if err := os.Remove(filepath.Join(small, "fill")); err != nil {
			b.t.Fatal(err)
		}
		if text := full.text("typed"); strings.Contains(text, "after") || !strings.Contains(text, "before") {
			b.t.Errorf("it was done all the same:\n%s", text)
		}
	}},
	{"chain", func(b *built) {
		if got := b.must("audit_verify", `{}`); got["outcome"] != "whole" {
			b.t.Fatalf("twin: %v", got)
		}
		files, err := filepath.Glob(filepath.Join(b.dir, "audit", "audit-*.jsonl"))
		if err != nil || len(files) == 0 {
			b.t.Fatal(files, err)
		}
		before := readFile(b.t, files[0])
		changed := strings.Replace(before, `"project_add"`, `"project_bad"`, 1)
		if changed == before {
			b.t.Fatal("nothing to change")
		}
		if err := os.WriteFile(files[0], []byte(changed), 0o600); err != nil {
			b.t.Fatal(err)
		}
		if got := b.must("audit_verify", `{}`); got["outcome"] != "broken" {
			b.t.Errorf("%v", got)
		}
	}},
}
