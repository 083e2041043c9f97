package cagetest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// delegatedVar is what a test binary was started with: the controllers of its group, which is its user's.
const delegatedVar = "TERMIC_TEST_DELEGATED"

// Delegated returns the controllers of the control group that AgainDelegated started this process in; empty if it did not.
func Delegated() []string { return strings.Fields(os.Getenv(delegatedVar)) }

// AgainDelegated is Again in a control group that belongs to the user, as a system makes them that lets its users limit what
// they start. Only root can make one, and only where the machine's own settings hand controllers on: elsewhere the test
// is skipped, and says what is missing.
func AgainDelegated(t *testing.T, uid int, tests string) {
	t.Helper()
	parent, err := handsOn()
	if err != nil {
		Tally(t, "limits of uid %d: nothing tried: %v", uid, err)
		t.Skipf("needs root and control groups of version 2 with controllers: %v", err)
	}
	start, err := delegate(t, parent, uid)
	if err != nil {
		t.Fatal(err)
	}
	again(t, uid, tests, func(cmd *exec.Cmd) {
		cmd.Env = append(cmd.Env, delegatedVar+"="+strings.Join(controllers(parent), " "))
		if cmd.SysProcAttr == nil { // this user runs it
			cmd.SysProcAttr = &syscall.SysProcAttr{}
		}
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(start.Fd())
	})
}

// delegate makes a group that belongs to a user below another, with one in it for their first process, which it returns.
// They are removed when the test ends.
func delegate(t *testing.T, parent string, uid int) (start *os.File, err error) {
	t.Helper()
	dir := filepath.Join(parent, "termic-cagetest-"+strconv.Itoa(os.Getpid()))
	first := filepath.Join(dir, "first")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	t.Cleanup(func() { removeGroups(t, dir) })
	if err := os.WriteFile(dir+"/cgroup.subtree_control", []byte("+"+strings.Join(controllers(parent), " +")), 0); err != nil {
		return nil, err
	}
	if err := os.Mkdir(first, 0o755); err != nil {
		return nil, err
	}
	// What is handed over is what cgroup-v2.rst, "Model of Delegation", names; nothing that limits the group itself.
	for _, name := range []string{dir, dir + "/cgroup.procs", dir + "/cgroup.subtree_control", first, first + "/cgroup.procs", first + "/cgroup.subtree_control"} {
		if err := os.Chown(name, uid, uid); err != nil {
			return nil, err
		}
	}
	// systemd's mark of a group that is nobody's but its user's; see systemd.resource-control(5), Delegate.
	if err := unix.Setxattr(first, "user.delegate", []byte("1"), 0); err != nil {
		return nil, err
	}
	if start, err = os.Open(first); err == nil {
		t.Cleanup(func() { _ = start.Close() })
	}
	return start, err
}

// handsOn returns the nearest group around this process that lets groups below it be limited.
func handsOn() (string, error) {
	if os.Getuid() != 0 {
		return "", errors.New("only root can hand a control group to a user")
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", err
	}
	const root = "/sys/fs/cgroup" // where every system of today has version 2; file-hierarchy(7)
	for line := range strings.Lines(string(own)) {
		at, ok := strings.CutPrefix(strings.TrimSpace(line), "0::")
		for ; ok; at = filepath.Dir(at) {
			if dir := filepath.Join(root, at); len(controllers(dir)) > 0 {
				return dir, nil
			}
			if at == "/" {
				break
			}
		}
	}
	return "", fmt.Errorf("no control group of version 2 around this process hands on memory, pids or cpu (%s)", root)
}

// controllers are those of the three that limits need which the groups below this one have.
func controllers(dir string) []string {
	on, err := os.ReadFile(dir + "/cgroup.subtree_control")
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(strings.Fields(string(on)), func(c string) bool { return !slices.Contains([]string{"memory", "pids", "cpu"}, c) })
}

// removeGroups removes a group and those below it, which have to be empty: what a test left running fails it.
func removeGroups(t *testing.T, dir string) {
	t.Helper()
	var all []string
	_ = filepath.WalkDir(dir, func(name string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			all = append(all, name)
		}
		return nil
	})
	for _, name := range slices.Backward(all) {
		if err := unix.Rmdir(name); err != nil {
			procs, _ := os.ReadFile(name + "/cgroup.procs")
			t.Errorf("remove %s, in which %q run: %v", name, procs, err)
		}
	}
}
