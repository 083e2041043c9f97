package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ignoredFiles gives the project ignored files: a secret, and a directory of packages.
func (r *rig) ignoredFiles() {
	r.t.Helper()
	for name, text := range map[string]string{".env": "KEY=s3cret\n", "node_modules/a/index.js": "a\n", ".gitignore": ".env\nnode_modules/\n"} {
		path := filepath.Join(r.repo, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
	runGit(r.t, "-C", r.repo, "add", ".gitignore")
	runGit(r.t, "-C", r.repo, "commit", "-qm", "ignore")
}

// in reads a file of a task's checkout; empty when it is not there.
func in(t *testing.T, task map[string]any, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(task["path"].(string), name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

// TestIgnoredFilesAreCopiedAsTrusted: what a repository names reaches no task before the person trusted exactly that file; then
// it is a copy, which is said where it is said what the task can touch.
func TestIgnoredFilesAreCopiedAsTrusted(t *testing.T) {
	r, p := newRigWithPerson(t)
	r.ignoredFiles()
	r.commitRepo("copy = [\".env\", \"**/node_modules\", \"README\", \"none\"]\n")
	made := r.must("task_new", `{"name":"first","agent":"shell","cage":"enforce"}`)
	shown(t, made["setup"].(string), "the files that .termic.toml names were not copied", "you have not trusted", "trust demo")
	first := made["task"].(map[string]any)
	if in(t, first, ".env") != "" || in(t, first, "node_modules/a/index.js") != "" {
		t.Error("copied without trust")
	}
	shown(t, jsonOf(t, r.repository()["settings"]), "not copied: not trusted as it is now")

	p.trust(t, r.repository()["digest"])
	shown(t, jsonOf(t, r.repository()["settings"]), `copied into new tasks: \".env\", \"node_modules\"; not copied: \"README\" (git does not ignore it)`)
	made = r.must("task_new", `{"name":"second","agent":"shell","cage":"enforce"}`)
	second := made["task"].(map[string]any)
	if in(t, second, ".env") != "KEY=s3cret\n" || in(t, second, "node_modules/a/index.js") != "a\n" {
		t.Errorf("not copied: %v", made["setup"])
	}
	if note := made["setup"].(string); note != `not copied: "README" (git does not ignore it)` {
		t.Error(note)
	}
	shown(t, jsonOf(t, r.must("task_status", `{"task":"second"}`)["can"]), `given copies of files that git ignores: \".env\", \"node_modules\"`)
	// What the task does with its copy stays in the task.
	path := filepath.Join(second["path"].(string), ".env")
	if err := os.WriteFile(path, []byte("KEY=mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text := readFile(t, filepath.Join(r.repo, ".env")); text != "KEY=s3cret\n" {
		t.Errorf("the project's own is %q", text)
	}
	if got := r.must("task_diff", `{"task":"second"}`)["files"].([]any); len(got) != 0 {
		t.Errorf("a copy counts as work: %v", got)
	}
	// It is gone with the archive, and given again when the task comes back, as it is then.
	r.must("task_archive", `{"task":"second","force":true}`)
	if err := os.WriteFile(filepath.Join(r.repo, ".env"), []byte("KEY=new\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.must("task_restore", `{"task":"second"}`)
	if got := in(t, second, ".env"); got != "KEY=new\n" {
		t.Errorf("a restored task has %q", got)
	}
	// A task on the project's own checkout gets nothing: it is all there.
	if out := r.must("task_new", `{"name":"live","agent":"shell","live":true}`); out["setup"] != nil {
		t.Errorf("%v", out["setup"])
	}
}

// TestACagedTasksChildGetsWhatItsMakerWasGiven: else a task without a secret would have one made that has it (I5).
func TestACagedTasksChildGetsWhatItsMakerWasGiven(t *testing.T) {
	r, p := newRigWithPerson(t)
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	r.ignoredFiles()
	r.cagedTask("poor", `,"mcp":true`) // made before anything was trusted
	r.commitRepo("copy = [\".env\", \"node_modules\"]\n")
	p.trust(t, r.repository()["digest"])
	r.cagedTask("rich", `,"mcp":true`)
	child := func(maker, name string) map[string]any {
		t.Helper()
		r.wait(maker)
		if got := r.tell(maker, fmt.Sprintf(`call task_new {"name":%q,"agent":"test"}`, name)); strings.Contains(got, ".env") {
			t.Errorf("the maker learns the project's names: %s", got)
		}
		for _, one := range r.must("task_list", `{}`)["tasks"].([]any) {
			if task := one.(map[string]any); task["name"] == name {
				return task
			}
		}
		t.Fatalf("no task %s\nlog:\n%s", name, r.log)
		return nil
	}
	if got := child("poor", "w1"); in(t, got, ".env") != "" || in(t, got, "node_modules/a/index.js") != "" {
		t.Error("a child was given what its maker cannot read")
	}
	if got := child("rich", "w2"); in(t, got, ".env") != "KEY=s3cret\n" || in(t, got, "node_modules/a/index.js") != "a\n" { // the twin
		t.Error("a child was not given what its maker has")
	}
	if err := os.WriteFile(filepath.Join(r.repo, ".env"), []byte("KEY=rotated\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := child("rich", "w3")
	if in(t, got, ".env") != "" || in(t, got, "node_modules/a/index.js") != "a\n" {
		t.Errorf("a child was given what has changed since its maker was made: %q", in(t, got, ".env"))
	}
	// Nor when the person brings one back.
	r.must("task_archive", `{"task":%q,"force":true}`, got["id"])
	r.must("task_restore", `{"task":%q}`, got["id"])
	if in(t, got, ".env") != "" || in(t, got, "node_modules/a/index.js") != "a\n" {
		t.Errorf("restored with %q", in(t, got, ".env"))
	}
	if out := r.must("task_new", `{"name":"by-the-person","agent":"test","cage":"enforce"}`)["task"].(map[string]any); in(t, out, ".env") != "KEY=rotated\n" {
		t.Error("the person's own task was not given it")
	}
}

// TestArchiveCommandsRunBeforeAnArchive: in the task's cage, as trusted; what they change is kept, and their failure loses nothing.
func TestArchiveCommandsRunBeforeAnArchive(t *testing.T) {
	r, p := newRigWithPerson(t)
	secret := filepath.Join(filepath.Dir(r.repo), "home", "secret")
	if err := os.WriteFile(secret, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.commitRepo("archive = [\"cat " + secret + " > got.txt; echo said-goodbye; date > last.txt\", \"exit 3\", \"touch never.txt\"]\n")
	made := func(name, more string) map[string]any {
		t.Helper()
		return r.must("task_new", `{"name":%q,"agent":"shell"%s}`, name, more)["task"].(map[string]any)
	}
	archive := func(name string) map[string]any {
		t.Helper()
		return r.must("task_archive", `{"task":%q,"force":true}`, name)
	}
	untrusted := made("untrusted", "")
	shown(t, archive("untrusted")["commands"].(string), "the archive commands of .termic.toml were not run", "not trusted")
	r.must("task_restore", `{"task":"untrusted"}`)
	if in(t, untrusted, "last.txt") != "" {
		t.Error("run without trust")
	}
	p.trust(t, r.repository()["digest"])
	for name, cage := range map[string]string{"open": "off", "caged": "enforce"} {
		task := made(name, fmt.Sprintf(`,"cage":%q`, cage))
		shown(t, archive(name)["commands"].(string), "failed with status 3")
		r.must("task_restore", `{"task":%q}`, name)
		if in(t, task, "last.txt") == "" || in(t, task, "never.txt") != "" || strings.Contains(in(t, task, "got.txt"), "s3cret") != (cage == "off") {
			t.Errorf("%s: last %q never %q got %q", name, in(t, task, "last.txt"), in(t, task, "never.txt"), in(t, task, "got.txt"))
		}
		shown(t, r.must("task_log", `{"task":%q,"tab":"archive"}`, name)["text"].(string), "said-goodbye", "archive failed with status 3")
	}
	// A task whose cage was turned off holds what a cage wrote: nothing of it is run outside by itself (I8).
	turned := made("turned", `,"cage":"enforce"`)
	r.must("cage_edit", `{"task":"turned","cage":"off","confirm":true}`)
	shown(t, archive("turned")["commands"].(string), "a cage wrote in the task")
	r.must("task_restore", `{"task":"turned"}`)
	if in(t, turned, "last.txt") != "" {
		t.Error("run outside what a cage may have written")
	}
	// The project's own checkout is left alone.
	made("live", `,"live":true`)
	archive("live")
	if _, err := os.Lstat(filepath.Join(r.repo, "last.txt")); err == nil {
		t.Error("run in the project's own checkout")
	}
	// In the twin nothing fails, and nothing is said.
	r.commitRepo("archive = \"touch last.txt\"\n")
	p.trust(t, r.repository()["digest"])
	made("good", "")
	if said := archive("good")["commands"]; said != nil {
		t.Errorf("nothing failed, and %v", said)
	}
}
