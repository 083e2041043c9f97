package pty

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"

	"termic/sandbox/processes"
)

// Marked returns the living processes that were started with a variable of that name in their environment, whatever they have done
// since to their parent, group and session: what a program inherits stays readable in /proc.
func Marked(variable string) ([]Process, error) {
	all, err := Running(variable)
	return slices.DeleteFunc(all, func(p Process) bool { return p.Value == "" }), err
}

// Running returns the living processes, and the value that each one's environment began with of a variable. Those of other users, and
// those in another PID namespace (a cage, which ends them itself), are left out.
func Running(variable string) ([]Process, error) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil, fmt.Errorf("look for processes with %s: %w", variable, err)
	}
	names, err := proc.Readdirnames(-1)
	_ = proc.Close() // read only
	if err != nil {
		return nil, fmt.Errorf("look for processes with %s: %w", variable, err)
	}
	ours, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return nil, fmt.Errorf("look for processes with %s: %w", variable, err)
	}
	var found []Process
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if p, ok := process("/proc/"+name, variable, ours); ok {
				p.PID = pid
				found = append(found, p)
			}
		}
	}
	return found, nil
}

// process reads one process; one that ends meanwhile, or is not ours to read, is none.
func process(dir, variable, namespace string) (Process, bool) {
	environ, err := os.ReadFile(dir + "/environ")
	if err != nil {
		return Process{}, false
	}
	text, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return Process{}, false
	}
	stat, living := processes.Parse(text)
	theirs, err := os.Readlink(dir + "/ns/pid")
	if err != nil || theirs != namespace || !living {
		return Process{}, false
	}
	at, err := os.Readlink(dir + "/cwd")
	if err != nil {
		at = ""
	}
	return Process{
		Parent: stat.Parent, Session: stat.Session, Terminal: stat.Terminal, Name: stat.Name, Dir: at, Value: valueOf(environ, variable),
	}, true
}

// valueOf finds a variable in the form of environ(7) in /proc: entries that end with NUL.
func valueOf(environ []byte, variable string) string {
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		if value, ok := bytes.CutPrefix(entry, []byte(variable+"=")); ok {
			return string(value)
		}
	}
	return ""
}
