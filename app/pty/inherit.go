package pty

import (
	"os"
	"os/signal"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// CloseOnExec keeps the descriptors above 2 that are open now from programs that are started without a terminal. Start does it
// for those that get one.
func CloseOnExec() error { return closeOnExec() }

// markAll sets close-on-exec on every descriptor above 2 that dir lists (/proc/self/fd or /dev/fd).
func markAll(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	names, err := d.Readdirnames(-1)
	_ = d.Close() // read only
	if err != nil {
		return err
	}
	for _, name := range names {
		fd, err := strconv.Atoi(name)
		if err != nil || fd <= 2 {
			continue
		}
		// EBADF: closed since, as d is.
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, unix.FD_CLOEXEC); err != nil && err != unix.EBADF {
			return os.NewSyscallError("fcntl", err)
		}
	}
	return nil
}

// defaultSignals makes SIGHUP and SIGINT work in what we start although we were ourselves started with them ignored
// (nohup, a shell's "&"): an ignored signal stays ignored through exec, a caught one does not, and a caught one that nobody
// listens to does as little to us as an ignored one.
var defaultSignals = sync.OnceFunc(func() {
	for _, sig := range []os.Signal{unix.SIGHUP, unix.SIGINT} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
})
