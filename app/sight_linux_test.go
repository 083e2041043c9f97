package app

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"termic/registry"
	"termic/registry/verbs"
)

// ownWords are arguments in which a caller names nothing: they reach an agent, or are kept, as they are.
var ownWords = []string{
	"task_send.text", "task_send.key", "task_broadcast.text", "task_broadcast.key", "task_new.name", "task_new.prompt", "task_new.key", "task_new.confirm",
	"task_tab.name",
}

// leastCalls are arguments with which a caged caller may make each call for its own task, apart from the one that is tried. They
// are as many as it takes to reach what looks that one up, and as few as change nothing.
var leastCalls = map[string]string{
	"task_agents": `{}`, "prompts": `{}`, "task_status": `{}`, "task_send": `{"task":"spy","text":":"}`, "task_wait": `{"task":"spy","timeoutMs":0}`, "task_log": `{"task":"spy","lines":1}`,
	"task_result": `{"task":"spy"}`, "task_diff": `{"task":"spy"}`, "task_tab": `{"task":"spy","agent":"none"}`, "task_tab_close": `{"task":"spy","tab":"shell"}`,
	"task_broadcast": `{"targets":["spy"],"text":":"}`, "task_new": `{"name":"kid","agent":"none","mcp":false}`,
	"task_new.base": `{"name":"kid","agent":"shell","mcp":false}`, // which is looked for where all else is right
}

// TestNoArgumentTellsWhatIsHidden gives every argument of every tool of a caged caller the names of things that are there
// and hidden from it, and names of the same form of things that are not: what it is answered is the same. This is the
// running program, so it covers what handlers look up themselves; a tool or an argument that comes is in it by itself.
func TestNoArgumentTellsWhatIsHidden(t *testing.T) {
	r := newRig(t)
	other := filepath.Join(filepath.Dir(r.repo), "other")
	newRepository(t, other)
	hiddenProject := r.must("project_add", `{"path":%q}`, other)["project"].(map[string]any)["id"].(string)
	put(t, "secret prompt\n", r.dir, "prompts", "private.md")
	runGit(t, "-C", r.repo, "branch", "secret")
	runGit(t, "-C", r.repo, "worktree", "add", "-q", "--detach", filepath.Join(t.TempDir(), "w"), "secret")
	commit := runGit(t, "-C", r.repo, "commit-tree", "-m", "hidden", "main^{tree}")
	outsider := r.task("outsider", "test", "")
	r.wait("outsider")
	r.must("task_send", `{"task":"outsider","text":"work 600s"}`)
	text := r.must("task_send", `{"task":"outsider","text":"say queued"}`)["text"].(string)
	gone := r.task("gone", "shell", "")
	r.must("task_archive", `{"task":"gone","force":true}`)
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	r.must("task_new", `{"name":"spy","project":"demo","agent":"shell","cage":"enforce-fs","mcp":true}`)
	r.wait("spy")
	r.inside("spy", `printf %s "$TERMIC_MCP_TOKEN" > own.txt`)
	token := readFile(t, filepath.Join(r.must("task_status", `{"task":"spy"}`)["task"].(map[string]any)["path"].(string), "own.txt"))
	tab := outsider["tabs"].([]any)[0].(map[string]any)["id"].(string)

	hidden := []string{
		"outsider", outsider["id"].(string), "demo/outsider", "outs", "gone", gone["id"].(string), tab, "spy:" + tab, "other", hiddenProject,
		"secret", "refs/heads/secret", "termic/outsider", commit, "private", text, "/etc/passwd", r.dir + "/cli-token",
	}
	pairs := [][2]string{{beside("outsider") + ":test", "outsider:test"}}
	for _, name := range hidden {
		pairs = append(pairs, [2]string{beside(name), name})
	}
	spy := registry.Caller{Way: registry.MCP, Scope: registry.Scoped}
	tried := 0
	for _, verb := range verbs.All() {
		if !verb.Audience.Includes(spy.Way, spy.Scope) {
			continue
		}
		least, ok := leastCalls[verb.Name]
		if !ok {
			t.Errorf("%s: no arguments are known with which a caged caller may call it: say which", verb.Name)
			continue
		}
		for name, property := range verb.InSchema().Properties {
			list := property.Type == "array"
			if property.Type != "string" && !list || len(property.Enum) > 0 || slices.Contains(ownWords, verb.Name+"."+name) {
				continue
			}
			given := cmp.Or(leastCalls[verb.Name+"."+name], least)
			for _, pair := range pairs {
				var answers [2]string
				for i, selector := range pair {
					arguments := map[string]any{}
					if err := json.Unmarshal([]byte(given), &arguments); err != nil {
						t.Fatal(err)
					}
					if arguments[name] = selector; list {
						arguments[name] = []string{selector}
					}
					answers[i] = strings.ReplaceAll(r.answered(token, verb.Name, arguments), selector, "<name>")
				}
				if answers[0] != answers[1] {
					t.Errorf("%s: %s: %q is answered %s, and %q %s", verb.Name, name, pair[0], answers[0], pair[1], answers[1])
				}
				tried++
			}
		}
	}
	if tried < 500 {
		t.Errorf("only %d pairs were tried", tried)
	}
	for call, want := range map[string]string{`{"task":"spy"}`: "spy", `{"task":"outsider"}`: "no such task"} {
		var arguments map[string]any
		if err := json.Unmarshal([]byte(call), &arguments); err != nil {
			t.Fatal(err)
		}
		if got := r.answered(token, "task_status", arguments); !strings.Contains(got, want) {
			t.Errorf("twin: task_status %s: %s", call, got)
		}
	}
}

// beside returns a name of the same length and form that names nothing: its last characters are others of their kind.
func beside(name string) string {
	other := []byte(name)
	for i := len(other) - min(3, len(other)); i < len(other); i++ {
		other[i] = strings.NewReplacer("f", "a", "z", "y", "7", "2", "9", "8", "1", "0").Replace(string(other[i]))[0]
		if other[i] == name[i] {
			other[i]++
		}
	}
	return string(other)
}

// eachTime are parts of an answer that differ each time: ids of requests and texts, and times.
var eachTime = regexp.MustCompile(`\b[rx]-[0-9a-z]{16}|"(since|at|ms)":("[^"]*"|[0-9]+)`)

// answered makes a call over the endpoint and returns all that its caller is told, without what differs each time.
func (r *rig) answered(token, verb string, arguments map[string]any) string {
	r.t.Helper()
	raw, err := json.Marshal(arguments)
	if err != nil {
		r.t.Fatal(err)
	}
	told, err := toldOver(r.url(), token, verb, string(raw))
	if err != nil {
		r.t.Fatalf("%s %s: %v", verb, raw, err)
	}
	return fmt.Sprint(eachTime.ReplaceAllString(string(told), "<id>"))
}
