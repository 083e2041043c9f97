package app

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"termic/app/task"
	"termic/registry/refusal"
)

// treeOf returns every file below dir with its content, for comparison.
func treeOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	tree := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		tree[path] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func TestArchivingATaskOnTheOwnCheckoutTouchesNothing(t *testing.T) {
	r := newRig(t)
	before := treeOf(t, r.repo)
	r.must("task_new", `{"name":"here","agent":"shell","live":true}`)
	if got := r.wait("here"); got != "idle" {
		t.Errorf("outcome %q", got)
	}
	r.must("task_archive", `{"task":"here"}`)
	after := treeOf(t, r.repo)
	for path, content := range before {
		if after[path] != content {
			t.Errorf("%s changed", path)
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d files, then %d", len(before), len(after))
	}
}

func TestArchiveKeepsADetachedCommit(t *testing.T) {
	r := newRig(t)
	path := r.task("fix", "shell", "")["path"].(string)
	r.wait("fix")
	runGit(t, "-C", path, "checkout", "-q", "--detach")
	runGit(t, "-C", path, "commit", "-q", "--allow-empty", "-m", "only here")
	commit := runGit(t, "-C", path, "rev-parse", "HEAD")
	r.must("task_archive", `{"task":"fix"}`)
	runGit(t, "-C", r.repo, "reflog", "expire", "--expire=now", "--all")
	runGit(t, "-C", r.repo, "gc", "-q", "--prune=now")
	r.must("task_restore", `{"task":"fix"}`)
	if got := runGit(t, "-C", path, "rev-parse", "HEAD"); got != commit {
		t.Errorf("HEAD is %s, was %s", got, commit)
	}
}

func TestATaskThatCannotBeKeptIsNotEnded(t *testing.T) {
	r := newRig(t)
	path := r.task("fix", "shell", "")["path"].(string)
	r.wait("fix")
	for _, err := range []error{os.MkdirAll(filepath.Join(path, "inner", ".GIT"), 0o755), os.WriteFile(filepath.Join(path, "inner", ".GIT", "x"), nil, 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if no := r.refused(refusal.Conflict, "task_archive", `{"task":"fix"}`); !strings.Contains(no.Reason, "inner/.GIT/x") {
		t.Errorf("it does not say which file: %s", no.Reason)
	}
	r.must("task_send", `{"task":"fix","text":"echo alive-$((40+2))"}`)
	r.wait("fix")
	if !strings.Contains(r.text("fix"), "alive-42") {
		t.Error("its terminal has ended")
	}
	if err := os.RemoveAll(filepath.Join(path, "inner")); err != nil {
		t.Fatal(err)
	}
	r.must("task_archive", `{"task":"fix"}`) // the twin
}

func TestAWorkingTaskIsArchivedOnlyByForce(t *testing.T) {
	r := newRig(t)
	r.task("fix", "test", "")
	r.wait("fix")
	r.must("task_send", `{"task":"fix","text":"work 60s"}`)
	r.refused(refusal.Conflict, "task_archive", `{"task":"fix"}`)
	r.must("task_archive", `{"task":"fix","force":true}`)
}

func TestTasksSurviveARestart(t *testing.T) {
	r := newRig(t)
	made := r.task("fix", "shell", "")
	path := made["path"].(string)
	if err := os.WriteFile(filepath.Join(path, "work.txt"), []byte("mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.restart()
	again := r.must("task_status", `{"task":"fix"}`)["task"].(map[string]any)
	if again["id"] != made["id"] || again["state"] != "exited" {
		t.Errorf("%v", again)
	}
	if content, err := os.ReadFile(filepath.Join(path, "work.txt")); err != nil || string(content) != "mine\n" {
		t.Errorf("%q, %v", content, err)
	}
	r.refused(refusal.AgentExited, "task_send", `{"task":"fix","text":"x"}`)
	r.must("task_tab", `{"task":"fix"}`)
	if got := r.wait("fix"); got != "idle" {
		t.Errorf("outcome %q", got)
	}
}

// restage makes a stopped app's record say that a crash met the task in a stage.
func (r *rig) restage(id string, from, to task.Stage) {
	r.t.Helper()
	name := filepath.Join(r.dir, "tasks", id+".json")
	content, err := os.ReadFile(name)
	if err != nil {
		r.t.Fatal(err)
	}
	old, new := fmt.Sprintf(`"stage": %q`, from), fmt.Sprintf(`"stage": %q`, to)
	if !strings.Contains(string(content), old) {
		r.t.Fatalf("no %s in %s", old, content)
	}
	if err := os.WriteFile(name, []byte(strings.Replace(string(content), old, new, 1)), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func TestACrashWhileATaskWasMadeLeavesNothing(t *testing.T) {
	r := newRig(t)
	made := r.task("half", "shell", "")
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	r.restage(made["id"].(string), task.Live, task.Creating)
	r.start()
	if n := len(r.must("task_list", `{}`)["tasks"].([]any)); n != 0 {
		t.Errorf("%d tasks", n)
	}
	if _, err := os.Stat(made["path"].(string)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the checkout: %v", err)
	}
	if left := runGit(t, "-C", r.repo, "branch", "--list", "termic/*"); left != "" {
		t.Errorf("branches: %s", left)
	}
	r.task("half", "shell", "")
}

// A crash may come before git has a record of the directory, and before it has made the branch. What somebody else has put
// there since is theirs.
func TestACrashBeforeGitKnewOfTheTaskLeavesNothing(t *testing.T) {
	for name, theirs := range map[string]string{"an empty directory": "", "a directory that somebody else made since": "precious"} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			made := r.task("half", "shell", "")
			path := made["path"].(string)
			if err := r.stop(); err != nil {
				t.Fatal(err)
			}
			r.restage(made["id"].(string), task.Live, task.Creating)
			runGit(t, "-C", r.repo, "worktree", "remove", "--force", "--force", path)
			runGit(t, "-C", r.repo, "branch", "-D", "termic/half")
			if err := os.MkdirAll(filepath.Join(path, theirs), 0o700); err != nil {
				t.Fatal(err)
			}
			r.start()
			if list := r.must("task_list", `{}`)["tasks"].([]any); len(list) != 0 {
				t.Errorf("the task is still there: %v", list)
			}
			if theirs != "" {
				if _, err := os.Stat(filepath.Join(path, theirs)); err != nil {
					t.Errorf("what somebody else made is gone: %v", err)
				}
				return
			}
			if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the directory: %v", err)
			}
			r.task("half", "shell", "")
		})
	}
}

// The checkout is moved aside before it is removed; a crash then leaves git's record of it.
func TestACrashWhileACheckoutWasRemovedLeavesItArchived(t *testing.T) {
	r := newRig(t)
	made := r.task("fix", "shell", "")
	path := made["path"].(string)
	if err := os.WriteFile(filepath.Join(path, "work.txt"), []byte("mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.must("task_archive", `{"task":"fix","force":true}`)
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	r.restage(made["id"].(string), task.Archived, task.Archiving)
	runGit(t, "-C", r.repo, "worktree", "add", "-q", path, "termic/fix")
	if err := os.Rename(path, path+".aside"); err != nil {
		t.Fatal(err)
	}
	r.start()
	r.must("task_restore", `{"task":"fix"}`)
	if content, err := os.ReadFile(filepath.Join(path, "work.txt")); err != nil || string(content) != "mine\n" {
		t.Errorf("%q, %v", content, err)
	}
}

func TestACrashWhileATaskWasRestoredLeavesItArchived(t *testing.T) {
	for _, somebody := range []bool{false, true} { // somebody wrote into what the restore had written by then
		t.Run(fmt.Sprintf("somebody wrote there: %v", somebody), func(t *testing.T) {
			r := newRig(t)
			made := r.task("fix", "shell", "")
			path := made["path"].(string)
			work := filepath.Join(path, "work.txt")
			if err := os.WriteFile(work, []byte("mine\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			r.must("task_archive", `{"task":"fix","force":true}`)
			if err := r.stop(); err != nil {
				t.Fatal(err)
			}
			r.restage(made["id"].(string), task.Archived, task.Restoring)
			runGit(t, "-C", r.repo, "worktree", "add", "-q", path, "termic/fix") // without the untracked file: half of it
			want := 0
			if somebody {
				r.put(made, "README", "somebody's\n")
				want = 1
			}
			r.start()
			r.must("task_restore", `{"task":"fix"}`)
			if content, err := os.ReadFile(work); err != nil || string(content) != "mine\n" {
				t.Errorf("%q, %v", content, err)
			}
			aside, err := filepath.Glob(path + ".interrupted-*")
			if err != nil || len(aside) != want {
				t.Fatalf("beside it: %v, %v", aside, err)
			}
			if somebody {
				if content, err := os.ReadFile(filepath.Join(aside[0], "README")); err != nil || string(content) != "somebody's\n" {
					t.Errorf("beside it: %q, %v", content, err)
				}
			}
		})
	}
}

func TestACrashWhileATaskWasArchivedLosesNothing(t *testing.T) {
	r := newRig(t)
	made := r.task("fix", "shell", "")
	work := filepath.Join(made["path"].(string), "work.txt")
	if err := os.WriteFile(work, []byte("mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	r.restage(made["id"].(string), task.Live, task.Archiving)
	r.start()
	if content, err := os.ReadFile(work); err != nil || string(content) != "mine\n" {
		t.Errorf("%q, %v", content, err)
	}
	said := false
	for _, check := range r.must("doctor", `{}`)["checks"].([]any) {
		said = said || check.(map[string]any)["name"] == "task fix"
	}
	if !said {
		t.Error("doctor does not say what happened")
	}
	r.must("task_archive", `{"task":"fix"}`)
	r.must("task_restore", `{"task":"fix"}`)
	if content, err := os.ReadFile(work); err != nil || string(content) != "mine\n" {
		t.Errorf("afterwards: %q, %v", content, err)
	}
}

func TestStoppingLeavesNoProcess(t *testing.T) {
	r := newRig(t)
	r.task("fix", "shell", `trap '' HUP; (trap '' HUP; sleep 1000) & echo $! > pid; sleep 1000`)
	path := r.must("task_status", `{"task":"fix"}`)["task"].(map[string]any)["path"].(string)
	var pid int
	for pid == 0 {
		if text, err := os.ReadFile(filepath.Join(path, "pid")); err == nil {
			_, _ = fmt.Sscan(string(text), &pid)
		}
	}
	if state := stateOf(pid); state == "" || state == "Z" {
		t.Fatalf("twin: the process does not run before the stop but is in state %q", state)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if state := stateOf(pid); state != "" && state != "Z" { // a zombie has ended and waits for its parent
		t.Errorf("process %d outlived the app in state %s", pid, state)
	}
}

// stateOf returns the state letter of a process as ps shows it, or nothing when there is none.
func stateOf(pid int) string {
	out, _ := exec.Command("ps", "-o", "stat=", "-p", fmt.Sprint(pid)).Output() // it fails where there is none
	state := strings.TrimSpace(string(out))
	return state[:min(1, len(state))]
}

// On a full disk nothing begins that could not be recorded, except what takes power away (I14).
func TestAFullDiskStopsEverythingButTakingPowerAway(t *testing.T) {
	small := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", small).CombinedOutput(); err != nil {
		t.Skipf("needs the right to mount a small file system: %v: %s", err, out)
	}
	defer func() {
		if out, err := exec.Command("umount", "-l", small).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	}()
	r := newRigIn(t, filepath.Join(small, "data"))
	r.must("settings_set", `{"key":"checkouts.dir","value":%q}`, t.TempDir())
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	url, token := "http://127.0.0.1:"+r.secret("mcp-port")+"/mcp", r.secret("mcp-token")
	r.task("fix", "shell", "")
	fill(t, filepath.Join(small, "fill"))
	r.refused(refusal.StorageFailed, "task_new", `{"name":"more","agent":"shell"}`)
	if left := runGit(t, "-C", r.repo, "branch", "--list", "termic/more"); left != "" {
		t.Errorf("left behind: %s", left)
	}
	if _, err := r.try("settings_set", `{"key":"mcp.enabled","value":"false"}`); err == nil {
		t.Log("the setting itself could be saved")
	}
	if status := discover(t, url, token); status != 0 {
		t.Errorf("the endpoint still answers: %d", status)
	}
	r.must("task_tab_close", `{"task":"fix","tab":"shell"}`)
	if err := os.Remove(filepath.Join(small, "fill")); err != nil {
		t.Fatal(err)
	}
	r.task("more", "shell", "") // the twin
	if err := r.stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
}

// fill writes until the file system is full.
func fill(t *testing.T, name string) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, piece := range []int{64 << 10, 1 << 10, 1} {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, piece))
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("fill: %v", err)
	}
}

func TestADataDirectoryThatCannotBeUsed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	open := filepath.Join(t.TempDir(), "open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{"below a file": filepath.Join(file, "data"), "open to everyone": open} {
		err := Run(t.Context(), Options{DataDir: dir, Log: discardLog()})
		if err == nil {
			t.Errorf("%s: the app ran", name)
		}
	}
}
