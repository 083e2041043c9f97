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
		if sid, living := parseStat(stat); living && sid == session {
			alive = append(alive, pid)
		}
	}
	return alive, nil
}

// parseStat reads the session id from /proc/PID/stat, and whether the process is more than an entry that its parent has
// not collected. proc(5): "pid (comm) state ppid pgrp session …", where comm may hold blanks and parentheses.
func parseStat(stat []byte) (session int, living bool) {
	end := bytes.LastIndexByte(stat, ')')
	if end < 0 {
		return 0, false
	}
	fields := bytes.Fields(stat[end+1:])
	if len(fields) < 4 {
		return 0, false
	}
	session, err := strconv.Atoi(string(fields[3]))
	if err != nil {
		return 0, false
	}
	state := fields[0][0]
	return session, state != 'Z' && state != 'X' && state != 'x'
}
