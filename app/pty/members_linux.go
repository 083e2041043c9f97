package pty

import (
	"bytes"
	"os"
	"strconv"
)

// members returns the living processes of a session, from /proc. A process that ends while we look is left out.
func members(session int) ([]int, error) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	names, err := proc.Readdirnames(-1)
	_ = proc.Close() // read only
	if err != nil {
		return nil, err
	}
	var alive []int
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue
		}
		if p := parseStat(stat); p.living && p.session == session {
			alive = append(alive, pid)
		}
	}
	return alive, nil
}

// status is what is read of /proc/PID/stat.
type status struct {
	name            string
	parent, session int
	terminal        bool // it has a controlling one
	living          bool // it is more than an entry that its parent has not collected
}

// parseStat reads proc_pid_stat(5): "pid (comm) state ppid pgrp session tty_nr …", where comm may hold blanks and parentheses. Of what is
// no such line it returns nothing that lives.
func parseStat(stat []byte) status {
	begin, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if begin < 0 || end < begin {
		return status{}
	}
	fields := bytes.Fields(stat[end+1:])
	if len(fields) < 5 {
		return status{}
	}
	var numbers [4]int
	for i := range numbers {
		n, err := strconv.Atoi(string(fields[i+1]))
		if err != nil {
			return status{}
		}
		numbers[i] = n
	}
	state := fields[0][0]
	return status{
		name: string(stat[begin+1 : end]), parent: numbers[0], session: numbers[2], terminal: numbers[3] != 0,
		living: state != 'Z' && state != 'X' && state != 'x',
	}
}
