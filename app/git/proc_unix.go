//go:build linux || darwin

package git

import (
	"os/exec"
	"syscall"
)

// group is the process group of one git and everything that it starts.
type group struct{ cmd *exec.Cmd }

// ownGroup gives cmd a session of its own: its group can be signalled as one,
// and without a controlling terminal neither git nor ssh can ask on /dev/tty.
func ownGroup(cmd *exec.Cmd) *group {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	endWithUs(cmd.SysProcAttr)
	return &group{cmd: cmd}
}

// terminate asks the whole group to end.
func (p *group) terminate() error { return syscall.Kill(-p.cmd.Process.Pid, syscall.SIGTERM) }

// kill ends what git, which has ended, left behind in its group.
func (p *group) kill() {
	if p.cmd.Process != nil {
		syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // it may be gone
	}
}
