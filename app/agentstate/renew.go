package agentstate

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"termic/app/agent"
)

// renewal is how the person's own program renews the login, without asking a model.
type renewal struct {
	args []string
	// talk writes what the program is asked and returns when it has answered; its standard input is closed then. Nil:
	// the arguments are all that it is told.
	talk func(stdin io.Writer, stdout io.Reader) error
}

// renewTime is how long a program may take. It asks its vendor once; when it is ended in the middle of that, the vendor
// may have spent what the program did not yet write down, and the person has to log in again. So nothing but this ends
// it: not the end of the cage that it was started for, nor that of the app.
const renewTime = 2 * time.Minute

// renew runs what renews a login: the person's own program, outside any cage, with their home and environment, in an
// empty directory of its own, where no project tells it anything. Its output is not kept.
func (k *Keeper) renew(l *layout, definition agent.Definition) error {
	program, err := k.program(l, definition)
	if err != nil {
		return fmt.Errorf("renew login: %w", err)
	}
	dir, err := os.MkdirTemp("", "termic-login-")
	if err != nil {
		return fmt.Errorf("renew login: %w", err)
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(context.Background(), renewTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, l.login.renew.args...)
	cmd.Dir, cmd.Env = dir, k.outside()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	if err := converse(cmd, l.login.renew.talk); err != nil {
		return fmt.Errorf("renew login with %s: %w", program, err)
	}
	return nil
}

// converse runs a program that is talked with.
func converse(cmd *exec.Cmd, talk func(io.Writer, io.Reader) error) error {
	if talk == nil {
		return cmd.Run()
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	said := talk(stdin, stdout)
	_ = stdin.Close()
	_, _ = io.Copy(io.Discard, stdout)
	if err := cmd.Wait(); said == nil {
		said = err
	}
	return said
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
