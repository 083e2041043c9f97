package git

import "syscall"

// endWithUs makes the kernel ask a git to end when we are gone, killed included: one that went on by itself would
// make a checkout that nobody knows of. It is SIGTERM, on which git removes its lock files. The signal follows the
// thread that forked, so the caller stays on its thread until git has ended.
func endWithUs(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGTERM }
