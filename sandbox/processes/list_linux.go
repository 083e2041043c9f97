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

// Parse reads proc_pid_stat(5): "pid (comm) state ppid pgrp session tty_nr …", where comm may hold blanks and parentheses. The process
// lives if it is more than an entry that its parent has not collected. Of what is no such line it returns nothing that lives.
func Parse(stat []byte) (p Process, living bool) {
	begin, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if begin < 0 || end < begin {
		return Process{}, false
	}
	fields := bytes.Fields(stat[end+1:])
	if len(fields) < 5 {
		return Process{}, false
	}
	var numbers [4]int
	for i := range numbers {
		n, err := strconv.Atoi(string(fields[i+1]))
		if err != nil {
			return Process{}, false
		}
		numbers[i] = n
	}
	state := fields[0][0]
	p = Process{Parent: numbers[0], Session: numbers[2], Terminal: numbers[3] != 0, Name: string(stat[begin+1 : end])}
	return p, state != 'Z' && state != 'X' && state != 'x'
}
