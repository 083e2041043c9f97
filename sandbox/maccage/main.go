// Package maccage starts cages on macOS: programs under a policy of package seatbelt. Nothing in it is macOS's own, so that all
// of it is tested on Linux too, with another program in place of sandbox-exec; package launch makes cages of it on a Mac.
//
// What Linux does with namespaces and a process 1 is done here so:
//
//   - A cage is all processes that were started in it, each under the same policy, which the kernel keeps for whatever they start.
//   - The warden, one process a cage, outside of it, kills them when the app says so, and when the app ends. It holds the ports
//     that the policy names until they are gone: a rule never outlives its binding.
//   - Each process begins as the gate, which becomes sandbox-exec only after the warden knows of it.
//
// What has left both its session and its parents is not found again: it runs on, in its policy, when the cage ends.
package maccage

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// The commands of the program that Main is.
const (
	commandGate   = "gate"
	commandWarden = "warden"
	commandTry    = "try"
)

// controlFD is where the gate and the warden find their pipe.
const controlFD = 3

// exitRefused is the status of a gate or warden that could not do what it is for.
const exitRefused = 125

// Main is the program beside the app that a cage needs; see package stage. Its result is an exit status.
func Main(args []string) int {
	var err error
	switch {
	case len(args) > 1 && args[0] == commandGate:
		err = gate(args[1:])
	case len(args) == 1 && args[0] == commandWarden:
		err = warden(os.NewFile(controlFD, "control"))
	case len(args) > 1 && args[0] == commandTry:
		fmt.Println(try(args[1:]))
		return 0
	default:
		err = errors.New("it is started by termic, for cages")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "stage:", err)
		return exitRefused
	}
	return 0
}

// gate waits for a byte, which says that the warden knows this process, and becomes argv. Without one the app has ended. Nothing
// that is open above the standard files goes along: what a process has open no policy closes.
func gate(argv []string) error {
	control := os.NewFile(controlFD, "control")
	if n, err := control.Read(make([]byte, 1)); n != 1 {
		return fmt.Errorf("the app has ended: %w", err)
	}
	if err := closeOnExec(); err != nil {
		return err
	}
	// What was ignored when the app was started (nohup) stays ignored in what becomes of this process, what is caught does not.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGINT)
	return fmt.Errorf("start %s: %w", argv[0], syscall.Exec(argv[0], argv, os.Environ()))
}

// closeOnExec marks every descriptor above the standard files.
func closeOnExec() error {
	fds, err := descriptors()
	if err != nil {
		return err
	}
	for _, fd := range fds {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, unix.FD_CLOEXEC); err != nil && err != unix.EBADF { // EBADF: closed since
			return os.NewSyscallError("fcntl", err)
		}
	}
	return nil
}

// descriptors returns those above the standard files that were open a moment ago.
func descriptors() ([]int, error) {
	dir, err := os.Open("/dev/fd")
	if err != nil {
		return nil, err
	}
	names, err := dir.Readdirnames(-1)
	_ = dir.Close() // read only
	if err != nil {
		return nil, err
	}
	var fds []int
	for _, name := range names {
		if fd, err := strconv.Atoi(name); err == nil && fd > 2 {
			fds = append(fds, fd)
		}
	}
	slices.Sort(fds)
	return fds, nil
}
