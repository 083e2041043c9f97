package hook

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

func terminal(fd int) bool {
	_, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	return err == nil
}

// maxAncestors bounds the walk upwards; agents start their hooks themselves or through one shell.
const maxAncestors = 16

// ancestral returns the device of the controlling terminal of this process, or of the nearest ancestor that has one.
func ancestral() (string, error) {
	pid := os.Getpid()
	for range maxAncestors {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return "", err
		}
		parent, tty, err := parseStat(stat)
		if err != nil {
			return "", err
		}
		if name := device(tty); name != "" {
			return name, nil
		}
		if parent <= 1 {
			break
		}
		pid = parent
	}
	return "", unix.ENOTTY
}

// parseStat reads ppid and tty_nr of proc_pid_stat(5). The command's name is in parentheses and may hold any byte.
func parseStat(stat []byte) (parent int, tty uint64, err error) {
	end := bytes.LastIndexByte(stat, ')')
	fields := bytes.Fields(stat[max(end, 0):])
	if end < 0 || len(fields) < 6 {
		return 0, 0, fmt.Errorf("stat of a process: %d fields", len(fields))
	}
	if parent, err = strconv.Atoi(string(fields[2])); err != nil {
		return 0, 0, err
	}
	number, err := strconv.ParseInt(string(fields[5]), 10, 64)
	return parent, uint64(uint32(number)), err
}

// Majors of pseudo-terminals (Documentation/admin-guide/devices.txt). The first one serves all since minors have 20 bits.
const (
	firstPTS = 136
	lastPTS  = 143
)

// device returns the path of a pseudo-terminal by its device number, or nothing.
func device(dev uint64) string {
	if major := unix.Major(dev); major < firstPTS || major > lastPTS {
		return ""
	}
	return fmt.Sprintf("/dev/pts/%d", (unix.Major(dev)-firstPTS)*256+unix.Minor(dev))
}
