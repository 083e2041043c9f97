package app

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"termic/app/ctl"
)

// killer puts a git in front of the app's own that kills the app with SIGKILL around its n-th call: before git runs when n is
// odd, after it when n is even. It is armed by a file that holds 2n, and counts down in it.
func (r *rig) killer() (arm func(at int)) {
	r.t.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		r.t.Fatal(err)
	}
	dir := r.t.TempDir()
	armed := filepath.Join(dir, "armed")
	script := fmt.Sprintf(`#!/bin/sh
armed='%s' git='%s'
if [ -e "$armed" ]; then
  read n < "$armed"
  n=$((n-1)); echo $n > "$armed"
  [ $n = 0 ] && { rm "$armed"; kill -9 $PPID; sleep 10; }
  n=$((n-1)); echo $n > "$armed"
  if [ $n = 0 ]; then "$git" "$@"; rm "$armed"; kill -9 $PPID; sleep 10; fi
fi
exec "$git" "$@"
`, armed, real)
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o700); err != nil {
		r.t.Fatal(err)
	}
	for i, v := range r.environ {
		if rest, ok := strings.CutPrefix(v, "PATH="); ok {
			r.environ[i] = "PATH=" + dir + ":" + rest
		}
	}
	return func(at int) {
		if at == 0 {
			os.Remove(armed)
			return
		}
		if err := os.WriteFile(armed, []byte(fmt.Sprint(at)), 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
}

// crashes runs a call of the built program again and again, and kills it at each of the steps in turn, until one call gets
// through. prepare is run before each call and check after each restart; check tells whether the killed call had got through.
func (r *rig) crashes(verb, arguments string, first, step int, prepare func(at int), check func(at int) bool) (killed int) {
	r.t.Helper()
	if err := r.stop(); err != nil {
		r.t.Fatal(err)
	}
	arm := r.killer()
	b := &built{rig: r}
	b.startBuilt()
	for at := first; ; at += step {
		prepare(at)
		arm(at)
		_, err := r.client.Call(r.t.Context(), verb, json.RawMessage(arguments))
		arm(0)
		if err == nil {
			return killed
		}
		if r.alive() {
			r.t.Fatalf("%s refused when it was to be killed at step %d: %v", verb, at, err)
		}
		killed++
		b.startBuilt()
		if check(at) {
			return killed
		}
	}
}

// alive tells whether the app answers.
func (r *rig) alive() bool {
	_, err := ctl.NewClient(r.dir).Call(r.t.Context(), "task_list", json.RawMessage(`{}`))
	return err == nil
}

// traces is everything that a task may leave in the project and on disk.
func (r *rig) traces() string {
	r.t.Helper()
	var all []string
	add := func(what, text string) { all = append(all, what+": "+text) }
	add("refs", runGit(r.t, "-C", r.repo, "for-each-ref"))
	add("worktrees", runGit(r.t, "-C", r.repo, "worktree", "list"))
	for what, pattern := range map[string]string{
		"records": r.dir + "/tasks/*", "tabs": r.dir + "/tabs/*", "checkouts": r.dir + ".checkouts/*/*",
		"git's records": r.repo + "/.git/worktrees/*",
	} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			r.t.Fatal(err)
		}
		add(what, strings.Join(found, " "))
	}
	err := filepath.WalkDir(filepath.Join(r.repo, ".git"), func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".lock") {
			add("lock", path)
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	slices.Sort(all) // maps have no order
	return strings.Join(all, "\n")
}

func TestAKillAtAnyStepOfACreationLeavesNothing(t *testing.T) {
	r := newRig(t)
	clean := r.traces()
	killed := r.crashes("task_new", `{"name":"fix","agent":"shell"}`, 1, 3, func(int) {}, func(at int) bool {
		if list := r.must("task_list", `{}`)["tasks"].([]any); len(list) == 1 {
			return true // whole, which is looked at below: only the settings of the repository were still to be read
		}
		if now := r.traces(); now != clean {
			t.Errorf("killed at step %d:\n%s\nwant\n%s", at, now, clean)
		}
		return false
	})
	if killed < 3 {
		t.Errorf("killed %d times only", killed)
	}
	made := r.must("task_status", `{"task":"fix"}`)["task"].(map[string]any)
	if tabs := made["tabs"].([]any); len(tabs) != 1 {
		t.Errorf("the one that got through has %d tabs", len(tabs))
	}
	if got := runGit(t, "-C", made["path"].(string), "status", "--porcelain", "--branch"); got != "## termic/fix" {
		t.Errorf("the one that got through: %q", got)
	}
}

// work makes changes of every kind in a checkout.
func work(t *testing.T, path string) {
	t.Helper()
	for name, text := range map[string]string{"README": "staged\n", "dir/new": "untracked\n", "exec": "#!/bin/sh\n"} {
		file := filepath.Join(path, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	runGit(t, "-C", path, "add", "README")
	for _, err := range []error{
		os.WriteFile(filepath.Join(path, "README"), []byte("and changed\n"), 0o600), os.Chmod(filepath.Join(path, "exec"), 0o755),
		os.Symlink("/etc/passwd", filepath.Join(path, "link")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// facts is what must be the same of a checkout before and after.
func facts(t *testing.T, path string) string {
	t.Helper()
	list := []string{runGit(t, "-C", path, "rev-parse", "HEAD"), runGit(t, "-C", path, "symbolic-ref", "HEAD"), runGit(t, "-C", path, "ls-files", "--stage")}
	err := filepath.WalkDir(path, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.Name() == ".git" {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := ""
		switch {
		case info.Mode().IsRegular():
			text = readFile(t, p)
		case info.Mode()&os.ModeSymlink != 0:
			text, err = os.Readlink(p)
		}
		list = append(list, fmt.Sprint(strings.TrimPrefix(p, path), " ", info.Mode(), " ", text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(list, "\n")
}

func TestAKillAtAnyStepOfAnArchiveOrARestoreLosesNothing(t *testing.T) {
	r := newRig(t)
	path := r.task("fix", "shell", "")["path"].(string)
	work(t, path)
	want := facts(t, path)
	compare := func(at int, verb string) {
		t.Helper()
		if got := facts(t, path); got != want {
			t.Errorf("killed at step %d of %s:\n%s\nwant\n%s", at, verb, got, want)
		}
		runGit(t, "-C", r.repo, "fsck", "--full")
	}
	archived := func() bool { return len(r.must("task_list", `{"archived":true}`)["tasks"].([]any)) == 1 }
	killed := r.crashes("task_archive", `{"task":"fix","force":true}`, 5, 19, func(int) {
		if archived() {
			r.must("task_restore", `{"task":"fix"}`)
		}
	}, func(at int) bool {
		if archived() {
			r.must("task_restore", `{"task":"fix"}`)
		}
		compare(at, "archive")
		return false
	})
	if killed < 3 {
		t.Errorf("killed %d times only", killed)
	}
	if !archived() {
		t.Fatal("the one that got through did not archive")
	}
	killed = r.crashes("task_restore", `{"task":"fix"}`, 4, 13, func(int) {
		if !archived() {
			r.must("task_archive", `{"task":"fix","force":true}`)
		}
	}, func(at int) bool {
		if archived() {
			r.must("task_restore", `{"task":"fix"}`)
		}
		compare(at, "restore")
		return false
	})
	if killed < 3 {
		t.Errorf("killed %d times only", killed)
	}
	compare(0, "restore")
}
