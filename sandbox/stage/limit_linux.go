package stage

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// reservedPIDs are numbers that the kernel does not give out again once it has given out every other one
// (RESERVED_PIDS in kernel/pid.c).
const reservedPIDs = 300

// Kernels that count what is in a cage apart from the rest of the machine.
var (
	countsUsers = kernel{5, 14} // RLIMIT_NPROC by user namespace
	countsPIDs  = kernel{6, 14} // kernel.pid_max by PID namespace; before, writing it would change the machine's
)

// limitPIDs bounds the numbers of processes and threads in this PID namespace, and tells whether that holds: not on a
// kernel that has one bound for the whole machine. It holds for root too, whom RLIMIT_NPROC does not.
func limitPIDs(proc, most int) (bool, error) {
	if !running().atLeast(countsPIDs) {
		return false, nil
	}
	fd, err := unix.Openat(proc, "sys/kernel/pid_max", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return false, fmt.Errorf("open pid_max: %w", err)
	}
	file := os.NewFile(uintptr(fd), "pid_max")
	defer file.Close()
	if now, err := readPIDMax(file); err != nil || now <= most+reservedPIDs {
		return err == nil, err
	}
	if _, err := file.WriteString(strconv.Itoa(most + reservedPIDs)); err != nil {
		return false, fmt.Errorf("write pid_max: %w", err)
	}
	now, err := readPIDMax(file)
	if err == nil && now != most+reservedPIDs {
		err = fmt.Errorf("pid_max is %d, not %d", now, most+reservedPIDs)
	}
	return err == nil, err
}

func readPIDMax(file *os.File) (int, error) {
	var text [32]byte
	n, err := file.ReadAt(text[:], 0)
	if n == 0 {
		return 0, fmt.Errorf("read pid_max: %w", err)
	}
	return strconv.Atoi(string(bytes.TrimSpace(text[:n])))
}

// limitProcesses bounds what the user of this namespace may have running in it, and tells whether that holds: root of
// the machine has no such limit (setrlimit(2)), and it is not known here which root this is.
func limitProcesses(most int) (bool, error) {
	limit := unix.Rlimit{Cur: uint64(most), Max: uint64(most)}
	var had unix.Rlimit
	if err := unix.Prlimit(0, unix.RLIMIT_NPROC, nil, &had); err != nil {
		return false, fmt.Errorf("read the limit of processes: %w", err)
	}
	if had.Max < limit.Max {
		limit = unix.Rlimit{Cur: had.Max, Max: had.Max} // the person's own is narrower
	}
	if err := unix.Prlimit(0, unix.RLIMIT_NPROC, &limit, nil); err != nil {
		return false, fmt.Errorf("limit processes: %w", err)
	}
	return running().atLeast(countsUsers) && unix.Getuid() != 0, nil
}

// kernel is a version of Linux: major and minor.
type kernel [2]int

func (k kernel) atLeast(other kernel) bool {
	return k[0] > other[0] || k[0] == other[0] && k[1] >= other[1]
}

// running returns the version of the kernel that runs; {0, 0} when it does not say.
func running() kernel {
	var name unix.Utsname
	if unix.Uname(&name) != nil {
		return kernel{}
	}
	return parseKernel(unix.ByteSliceToString(name.Release[:]))
}

// parseKernel reads the start of a release: "6.14.0-rc1-foo" is {6, 14}.
func parseKernel(release string) kernel {
	major, rest, _ := strings.Cut(release, ".")
	minor := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	var k kernel
	var err error
	if k[0], err = strconv.Atoi(major); err != nil {
		return kernel{}
	}
	if k[1], err = strconv.Atoi(minor); err != nil {
		return kernel{}
	}
	return k
}
