package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termic/registry/refusal"
)

// commitRepo commits a .termic.toml to the project's default branch.
func (r *rig) commitRepo(text string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.repo, ".termic.toml"), []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
	runGit(r.t, "-C", r.repo, "add", ".termic.toml")
	runGit(r.t, "-C", r.repo, "commit", "-qm", "settings")
}

// repository is what project settings say of it.
func (r *rig) repository() map[string]any {
	r.t.Helper()
	return r.must("project_settings", `{"project":"demo"}`)["repository"].(map[string]any)
}

// newRigWithPerson is newRig with somebody at the terminal that started the app.
func newRigWithPerson(t *testing.T) (*rig, *person) {
	t.Helper()
	r := newRig(t)
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	p := r.sit()
	r.start()
	return r, p
}

// types types a line at the terminal and waits for an answer.
func (p *person) types(t *testing.T, line, want string) {
	t.Helper()
	if _, err := p.keys.Write([]byte(line + "\n")); err != nil {
		t.Fatal(err)
	}
	p.see(t, want, nil)
}

// trust answers at the terminal.
func (p *person) trust(t *testing.T, digest any) {
	t.Helper()
	p.types(t, "trust demo "+digest.(string), "trusted: demo")
}

// TestARepositorysCommandsRunOnlyAsTrusted is the detour by which whoever can commit would have what they wrote run.
func TestARepositorysCommandsRunOnlyAsTrusted(t *testing.T) {
	r, p := newRigWithPerson(t)
	r.commitRepo("setup = [\"echo made > made.txt\", \"echo again >> made.txt\"]\nrun = \"echo it-runs\"\n")
	made := r.must("task_new", `{"name":"first","agent":"shell"}`)
	note, _ := made["setup"].(string)
	shown(t, note, "not run", "trusted")
	r.refused(refusal.Unconfirmed, "task_run", `{"task":"first"}`)
	r.refused(refusal.Unconfirmed, "task_run", `{"task":"first","what":"setup"}`)
	tree := made["task"].(map[string]any)
	// Trust is for the committed file: what a task writes is nothing that anybody trusted, or that is read.
	r.put(tree, ".termic.toml", "setup = \"echo planted > planted.txt\"\n")
	r.refused(refusal.UnknownVerb, "trust_answer", `{"project":"demo","digest":%q,"trust":true}`, r.repository()["digest"]) // no command line
	p.types(t, "trust demo 0000", "not the one that was shown")

	p.trust(t, r.repository()["digest"]) // the twin
	second := r.must("task_new", `{"name":"second","agent":"shell"}`)
	if note := second["setup"]; note != nil {
		t.Errorf("trusted, and %v", note)
	}
	if got := r.must("task_log", `{"task":"second","tab":"setup","lines":100}`); got == nil {
		t.Error("no setup tab")
	}
	r.must("task_wait", `{"task":"second","tab":"setup","timeoutMs":20000}`)
	path := filepath.Join(second["task"].(map[string]any)["path"].(string), "made.txt")
	if text, err := os.ReadFile(path); string(text) != "made\nagain\n" {
		log := r.must("task_log", `{"task":"second","tab":"setup"}`)
		t.Errorf("setup made %q %v; it shows %v", text, err, log["text"])
	}
	r.must("task_run", `{"task":"first"}`)

	// Another content is asked about again; what was trusted stays so.
	r.commitRepo("setup = \"echo other > made.txt\"\n")
	third := r.must("task_new", `{"name":"third","agent":"shell"}`)
	note, _ = third["setup"].(string)
	shown(t, note, "not run")
	r.refused(refusal.NotFound, "task_run", `{"task":"third"}`)
	if r.repository()["trusted"] == true {
		t.Error("another content is trusted")
	}
	p.types(t, "distrust demo "+r.repository()["digest"].(string), "distrusted: demo")
	r.commitRepo("setup = [\"echo made > made.txt\", \"echo again >> made.txt\"]\nrun = \"echo it-runs\"\n")
	if r.repository()["trusted"] != true {
		t.Error("what was trusted is not any more")
	}
}

// TestWhyAProjectsCommandsDoNotRun: each reason has its own remedy, and what is not committed is said to be there.
func TestWhyAProjectsCommandsDoNotRun(t *testing.T) {
	r, p := newRigWithPerson(t)
	r.must("task_new", `{"name":"first","agent":"shell"}`)
	said := func(what string, code refusal.Code, reason, remedy string) {
		t.Helper()
		no := r.refused(code, "task_run", `{"task":"first"}`)
		if !strings.Contains(no.Reason, reason) || !strings.Contains(no.Remedy, remedy) {
			t.Errorf("%s: %s (%s)", what, no.Reason, no.Remedy)
		}
	}
	said("no file", refusal.NotFound, "the project has no run commands", "add them to .termic.toml, and commit it")
	if err := os.WriteFile(filepath.Join(r.repo, ".termic.toml"), []byte("run = \"cat\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if problems := jsonOf(t, r.repository()["problems"]); !strings.Contains(problems, "is not committed on main") {
		t.Errorf("a file that is not committed: %s", problems)
	}
	r.commitRepo("run = \"cat\"\n")
	if problems := r.repository()["problems"]; problems != nil {
		t.Errorf("twin: committed, and %v", problems)
	}
	digest := r.repository()["digest"].(string)
	said("not trusted", refusal.Unconfirmed, "you have not trusted them", "trust demo "+digest)
	p.trust(t, digest)
	r.must("task_run", `{"task":"first"}`)
	said("while they run", refusal.Conflict, "the run commands run already, in the tab run", "close it first")
	r.must("task_tab_close", `{"task":"first","tab":"run"}`)
	r.must("task_run", `{"task":"first"}`)
	r.commitRepo("run = \"cat\"\nrnu = 1\n")
	said("a broken file", refusal.Conflict, `line 2, column 1: there is no key "rnu"`, "correct that file")
}

// The commands run where the task's agent runs: in its cage.
func TestARepositorysCommandsRunInTheTasksCage(t *testing.T) {
	r, p := newRigWithPerson(t)
	secret := filepath.Join(filepath.Dir(r.repo), "home", "secret")
	if err := os.WriteFile(secret, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.commitRepo("setup = \"cat " + secret + " > got.txt; echo tried >> got.txt\"\n")
	p.trust(t, r.repository()["digest"])
	for name, cage := range map[string]string{"caged": "enforce", "open": "off"} {
		made := r.must("task_new", `{"name":%q,"agent":"shell","cage":%q}`, name, cage)["task"].(map[string]any)
		r.must("task_wait", `{"task":%q,"tab":"setup","timeoutMs":20000}`, name)
		text, err := os.ReadFile(filepath.Join(made["path"].(string), "got.txt"))
		if err != nil || !strings.Contains(string(text), "tried") || strings.Contains(string(text), "s3cret") != (cage == "off") {
			t.Errorf("%s: %q %v", name, text, err)
		}
	}
}

func TestARepositorysSettingsOnlyNarrow(t *testing.T) {
	r := newRig(t)
	r.must("project_settings", `{"project":"demo","cage":"enforce","hosts":["a.example.org","b.example.org"]}`)
	r.commitRepo("hosts = [\"a.example.org\", \"evil.example.org\"]\nmcp = true\ncage = \"off\"\nagent = \"test\"\n")
	made := r.must("task_new", `{"name":"first"}`)["task"].(map[string]any)
	hosts, _ := made["hosts"].([]any)
	if len(hosts) != 1 || hosts[0] != "a.example.org:443" || made["cage"] != "enforce" || made["mcp"] == true || made["agent"] != "test" {
		t.Errorf("%v", made)
	}
	got := r.repository()
	wants, _ := got["wants"].([]any)
	if len(wants) != 1 || !strings.Contains(wants[0].(string), "evil.example.org") {
		t.Errorf("wants %v", wants)
	}
	problems, _ := got["problems"].([]any)
	if len(problems) != 2 || !strings.Contains(problems[0].(string), "line 2, column 1: mcp has no effect here") {
		t.Errorf("problems %q", problems)
	}
	// The person's own file wins, and what it runs is theirs.
	mine := got["mine"].(string)
	if err := os.WriteFile(mine, []byte("{\n  // mine\n  \"hosts\": [\"b.example.org\"],\n  \"setup\": \"echo mine > mine.txt\",\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	second := r.must("task_new", `{"name":"second"}`)
	task := second["task"].(map[string]any)
	if hosts, _ := task["hosts"].([]any); len(hosts) != 1 || hosts[0] != "b.example.org:443" || second["setup"] != nil {
		t.Errorf("%v", second)
	}
	r.must("task_wait", `{"task":"second","tab":"setup","timeoutMs":20000}`)
	if text, err := os.ReadFile(filepath.Join(task["path"].(string), "mine.txt")); string(text) != "mine\n" {
		t.Errorf("%q %v", text, err)
	}
	// What is not understood is said, and has no effect at all.
	r.commitRepo("hosts = [\"a.example.org\"]\nsteup = \"make\"\n")
	if err := os.Remove(mine); err != nil {
		t.Fatal(err)
	}
	third := r.must("task_new", `{"name":"third","agent":"test"}`)
	note, _ := third["setup"].(string)
	shown(t, note, `line 2, column 1: there is no key "steup"`)
}
