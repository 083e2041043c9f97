//go:build unix

package cagetest

import (
	"os"
	"os/exec"
	"syscall"
)

func asUser(cmd *exec.Cmd, uid int) {
	if uid != os.Getuid() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	}
}
