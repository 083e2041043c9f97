package pty

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"termic/sandbox/processes"
)

// Marked returns the living processes that were started with a variable of that name in their environment, whatever they have done
// since to their parent, group and session: what a program inherits stays readable in /proc. Those of other users, and those in
// another PID namespace (a cage, which ends them itself), are left out.
func Marked(variable string) ([]Process, error) {
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
			if p, ok := marked("/proc/"+name, variable, ours); ok {
				p.PID = pid
				found = append(found, p)
			}
		}
	}
	return found, nil
}

// marked reads one process; one that ends meanwhile, or is not ours to read, is none.
func marked(dir, variable, namespace string) (Process, bool) {
	environ, err := os.ReadFile(dir + "/environ")
	if err != nil {
		return Process{}, false
	}
	value, ok := valueOf(environ, variable)
	if !ok {
		return Process{}, false
	}
	stat, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return Process{}, false
	}
	p, living := processes.Parse(stat)
	theirs, err := os.Readlink(dir + "/ns/pid")
	if err != nil || theirs != namespace || !living {
		return Process{}, false
	}
	begin, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	return Process{Session: p.Session, Name: string(stat[begin+1 : end]), Value: value}, true
}

// valueOf finds a variable in the form of environ(7) in /proc: entries that end with NUL.
func valueOf(environ []byte, variable string) (string, bool) {
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		if value, ok := bytes.CutPrefix(entry, []byte(variable+"=")); ok {
			return string(value), true
		}
	}
	return "", false
}
