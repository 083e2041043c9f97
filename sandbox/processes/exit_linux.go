package processes

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// AwaitExit waits for the end of a child without collecting it.
func AwaitExit(pid int) Exit {
	var info unix.Siginfo
	for {
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return Exit{Code: -1}
		}
		return exitOf(info.Code, (*childInfo)(unsafe.Pointer(&info)).status)
	}
}

// childInfo is siginfo_t as SIGCHLD fills it on 64-bit Linux (asm-generic/siginfo.h).
type childInfo struct {
	signo, errno, code, _ int32
	pid                   int32
	uid                   uint32
	status                int32
}
