package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// app is the process that makes groups, cage the first process of a cage, in a made-up machine.
const (
	app  = 100
	cage = 200
)

// kernel is a made-up machine with control groups of version 2: a tree of files, on which it acts as Linux does.
type kernel struct {
	t     *testing.T
	tree  tree
	root  string // where the groups are mounted
	stuck bool   // a process that is moved stays where it is
	loses string // a file that takes every number and keeps none
}

// newKernel has the app and a cage in a group with these controllers, which are not on below it.
func newKernel(t *testing.T, group string, controllers ...string) *kernel {
	dir := t.TempDir()
	k := &kernel{t: t, root: filepath.Join(dir, "control groups")}
	k.tree = tree{proc: filepath.Join(dir, "proc"), run: filepath.Join(dir, "run"), self: app, mkdir: k.mkdir, rmdir: k.rmdir, write: k.write}
	k.put(fmt.Sprintf("25 30 0:24 / /proc rw - proc proc rw\n35 24 0:30 / %s rw,nosuid shared:9 - cgroup2 cgroup2 rw\n",
		strings.ReplaceAll(k.root, " ", `\040`)), k.tree.proc, "self", "mountinfo")
	k.put(strings.Join(controllers, " ")+"\n", k.root, group, "cgroup.controllers")
	k.put("\n", k.root, group, "cgroup.subtree_control")
	k.put("", k.root, group, "cgroup.procs")
	k.move(app, group)
	k.move(cage, group)
	return k
}

func (k *kernel) put(text string, elements ...string) {
	k.t.Helper()
	name := filepath.Join(elements...)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		k.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		k.t.Fatal(err)
	}
}

// move puts a process into a group.
func (k *kernel) move(pid int, group string) {
	before, _ := k.tree.of(pid)
	k.put("4:memory:/other\n0::"+filepath.Clean(group)+"\n", k.tree.proc, strconv.Itoa(pid), "cgroup")
	for _, dir := range []string{before, filepath.Join(k.root, group)} {
		if exists(filepath.Join(dir, "cgroup.procs")) {
			k.put(strings.Join(k.in(dir), "\n"), dir, "cgroup.procs")
		}
	}
}

// in returns the processes of a group.
func (k *kernel) in(dir string) (pids []string) {
	for _, pid := range []int{app, cage, app + 1} {
		if at, err := k.tree.of(pid); err == nil && at == filepath.Clean(dir) {
			pids = append(pids, strconv.Itoa(pid))
		}
	}
	return pids
}

func (k *kernel) mkdir(dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	on, err := words(filepath.Join(filepath.Dir(dir), "cgroup.subtree_control"))
	if err != nil {
		return err
	}
	for _, l := range limits {
		if slices.Contains(on, l.controller) {
			k.put("max\n", dir, l.file)
		}
	}
	k.put("", dir, "cgroup.procs")
	k.put("populated 0\n", dir, "cgroup.events")
	return nil
}

// rmdir removes a group without processes.
func (k *kernel) rmdir(dir string) error {
	if _, err := os.Stat(dir); err != nil {
		return unix.ENOENT
	}
	if len(k.in(dir)) > 0 {
		return unix.EBUSY
	}
	return os.RemoveAll(dir)
}

func (k *kernel) write(name, text string) error {
	dir := filepath.Dir(name)
	switch filepath.Base(name) {
	case k.loses:
		return nil
	case "cgroup.procs":
		pid, err := strconv.Atoi(text)
		if err != nil || k.stuck {
			return err
		}
		k.move(pid, "/"+strings.TrimPrefix(dir, k.root))
		return nil
	case "cgroup.subtree_control":
		if dir != k.root && len(k.in(dir)) > 0 { // the root may have both
			return unix.EBUSY
		}
		text = strings.ReplaceAll(text, "+", "")
	case "cgroup.kill":
		for _, pid := range k.in(dir) {
			k.t.Logf("process %s is ended", pid)
			if err := os.RemoveAll(filepath.Join(k.tree.proc, pid)); err != nil {
				return err
			}
		}
		return nil
	}
	if _, err := os.Stat(name); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(text+"\n"), 0o600)
}

func (k *kernel) groups(group string) (names []string) {
	k.t.Helper()
	entries, err := os.ReadDir(filepath.Join(k.root, group))
	if err != nil {
		k.t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return !errors.Is(err, os.ErrNotExist)
}
