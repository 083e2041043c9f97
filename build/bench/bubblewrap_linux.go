package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"termic/sandbox/capability"
	"termic/sandbox/linuxcage"
	"termic/sandbox/profile"
)

// layOut makes a person's directories with a task in it below root, as in the tests of cages, and returns the cage's
// plan: enforce, with both ports.
func layOut(root, programs string) (linuxcage.Plan, error) {
	for name, content := range map[string]string{
		"home/.ssh/id_test": "key", "home/.bashrc": "# start", "data/mcp-token": "token", "data/tasks/2/checkout/file": "other",
		"data/tasks/1/gitfile": "gitdir: /nowhere", "data/tasks/1/checkout/.git": "gitdir: /elsewhere", "data/tasks/1/checkout/.envrc": "x",
		"data/tasks/1/checkout/.vscode/settings.json": "{}", "data/tasks/1/checkout/.claude/settings.json": "{}",
		"data/tasks/1/checkout/.github/workflows/ci.yml": "on: push", "data/tasks/1/git/HEAD": "ref: refs/heads/x",
	} {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return linuxcage.Plan{}, err
		}
		if err := os.WriteFile(file, []byte(content+"\n"), 0o644); err != nil {
			return linuxcage.Plan{}, err
		}
	}
	task := root + "/data/tasks/1/"
	dirs := profile.Dirs{Home: root + "/home", Checkout: task + "checkout", Data: root + "/data", Root: os.Getuid() == 0, UID: os.Getuid(),
		Read: []string{programs},
		Own: []profile.Own{{Path: task + "git", Source: task + "git", Write: true, Why: "private git directory"},
			{Path: task + "checkout/.git", Source: task + "gitfile", Why: "the cage's view of git"}}}
	if out, err := exec.Command("go", "env", "GOROOT").Output(); err == nil && !strings.HasPrefix(string(out), "/usr/") {
		dirs.Read = append(dirs.Read, strings.TrimSpace(string(out)))
	}
	control, err := capability.ScopedControl("web")
	if err != nil {
		return linuxcage.Plan{}, err
	}
	set := capability.Set{Network: capability.AllHosts(), Control: control}
	p, err := profile.Compile(capability.Declared{Mode: capability.Enforce, Set: set}, dirs, profile.Machine{})
	if err != nil {
		return linuxcage.Plan{}, err
	}
	return linuxcage.Build(p)
}

// bubblewrap returns what starts `true` in the system's bubblewrap with the options that are closest to the plan, and
// in it the second stage that it would need. The error says why it cannot be measured.
func (m *measured) bubblewrap() (func() error, error) {
	program, err := exec.LookPath("bwrap")
	if err != nil {
		return nil, err
	}
	args, err := os.CreateTemp(m.root, "args")
	if err != nil {
		return nil, err
	}
	if _, err := args.WriteString(strings.Join(options(m.plan), "\x00") + "\x00"); err != nil {
		return nil, err
	}
	absent := strings.Join(m.plan.Attest.Absent, "\n")
	run := func() error {
		if _, err := args.Seek(0, 0); err != nil { // bwrap shares the offset
			return err
		}
		cmd := exec.Command(program, "--args", "3", filepath.Join(m.dir, "helper"), "second", "/usr/bin/true")
		cmd.ExtraFiles, cmd.Env, cmd.Stdin = []*os.File{args}, []string{}, strings.NewReader(absent)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("bubblewrap: %w: %s", err, out)
		}
		return nil
	}
	return run, run() // once, to see whether it works here
}

// options are the plan in bubblewrap's words. It has none for ports, for parts of /proc and for proofs.
func options(plan linuxcage.Plan) []string {
	args := []string{"--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
		"--die-with-parent", "--new-session", "--cap-drop", "ALL"}
	for _, mount := range plan.Mounts {
		switch {
		case mount.Kind == linuxcage.Bind && mount.Write:
			args = append(args, "--bind", mount.Source, mount.Path)
		case mount.Kind == linuxcage.Bind:
			args = append(args, "--ro-bind", mount.Source, mount.Path)
		case mount.Kind == linuxcage.Link:
			args = append(args, "--symlink", mount.Target, mount.Path)
		case mount.Kind == linuxcage.Mask && mount.File:
			args = append(args, "--ro-bind", "/dev/null", mount.Path)
		default:
			args = append(args, "--perms", fmt.Sprintf("%04o", max(mount.Mode, 0o555)), "--tmpfs", mount.Path)
		}
	}
	return append(args, "--proc", "/proc", "--dev", "/dev", "--remount-ro", "/")
}
