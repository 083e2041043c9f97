package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termic/registry/refusal"
)

// word is the last word of a remedy: what confirms.
func word(no *refusal.Refusal) string { return no.Remedy[strings.LastIndex(no.Remedy, " ")+1:] }

func (r *rig) status(name string) map[string]any {
	r.t.Helper()
	return r.must("task_status", `{"task":%q}`, name)["task"].(map[string]any)
}

func TestACheckoutDeletedByHandIsSaidArchivedAndPurged(t *testing.T) {
	r := newRig(t)
	path := r.task("fix", "shell", "")["path"].(string)
	r.wait("fix")
	if err := os.WriteFile(filepath.Join(path, "README"), []byte("committed\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	runGit(t, "-C", path, "commit", "-qam", "work")
	if err := os.WriteFile(filepath.Join(path, "README"), []byte("staged\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	runGit(t, "-C", path, "add", "README")
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	for _, said := range []string{fmt.Sprint(r.status("fix")["trouble"]), fmt.Sprint(r.must("task_list", `{}`)), fmt.Sprint(r.must("doctor", `{}`))} {
		if !strings.Contains(said, "checkout missing: nothing is at "+path) || !strings.Contains(said, "worktree repair") {
			t.Errorf("this does not say what is missing, and what to do: %s", said)
		}
	}
	for _, verb := range []string{"task_diff", "task_preflight", "task_apply", "task_commits"} {
		if no := r.refused(refusal.Conflict, verb, `{"task":"fix"}`); strings.Contains(no.Remedy, "git init") || !strings.Contains(no.Reason, "not where it was") {
			t.Errorf("%s: %s / %s", verb, no.Reason, no.Remedy)
		}
	}
	no := r.refused(refusal.Unconfirmed, "task_archive", `{"task":"fix"}`)
	r.refused(refusal.Unconfirmed, "task_archive", `{"task":"fix","confirm":"guessed"}`)
	out := r.must("task_archive", `{"task":"fix","confirm":%q}`, word(no))
	if !strings.Contains(fmt.Sprint(out["kept"]), "the checkout was gone") {
		t.Errorf("kept: %v", out["kept"])
	}
	runGit(t, "-C", r.repo, "gc", "-q", "--prune=now")
	r.must("task_restore", `{"task":"fix"}`)
	if got := readFile(t, filepath.Join(path, "README")); got != "staged\n" {
		t.Errorf("it came back with %q", got)
	}
	if trouble := r.status("fix")["trouble"]; trouble != nil {
		t.Errorf("trouble: %v", trouble)
	}
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	runGit(t, "-C", r.repo, "worktree", "remove", "-f", "-f", path) // git has forgotten it too
	r.must("task_archive", `{"task":"fix","confirm":%q}`, word(r.refused(refusal.Unconfirmed, "task_archive", `{"task":"fix"}`)))
	if done := r.must("task_purge", `{"task":"fix","yes":true}`); done["purged"] != true {
		t.Errorf("not purged: %v", done)
	}
	if refs := runGit(t, "-C", r.repo, "for-each-ref", "refs/termic"); refs != "" {
		t.Errorf("refs are left: %s", refs)
	}
}

func TestAMovedCheckoutIsFollowed(t *testing.T) {
	r := newRig(t)
	path := r.task("fix", "shell", "")["path"].(string)
	r.wait("fix")
	if err := os.WriteFile(filepath.Join(path, "new"), []byte("work\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "moved")
	runGit(t, "-C", r.repo, "worktree", "move", "-f", "-f", path, to)
	if got := r.status("fix"); got["path"] != to || got["trouble"] != nil {
		t.Errorf("status: %v, %v", got["path"], got["trouble"])
	}
	if files := fmt.Sprint(r.must("task_diff", `{"task":"fix"}`)["files"]); !strings.Contains(files, "new") {
		t.Errorf("its diff: %s", files)
	}
	// Moved without git, it is where git is told that it is.
	again := to + "-again"
	if err := os.Rename(to, again); err != nil {
		t.Fatal(err)
	}
	if trouble := fmt.Sprint(r.status("fix")["trouble"]); !strings.Contains(trouble, "checkout missing") {
		t.Errorf("trouble: %s", trouble)
	}
	runGit(t, "-C", r.repo, "worktree", "repair", again) // as the remedy says
	r.must("task_archive", `{"task":"fix"}`)
	if _, err := os.Lstat(again); err == nil {
		t.Error("the archived checkout is still there")
	}
	r.must("task_restore", `{"task":"fix"}`)
	if got := readFile(t, filepath.Join(again, "new")); got != "work\n" {
		t.Errorf("it came back with %q", got)
	}
}

func TestATaskComesBackOnAnotherBranchWhereItsOwnMoved(t *testing.T) {
	r := newRig(t)
	path := r.task("fix", "shell", "")["path"].(string)
	r.wait("fix")
	if err := os.WriteFile(filepath.Join(path, "new"), []byte("work\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.must("task_archive", `{"task":"fix"}`)
	was := runGit(t, "-C", r.repo, "rev-parse", "termic/fix")
	runGit(t, "-C", r.repo, "commit", "-q", "--allow-empty", "-m", "elsewhere")
	runGit(t, "-C", r.repo, "branch", "-f", "termic/fix", "main")
	no := r.refused(refusal.Conflict, "task_restore", `{"task":"fix"}`)
	if !strings.Contains(no.Remedy, "--branch") || !strings.Contains(no.Remedy, was) {
		t.Errorf("remedy: %s", no.Remedy)
	}
	r.refused(refusal.Conflict, "task_restore", `{"task":"fix","branch":"main"}`) // it is taken
	r.refused(refusal.BadInput, "task_restore", `{"task":"fix","branch":"-x"}`)
	back := r.must("task_restore", `{"task":"fix","branch":"fix-again"}`)["task"].(map[string]any)
	if back["branch"] != "fix-again" || runGit(t, "-C", path, "rev-parse", "HEAD") != was || readFile(t, filepath.Join(path, "new")) != "work\n" {
		t.Errorf("came back as %v", back)
	}
	r.must("task_archive", `{"task":"fix"}`) // on the branch that it has now
	r.must("task_restore", `{"task":"fix"}`)
	if branch := runGit(t, "-C", path, "branch", "--show-current"); branch != "fix-again" {
		t.Errorf("it is on %s", branch)
	}
}

func TestCopiesOfLargeFilesGoOnceTheyAreBack(t *testing.T) {
	r := newRig(t)
	path := r.task("fix", "shell", "")["path"].(string)
	r.wait("fix")
	large := filepath.Join(path, "large")
	if err := os.WriteFile(large, []byte("end\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, 11<<20); err != nil {
		t.Fatal(err)
	}
	copies := func() int {
		found, err := filepath.Glob(filepath.Join(r.dir, "archive", "*.git", "beside", "*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	r.must("task_archive", `{"task":"fix"}`)
	if copies() == 0 {
		t.Fatal("there is no copy")
	}
	r.must("task_restore", `{"task":"fix"}`)
	if n := copies(); n > 0 {
		t.Errorf("%d files are left beside", n)
	}
	if info, err := os.Stat(large); err != nil || info.Size() != 11<<20 {
		t.Errorf("%v %v", info, err)
	}
	if said := fmt.Sprint(r.must("doctor", `{}`)); !strings.Contains(said, "of restored tasks") {
		t.Errorf("doctor does not say what the archive still takes: %s", said)
	}
	r.must("task_archive", `{"task":"fix"}`) // all of it again
	r.must("task_restore", `{"task":"fix"}`)
}

func TestAProjectThatIsGoneIsSaidAndComesBack(t *testing.T) {
	r := newRig(t)
	path := r.task("fix", "shell", "")["path"].(string)
	r.wait("fix")
	r.task("old", "shell", "")
	r.wait("old")
	r.must("task_archive", `{"task":"old"}`)
	away := r.repo + ".away"
	if err := os.Rename(r.repo, away); err != nil {
		t.Fatal(err)
	}
	no := r.refused(refusal.Conflict, "task_diff", `{"task":"fix"}`)
	if !strings.Contains(no.Reason, "repository of project demo is not where it was") || strings.Contains(no.Remedy, "git init") {
		t.Errorf("%s / %s", no.Reason, no.Remedy)
	}
	if trouble := fmt.Sprint(r.status("fix")["trouble"]); trouble != "<nil>" {
		t.Errorf("the checkout itself is there, and it says %s", trouble)
	}
	if err := os.Rename(away, r.repo); err != nil {
		t.Fatal(err)
	}
	r.must("task_diff", `{"task":"fix"}`)
	if err := os.Rename(r.repo, away); err != nil {
		t.Fatal(err)
	}
	asked := r.must("task_purge", `{"task":"old"}`)
	if !strings.Contains(fmt.Sprint(asked["destroys"]), "repository is gone") {
		t.Errorf("asked: %v", asked)
	}
	if done := r.must("task_purge", `{"task":"old","yes":true}`); done["purged"] != true {
		t.Errorf("not purged: %v", done)
	}
	if left, err := filepath.Glob(filepath.Join(r.dir, "archive", "*.git", "objects", "pack", "*.pack")); err != nil || len(left) > 0 {
		t.Errorf("packs are left: %q %v", left, err)
	}
	if err := os.Rename(away, r.repo); err != nil {
		t.Fatal(err)
	}
	r.must("task_archive", `{"task":"fix"}`)
	if _, err := os.Lstat(path); err == nil {
		t.Error("the checkout is still there")
	}
}
