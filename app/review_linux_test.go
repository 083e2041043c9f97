package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termic/app/git"
	"termic/registry/refusal"
)

// short is what plain git says of a checkout.
func short(t *testing.T, path string) string {
	t.Helper()
	return strings.TrimSuffix(runGit(t, "-C", path, "-c", "core.quotepath=false", "status", "--porcelain", "-uall"), "\n")
}

func TestThePersonStagesCommitsAndDiscards(t *testing.T) {
	r := newRig(t)
	made := r.task("fix", "shell", "")
	path := made["path"].(string)
	r.put(made, "a.txt", "a\n")
	r.put(made, "dir/b.txt", "b\n")
	r.put(made, "odd\xff\n.txt", "odd\n")

	if got := r.must("task_stage", `{"task":"fix","paths":["a.txt","dir"]}`); got["files"] != 2.0 {
		t.Errorf("%v", got)
	}
	if got := short(t, path); !strings.HasPrefix(got, "A  a.txt\nA  dir/b.txt\n?? ") {
		t.Errorf("status %q", got)
	}
	// A name that is no text is written as the diff writes it.
	odd := ""
	for _, f := range r.must("task_diff", `{"task":"fix","stat":true}`)["files"].([]any) {
		if name := f.(map[string]any)["path"].(string); strings.Contains(name, "odd") {
			odd = name
		}
	}
	if got := r.must("task_stage", `{"task":"fix","paths":[%q]}`, odd); got["files"] != 1.0 || odd != `"odd\xff\n.txt"` {
		t.Errorf("%s: %v", odd, got)
	}
	if got := r.must("task_unstage", `{"task":"fix","paths":["dir"]}`); got["files"] != 1.0 {
		t.Errorf("%v", got)
	}
	done := r.must("task_commit", `{"task":"fix","message":"by the person\n\nbody"}`)
	if done["files"] != 2.0 || done["branch"] != "termic/fix" || done["commit"] != runGit(t, "-C", path, "rev-parse", "HEAD") {
		t.Errorf("%v", done)
	}
	if got := r.git("log", "-1", "--format=%s|%b", "termic/fix"); got != "by the person|body" {
		t.Errorf("committed %q", got)
	}
	if no := r.refused(refusal.Conflict, "task_commit", `{"task":"fix","message":"again"}`); !strings.Contains(no.Reason, "nothing is staged") {
		t.Errorf("%v", no)
	}

	r.put(made, "a.txt", "changed\n")
	one := r.must("task_discard", `{"task":"fix","paths":["a.txt"]}`)
	rest := r.must("task_discard", `{"task":"fix","all":true}`)
	if got := short(t, path); got != "" || one["outcome"] != "discarded" || rest["files"] != 1.0 {
		t.Errorf("%q %v %v", got, one, rest)
	}
	list := r.must("task_discards", `{"task":"fix"}`)["discards"].([]any)
	if len(list) != 2 || list[0].(map[string]any)["id"] != rest["id"] || list[1].(map[string]any)["id"] != one["id"] {
		t.Errorf("%v", list)
	}
	r.restart() // it is kept on disk
	if got := r.must("task_discard", `{"task":"fix","undo":true,"id":%q}`, one["id"]); got["outcome"] != "undone" {
		t.Errorf("%v", got)
	}
	if got := readFile(t, filepath.Join(path, "a.txt")); got != "changed\n" {
		t.Errorf("a.txt is %q", got)
	}
	r.put(made, "dir/b.txt", "somebody else's\n")
	if no := r.refused(refusal.Conflict, "task_discard", `{"task":"fix","undo":true}`); !strings.Contains(no.Reason, "what was discarded would lose it: dir/b.txt") {
		t.Errorf("%v", no)
	}
	if err := os.Remove(filepath.Join(path, "dir/b.txt")); err != nil {
		t.Fatal(err)
	}
	r.must("task_discard", `{"task":"fix","undo":true}`)
	if got := readFile(t, filepath.Join(path, "dir/b.txt")); got != "b\n" {
		t.Errorf("dir/b.txt is %q", got)
	}
	if list := r.must("task_discards", `{"task":"fix"}`)["discards"].([]any); len(list) != 0 {
		t.Errorf("%v", list)
	}
	if left, _ := filepath.Glob(r.dir + "/discard/*/*"); len(left) > 0 {
		t.Errorf("copies left: %q", left)
	}
}

func TestWhatThePersonCannotStageCommitOrDiscard(t *testing.T) {
	r := newRig(t)
	made := r.task("fix", "shell", "")
	path := made["path"].(string)
	r.put(made, "a.txt", "a\n")
	r.put(made, "large", "")
	if err := os.Truncate(filepath.Join(path, "large"), git.MaxLandFile+1); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		code            refusal.Code
		verb, arguments string
		words           string
	}{
		{refusal.BadInput, "task_stage", `{"task":"fix"}`, "neither paths nor all"},
		{refusal.BadInput, "task_stage", `{"task":"fix","all":true,"paths":["a.txt"]}`, "both paths and all"},
		{refusal.BadInput, "task_stage", `{"task":"fix","paths":["../a.txt"]}`, "leads out of the checkout"},
		{refusal.BadInput, "task_stage", `{"task":"fix","paths":["/etc/passwd"]}`, "absolute"},
		{refusal.BadInput, "task_stage", `{"task":"fix","paths":["nope"]}`, "is called so"},
		{refusal.BadInput, "task_unstage", `{"task":"fix","paths":["nope"]}`, "is called so"},
		{refusal.BadInput, "task_commit", `{"task":"fix","message":" "}`, "message is empty"},
		{refusal.Conflict, "task_commit", `{"task":"fix","message":"x"}`, "nothing is staged"},
		{refusal.BadInput, "task_discard", `{"task":"fix","paths":["nope"]}`, "is called so"},
		{refusal.BadInput, "task_discard", `{"task":"fix","undo":true,"all":true}`, "all of one discard"},
		{refusal.BadInput, "task_discard", `{"task":"fix","all":true,"id":"x"}`, "which discard to undo"},
		{refusal.Conflict, "task_stage", `{"task":"fix","paths":["large"]}`, "larger than is copied"},
		{refusal.Conflict, "task_discard", `{"task":"fix","paths":["large"]}`, "larger than is copied"},
		{refusal.Conflict, "task_apply", `{"task":"fix"}`, "larger than lands uncommitted"},
		{refusal.Conflict, "task_discard", `{"task":"fix","undo":true}`, "nothing was discarded"},
		{refusal.NotFound, "task_discard", `{"task":"fix","undo":true,"id":"x"}`, "no such discard"},
	} {
		if no := r.refused(c.code, c.verb, "%s", c.arguments); !strings.Contains(no.Reason, c.words) {
			t.Errorf("%s %s: %s", c.verb, c.arguments, no.Reason)
		}
	}
	if err := os.Remove(filepath.Join(path, "large")); err != nil {
		t.Fatal(err)
	}
	// While something is unfinished, whoever began it.
	head := runGit(t, "-C", path, "rev-parse", "HEAD")
	mark := filepath.Join(runGit(t, "-C", path, "rev-parse", "--absolute-git-dir"), "MERGE_HEAD")
	if err := os.WriteFile(mark, []byte(head+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for verb, arguments := range map[string]string{"task_stage": `{"task":"fix","all":true}`, "task_unstage": `{"task":"fix","all":true}`,
		"task_commit": `{"task":"fix","message":"x","all":true}`, "task_discard": `{"task":"fix","all":true}`} {
		if no := r.refused(refusal.Conflict, verb, "%s", arguments); !strings.Contains(no.Reason, "a merge is unfinished") {
			t.Errorf("%s: %s", verb, no.Reason)
		}
	}
	if err := os.Remove(mark); err != nil {
		t.Fatal(err)
	}
	r.must("task_stage", `{"task":"fix","all":true}`) // the twin
}

// The person's index is the one outside; what is committed with it reaches the agent.
func TestReviewOfACagedTask(t *testing.T) {
	t.Parallel() // most of it is waiting for shells
	r := newRig(t)
	made := r.cagedShell("fix", "")
	path := made["path"].(string)
	r.inside("fix", "echo agent > agent.txt; echo staged > staged.txt; git add staged.txt")
	if got := r.must("task_stage", `{"task":"fix","paths":["agent.txt"]}`); got["files"] != 1.0 {
		t.Errorf("%v", got)
	}
	if got := short(t, path); got != "A  agent.txt\n?? staged.txt" {
		t.Errorf("outside: %q", got)
	}
	shown(t, r.inside("fix", "clear; git status --short"), "?? agent.txt", "A  staged.txt") // its own index is as it left it
	r.must("task_commit", `{"task":"fix","message":"by the person"}`)
	shown(t, r.inside("fix", "clear; git log -1 --format=%an:%s; git status --short"), ":by the person", "A  staged.txt")
	if got := r.trouble("fix"); got != "" {
		t.Errorf("trouble: %q", got)
	}
	r.must("task_discard", `{"task":"fix","paths":["staged.txt"]}`)
	shown(t, r.inside("fix", "clear; ls; git status --short"), "AD staged.txt")
	r.must("task_discard", `{"task":"fix","undo":true}`)
	shown(t, r.inside("fix", "clear; cat staged.txt; git status --short"), "staged", "A  staged.txt")

	// In the middle of an operation of the agent's nothing of it is touched; the twin: when it is over.
	r.inside("fix", "git commit -qm two; echo x > more.txt; GIT_SEQUENCE_EDITOR='sed -i s/^pick/edit/' git rebase -q -i HEAD~1")
	for verb, arguments := range map[string]string{"task_stage": `{"task":"fix","all":true}`, "task_commit": `{"task":"fix","message":"x","all":true}`, "task_discard": `{"task":"fix","all":true}`} {
		if no := r.refused(refusal.Conflict, verb, "%s", arguments); !strings.Contains(no.Reason, "the agent is in the middle of a rebase") {
			t.Errorf("%s: %s", verb, no.Reason)
		}
	}
	r.inside("fix", "git rebase --abort")
	r.must("task_stage", `{"task":"fix","all":true}`)
	// What the agent plants where git keeps operations is no way out: a name is looked at beneath its directory.
	r.inside("fix", "ln -s / $(git rev-parse --git-dir)/rebase-apply")
	if _, err := r.try("task_unstage", `{"task":"fix","all":true}`); err == nil {
		t.Error("a planted link was passed over")
	}
	r.inside("fix", "rm $(git rev-parse --git-dir)/rebase-apply")
	r.must("task_unstage", `{"task":"fix","all":true}`)

	r.diverge("fix", path)
	for verb, arguments := range map[string]string{"task_commit": `{"task":"fix","message":"x","all":true}`, "task_discard": `{"task":"fix","all":true}`} {
		if no := r.refused(refusal.Conflict, verb, "%s", arguments); !strings.Contains(no.Reason, "not all of the agent's commits") {
			t.Errorf("%s: %s", verb, no.Reason)
		}
	}
}

// A discard that the app's end interrupted is taken back when it starts again.
func TestAnInterruptedDiscardIsTakenBack(t *testing.T) {
	r := newRig(t)
	made := r.task("fix", "shell", "")
	r.put(made, "a.txt", "a\n")
	r.must("task_discard", `{"task":"fix","all":true}`)
	r.restart()
	path := filepath.Join(made["path"].(string), "a.txt")
	if _, err := os.Stat(path); err == nil {
		t.Error("one that was done was taken back")
	}
	files, _ := filepath.Glob(filepath.Join(r.dir, "discards", made["id"].(string)+"_*.json"))
	if len(files) != 1 {
		t.Fatalf("records: %q", files)
	}
	file := files[0]
	text := readFile(t, file)
	changed := strings.Replace(text, `"done": true`, `"done": false`, 1)
	if changed == text {
		t.Fatalf("no discard in %s", text)
	}
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	r.restart()
	if got := readFile(t, path); got != "a\n" {
		t.Errorf("a.txt is %q", got)
	}
	r.refused(refusal.Conflict, "task_discard", `{"task":"fix","undo":true}`)
}

func TestAKillAtAnyStepOfADiscardLosesNothing(t *testing.T) {
	r := newRig(t)
	path := r.task("fix", "shell", "")["path"].(string)
	work(t, path)
	want, status := facts(t, path), short(t, path)
	killed := r.crashes("task_discard", `{"task":"fix","all":true}`, 5, 13, func(int) {}, func(at int) bool {
		if len(r.must("task_discards", `{"task":"fix"}`)["discards"].([]any)) > 0 {
			r.must("task_discard", `{"task":"fix","undo":true}`)
		}
		if got := facts(t, path); got != want || short(t, path) != status {
			t.Errorf("killed at step %d:\n%s\n%s\nwant\n%s\n%s", at, got, short(t, path), want, status)
		}
		return false
	})
	if killed < 3 {
		t.Errorf("killed %d times only", killed)
	}
	r.must("task_discard", `{"task":"fix","undo":true}`)
	if got := facts(t, path); got != want || short(t, path) != status {
		t.Errorf("after undoing:\n%s\n%s\nwant\n%s\n%s", got, short(t, path), want, status)
	}
}

// The last twenty discards can be undone; what archives and purges do to them.
func TestDiscardsAreBounded(t *testing.T) {
	r := newRig(t)
	made := r.task("fix", "shell", "")
	for i := range 22 {
		r.put(made, "a.txt", fmt.Sprintln(i))
		r.must("task_discard", `{"task":"fix","all":true}`)
	}
	if n := len(r.must("task_discards", `{"task":"fix"}`)["discards"].([]any)); n != 20 {
		t.Errorf("%d discards are kept", n)
	}
	if left, _ := filepath.Glob(r.dir + "/discard/*/*"); len(left) != 20 {
		t.Errorf("copies of %d are kept", len(left))
	}
	r.must("task_archive", `{"task":"fix","force":true}`)
	r.refused(refusal.NotFound, "task_discard", `{"task":"fix","undo":true}`)
	r.must("task_restore", `{"task":"fix"}`)
	r.must("task_discard", `{"task":"fix","undo":true}`)
	if got := readFile(t, filepath.Join(made["path"].(string), "a.txt")); got != "21\n" {
		t.Errorf("a.txt is %q", got)
	}
	r.must("task_archive", `{"task":"fix","force":true}`)
	r.must("task_purge", `{"task":"fix","yes":true}`)
	if left, _ := filepath.Glob(r.dir + "/discard*/*"); len(left) > 0 {
		t.Errorf("left after the purge: %q", left)
	}
	if refs := r.git("for-each-ref", "refs/termic"); refs != "" {
		t.Errorf("refs left after the purge: %s", refs)
	}
}

// files is a diff's files with their states.
func files(diff map[string]any) string {
	var list []string
	for _, f := range diff["files"].([]any) {
		f := f.(map[string]any)
		text := fmt.Sprint(f["path"], " ", f["kind"], " ", f["state"])
		if mode, _ := f["mode"].(string); mode != "" {
			text += " " + mode
		}
		list = append(list, text)
	}
	return strings.Join(list, "|")
}

func TestTheDiffOfATaskByPartTipAndCommit(t *testing.T) {
	r := newRig(t)
	made := r.task("fix", "shell", "")
	path := made["path"].(string)
	r.put(made, "a.txt", "a\n")
	first := r.must("task_commit", `{"task":"fix","message":"first","all":true}`)["commit"]
	r.put(made, "b.txt", "b\n")
	second := r.must("task_commit", `{"task":"fix","message":"second","all":true}`)["commit"]
	r.put(made, "staged.txt", "staged\n")
	r.must("task_stage", `{"task":"fix","all":true}`)
	r.put(made, "new.txt", "new\n")
	if err := os.Chmod(filepath.Join(path, "a.txt"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(path, "link")); err != nil {
		t.Fatal(err)
	}
	// The base branch goes on, and gets part of the work.
	if err := os.WriteFile(filepath.Join(r.repo, "b.txt"), []byte("b\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.repo, "theirs.txt"), []byte("theirs\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r.git("add", ".")
	r.git("commit", "-qm", "of the base branch")
	for arguments, want := range map[string]string{
		``:                                 "a.txt added unstaged 100755|b.txt added committed|link added untracked 120000|new.txt added untracked|staged.txt added staged",
		`,"part":"staged"`:                 "staged.txt added staged",
		`,"part":"unstaged"`:               "a.txt modified unstaged 100644 100755|link added untracked 120000|new.txt added untracked",
		`,"against":"tip"`:                 "a.txt added unstaged 100755|link added untracked 120000|new.txt added untracked|staged.txt added staged",
		fmt.Sprintf(`,"commit":%q`, first): "a.txt added <nil>",
		`,"path":"link"`:                   "link added untracked 120000",
	} {
		got := r.must("task_diff", `{"task":"fix"%s}`, arguments)
		if files(got) != want || got["count"] != float64(strings.Count(want, "|")+1) {
			t.Errorf("%s: %s (%v)\nwant %s", arguments, files(got), got["count"], want)
		}
		if strings.Contains(got["patch"].(string), "root:") {
			t.Errorf("%s: a link was followed", arguments)
		}
	}
	if got := r.must("task_diff", `{"task":"fix","commit":%q}`, second); !strings.Contains(got["patch"].(string), "+b") || got["base"] != first {
		t.Errorf("%v", got)
	}
	for _, c := range []struct {
		code      refusal.Code
		arguments string
	}{
		{refusal.NotFound, fmt.Sprintf(`"commit":%q`, r.git("rev-parse", "HEAD"))}, // the project's, not the task's
		{refusal.NotFound, fmt.Sprintf(`"commit":%q`, made["base"])},
		{refusal.NotFound, `"commit":"HEAD"`},
		{refusal.NotFound, `"commit":"--output=x"`},
		{refusal.BadInput, `"part":"staged","against":"tip"`},
		{refusal.BadInput, `"path":"/etc/passwd"`},
		{refusal.BadInput, `"path":"../x"`},
	} {
		r.refused(c.code, "task_diff", `{"task":"fix",%s}`, c.arguments)
	}
}

// A task goes on in lines that landed and that the person committed.
func TestATaskLandsAgainAfterWhatLandedWasCommitted(t *testing.T) {
	r := newRig(t)
	made := r.task("fix", "shell", "")
	r.put(made, "a.txt", "one\n")
	r.must("task_apply", `{"task":"fix"}`)
	r.git("add", ".")
	r.git("commit", "-qm", "landed")
	r.put(made, "a.txt", "two\n")
	if got := r.must("task_apply", `{"task":"fix"}`); got["outcome"] != "landed" {
		t.Errorf("%v", got)
	}
	r.has("a.txt", "two\n")
	r.must("task_apply", `{"task":"fix","undo":true}`)
	r.has("a.txt", "one\n")
	if refs := r.git("for-each-ref", "refs/termic"); strings.Contains(refs, "/landed/") {
		t.Errorf("kept after it was taken back: %s", refs)
	}
}
