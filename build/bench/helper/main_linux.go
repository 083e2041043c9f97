// Command helper is what the benchmark of cages runs in and beside them.
//
//	helper second PROGRAM ARG...  takes rights away as a second stage in bubblewrap would, then becomes the program
//	helper usage PROGRAM ARG...   runs the program and prints the microseconds of processor time that it took
package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"termic/sandbox/seccomp"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "helper: started by bench")
		os.Exit(2)
	}
	do := map[string]func([]string) error{"second": second, "usage": usage}[os.Args[1]]
	if err := do(os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "helper:", err)
		os.Exit(1)
	}
}

// second does the least that bubblewrap leaves to be done: it tries each path of the standard input, one a line, which
// must not open, and puts our filter on. It leaves out Landlock and the other proofs, which is in bubblewrap's favour.
func second(argv []string) error {
	names := bufio.NewScanner(os.Stdin)
	for names.Scan() {
		if fd, err := unix.Open(names.Text(), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0); err == nil {
			_ = unix.Close(fd)
		}
	}
	arch, err := seccomp.ArchOf(runtime.GOARCH)
	if err != nil {
		return err
	}
	prog, err := seccomp.Assemble(seccomp.Rules(), arch)
	if err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if err := seccomp.Install(prog); err != nil {
		return err
	}
	return syscall.Exec(argv[0], argv, os.Environ())
}

func usage(argv []string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return err
	}
	fmt.Println((cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Microseconds())
	return nil
}
