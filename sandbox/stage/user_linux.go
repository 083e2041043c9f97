package stage

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapUser gives the user and the group of the app their numbers in this user namespace, and nobody else's. It is the
// first thing that process 1 does: until then the kernel calls it nobody (65534).
func mapUser() error {
	uid, gid, err := ids()
	if err != nil {
		return err
	}
	for _, file := range []struct{ name, content string }{
		{"setgroups", "deny"}, // without it the kernel refuses the next; user_namespaces(7)
		{"gid_map", fmt.Sprintf("%d %d 1", gid, gid)},
		{"uid_map", fmt.Sprintf("%d %d 1", uid, uid)},
	} {
		fd, err := unix.Open("/proc/self/"+file.name, unix.O_WRONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("open %s: %w", file.name, err)
		}
		_, err = unix.Write(fd, []byte(file.content))
		_ = unix.Close(fd)
		if err != nil {
			return fmt.Errorf("write %s: %w", file.name, err)
		}
	}
	return nil
}

// ids returns the user and the group with which the program was started: the kernel noted them for it before it was
// cloned (AT_UID and AT_GID; getauxval(3)).
func ids() (uid, gid uintptr, err error) {
	vector, err := unix.Auxv()
	if err != nil {
		return 0, 0, fmt.Errorf("read auxiliary vector: %w", err)
	}
	const none = ^uintptr(0)
	uid, gid = none, none
	for _, entry := range vector {
		switch entry[0] {
		case 11: // AT_UID
			uid = entry[1]
		case 13: // AT_GID
			gid = entry[1]
		}
	}
	if uid == none || gid == none {
		return 0, 0, fmt.Errorf("the auxiliary vector names no user: %w", unix.ENOENT)
	}
	return uid, gid, nil
}

// ignoreSignals gives back to the kernel the signals that the Go runtime would end this process on. Process 1 of a
// namespace is not sent one that it has no handler for; pid_namespaces(7). Ignored, they would stay so in whatever it
// starts; and to catch them would take a thread.
func ignoreSignals() error {
	var none [4]uint64 // struct sigaction of the kernel: SIG_DFL, no flags, nothing blocked
	for _, sig := range []unix.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU,
		unix.SIGUSR1, unix.SIGUSR2, unix.SIGPIPE, unix.SIGALRM} {
		if _, _, e := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&none)), 0, 8, 0, 0); e != 0 {
			return fmt.Errorf("reset signal %d: %w", sig, e)
		}
	}
	return nil
}
