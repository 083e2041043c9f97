package git

import "syscall"

// endWithUs does nothing: the system has no such wish. A git whose app was killed goes on here.
func endWithUs(*syscall.SysProcAttr) {}
