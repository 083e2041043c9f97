package app

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// orchestra is an app with the control plane on and one caged orchestrator in it.
func orchestra(t *testing.T, more string) *rig {
	t.Helper()
	r := newRig(t)
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	r.cagedTask("lead", more)
	if got := r.wait("lead"); got != "idle" {
		t.Fatalf("the orchestrator is %s:\n%s", got, r.text("lead"))
	}
	return r
}

// tell gives a caged agent a script and returns what its terminal showed of it, in one line: the terminal breaks
// lines where it likes.
func (r *rig) tell(task string, lines ...string) string {
	r.t.Helper()
	mark := fmt.Sprintf("end-of-script-%d", len(r.text(task)))
	script := strings.Join(append(lines, "say "+mark), "\n")
	r.must("task_send", `{"task":%q,"text":%q}`, task, script)
	r.wait(task)
	text := r.text(task)
	if i := strings.LastIndex(text, fmt.Sprintf("prompt: %d bytes", len(script))); i >= 0 {
		text = text[i:]
	}
	flat := strings.ReplaceAll(text, "\n", "")
	if !strings.Contains(flat, mark) {
		r.t.Fatalf("the script of %s did not end:\n%s\nlog:\n%s", task, text, r.log)
	}
	return flat
}

// TestACagedOrchestratorRunsItsWorkers is the main promise: through its one port a caged agent makes caged workers,
// sends, waits, reads their diffs and logs, and closes what it opened.
func TestACagedOrchestratorRunsItsWorkers(t *testing.T) {
	r := orchestra(t, `,"mcp":true`)
	for _, name := range []string{"w1", "w2", "w3"} {
		if got := r.tell("lead", fmt.Sprintf(`let w = call task_new {"name":%q,"agent":"test","mcp":false}`, name), "say made $w.task.branch $w.task.cage"); !strings.Contains(got, "termic/t-") || !strings.Contains(got, "/"+name+" enforce") {
			t.Fatalf("%s: %s\nlog:\n%s", name, got, r.log)
		}
	}
	got := r.tell("lead",
		`let s = call task_send {"task":"w1","text":"write result.txt made by a worker\nsay worker says hello"}`,
		`let o = call task_wait {"task":"w1","timeoutMs":30000}`, `say outcome $o.outcome`,
		`let l = call task_log {"task":"w1"}`, `say log $l.text`,
		`let b = call task_tab {"task":"w2","agent":"shell","name":"side"}`, `say tab $b.tab.name`,
		`call task_tab_close {"task":"w2","tab":"side"}`,
		`let me = call task_status {}`, `say left $me.grant.left.children of $me.grant.scope`,
		`tools`)
	for _, want := range []string{"outcome done", "worker says hello", "tab side", "task_tab_close -> {}", "left 5 of scoped"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in: %s", want, got)
		}
	}
	if strings.Contains(got, "task_archive") || strings.Contains(got, "task_list") {
		t.Errorf("tools of full callers: %s", got)
	}
	if t.Failed() {
		t.Logf("log:\n%s", r.log)
	}
}

// refusedInside makes calls from inside a cage, each of which has to fail with its code, and returns what the agent saw.
func (r *rig) refusedInside(task string, calls map[string]string) string {
	r.t.Helper()
	var list, script []string
	for call := range calls {
		script = append(script, fmt.Sprintf("say <%d>", len(list)), "call "+call)
		list = append(list, call)
	}
	seen := r.tell(task, append(script, fmt.Sprintf("say <%d>", len(list)))...)
	for i, call := range list {
		_, rest, _ := strings.Cut(seen, fmt.Sprintf("<%d>", i))
		got, _, _ := strings.Cut(rest, fmt.Sprintf("<%d>", i+1))
		if found := toolError.FindStringSubmatch(got); found == nil || found[2] != calls[call] {
			r.t.Errorf("%s: want %s, got: %s", call, calls[call], got)
		}
	}
	return seen
}

var toolError = regexp.MustCompile(`([a-z_]+) -> error.*?(not_found|exceeds_grant|not_permitted|bad_input|conflict|unknown tool)`)

// TestTheOrchestratorIsRefusedOnEachAxis asks for a wider worker on each axis, and then for what is not its own.
func TestTheOrchestratorIsRefusedOnEachAxis(t *testing.T) {
	r := orchestra(t, `,"mcp":true,"hosts":["api.example.com:443"]`)
	r.task("outsider", "test", "")
	status := r.must("task_status", `{"task":"outsider"}`)
	id := status["task"].(map[string]any)["id"].(string)
	r.refusedInside("lead", map[string]string{
		`task_new {"name":"x1","cage":"off"}`:                               "exceeds_grant",
		`task_new {"name":"x2","cage":"enforce-fs"}`:                        "exceeds_grant",
		`task_new {"name":"x3","hosts":["evil.example.org:443"]}`:           "exceeds_grant",
		`task_new {"name":"x4","read":["/srv"]}`:                            "exceeds_grant",
		`task_new {"name":"x5","write":["/srv"]}`:                           "exceeds_grant",
		`task_new {"name":"x6","env":["AWS_SECRET_ACCESS_KEY"]}`:            "exceeds_grant",
		`task_new {"name":"x7","projects":["other"]}`:                       "not_found",
		`task_new {"name":"x8","project":"other"}`:                          "not_found",
		`task_new {"name":"x9","live":true}`:                                "not_permitted",
		`task_new {"agent":"test","name":"xf","fetch":true}`:                "not_permitted",
		`task_new {"agent":"test","name":"x10","base":"refs/heads/secret"}`: "not_found",
		`task_new {"agent":"test","name":"X11"}`:                            "bad_input",
		`task_send {"task":"outsider","text":"touch owned"}`:                "not_found",
		fmt.Sprintf(`task_send {"task":%q,"text":"touch owned"}`, id):       "not_found",
		fmt.Sprintf(`task_log {"task":%q}`, id):                             "not_found",
		fmt.Sprintf(`task_diff {"task":%q}`, id):                            "not_found",
		fmt.Sprintf(`task_status {"task":%q}`, id):                          "not_found",
		`task_tab_close {"task":"lead","tab":"test"}`:                       "not_permitted",
		`task_archive {"task":"lead"}`:                                      "unknown tool",
		`cage_edit {"task":"lead","cage":"off"}`:                            "unknown tool",
		`settings_set {"key":"mcp.enabled","value":"true"}`:                 "unknown tool",
	})
	if got := r.tell("lead", `call task_new {"name":"twin","agent":"test","hosts":["api.example.com:443"],"mcp":false}`); toolError.MatchString(got) {
		t.Errorf("twin: %s\nlog:\n%s", got, r.log)
	}
	if strings.Contains(r.text("outsider"), "owned") {
		t.Error("text reached the outsider")
	}
}

// TestAWidenedWorkerIsOutOfReach: the person widens a worker's cage, and its maker can no longer put text into it or
// read from it; it still sees that it is there.
func TestAWidenedWorkerIsOutOfReach(t *testing.T) {
	r := orchestra(t, `,"mcp":true`)
	if got := r.tell("lead", `call task_new {"name":"w1","agent":"test","mcp":false}`); toolError.MatchString(got) {
		t.Fatalf("%s\nlog:\n%s", got, r.log)
	}
	if got := r.tell("lead", `call task_log {"task":"w1"}`); toolError.MatchString(got) {
		t.Errorf("twin: %s", got)
	}
	r.must("cage_edit", `{"task":"w1","hosts":["person.example.org:443"],"confirm":true}`)
	seen := r.refusedInside("lead", map[string]string{
		`task_send {"task":"w1","text":"say owned"}`: "exceeds_grant",
		`task_log {"task":"w1"}`:                     "exceeds_grant",
		`task_wait {"task":"w1","timeoutMs":1}`:      "exceeds_grant",
		`task_diff {"task":"w1"}`:                    "exceeds_grant",
		`task_tab {"task":"w1"}`:                     "exceeds_grant",
	})
	if strings.Contains(seen, "person.example.org") {
		t.Errorf("a refusal tells what the person allowed: %s", seen)
	}
	if got := r.tell("lead", `let s = call task_status {"task":"w1"}`, `say sees $s.task.name`); !strings.Contains(got, "sees w1") || strings.Contains(got, "person.example.org") {
		t.Errorf("%s", got)
	}
}

// TestWhereATabIsToldToItsOwnTask: the directory that a program reports is content. A caged agent is shown that of its own task's tabs,
// and not that of a task it made: status needs sight alone.
func TestWhereATabIsToldToItsOwnTask(t *testing.T) {
	r := orchestra(t, `,"mcp":true`)
	if got := r.tell("lead", `call task_new {"name":"w1","agent":"test","mcp":false}`); toolError.MatchString(got) {
		t.Fatalf("%s\nlog:\n%s", got, r.log)
	}
	for _, task := range []string{"lead", "w1"} {
		r.must("task_tab", `{"task":%q,"agent":"shell","name":"side"}`, task)
		r.must("task_send", `{"task":%q,"tab":"side","text":%q}`, task, `printf '\033]7;file://%s/place-of-`+task+`\a' "$PWD"; echo reported-$((40+2))`)
		r.must("task_wait", `{"task":%q,"tab":"side","timeoutMs":30000}`, task)
		if status := fmt.Sprint(r.must("task_status", `{"task":%q}`, task)); !strings.Contains(status, "dir:place-of-"+task) {
			t.Fatalf("the person is not told where it is: %s", status)
		}
	}
	if got := r.tell("lead", `call task_status {}`); !strings.Contains(got, `"dir":"place-of-lead"`) {
		t.Errorf("its own is not told: %s", got)
	}
	if got := r.tell("lead", `call task_status {"task":"w1"}`); !strings.Contains(got, `"side"`) || strings.Contains(got, "place-of") {
		t.Errorf("another's: %s", got)
	}
}

// TestTheBaseOfAScopedCallerIsItsOwn: the default branch and its own branches; another's branch or commit is answered
// like one that is not there.
func TestTheBaseOfAScopedCallerIsItsOwn(t *testing.T) {
	r := orchestra(t, `,"mcp":true`)
	runGit(t, "-C", r.repo, "checkout", "-q", "-b", "secret")
	runGit(t, "-C", r.repo, "commit", "-q", "--allow-empty", "-m", "secret")
	out, err := exec.Command("git", "-C", r.repo, "rev-parse", "secret").Output()
	if err != nil {
		t.Fatal(err)
	}
	commit := strings.TrimSpace(string(out))
	runGit(t, "-C", r.repo, "checkout", "-q", "main")
	seen := r.refusedInside("lead", map[string]string{
		`task_new {"agent":"test","name":"s1","base":"secret"}`:                    "not_found",
		`task_new {"agent":"test","name":"s2","base":"refs/heads/secret"}`:         "not_found",
		fmt.Sprintf(`task_new {"agent":"test","name":"s3","base":%q}`, commit):     "not_found",
		fmt.Sprintf(`task_new {"agent":"test","name":"s4","base":%q}`, commit[:8]): "not_found",
		`task_new {"agent":"test","name":"s5","base":"no-such-branch"}`:            "not_found",
		`task_new {"agent":"test","name":"s6","base":"HEAD~0"}`:                    "not_found",
	})
	if n := strings.Count(seen, "no such branch or commit"); n != 6 {
		t.Errorf("%d of 6 answers are the same: %s", n, seen)
	}
	if got := r.tell("lead", `call task_new {"agent":"test","name":"d1","base":"main","mcp":false}`, `call task_new {"agent":"test","name":"d2","base":"termic/lead","mcp":false}`); toolError.MatchString(got) {
		t.Errorf("twin: %s\nlog:\n%s", got, r.log)
	}
}

// TestWhatAnAgentNeedsIsItsMakersToo: an agent brings the hosts that it needs, and a task that comes to more by them than
// its maker has is refused, though nothing more was asked for.
func TestWhatAnAgentNeedsIsItsMakersToo(t *testing.T) {
	r := newRig(t)
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	programs := t.TempDir()
	if err := os.Symlink(testAgent, filepath.Join(programs, "claude")); err != nil {
		t.Fatal(err)
	}
	r.environ = append(r.environ[1:], "PATH="+programs+":"+os.Getenv("PATH"))
	r.start()
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	r.cagedTask("narrow", `,"mcp":true`)
	r.cagedTask("wide", `,"mcp":true,"hosts":["api.anthropic.com"]`)
	r.wait("narrow")
	r.wait("wide")
	const call = `task_new {"name":"kid","agent":"claude","mcp":false}`
	seen := r.refusedInside("narrow", map[string]string{call: "exceeds_grant", `task_new {"name":"kid2","agent":"claude","hosts":[]}`: "exceeds_grant"})
	if !strings.Contains(seen, "api.anthropic.com:443") {
		t.Errorf("the refusal does not say what is too much: %s", seen)
	}
	if got := r.tell("wide", "call "+call); toolError.MatchString(got) {
		t.Errorf("twin: %s", got)
	}
	if got := r.tell("narrow", `call task_new {"name":"kid3","agent":"test","mcp":false}`); toolError.MatchString(got) {
		t.Errorf("twin: another agent: %s", got)
	}
}

// TestARepositorysSettingsNarrowWhatIsInherited: the project's file takes from a worker what it has by its maker, and never
// adds; what its maker asked for by name it has.
func TestARepositorysSettingsNarrowWhatIsInherited(t *testing.T) {
	r := orchestra(t, `,"mcp":true,"hosts":["a.example.org","b.example.org"]`)
	r.commitRepo("hosts = [\"a.example.org\", \"evil.example.org\"]\n")
	for name, c := range map[string]struct{ ask, want string }{
		"inherits": {"", "[a.example.org:443]"},
		"asks":     {`,"hosts":["b.example.org"]`, "[b.example.org:443]"},
		"none":     {`,"hosts":[]`, "<nil>"},
	} {
		if got := r.tell("lead", fmt.Sprintf(`call task_new {"name":%q,"agent":"test","mcp":false%s}`, name, c.ask)); toolError.MatchString(got) {
			t.Fatalf("%s: %s", name, got)
		}
		if got := fmt.Sprint(r.must("task_status", `{"task":%q}`, name)["task"].(map[string]any)["hosts"]); got != c.want {
			t.Errorf("%s has %s, want %s", name, got, c.want)
		}
	}
	r.refusedInside("lead", map[string]string{`task_new {"name":"evil","agent":"test","hosts":["evil.example.org"]}`: "exceeds_grant"})
}
