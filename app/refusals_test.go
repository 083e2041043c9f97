package app

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"termic/registry/refusal"
)

// quoted returns s as JSON.
func quoted(t *testing.T, s string) string {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// bareCommit makes a repository at dir with one empty commit.
func bareCommit(t *testing.T, dir string) string {
	t.Helper()
	runGit(t, "init", "-q", "-b", "main", dir)
	runGit(t, "-C", dir, "commit", "-q", "--allow-empty", "-m", "x")
	return dir
}

func TestProjectsThatCannotBeAdded(t *testing.T) {
	r := newRig(t)
	base := t.TempDir()
	bare := filepath.Join(base, "bare.git")
	runGit(t, "init", "-q", "--bare", bare)
	empty := filepath.Join(base, "empty")
	runGit(t, "init", "-q", empty)
	broken := filepath.Join(base, "broken\nline")
	bareCommit(t, broken)
	for name, c := range map[string]struct {
		path string
		code refusal.Code
	}{
		"no repository":            {base, refusal.BadInput},
		"nothing at all":           {filepath.Join(base, "none"), refusal.BadInput},
		"a bare repository":        {bare, refusal.Unsupported},
		"no commits":               {empty, refusal.BadInput},
		"a line break in the path": {broken, refusal.BadInput},
		"a relative path":          {"some/where", refusal.BadInput},
	} {
		t.Run(name, func(t *testing.T) {
			no := r.refused(c.code, "project_add", `{"path":%s}`, quoted(t, c.path))
			if no.Remedy == "" || strings.Contains(no.Reason, base) {
				t.Errorf("%+v", no)
			}
		})
	}
	for name, path := range map[string]string{
		"twin: spaces and quotes": bareCommit(t, filepath.Join(base, `with space "and" 'quotes'`)),
		"twin: unicode":           bareCommit(t, filepath.Join(base, "größe-日本")),
	} {
		t.Run(name, func(t *testing.T) {
			added := r.must("project_add", `{"path":%s}`, quoted(t, path))["project"].(map[string]any)
			made := r.must("task_new", `{"name":"t","project":%s,"agent":"shell"}`, quoted(t, added["name"].(string)))["task"].(map[string]any)
			if out := runGit(t, "-C", made["path"].(string), "status", "--porcelain"); out != "" {
				t.Errorf("the checkout is not clean: %s", out)
			}
			r.must("task_archive", `{"task":%q,"force":true}`, made["id"])
		})
	}
}

func TestTasksThatCannotBeMadeLeaveNothing(t *testing.T) {
	r := newRig(t)
	r.task("taken", "shell", "")
	runGit(t, "-C", r.repo, "branch", "termic/branch-taken")
	occupied := filepath.Join(r.dir+".checkouts", "demo", "occupied")
	if err := os.MkdirAll(occupied, 0o700); err != nil {
		t.Fatal(err)
	}
	branches := runGit(t, "-C", r.repo, "branch", "--list")
	worktrees := runGit(t, "-C", r.repo, "worktree", "list")
	for name, c := range map[string]struct {
		arguments string
		code      refusal.Code
	}{
		"a slash in the name":           {`{"name":"a/b","agent":"shell"}`, refusal.BadInput},
		"two dots":                      {`{"name":"a..b","agent":"shell"}`, refusal.BadInput},
		"a tilde":                       {`{"name":"a~1","agent":"shell"}`, refusal.BadInput},
		"a caret":                       {`{"name":"a^","agent":"shell"}`, refusal.BadInput},
		"a colon":                       {`{"name":"a:b","agent":"shell"}`, refusal.BadInput},
		"a leading hyphen":              {`{"name":"-a","agent":"shell"}`, refusal.BadInput},
		"a name that is taken":          {`{"name":"taken","agent":"shell"}`, refusal.Conflict},
		"the same in capitals":          {`{"name":"TAKEN","agent":"shell"}`, refusal.Conflict},
		"a branch that is taken":        {`{"name":"branch-taken","agent":"shell"}`, refusal.Conflict},
		"a directory that is there":     {`{"name":"occupied","agent":"shell"}`, refusal.Conflict},
		"no such base":                  {`{"name":"t","agent":"shell","base":"none"}`, refusal.NotFound},
		"a base that is an option":      {`{"name":"t","agent":"shell","base":"--help"}`, refusal.BadInput},
		"no such agent":                 {`{"name":"t","agent":"none"}`, refusal.NotFound},
		"an agent that is not there":    {`{"name":"t","agent":"opencode"}`, refusal.NotFound},
		"no such project":               {`{"name":"t","agent":"shell","project":"none"}`, refusal.NotFound},
		"a mode that there is not":      {`{"name":"t","agent":"shell","cage":"sealed"}`, refusal.BadInput},
		"a caged live checkout":         {`{"name":"t","agent":"shell","cage":"enforce","live":true}`, refusal.Conflict},
		"mcp for a task without a cage": {`{"name":"t","agent":"shell","mcp":true}`, refusal.BadInput},
		"bypass in a cage":              {`{"name":"t","agent":"shell","cage":"enforce","bypass":true}`, refusal.BadInput},
		"hosts for an open network":     {`{"name":"t","agent":"shell","cage":"enforce-fs","hosts":["example.org"]}`, refusal.BadInput},
		"a host that is an address":     {`{"name":"t","agent":"shell","cage":"enforce","hosts":["10.0.0.1"]}`, refusal.BadInput},
		"a path that is not there":      {`{"name":"t","agent":"shell","cage":"enforce","read":["/nowhere"]}`, refusal.NotFound},
		"a path that is not absolute":   {`{"name":"t","agent":"shell","cage":"enforce","read":["../x"]}`, refusal.BadInput},
		"the app's data":                {fmt.Sprintf(`{"name":"t","agent":"shell","cage":"enforce","read":[%q]}`, r.dir), refusal.BadInput},
		"all of the machine":            {`{"name":"t","agent":"shell","cage":"enforce","read":["/"]}`, refusal.BadInput},
		"the system, to write":          {`{"name":"t","agent":"shell","cage":"enforce","write":["/usr"]}`, refusal.BadInput},
		"limits without a cage":         {`{"name":"t","agent":"shell","hosts":["example.org"]}`, refusal.BadInput},
		"a prompt that is no text":      {`{"name":"t","agent":"shell","prompt":"\u0003\u001b"}`, refusal.BadInput},
		"a prompt longer than a MiB":    {`{"name":"t","agent":"shell","prompt":"` + strings.Repeat("x", 1<<20+1) + `"}`, refusal.BadInput},
		"an argument that there is not": {`{"name":"t","agent":"shell","colour":"red"}`, refusal.BadInput},
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := r.client.Call(t.Context(), "task_new", json.RawMessage(c.arguments))
			if no, ok := refusal.From(err); !ok || no.Code != c.code {
				t.Errorf("%s, %v; want %s", raw, err, c.code)
			}
		})
	}
	if got := runGit(t, "-C", r.repo, "branch", "--list"); got != branches {
		t.Errorf("branches are left:\n%s\nwere:\n%s", got, branches)
	}
	if got := runGit(t, "-C", r.repo, "worktree", "list"); got != worktrees {
		t.Errorf("worktrees are left:\n%s\nwere:\n%s", got, worktrees)
	}
	if list := r.must("task_list", `{}`)["tasks"].([]any); len(list) != 1 {
		t.Errorf("%d tasks", len(list))
	}
	r.task("t", "shell", "") // the twins: with nothing wrong it works
	r.must("task_new", `{"name":"u","agent":"shell","cage":"enforce","hosts":["example.org"]}`)
}

func TestManyTasksAtOnce(t *testing.T) {
	r := newRig(t)
	origin := filepath.Join(t.TempDir(), "origin.git")
	runGit(t, "clone", "-q", "--bare", r.repo, origin)
	runGit(t, "-C", r.repo, "remote", "add", "origin", origin)
	runGit(t, "-C", r.repo, "fetch", "-q", "origin")
	runGit(t, "-C", r.repo, "config", "branch.autoSetupMerge", "always")
	const n = 8
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			if _, err := r.try("task_new", `{"name":"t%d","agent":"shell","base":"origin/main"}`, i); err != nil {
				t.Errorf("task %d: %v", i, err)
			}
		})
	}
	all.Wait()
	if got := len(strings.Split(runGit(t, "-C", r.repo, "branch", "--list", "termic/*"), "\n")); got != n {
		t.Errorf("%d branches for %d tasks", got, n)
	}
	if got := len(r.must("task_list", `{}`)["tasks"].([]any)); got != n {
		t.Errorf("%d tasks", got)
	}
}

func TestASecondAppOnTheSameDataIsRefused(t *testing.T) {
	r := newRig(t)
	err := Run(t.Context(), Options{DataDir: r.dir, Environ: r.environ, Log: discardLog()})
	if no, ok := refusal.From(err); !ok || no.Code != refusal.Conflict || !strings.Contains(no.Reason, "process") {
		t.Errorf("a second app: %v", err)
	}
	r.must("task_list", `{}`) // the first is none the worse
}

func TestSettingsThatWouldBreakLaterAreRefused(t *testing.T) {
	r := newRig(t)
	r.refused(refusal.NotFound, "settings_set", `{"key":"agents.default","value":"nosuch"}`)
	r.must("settings_set", `{"key":"agents.default","value":"test"}`)
	r.refused(refusal.BadInput, "settings_set", `{"key":"checkouts.dir","value":%q}`, r.dir+"/checkouts")
	r.must("settings_set", `{"key":"checkouts.dir","value":%q}`, t.TempDir())
}

func TestDoctorSaysThatTheAuditLogWasChanged(t *testing.T) {
	r := newRig(t)
	state := func() string {
		for _, check := range r.must("doctor", `{}`)["checks"].([]any) {
			if check := check.(map[string]any); check["name"] == "audit log" {
				return check["state"].(string)
			}
		}
		return "none"
	}
	if got := state(); got != "ok" {
		t.Errorf("twin: an untouched log is %q", got)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(r.dir, "audit", "audit-*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	content, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(content), "\n")
	if err := os.WriteFile(files[0], []byte(lines[0]+strings.Join(lines[2:], "")), 0o600); err != nil {
		t.Fatal(err)
	}
	r.start()
	if got := state(); got != "failed" {
		t.Errorf("a log without its second line is %q", got)
	}
}

func TestADamagedFileCostsNothingElse(t *testing.T) {
	r := newRig(t)
	kept := r.task("kept", "shell", "")
	lost := r.task("lost", "shell", "")
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(r.dir, "tasks", lost["id"].(string)+".json")
	if err := os.WriteFile(damaged, []byte(`{"version":1,"data":{"id":`), 0o600); err != nil {
		t.Fatal(err)
	}
	r.start()
	list := r.must("task_list", `{}`)["tasks"].([]any)
	if len(list) != 1 || list[0].(map[string]any)["id"] != kept["id"] {
		t.Errorf("tasks: %v", list)
	}
	aside, err := filepath.Glob(damaged[:len(damaged)-len(".json")] + "*corrupt*")
	if err != nil || len(aside) != 1 {
		t.Errorf("set aside: %v, %v", aside, err)
	}
	found := false
	for _, check := range r.must("doctor", `{}`)["checks"].([]any) {
		found = found || check.(map[string]any)["name"] == "data file"
	}
	if !found {
		t.Error("doctor does not say so")
	}
	if _, err := os.Stat(lost["path"].(string)); err != nil {
		t.Errorf("the checkout of the damaged record: %v", err)
	}
}

// A git that fails or hangs on `worktree list` must be an error that is shown, and never "there are none".
func TestABrokenGitDropsNothing(t *testing.T) {
	for name, script := range map[string]string{"fails": "exit 128", "hangs": "sleep 300"} {
		t.Run(name, func(t *testing.T) {
			real, err := exec.LookPath("git")
			if err != nil {
				t.Fatal(err)
			}
			bin := t.TempDir()
			broken := filepath.Join(bin, "broken")
			wrapper := "#!/bin/sh\nif [ -e " + broken + " ]; then case \"$*\" in *\"worktree list\"*) " + script + ";; esac; fi\nexec " + real + " \"$@\"\n"
			if err := os.WriteFile(filepath.Join(bin, "git"), []byte(wrapper), 0o700); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
			r := newRig(t)
			r.task("fix", "shell", "")
			if err := os.WriteFile(broken, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			answered := make(chan error, 1)
			go func() {
				_, err := r.try("task_new", `{"name":"live","agent":"shell","live":true}`) // asks for the list
				answered <- err
			}()
			r.must("task_send", `{"task":"fix","text":"echo alive-$((40+2))"}`)
			r.wait("fix")
			if !strings.Contains(r.text("fix"), "alive-42") {
				t.Error("the terminal is gone")
			}
			if no, ok := refusal.From(<-answered); !ok || no.Code == refusal.NotFound {
				t.Errorf("the broken git was answered with %v", no)
			}
			if n := len(r.must("task_list", `{}`)["tasks"].([]any)); n != 1 {
				t.Errorf("%d tasks", n)
			}
			if err := os.Remove(broken); err != nil {
				t.Fatal(err)
			}
			r.must("task_new", `{"name":"live","agent":"shell","live":true}`) // the twin
		})
	}
}
