package processes

import (
	"bytes"
	"os"
	"strconv"
)

// List returns the living processes, from /proc. A process that ends while we look is left out.
func List() ([]Process, error) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	names, err := proc.Readdirnames(-1)
	_ = proc.Close() // read only
	if err != nil {
		return nil, err
	}
	var alive []Process
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue
		}
		if p, living := Parse(stat); living {
			p.PID = pid
			alive = append(alive, p)
		}
	}
	return alive, nil
}

// Parse reads parent and session from /proc/PID/stat, and whether the process is more than an entry that its parent has
// not collected. proc(5): "pid (comm) state ppid pgrp session …", where comm may hold blanks and parentheses.
func Parse(stat []byte) (p Process, living bool) {
	end := bytes.LastIndexByte(stat, ')')
	if end < 0 {
		return Process{}, false
	}
	fields := bytes.Fields(stat[end+1:])
	if len(fields) < 4 {
		return Process{}, false
	}
	var err error
	if p.Parent, err = strconv.Atoi(string(fields[1])); err != nil {
		return Process{}, false
	}
	if p.Session, err = strconv.Atoi(string(fields[3])); err != nil {
		return Process{}, false
	}
	state := fields[0][0]
	return p, state != 'Z' && state != 'X' && state != 'x'
}
