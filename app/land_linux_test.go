package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termic/registry/refusal"
)

func (r *rig) has(name, want string) {
	r.t.Helper()
	got, err := os.ReadFile(filepath.Join(r.repo, name))
	if want == "" && os.IsNotExist(err) {
		return
	}
	if string(got) != want || err != nil {
		r.t.Errorf("%s of the project is %q, want %q (%v)", name, got, want, err)
	}
}

func TestATasksWorkLandsAndIsTakenBack(t *testing.T) {
	r := newRig(t)
	made := r.task("fix", "shell", "")
	r.refused(refusal.Conflict, "task_apply", `{"task":"fix"}`) // nothing yet
	r.refused(refusal.Conflict, "task_apply", `{"task":"fix","undo":true}`)
	r.put(made, "new.txt", "new\n")
	if got := r.must("task_apply", `{"task":"fix","preview":true}`); got["outcome"] != "preview" || got["files"] != 1.0 {
		t.Errorf("preview: %v", got)
	}
	r.has("new.txt", "")
	if got := r.must("task_apply", `{"task":"fix"}`); got["outcome"] != "landed" {
		t.Errorf("%v", got)
	}
	r.has("new.txt", "new\n")
	r.refused(refusal.Conflict, "task_apply", `{"task":"fix"}`) // its own work is in the way
	if got := r.must("task_apply", `{"task":"fix","undo":true}`); got["outcome"] != "undone" {
		t.Errorf("%v", got)
	}
	r.has("new.txt", "")
	if got := r.must("task_apply", `{"task":"fix","as":"branch","branch":"fixed"}`); got["branch"] != "fixed" {
		t.Errorf("%v", got)
	}
	if text := runGit(t, "-C", r.repo, "show", "fixed:new.txt"); text != "new" && text != "new\n" {
		t.Errorf("on the branch: %q", text)
	}
	r.must("task_apply", `{"task":"fix","as":"merge","message":"take it"}`)
	if subject := runGit(t, "-C", r.repo, "log", "-1", "--format=%s"); strings.TrimSpace(subject) != "take it" {
		t.Errorf("merged as %q", subject)
	}
	r.must("task_archive", `{"task":"fix","force":true}`)
	r.must("task_apply", `{"task":"fix","undo":true}`) // of an archived task too
	r.has("new.txt", "")
}

func TestConflictsOfALandingAreLeftToBeResolved(t *testing.T) {
	r := newRig(t)
	made := r.task("fix", "shell", "")
	r.put(made, "both.txt", "theirs\n")
	if err := os.WriteFile(filepath.Join(r.repo, "both.txt"), []byte("mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r.refused(refusal.Conflict, "task_apply", `{"task":"fix"}`) // untracked: nobody could bring it back
	runGit(t, "-C", r.repo, "add", "both.txt")
	runGit(t, "-C", r.repo, "commit", "-qm", "mine")
	got := r.must("task_apply", `{"task":"fix","as":"merge"}`)
	if got["outcome"] != "conflicts" || fmt.Sprint(got["conflicts"]) != "[both.txt]" {
		t.Errorf("%v", got)
	}
	r.has("both.txt", "<<<<<<< HEAD\nmine\n=======\ntheirs\n>>>>>>> "+made["branch"].(string)+"\n")
	r.refused(refusal.Conflict, "task_apply", `{"task":"fix","as":"merge"}`) // unfinished
	r.must("task_apply", `{"task":"fix","undo":true}`)
	r.has("both.txt", "mine\n")
}

// A landing that the app's end interrupted is taken back when it starts again.
func TestAnInterruptedLandingIsTakenBack(t *testing.T) {
	r := newRig(t)
	made := r.task("fix", "shell", "")
	r.put(made, "new.txt", "new\n")
	r.must("task_apply", `{"task":"fix","as":"merge"}`)
	r.has("new.txt", "new\n")
	r.restart()
	r.has("new.txt", "new\n") // the twin: one that was done stays
	file := filepath.Join(r.dir, "landings", made["id"].(string)+".json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), `"done": true`, `"done": false`, 1)
	if changed == string(text) {
		t.Fatalf("no landing in %s", text)
	}
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	r.restart()
	r.has("new.txt", "")
	r.refused(refusal.Conflict, "task_apply", `{"task":"fix","undo":true}`)
}

// TestWorkFromACageIsShownBeforeItLands is the detour by which a caged agent would have what it wrote obeyed outside.
func TestWorkFromACageIsShownBeforeItLands(t *testing.T) {
	r := newRig(t)
	caged := r.cagedShell("caged", "")
	r.inside("caged", "mkdir .vscode; echo '{}' > .vscode/tasks.json; echo obey > AGENTS.md; echo x > plain.txt; git add -A; git commit -qm agent; echo done")
	for _, how := range []string{"changes", "merge", "branch"} {
		no := r.refused(refusal.Unconfirmed, "task_apply", `{"task":"caged","as":%q}`, how)
		shown(t, no.Reason, ".vscode/tasks.json (added, runs)", "AGENTS.md (added, instructs)")
		if strings.Contains(no.Reason, "plain.txt") {
			t.Errorf("names what nothing obeys: %s", no.Reason)
		}
	}
	r.has("AGENTS.md", "")
	word := r.must("task_apply", `{"task":"caged","preview":true}`)["confirm"]
	// What was shown is what lands: other contents need another look, however they came.
	r.put(caged, "AGENTS.md", "obey something else\n")
	r.refused(refusal.Unconfirmed, "task_apply", `{"task":"caged","confirm":%q}`, word)
	r.has("AGENTS.md", "")
	word = r.must("task_apply", `{"task":"caged","preview":true}`)["confirm"]
	r.refused(refusal.Unconfirmed, "task_apply", `{"task":"caged","as":"merge","confirm":%q}`, word)
	r.must("task_apply", `{"task":"caged","confirm":%q}`, word)
	r.has("AGENTS.md", "obey something else\n")
	r.must("task_apply", `{"task":"caged","undo":true}`)

	// A task without a cage that starts from it: the same.
	no := r.refused(refusal.Unconfirmed, "task_new", `{"name":"wide","agent":"shell","base":%q}`, caged["branch"])
	shown(t, no.Reason, "AGENTS.md")
	r.must("task_new", `{"name":"as-caged","agent":"shell","cage":"enforce","base":%q}`, caged["branch"])
	word = no.Remedy[strings.LastIndex(no.Remedy, " ")+1:]
	r.must("task_new", `{"name":"wide","agent":"shell","base":%q,"confirm":%q}`, caged["branch"], word)

	// Still asked for when the cage is off; and never for what no cage wrote.
	r.must("cage_edit", `{"task":"caged","cage":"off","confirm":true}`)
	if task := r.must("task_status", `{"task":"caged"}`)["task"].(map[string]any); task["from_cage"] != true {
		t.Errorf("not marked: %v", task)
	}
	again := r.refused(refusal.Unconfirmed, "task_apply", `{"task":"caged"}`).Remedy
	r.must("task_apply", `{"task":"caged","confirm":%q}`, again[strings.LastIndex(again, " ")+1:])
	if task := r.must("task_status", `{"task":"caged"}`)["task"].(map[string]any); task["from_cage"] == true {
		t.Errorf("still marked: %v", task)
	}
	r.must("task_apply", `{"task":"caged","undo":true}`)
	if task := r.must("task_status", `{"task":"caged"}`)["task"].(map[string]any); task["from_cage"] != true {
		t.Errorf("not marked again: %v", task)
	}
	open := r.task("open", "shell", "")
	r.put(open, "AGENTS.md", "mine\n")
	r.must("task_apply", `{"task":"open"}`)
	r.has("AGENTS.md", "mine\n")
}
