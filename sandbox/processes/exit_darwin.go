package processes

import (
	"syscall"
	"unsafe"
)

// AwaitExit waits for the end of a child without collecting it.
func AwaitExit(pid int) Exit {
	var info childInfo
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, pPID, uintptr(pid), uintptr(unsafe.Pointer(&info)),
			syscall.WEXITED|syscall.WNOWAIT, 0, 0)
		if errno == syscall.EINTR {
			continue
		}
		if errno != 0 {
			return Exit{Code: -1}
		}
		return exitOf(info.code, info.status)
	}
}

const pPID = 1 // P_PID of sys/wait.h

// childInfo is siginfo_t of XNU (bsd/sys/signal.h).
type childInfo struct {
	signo, errno, code int32
	pid                int32
	uid                uint32
	status             int32
	_                  [104]byte // addr, value, band, and what XNU keeps back
}
