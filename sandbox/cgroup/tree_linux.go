package cgroup

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// tree is where the kernel tells of processes and of their groups: /proc, and what is mounted by it.
type tree struct {
	proc string
	run  string // /run: whether systemd runs
	self int    // this process
	// What the kernel acts on, besides answering.
	mkdir, rmdir func(name string) error
	write        func(name, text string) error
}

var machine = tree{
	proc: "/proc", run: "/run", self: os.Getpid(), rmdir: unix.Rmdir, write: write,
	mkdir: func(name string) error { return unix.Mkdir(name, 0o755) },
}

// of returns the directory of the group that a process is in.
func (t tree) of(pid int) (string, error) {
	name := "/" + strconv.Itoa(pid) + "/cgroup"
	text, err := os.ReadFile(t.proc + name)
	if err != nil {
		return "", fmt.Errorf("find a control group: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if group, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::"); ok { // version 2; cgroups(7)
			return t.shown(group)
		}
	}
	return "", fmt.Errorf("%w: control groups of version 2 are not in use", ErrNone)
}

// shown returns where the file system shows a group.
func (t tree) shown(group string) (string, error) {
	file, err := os.Open(t.proc + "/self/mountinfo")
	if err != nil {
		return "", fmt.Errorf("find control groups: %w", err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		// "36 35 0:31 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw": proc_pid_mountinfo(5). Fields before the dash vary in number.
		before, after, _ := strings.Cut(lines.Text(), " - ")
		fields := strings.Fields(before)
		if len(fields) < 6 || !strings.HasPrefix(after, "cgroup2 ") {
			continue
		}
		below, ok := strings.CutPrefix(group+"/", strings.TrimSuffix(fields[3], "/")+"/")
		if !ok || strings.Contains(group, "/../") || strings.HasSuffix(group, "/..") {
			continue // it shows another part of the tree
		}
		return filepath.Join(unescape(fields[4]), below), nil
	}
	if err := lines.Err(); err != nil {
		return "", fmt.Errorf("find control groups: %w", err)
	}
	return "", fmt.Errorf("%w: control groups of version 2 are not mounted", ErrNone)
}

// unescape undoes what the kernel writes for blanks in a path: \040 and the like.
func unescape(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] == '\\' && i+3 < len(name) {
			if n, err := strconv.ParseUint(name[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(name[i])
	}
	return b.String()
}

// held returns which of the wanted limits a process is really under, by the files of the group that it is really in. That
// group has to have the name that was made for it: a limit of another group would count others' processes too.
func (t tree) held(pid int, name string, want Limits) (dir string, held Limits, err error) {
	dir, err = t.of(pid)
	if err != nil {
		return "", Limits{}, err
	}
	if filepath.Base(dir) != name {
		return "", Limits{}, fmt.Errorf("process %d is in another control group than was made for it", pid)
	}
	for _, l := range limits {
		if wanted := *l.of(&want); wanted != 0 && number(filepath.Join(dir, l.file)) == wanted {
			*l.of(&held) = wanted
		}
	}
	return dir, held, nil
}

// number returns what a file of a group holds, and -1 when it holds no number, or is not there.
func number(name string) int64 {
	text, err := os.ReadFile(name)
	if err != nil {
		return -1
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil { // "max"
		return -1
	}
	return n
}

func words(name string) ([]string, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read control group: %w", err)
	}
	return strings.Fields(string(text)), nil
}
