package agentstate

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"termic/app/agent"
)

// runner runs the person's own program of an agent with arguments, and input as its standard input.
type runner func(ctx context.Context, input string, args ...string) error

// renewTime is how long a program may take to renew a login: it asks its vendor once.
const renewTime = 30 * time.Second

// renew runs what renews a login: the person's own program, outside any cage, with their home and environment, in an
// empty directory of its own, where no project tells it anything. Its output is not kept.
func (k *Keeper) renew(ctx context.Context, l *layout, definition agent.Definition) error {
	program, err := k.program(l, definition)
	if err != nil {
		return fmt.Errorf("renew login: %w", err)
	}
	dir, err := os.MkdirTemp("", "termic-login-")
	if err != nil {
		return fmt.Errorf("renew login: %w", err)
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(ctx, renewTime)
	defer cancel()
	err = l.login.refresh(ctx, func(ctx context.Context, input string, args ...string) error {
		cmd := exec.CommandContext(ctx, program, args...)
		cmd.Dir, cmd.Env, cmd.Stdin = dir, k.outside(), strings.NewReader(input)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
		cmd.WaitDelay = time.Second
		return cmd.Run()
	})
	if err != nil {
		return fmt.Errorf("renew login with %s: %w", program, err)
	}
	return nil
}

// program finds the person's program of a layout: that of the definition if it starts it by its own name.
func (k *Keeper) program(l *layout, definition agent.Definition) (string, error) {
	if len(definition.Command) == 0 || filepath.Base(definition.Command[0]) != l.program {
		definition = agent.Definition{ID: l.program, Command: []string{l.program}}
	}
	program, err := agent.Find(definition, agent.WhereIn(k.person.environ))
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return "", err
	}
	if !k.trusted(program) || !k.trusted(real) {
		return "", fmt.Errorf("%s lies where cages write", program)
	}
	return program, nil
}

// outside is the person's environment without what is ours, or would tell the program that it runs inside another one.
func (k *Keeper) outside() []string {
	return slices.DeleteFunc(slices.Clone(k.person.environ), func(entry string) bool {
		return strings.HasPrefix(entry, "TERMIC_") || strings.HasPrefix(entry, "CLAUDECODE=")
	})
}
