//go:build unix

package git

import (
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// group is the process group of one git and everything that it starts.
type group struct {
	cmd   *exec.Cmd
	mu    sync.Mutex
	timer *time.Timer // SIGKILL after SIGTERM; nil until terminate
	done  bool
}

// ownGroup gives cmd a session of its own: its group can be signalled as one,
// and without a controlling terminal neither git nor ssh can ask on /dev/tty.
func ownGroup(cmd *exec.Cmd) *group {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return &group{cmd: cmd}
}

// terminate asks the group to end, and kills it after termGrace.
func (p *group) terminate() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done {
		return nil
	}
	pid := p.cmd.Process.Pid
	p.timer = time.AfterFunc(termGrace, p.kill)
	return syscall.Kill(-pid, syscall.SIGTERM)
}

func (p *group) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.done {
		syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // it may be gone
	}
}

// finish is called when git itself has ended. With force it also ends what git
// left behind in its group.
func (p *group) finish(force bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done = true
	if p.timer != nil {
		p.timer.Stop()
	}
	if force && p.cmd.Process != nil {
		syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // it may be gone
	}
}
