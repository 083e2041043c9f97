package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termic/registry/refusal"
)

func TestAnArchiveSaysWhatItKeepsAndBringsTheScreenBack(t *testing.T) {
	r := newRig(t)
	path := r.task("fix", "shell", "")["path"].(string)
	r.wait("fix")
	r.must("task_send", `{"task":"fix","text":"echo seen-$((40+2))"}`)
	r.wait("fix")
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(path, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out := r.must("task_preflight", `{"task":"fix"}`); len(out["kept"].([]any)) != 0 {
		t.Errorf("nothing was done, and it would keep %v", out["kept"])
	}
	write("README", "stashed\n")
	runGit(t, "-C", path, "stash", "-q")
	write("README", "committed\n")
	runGit(t, "-C", path, "commit", "-qam", "work")
	runGit(t, "-C", path, "tag", "v1")
	runGit(t, "-C", path, "checkout", "-q", "--detach")
	runGit(t, "-C", path, "commit", "-q", "--allow-empty", "-m", "detached")
	write("README", "staged\n")
	runGit(t, "-C", path, "add", "README")
	write("README", "and changed\n")
	write("new", "untracked\n")
	write(".gitignore", "junk\n")
	write("junk", "ignored\n")
	bareCommit(t, filepath.Join(path, "inner"))
	before := r.must("task_preflight", `{"task":"fix"}`)
	for _, words := range []string{"1 staged file", "1 changed file", "untracked file", "2 commits that no remote has", "HEAD is detached", "1 commit that is on no branch", "WIP on termic/fix", `tags: "v1"`, `"inner"`} {
		if !strings.Contains(fmt.Sprint(before["kept"]), words) {
			t.Errorf("preflight does not say %q: %v", words, before["kept"])
		}
	}
	if lost := fmt.Sprint(before["lost"]); !strings.Contains(lost, "1 files that git ignores") {
		t.Errorf("preflight says that this is lost: %s", lost)
	}
	out := r.must("task_archive", `{"task":"fix"}`)
	for _, words := range []string{"detached commit", "WIP on termic/fix", `"v1"`, `"inner"`} {
		if !strings.Contains(fmt.Sprint(out["kept"]), words) {
			t.Errorf("the archive does not say %q: %v", words, out["kept"])
		}
	}
	if out["bytes"].(float64) <= 0 {
		t.Error("it takes no space")
	}
	runGit(t, "-C", r.repo, "stash", "drop", "-q")
	runGit(t, "-C", r.repo, "reflog", "expire", "--expire=now", "--all")
	runGit(t, "-C", r.repo, "gc", "-q", "--prune=now")
	r.restart() // what the tabs showed is kept with the archive
	r.must("task_restore", `{"task":"fix"}`)
	if text := r.text("fix"); !strings.Contains(text, "seen-42") {
		t.Errorf("its screen did not come back: %q", text)
	}
	if got := readFile(t, filepath.Join(path, "inner", ".git", "HEAD")); got == "" {
		t.Error("the repository in it did not come back")
	}
	if pins := runGit(t, "-C", r.repo, "log", "--format=%s", "--glob=refs/termic"); !strings.Contains(pins, "WIP on termic/fix") {
		t.Errorf("the stash that was dropped is nowhere: %s", pins)
	}
}

func TestPurgingDestroysTheArchiveAndNothingElse(t *testing.T) {
	r := newRig(t)
	path := r.task("fix", "shell", "")["path"].(string)
	r.wait("fix")
	other := r.task("other", "shell", "")["path"].(string)
	r.wait("other")
	for _, dir := range []string{path, other} {
		if err := os.WriteFile(filepath.Join(dir, "new"), []byte("work of "+dir), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	runGit(t, "-C", path, "checkout", "-q", "--detach")
	runGit(t, "-C", path, "commit", "-q", "--allow-empty", "-m", "detached")
	lost := runGit(t, "-C", path, "rev-parse", "HEAD")
	r.refused(refusal.NotFound, "task_purge", `{"task":"fix","yes":true}`) // it is live
	r.must("task_archive", `{"task":"fix"}`)
	r.must("task_archive", `{"task":"other"}`)
	asked := r.must("task_purge", `{"task":"fix"}`)
	if asked["purged"] != false || !strings.Contains(fmt.Sprint(asked["destroys"]), "1 commits that are on no branch") || !strings.Contains(fmt.Sprint(asked["stays"]), "branch termic/fix") {
		t.Errorf("asked: %v", asked)
	}
	runGit(t, "-C", r.repo, "cat-file", "-e", lost) // nothing has happened
	if done := r.must("task_purge", `{"task":"fix","yes":true}`); done["purged"] != true {
		t.Errorf("not purged: %v", done)
	}
	r.refused(refusal.NotFound, "task_restore", `{"task":"fix"}`)
	if refs := runGit(t, "-C", r.repo, "for-each-ref", "refs/termic"); strings.Contains(refs, lost) {
		t.Errorf("its refs are still there: %s", refs)
	}
	runGit(t, "-C", r.repo, "rev-parse", "--verify", "refs/heads/termic/fix")
	packs, err := filepath.Glob(filepath.Join(r.dir, "archive", "*.git", "objects", "pack", "*.pack"))
	if err != nil || len(packs) != 1 {
		t.Errorf("%d packs are in the store, want that of the other archive: %v", len(packs), err)
	}
	r.restart()
	r.must("task_restore", `{"task":"other"}`)
	if got := readFile(t, filepath.Join(other, "new")); got != "work of "+other {
		t.Errorf("the other task's work: %q", got)
	}
}
