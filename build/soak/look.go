package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// check holds what there is against the world before a call and after it, and takes over which of them it is.
func (k *kills) check(before, after world) error {
	is, err := k.which(before, after)
	if err != nil {
		return err
	}
	k.now = is
	if err := k.learn(); err != nil {
		return err
	}
	for name, want := range k.now.live {
		got, err := k.facts(k.checkout(name))
		if err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("task %s is\n%s\nwant\n%s", name, got, want)
		}
		if err := k.marks(name); err != nil {
			return err
		}
	}
	if err := k.leftovers(); err != nil {
		return err
	}
	if k.looks%healthEach != 0 {
		return nil
	}
	return k.healthy()
}

// healthEach is after how many kills doctor and the audit log are asked too: they look at everything.
const healthEach = 5

// which tells the two worlds apart by the lists of tasks and the setting.
func (k *kills) which(before, after world) (world, error) {
	live, err := k.listed()
	if err != nil {
		return world{}, err
	}
	archived, err := k.listed("--archived")
	if err != nil {
		return world{}, err
	}
	out, err := k.rig.Do("settings", "list", "--json")
	if err != nil {
		return world{}, err
	}
	var settings struct {
		Settings []struct{ Key, Value string }
	}
	if err := json.Unmarshal([]byte(out), &settings); err != nil {
		return world{}, fmt.Errorf("%w: %s", err, out)
	}
	value := ""
	for _, s := range settings.Settings {
		if s.Key == scrollback {
			value = s.Value
		}
	}
	is := func(w world) bool {
		return sameNames(live, w.live) && sameNames(archived, w.archived) && value == w.setting
	}
	switch {
	case is(after):
		k.done++
		return after, nil
	case is(before):
		k.undecided++
		return before, nil
	}
	return world{}, fmt.Errorf("there are tasks %s, archived %s, setting %s; before %s, %s, %s; after %s, %s, %s", textOf(live), textOf(archived), value,
		textOf(before.live), textOf(before.archived), before.setting, textOf(after.live), textOf(after.archived), after.setting)
}

// facts are what must be the same of a checkout before and after: commit, branch, index, files with kind, permissions and
// contents. What git ignores is not kept by an archive and not among them.
func (k *kills) facts(dir string) (string, error) {
	var list []string
	for _, args := range [][]string{{"rev-parse", "HEAD"}, {"symbolic-ref", "HEAD"}, {"ls-files", "--stage"}} {
		out, err := k.rig.Run("git", append([]string{"-C", dir}, args...)...)
		if err != nil {
			return "", err
		}
		list = append(list, strings.TrimSpace(out))
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() == ".git" || d.Name() == "ignored" {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		var data []byte
		switch {
		case info.Mode().IsRegular():
			data, err = os.ReadFile(path)
		case info.Mode()&fs.ModeSymlink != 0:
			var to string
			to, err = os.Readlink(path)
			data = []byte(to)
		}
		list = append(list, fmt.Sprintf("%s %s %x", strings.TrimPrefix(path, dir), info.Mode(), sha256.Sum256(data)))
		return err
	})
	return strings.Join(list, "\n"), err
}

// marks looks for a text that was typed twice.
func (k *kills) marks(name string) error {
	text, err := os.ReadFile(filepath.Join(k.checkout(name), "ignored"))
	if os.IsNotExist(err) {
		return nil
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if seen[line] {
			return fmt.Errorf("task %s was sent %q twice", name, strings.TrimSpace(line))
		}
		seen[line] = true
	}
	return err
}

// leftovers looks for what no task has: checkouts, branches, records and locks of git, processes.
func (k *kills) leftovers() error {
	dirs, err := filepath.Glob(filepath.Join(k.rig.Data+".checkouts", "*", "*"))
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		name := filepath.Base(dir)
		if _, ok := k.now.live[name]; ok {
			continue
		}
		if !strings.Contains(name, ".interrupted-") {
			return fmt.Errorf("the checkout %s belongs to no task", dir)
		}
		if err := os.RemoveAll(dir); err != nil { // as doctor tells the person to
			return err
		}
	}
	out, err := k.rig.Run("git", "-C", k.rig.Repo, "for-each-ref", "--format=%(refname)", "refs/heads/termic", "refs/termic")
	if err != nil {
		return err
	}
	// The branch of a purged task stays.
	for name := range k.now.live {
		if !strings.Contains(out, "refs/heads/termic/"+name+"\n") {
			return fmt.Errorf("task %s has no branch", name)
		}
	}
	for name := range k.now.archived {
		if !strings.Contains(out, "refs/heads/termic/"+name+"\n") {
			return fmt.Errorf("archived task %s has no branch", name)
		}
	}
	records, err := filepath.Glob(filepath.Join(k.rig.Repo, ".git", "worktrees", "*"))
	if err != nil {
		return err
	}
	if len(records) != len(k.now.live) {
		return fmt.Errorf("git has %d records of worktrees, and there are %d tasks: %s", len(records), len(k.now.live), records)
	}
	err = filepath.WalkDir(filepath.Join(k.rig.Repo, ".git"), func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".lock") {
			err = fmt.Errorf("a lock is left: %s", path)
		}
		return err
	})
	if err != nil {
		return err
	}
	return k.orphans()
}

// orphans waits until nothing runs that the app started before it was killed.
func (k *kills) orphans() error {
	var left []string
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if left = k.processes(); len(left) == 0 {
			return nil
		}
	}
	return fmt.Errorf("these outlived the app: %s", left)
}

// processes lists what works in a checkout or in the repository and is no descendant of the app that runs.
func (k *kills) processes() (list []string) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		pid := e.Name()
		if pid[0] < '0' || pid[0] > '9' || k.descends(pid) {
			continue
		}
		environ, err := os.ReadFile("/proc/" + pid + "/environ")
		if err != nil || !slices.Contains(strings.Split(string(environ), "\x00"), "HOME="+filepath.Join(k.rig.Base, "home")) {
			continue
		}
		command, err := os.ReadFile("/proc/" + pid + "/cmdline")
		if err == nil && len(command) > 0 { // else it has ended
			list = append(list, pid+" "+strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	return list
}

// descends tells whether a process is the app's or was started by it.
func (k *kills) descends(pid string) bool {
	for range 64 {
		if pid == fmt.Sprint(k.rig.Pid) {
			return true
		}
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil {
			return true // it has ended
		}
		// Fields after the command's closing bracket: state, then the parent (proc_pid_stat(5)).
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) < 2 || fields[1] == "0" || fields[1] == "1" {
			return false
		}
		pid = fields[1]
	}
	return false
}

// healthy asks doctor and the audit log.
func (k *kills) healthy() error {
	out, err := k.rig.Do("doctor", "--json")
	if err != nil && out == "" {
		return err
	}
	var report struct {
		Checks []struct{ Name, State, Evidence string }
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	for _, c := range report.Checks {
		if c.State == "failed" && (c.Name == "data file" || strings.HasPrefix(c.Name, "task ")) {
			return fmt.Errorf("doctor says of %s: %s", c.Name, c.Evidence)
		}
	}
	if out, err := k.rig.Do("audit", "verify"); err != nil {
		return fmt.Errorf("the audit log: %w: %s", err, out)
	}
	return nil
}
