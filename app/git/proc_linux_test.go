package git

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// onlyZombies reports whether every process of the group has ended and merely
// waits to be reaped.
func onlyZombies(pgid int) bool {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		b, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:])) // state, ppid, pgrp
		if len(f) > 2 && f[2] == strconv.Itoa(pgid) && f[0] != "Z" {
			return false
		}
	}
	return true
}
