package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// nameLock is the file whose flock(2) is the instance lock. It is never removed: two instances that lock two files of
// one name would both believe to be alone.
const nameLock = "lock"

// orphanPatience is how long a lock is waited for whose owner is dead: a child that it had forked when it was killed, and
// that has not yet called exec, holds the lock a moment longer (seen once in some hundred kills).
var orphanPatience = 5 * time.Second

// dead tells that a process is known and does not run any more.
func dead(pid int) bool { return pid > 0 && errors.Is(unix.Kill(pid, 0), unix.ESRCH) }

// takeLock locks the data directory for the life of the returned file, or returns a LockedError. The kernel drops
// the lock when the process dies in whatever way, so there is no stale lock.
func takeLock(root *os.Root, dir string) (*os.File, error) {
	f, err := root.OpenFile(nameLock, os.O_RDWR|os.O_CREATE|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, classify(err)
	}
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
		f.Close()
		return nil, errors.Join(err, fmt.Errorf("%s: %w: not a regular file", nameLock, ErrCorrupt))
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	for deadline := time.Now().Add(orphanPatience); errors.Is(err, unix.EWOULDBLOCK) && dead(lockPid(f)) && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		defer f.Close()
		return nil, &LockedError{dir, lockPid(f)}
	}
	if err != nil {
		f.Close()
		return nil, &fs.PathError{Op: "flock", Path: nameLock, Err: err}
	}
	// The pid only serves the message to a second instance, which may read it before this write and then names no pid
	// or, after a crash, an old one. The lock holds all the same, also when a full disk takes no pid.
	if err := f.Truncate(0); err == nil {
		_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	return f, nil
}

// releaseLock gives the lock up at once. A child that was forked and has not yet called exec holds a duplicate of the
// descriptor; closing ours alone would leave the lock with it.
func releaseLock(f *os.File) error {
	return errors.Join(f.Truncate(0), unix.Flock(int(f.Fd()), unix.LOCK_UN), f.Close())
}

// lockPid returns the pid in a lock file, or 0.
func lockPid(f *os.File) int {
	b := make([]byte, 20) // a pid has at most 7 digits on Linux (pid_max_limit is 4 million)
	n, _ := f.ReadAt(b, 0)
	pid, err := strconv.Atoi(strings.TrimSpace(string(b[:n])))
	if err != nil || pid < 0 {
		return 0
	}
	return pid
}
