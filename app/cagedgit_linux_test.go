package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termic/app/task"
	"termic/registry/refusal"
)

// cagedShell makes a task in a cage with a shell in place of an agent, and an identity for its git.
func (r *rig) cagedShell(name, more string) map[string]any {
	r.t.Helper()
	made := r.must("task_new", `{"name":%q,"project":"demo","agent":"shell","cage":"enforce"%s}`, name, more)["task"].(map[string]any)
	r.wait(name)
	r.inside(name, "git config user.name Agent; git config user.email agent@example.org")
	return made
}

// inside runs a line in the shell of a caged task, and returns what the terminal shows then.
func (r *rig) inside(name, line string) string {
	r.t.Helper()
	r.lines++
	mark := fmt.Sprintf("ran-%d", r.lines)
	r.must("task_send", `{"task":%q,"text":%q}`, name, line+"; echo "+mark+"-$?-end")
	for deadline := time.Now().Add(time.Minute); ; {
		r.wait(name)
		text := r.text(name)
		if _, after, ok := strings.Cut(text, "\n"+mark+"-"); ok {
			if code, _, _ := strings.Cut(after, "-end"); code != "0" {
				r.t.Fatalf("%s: exit %s\n%s", line, code, text)
			}
			return text
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("%s did not end:\n%s", line, text)
		}
	}
}

// git runs the person's git in the project.
func (r *rig) git(args ...string) string {
	r.t.Helper()
	return runGit(r.t, append([]string{"-C", r.repo}, args...)...)
}

func (r *rig) trouble(name string) string {
	r.t.Helper()
	text, _ := r.must("task_status", `{"task":%q}`, name)["task"].(map[string]any)["trouble"].(string)
	return text
}

func TestACagedAgentsCommitsComeIntoTheProject(t *testing.T) {
	t.Parallel() // most of it is waiting for shells
	r := newRig(t)
	made := r.cagedShell("fix", "")
	path := made["path"].(string)
	shown(t, r.inside("fix", "git status --short --branch"), "## termic/fix")
	r.inside("fix", "echo work > work.txt; git add work.txt; git commit -qm 'of the agent'; echo dirty > dirty.txt")
	diff := r.must("task_diff", `{"task":"fix"}`)
	if diff["commits"] != float64(1) || !strings.Contains(diff["patch"].(string), "+work") || !strings.Contains(diff["patch"].(string), "+dirty") {
		t.Errorf("%v", diff)
	}
	if got := r.git("log", "-1", "--format=%an %s", "termic/fix"); got != "Agent of the agent" {
		t.Errorf("the project's branch is at %q", got)
	}
	if got := runGit(t, "-C", path, "status", "--short"); got != "?? dirty.txt" {
		t.Errorf("the person's status: %q", got)
	}
	// The other way.
	if err := os.WriteFile(filepath.Join(path, "README"), []byte("person\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	runGit(t, "-C", path, "commit", "-qm", "of the person", "--", "README")
	r.must("task_diff", `{"task":"fix"}`)
	shown(t, r.inside("fix", "git log -1 --format='last: %s'; git status --short"), "last: of the person\n?? dirty.txt")
	if got := r.trouble("fix"); got != "" {
		t.Errorf("trouble: %s", got)
	}
	// Nothing of the project is there to be written, and its objects are there to be read.
	shown(t, r.inside("fix", "ls "+r.repo+"/.git; touch "+r.repo+"/.git/objects/x 2>&1 | grep -c read-only -i; git rev-parse --verify -q main"), "objects\n")
}

// Without anybody asking, soon after the agent's branch has changed.
func TestACagedAgentsBranchIsFollowed(t *testing.T) {
	t.Parallel() // most of it is waiting for shells
	r := newRig(t)
	r.cagedShell("fix", "")
	r.must("task_send", `{"task":"fix","text":"git commit -q --allow-empty -m followed"}`)
	for deadline := time.Now().Add(30 * time.Second); r.git("log", "-1", "--format=%s", "termic/fix") != "followed"; {
		if time.Now().After(deadline) {
			t.Fatalf("the project's branch does not follow; log:\n%s", r.log)
		}
		time.Sleep(20 * time.Millisecond) // there is no event of the project's to wait for
	}
}

func TestWhatKeepsTheViewsApartIsSaid(t *testing.T) {
	t.Parallel() // most of it is waiting for shells
	r := newRig(t)
	made := r.cagedShell("fix", "")
	path := made["path"].(string)
	r.inside("fix", "git commit -q --allow-empty -m agent")
	r.must("task_diff", `{"task":"fix"}`)
	r.diverge("fix", path)
	if got := r.trouble("fix"); !strings.Contains(got, "both committed") {
		t.Errorf("trouble: %q", got)
	}
	r.inside("fix", "git merge -q -m merged refs/remotes/project/termic/fix")
	r.must("task_diff", `{"task":"fix"}`)
	if got := r.trouble("fix"); got != "" {
		t.Errorf("trouble: %q", got)
	}
	// A commit that is refused: the agent's branch names a submodule.
	r.inside("fix", "git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub; git commit -qm sub")
	r.must("task_diff", `{"task":"fix"}`)
	if got := r.trouble("fix"); !strings.Contains(got, "submodule") {
		t.Errorf("trouble: %q", got)
	}
	if got := r.git("ls-tree", "-r", "--name-only", "termic/fix"); got != "README" {
		t.Errorf("the project's branch has %q", got)
	}
	if n := strings.Count(r.log.String(), "a cage's git was not taken over"); n != 1 {
		t.Errorf("logged %d times", n)
	}
}

// diverge gives both sides of a task's branch a commit of their own. The checkout is elsewhere meanwhile, so that
// neither side is given the other's.
func (r *rig) diverge(name, path string) {
	r.t.Helper()
	runGit(r.t, "-C", path, "switch", "-q", "-c", "elsewhere")
	r.inside(name, "git commit -q --allow-empty -m more")
	r.must("task_diff", `{"task":%q}`, name)
	if got := r.trouble(name); !strings.Contains(got, "the branch waits") {
		r.t.Errorf("trouble: %q", got)
	}
	person := runGit(r.t, "-C", path, "commit-tree", "-p", "HEAD", "-m", "person", "HEAD^{tree}")
	runGit(r.t, "-C", path, "update-ref", "refs/heads/termic/"+name, person)
	runGit(r.t, "-C", path, "switch", "-q", "termic/"+name)
	r.must("task_diff", `{"task":%q}`, name)
}

// privateWork is what an agent has beside its branch.
const privateWork = "echo 1 > f; git add f; git commit -qm one; " +
	"echo 2 > f; git stash -q; echo 3 > f; git stash -q; " +
	"git switch -q -c side; git commit -q --allow-empty -m side; git tag -a -m x mine; " +
	"git switch -q --detach; git commit -q --allow-empty -m detached; " +
	"echo staged > staged; git add staged; echo more > staged; echo untracked > untracked"

// showWork prints it, so that it can be compared.
const showWork = "clear; git for-each-ref; git stash list --format=%gd:%H; git rev-parse HEAD; git status --short; cat staged untracked; git show :staged"

func TestArchivingACagedTaskLosesNothing(t *testing.T) {
	t.Parallel() // most of it is waiting for shells
	r := newRig(t)
	made := r.cagedShell("fix", "")
	holds := func() string { return fmt.Sprint(r.must("task_preflight", `{"task":"fix"}`)["kept"]) }
	if kept := holds(); strings.Contains(kept, "stash") {
		t.Errorf("nothing is stashed, and it says %s", kept)
	}
	r.inside("fix", privateWork)
	if kept := holds(); !strings.Contains(kept, "the agent's stashes: ") || strings.Count(kept, "WIP on termic/fix") != 2 {
		t.Errorf("two stashes, and it says %s", kept)
	}
	before := r.work("fix")
	r.must("task_archive", `{"task":"fix"}`)
	private := filepath.Join(r.dir, "tasks-private", made["id"].(string))
	if _, err := os.Lstat(private); !os.IsNotExist(err) {
		t.Errorf("the private directory is still there: %v", err)
	}
	r.git("reflog", "expire", "--expire=now", "--all")
	r.git("gc", "-q", "--prune=now")
	if restored := r.must("task_restore", `{"task":"fix"}`)["task"].(map[string]any); restored["cage"] != "enforce" || restored["trouble"] != nil {
		t.Errorf("restored as %v", restored)
	}
	r.must("task_tab", `{"task":"fix"}`)
	r.wait("fix")
	if after := r.work("fix"); after != before {
		t.Errorf("it was\n%s\nand is\n%s", before, after)
	}
	shown(t, r.inside("fix", "clear; git stash pop -q; git checkout -q -f termic/fix; git fsck 2>&1 | grep -c missing; git log -1 --format=at:%s"), "0\nat:one")
}

// work returns what showWork prints.
func (r *rig) work(name string) string {
	r.t.Helper()
	text := r.inside(name, showWork)
	_, text, _ = strings.Cut(text, "refs/heads/")
	text, _, _ = strings.Cut(text, "\nran-")
	return text
}

// What cannot be taken over whole stays as it is, and comes back with the task.
func TestArchivingKeepsWhatCannotBeTakenOver(t *testing.T) {
	t.Parallel() // most of it is waiting for shells
	r := newRig(t)
	made := r.cagedShell("fix", "")
	r.inside("fix", "git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub; git commit -qm sub; git branch other")
	r.must("task_archive", `{"task":"fix"}`)
	private := filepath.Join(r.dir, "tasks-private", made["id"].(string), "git")
	if _, err := os.Lstat(filepath.Join(private, "refs/heads/other")); err != nil {
		t.Errorf("the private directory: %v", err)
	}
	archived := r.must("task_list", `{"archived":true}`)["tasks"].([]any)[0].(map[string]any)
	if got, _ := archived["trouble"].(string); !strings.Contains(got, "kept as it is") {
		t.Errorf("trouble: %q", got)
	}
	r.must("task_restore", `{"task":"fix"}`)
	r.must("task_tab", `{"task":"fix"}`)
	r.wait("fix")
	shown(t, r.inside("fix", "clear; git log -1 --format=last:%s other"), "last:sub")
}

// An agent's git that never answers makes nobody wait for long, and what it has is kept.
func TestAGitThatNeverAnswers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	made := r.cagedShell("fix", "")
	r.inside("fix", "git commit -q --allow-empty -m agent; mkfifo $(git rev-parse --absolute-git-dir)/refs/heads/fifo")
	r.must("task_diff", `{"task":"fix"}`)
	if got := r.trouble("fix"); !strings.Contains(got, "did not answer") {
		t.Errorf("trouble: %q", got)
	}
	begun := time.Now()
	for range 5 {
		r.must("task_diff", `{"task":"fix"}`)
		r.must("task_status", `{"task":"fix"}`)
	}
	if d := time.Since(begun); d > 10*time.Second {
		t.Errorf("ten looks took %v", d)
	}
	r.must("task_archive", `{"task":"fix"}`)
	if _, err := os.Lstat(filepath.Join(r.dir, "tasks-private", made["id"].(string), "git", "refs/heads/fifo")); err != nil {
		t.Errorf("the agent's git is not kept: %v", err)
	}
	r.must("task_restore", `{"task":"fix"}`)
	r.must("task_tab", `{"task":"fix"}`)
	r.wait("fix")
	r.inside("fix", "rm $(git rev-parse --absolute-git-dir)/refs/heads/fifo; git commit -q --allow-empty -m again")
	r.must("task_archive", `{"task":"fix"}`)
	if got := r.git("log", "-1", "--format=%s", "termic/fix"); got != "again" {
		t.Errorf("the project's branch is at %q", got)
	}
}

// An agent that ruins its git gets a new one with the next cage; what is left of the old one is not thrown away.
func TestAnAgentThatRuinsItsGitGetsANewOne(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	made := r.cagedShell("fix", "")
	r.inside("fix", "git commit -q --allow-empty -m before; git branch side; cp -r $(git rev-parse --absolute-git-dir)/refs /tmp/refs")
	r.must("task_diff", `{"task":"fix"}`)
	r.inside("fix", "rm -rf $(git rev-parse --absolute-git-dir)/HEAD")
	r.must("task_diff", `{"task":"fix"}`)
	if got := r.trouble("fix"); got == "" {
		t.Error("nothing is said of it")
	}
	r.must("cage_edit", `{"task":"fix","hosts":["example.org"],"confirm":true}`)
	r.wait("fix")
	shown(t, r.inside("fix", "clear; git log -1 --format=last:%s; git status --short"), "last:before")
	if got := r.trouble("fix"); got != "" {
		t.Errorf("trouble: %s", got)
	}
	r.must("task_archive", `{"task":"fix"}`)
	aside, _ := filepath.Glob(filepath.Join(r.dir, "tasks-private", made["id"].(string), "git.aside-*", "refs/heads/side"))
	if len(aside) != 1 {
		t.Errorf("what was left of it: %q", aside)
	}
}

func TestACageTurnedOnAndOffLosesNothing(t *testing.T) {
	t.Parallel() // most of it is waiting for shells
	r := newRig(t)
	made := r.task("fix", "shell", "")
	path := made["path"].(string)
	r.wait("fix")
	runGit(t, "-C", path, "commit", "-q", "--allow-empty", "-m", "outside")
	if err := os.WriteFile(filepath.Join(path, "dirty"), []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.must("cage_edit", `{"task":"fix","cage":"enforce","confirm":true}`)
	r.wait("fix")
	r.inside("fix", "git config user.name Agent; git config user.email agent@example.org")
	shown(t, r.inside("fix", "git log -1 --format=last:%s; git status --short"), "last:outside\n?? dirty")
	r.inside("fix", "git commit -q --allow-empty -m inside; echo s > README; git stash -q; git switch -q -c side; git commit -q --allow-empty -m side; git switch -q -")
	r.must("cage_edit", `{"task":"fix","cage":"off","confirm":true}`)
	if got := runGit(t, "-C", path, "log", "-1", "--format=%s"); got != "inside" {
		t.Errorf("outside the branch is at %q", got)
	}
	runGit(t, "-C", path, "commit", "-q", "--allow-empty", "-m", "outside again")
	r.must("cage_edit", `{"task":"fix","cage":"enforce","confirm":true}`)
	r.wait("fix")
	r.must("task_diff", `{"task":"fix"}`)
	shown(t, r.inside("fix", "clear; git log -1 --format=last:%s; git log -1 --format=side:%s side; git stash list; git status --short"),
		"last:outside again\nside:side\nstash@{0}", "?? dirty")
}

func TestACageIsNotTurnedOffOverCommitsThatCannotCome(t *testing.T) {
	t.Parallel() // most of it is waiting for shells
	r := newRig(t)
	made := r.cagedShell("fix", "")
	r.inside("fix", "git commit -q --allow-empty -m agent")
	r.diverge("fix", made["path"].(string))
	no := r.refused(refusal.Conflict, "cage_edit", `{"task":"fix","cage":"off","confirm":true}`)
	if !strings.Contains(no.Reason, "both committed") {
		t.Errorf("%+v", no)
	}
	r.inside("fix", "git merge -q -m merged refs/remotes/project/termic/fix") // its terminal has not ended
	r.must("cage_edit", `{"task":"fix","cage":"off","confirm":true}`)
}

func TestAProjectsOwnCheckoutIsNotCaged(t *testing.T) {
	t.Parallel() // most of it is waiting for shells
	r := newRig(t)
	r.must("task_new", `{"name":"here","agent":"shell","live":true}`)
	r.wait("here")
	no := r.refused(refusal.Conflict, "cage_edit", `{"task":"here","cage":"enforce","confirm":true}`)
	if !strings.Contains(no.Reason, "own checkout") {
		t.Errorf("%+v", no)
	}
	r.task("there", "shell", "")
	r.must("cage_edit", `{"task":"there","cage":"enforce","confirm":true}`) // the twin
}

// A crash in each step of a caged task's life leaves what there was, and no half of it.
func TestCrashesOfACagedTask(t *testing.T) {
	t.Parallel() // most of it is waiting for shells
	for name, c := range map[string]struct {
		unworked bool // nobody has worked in it
		archive  bool // before the crash
		from, to task.Stage
		after    func(r *rig, made map[string]any, before string)
	}{
		"while it was made": {unworked: true, from: task.Live, to: task.Creating, after: func(r *rig, made map[string]any, _ string) {
			if left := r.git("for-each-ref", "refs/termic", "refs/heads/termic"); left != "" {
				r.t.Errorf("left: %s", left)
			}
			if _, err := os.Lstat(filepath.Join(r.dir, "tasks-private", made["id"].(string))); !os.IsNotExist(err) {
				r.t.Errorf("the private directory is left: %v", err)
			}
			r.cagedShell("fix", "")
		}},
		"before its checkout was removed": {from: task.Live, to: task.Archiving, after: func(r *rig, _ map[string]any, before string) {
			r.must("task_tab", `{"task":"fix"}`)
			r.wait("fix")
			if after := r.work("fix"); after != before {
				r.t.Errorf("it was\n%s\nand is\n%s", before, after)
			}
		}},
		"after its checkout was removed": {archive: true, from: task.Archived, to: task.Archiving, after: func(r *rig, _ map[string]any, before string) {
			r.must("task_restore", `{"task":"fix"}`)
			r.must("task_tab", `{"task":"fix"}`)
			r.wait("fix")
			if after := r.work("fix"); after != before {
				r.t.Errorf("it was\n%s\nand is\n%s", before, after)
			}
		}},
		"while it was restored": {archive: true, from: task.Archived, to: task.Restoring, after: func(r *rig, _ map[string]any, before string) {
			r.must("task_restore", `{"task":"fix"}`)
			r.must("task_tab", `{"task":"fix"}`)
			r.wait("fix")
			if after := r.work("fix"); after != before {
				r.t.Errorf("it was\n%s\nand is\n%s", before, after)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			made := r.cagedShell("fix", "")
			before := ""
			if !c.unworked {
				r.inside("fix", privateWork)
				before = r.work("fix")
			}
			if c.archive {
				r.must("task_archive", `{"task":"fix"}`)
			}
			if err := r.stop(); err != nil {
				t.Fatal(err)
			}
			r.restage(made["id"].(string), c.from, c.to)
			for _, half := range []string{"git.half-x", "base.half-x"} {
				if err := os.MkdirAll(filepath.Join(r.dir, "tasks-private", made["id"].(string), half), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			r.start()
			if left, _ := filepath.Glob(filepath.Join(r.dir, "tasks-private", "*", "*.half-*")); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
			c.after(r, made, before)
		})
	}
}

func TestIsolatedHistoryOfATask(t *testing.T) {
	t.Parallel() // most of it is waiting for shells
	r := newRig(t)
	r.git("switch", "-q", "-c", "secret")
	if err := os.WriteFile(filepath.Join(r.repo, "secret"), []byte("SECRET\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.git("add", "secret")
	r.git("commit", "-qm", "secret")
	blob := r.git("rev-parse", "HEAD:secret")
	r.git("switch", "-q", "main")
	r.cagedShell("shared", "")
	shown(t, r.inside("shared", "git cat-file -p "+blob), "SECRET")
	r.must("project_settings", `{"project":"demo","isolated_history":true}`)
	r.cagedShell("alone", "")
	if text := r.inside("alone", "clear; git log --format=%s; git cat-file -p "+blob+" || true"); strings.Contains(text, "SECRET") || !strings.Contains(text, "second\nfirst") {
		t.Errorf("it shows\n%s", text)
	}
	r.inside("alone", "git commit -q --allow-empty -m alone")
	r.must("task_diff", `{"task":"alone"}`)
	if got := r.git("log", "-1", "--format=%s", "termic/alone"); got != "alone" {
		t.Errorf("the project's branch is at %q", got)
	}
}

// smudging gives the project a filter of the person's, and its main branch a file that goes through it. ran tells
// whether it ran since the last question.
func (r *rig) smudging() (ran func() bool) {
	r.t.Helper()
	marker := filepath.Join(r.t.TempDir(), "MARKER")
	program := filepath.Join(r.t.TempDir(), "smudge.sh")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho ran >> "+marker+"\ncat\n"), 0o700); err != nil {
		r.t.Fatal(err)
	}
	for name, text := range map[string]string{".gitattributes": "*.bin filter=own\n", "x.bin": "x\n"} {
		if err := os.WriteFile(filepath.Join(r.repo, name), []byte(text), 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
	r.git("add", "-A")
	r.git("commit", "-qm", "filtered")
	r.git("config", "filter.own.smudge", program)
	return func() bool {
		err := os.Remove(marker)
		return err == nil
	}
}

func TestWhatOthersCommittedRunsNoFilter(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ran := r.smudging()
	r.cagedShell("fix", "")
	if !ran() {
		t.Fatal("the filter does not run for the person's own base: the test tries nothing")
	}
	r.inside("fix", "echo agent >> x.bin; git commit -qam agent")
	r.must("task_diff", `{"task":"fix"}`)
	if ran() {
		t.Error("it ran in a diff or an import")
	}
	r.must("task_new", `{"name":"next","project":"demo","agent":"shell","base":"termic/fix"}`)
	if ran() {
		t.Error("it ran on a base that only an import brought")
	}
	r.must("task_archive", `{"task":"fix","force":true}`)
	r.must("task_restore", `{"task":"fix"}`)
	if ran() {
		t.Error("it ran on a task that was caged")
	}
	r.git("branch", "mine", "termic/fix")
	r.must("task_new", `{"name":"mine","project":"demo","agent":"shell","base":"termic/fix"}`)
	if !ran() {
		t.Error("it does not run on what the person made theirs")
	}
}

func TestAScopedCallersBaseRunsNoFilter(t *testing.T) {
	t.Parallel()
	r := orchestra(t, `,"mcp":true`)
	ran := r.smudging()
	if got := r.tell("lead", `let w = call task_new {"name":"worker","agent":"test","mcp":false}`, "say made $w.task.branch"); !strings.Contains(got, "termic/t-") {
		t.Fatalf("%s\nlog:\n%s", got, r.log)
	}
	if ran() {
		t.Error("the person's filter ran for a scoped caller's task")
	}
	r.must("task_new", `{"name":"twin","project":"demo","agent":"shell"}`)
	if !ran() {
		t.Error("the filter does not run for the person either")
	}
}
