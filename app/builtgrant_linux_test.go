package app

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"termic/registry/refusal"
)

// grantCases are about what a caller with a token may do.
var grantCases = []boundaryCase{
	{"scope", func(b *built) {
		b.lead("lead", "")
		b.task("outsider", "test", "")
		b.refusedInside("lead", map[string]string{`task_list {}`: "unknown tool", `cage_edit {"task":"lead","cage":"off"}`: "unknown tool", `hold_answer {}`: "unknown tool"})
		b.allowed("lead", `task_agents {}`)
	}},
	{"sight", func(b *built) {
		b.refusedInside("lead", map[string]string{`task_status {"task":"outsider"}`: "not_found", `task_send {"task":"outsider","text":"say owned"}`: "not_found", `task_log {"task":"outsider"}`: "not_found"})
		b.allowed("lead", `task_status {"task":"lead"}`)
	}},
	{"projects", func(b *built) {
		b.refusedInside("lead", map[string]string{`task_new {"name":"p1","project":"other","agent":"test"}`: "not_found"})
		b.allowed("lead", `task_new {"name":"p2","project":"demo","agent":"test","mcp":false}`)
	}},
	{"child", func(b *built) {
		b.refusedInside("lead", map[string]string{
			`task_new {"name":"c1","agent":"test","cage":"off"}`:                     "exceeds_grant",
			`task_new {"name":"c2","agent":"test","cage":"enforce-fs"}`:              "exceeds_grant",
			`task_new {"name":"c3","agent":"test","hosts":["evil.example.org:443"]}`: "exceeds_grant",
			`task_new {"name":"c4","agent":"test","read":["/srv"]}`:                  "exceeds_grant",
			`task_new {"name":"c5","agent":"test","env":["HOME_SECRET"]}`:            "exceeds_grant",
			`task_new {"name":"c7","agent":"test","write":["/srv"]}`:                 "exceeds_grant",
			`task_new {"name":"c8","agent":"test","projects":["other"]}`:             "not_found",
			`task_new {"name":"c9","agent":"test","live":true}`:                      "not_permitted",
		})
		b.allowed("lead", `task_new {"name":"c6","agent":"test","cage":"enforce","mcp":false}`)
	}},
	{"tabs", func(b *built) {
		b.refusedInside("lead", map[string]string{`task_tab_close {"task":"lead","tab":"test"}`: "not_permitted"})
		b.allowed("lead", `task_tab_close {"task":"c6","tab":"test"}`)
	}},
	{"base", func(b *built) {
		runGit(b.t, "-C", b.repo, "branch", "secret")
		b.refusedInside("lead", map[string]string{
			`task_new {"agent":"test","name":"s1","base":"secret"}`: "not_found",
			`task_new {"agent":"test","name":"s2","base":"HEAD~0"}`: "not_found",
		})
		b.allowed("lead", `task_new {"agent":"test","name":"d1","base":"main","mcp":false}`)
	}},
	{"limit", limitCase},
	{"narrowed", func(b *built) {
		b.lead("shrinking", `,"hosts":["example.org","example.com"]`)
		b.allowed("shrinking", `task_new {"name":"heir","agent":"test","mcp":false}`)
		b.must("cage_edit", `{"task":"shrinking","hosts":["example.net"],"confirm":true}`)
		if got := fmt.Sprint(b.flag("heir", "hosts")); got != "[example.com:443 example.org:443]" {
			b.t.Errorf("twin: more for the maker changed the worker: %s", got)
		}
		no := b.refused(refusal.Conflict, "cage_edit", `{"task":"shrinking","drop":["example.org:443"]}`)
		if !strings.Contains(no.Reason, "heir") {
			b.t.Errorf("who loses is not said: %+v", no)
		}
		b.must("cage_edit", `{"task":"shrinking","drop":["example.org:443"],"confirm":true}`)
		if got := fmt.Sprint(b.flag("heir", "hosts")); got != "[example.com:443]" {
			b.t.Errorf("the worker has %s", got)
		}
	}},
	{"queue", queueCase},
	{"ceiling", func(b *built) {
		b.must("client_add", `{"client":"reader","other":true,"ceiling":"read"}`)
		for verb, want := range map[string]refusal.Code{"task_rename": refusal.NotPermitted, "task_list": ""} {
			arguments := map[string]string{"task_rename": `{"task":"outsider","name":"renamed"}`, "task_list": `{}`}[verb]
			if code, err := callOver(b.url, b.secret("clients/reader.token"), verb, arguments); err != nil || code != want {
				b.t.Errorf("%s: %q, %v", verb, code, err)
			}
		}
		b.must("client_add", `{"client":"reader","other":true,"ceiling":"write"}`)
		if code, err := callOver(b.url, b.secret("clients/reader.token"), "task_rename", `{"task":"outsider","name":"renamed"}`); err != nil || code != "" {
			b.t.Errorf("twin: %q, %v", code, err)
		}
		b.must("task_rename", `{"task":"renamed","name":"outsider"}`)
	}},
	{"budget", func(b *built) {
		b.lead("spender", "")
		b.must("task_budget", `{"task":"spender","children":1}`)
		b.allowed("spender", `task_new {"name":"b1","agent":"test","mcp":false}`)
		b.refusedInside("spender", map[string]string{`task_new {"name":"b2","agent":"test","mcp":false}`: "exceeds_grant"})
	}},
}

// limitCase widens a worker: its maker may then do nothing of what it may do to one as it made it.
func limitCase(b *built) {
	b.allowed("lead", `task_new {"name":"kept","agent":"test","mcp":false}`)
	b.allowed("lead", `task_new {"name":"widened","agent":"test","mcp":false}`)
	b.must("cage_edit", `{"task":"widened","hosts":["person.example.org:443"],"confirm":true}`)
	b.rig.wait("widened")
	refused := map[string]string{}
	for _, call := range []string{
		`task_send {"task":%q,"text":"say hello"}`, `task_wait {"task":%q,"timeoutMs":20000}`, `task_log {"task":%q}`, `task_diff {"task":%q}`, `task_result {"task":%q}`,
		`task_tab {"task":%q,"agent":"shell","name":"more"}`, `task_tab_close {"task":%q,"tab":"more"}`,
	} {
		b.allowed("lead", fmt.Sprintf(call, "kept"))
		if !strings.HasPrefix(call, "task_tab_close") { // whose tab is not even opened
			refused[fmt.Sprintf(call, "widened")] = "exceeds_grant"
		}
	}
	refused[`task_tab_close {"task":"widened","tab":"test"}`] = "exceeds_grant"
	if seen := b.refusedInside("lead", refused); strings.Contains(seen, "person.example.org") {
		b.t.Errorf("a refusal tells what the person allowed: %s", seen)
	}
	b.allowed("lead", `task_status {"task":"widened"}`)
}

// queueCase has a text wait in a queue while its sender's grant ends.
func queueCase(b *built) {
	for name, revoke := range map[string]bool{"patient": false, "revoked": true} {
		b.lead(name, "")
		b.allowed(name, fmt.Sprintf(`task_new {"name":"busy-%s","agent":"test","mcp":false}`, name))
		worker := "busy-" + name
		b.rig.wait(worker)
		got := b.tell(name, fmt.Sprintf(`call task_send {"task":%q,"text":"work 6s"}`, worker),
			fmt.Sprintf(`let s = call task_send {"task":%q,"text":"write queued.txt owned"}`, worker), "say second $s.delivery")
		if !strings.Contains(got, "second queued") {
			b.t.Fatalf("%s: %s", name, got)
		}
		if revoke {
			b.revokeTask(name)
		}
		b.until("the worker is done", func() bool { return b.rig.wait(worker) == "done" || revoke })
		path := filepath.Join(b.flag(worker, "path").(string), "queued.txt")
		if !revoke {
			b.until("twin: the queued text arrives", func() bool { _, err := os.Stat(path); return err == nil })
			continue
		}
		b.must("task_send", `{"task":%q,"text":"write later.txt x"}`, worker) // which is queued after it
		b.until("a later text arrives", func() bool { _, err := os.Stat(filepath.Join(filepath.Dir(path), "later.txt")); return err == nil })
		if _, err := os.Stat(path); err == nil {
			b.t.Error("the text of a revoked sender was delivered")
		}
	}
}

// revokeTask ends the grant of a task.
func (b *built) revokeTask(name string) {
	b.t.Helper()
	for _, g := range b.must("grant_list", `{}`)["grants"].([]any) {
		if g := g.(map[string]any); g["task_name"] == name {
			b.must("grant_revoke", `{"grant":%q}`, g["id"])
			return
		}
	}
	b.t.Fatalf("%s holds no grant", name)
}

// endCases take the control plane away, so they come last.
var endCases = []boundaryCase{
	{"revoked", func(b *built) {
		for _, g := range b.must("grant_list", `{}`)["grants"].([]any) {
			if g := g.(map[string]any); g["holder"] == "client" {
				b.status(http.StatusOK, nil)
				b.must("grant_revoke", `{"grant":%q}`, g["id"])
			}
		}
		b.status(http.StatusUnauthorized, nil)
		b.must("settings_set", `{"key":"mcp.enabled","value":"false"}`)
		b.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
		b.advertised()
	}},
	{"stop", func(b *built) {
		b.status(http.StatusOK, nil)
		b.must("control_stop", `{}`)
		b.status(0, nil)
		b.refused(refusal.NotFound, "grant_revoke", `{"grant":"g-none"}`) // the command line goes on
	}},
}
