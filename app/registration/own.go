package registration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"termic/app/agent"
	"termic/mcpserver/clients"
	"termic/mcpserver/jsoncedit"
	"termic/registry/refusal"
)

const (
	// ownTimeout bounds one run of a client's own command line; it takes a second on a busy machine.
	ownTimeout = 30 * time.Second
	// lockTimeout bounds the wait for a client's lock; it is held for milliseconds.
	lockTimeout = 5 * time.Second
	// maxSaid is how much is kept of what a client's command line says when it fails, in bytes.
	maxSaid = 4 << 10
)

// ownProgram returns the path of a client's program when its configuration is changed through that; else "".
func (s *Set) ownProgram(c clients.Client) string {
	if c.Own == nil {
		return ""
	}
	path, err := agent.Find(agent.Definition{ID: c.Name, Command: []string{c.Program}}, agent.WhereIn(s.Environ))
	if err != nil {
		return ""
	}
	return path
}

// writeOwn has the client write the entry, and reads it back.
func (s *Set) writeOwn(ctx context.Context, program string, p plan) error {
	has, err := p.client.Read(p.from.Data)
	if err != nil {
		return err
	}
	if has != nil { // it refuses a name that is there
		if err := s.runOwn(ctx, program, p.client.Own.Remove); err != nil {
			return err
		}
	}
	if err := s.runOwn(ctx, program, p.client.Own.Add(p.client.OwnValue(p.target))); err != nil {
		return err
	}
	after, err := clients.Open(p.from.Name)
	if err != nil {
		return err
	}
	wanted, err := p.client.Wanted(p.target)
	if err != nil {
		return err
	}
	if got, err := p.client.Read(after.Data); err != nil || !bytes.Equal(got, wanted) {
		return refusal.Newf(refusal.Conflict, "follow: termic client show "+p.client.Name, "%s wrote another entry than it was told", p.client.Title).Because(err)
	}
	return nil
}

// dropOwn has the client take the entry out, and then takes the object away that it leaves empty if it was not
// there before, under the client's own lock.
func (s *Set) dropOwn(ctx context.Context, program string, p plan) error {
	if err := s.runOwn(ctx, program, p.client.Own.Remove); err != nil {
		return err
	}
	if p.record.Written.Made == 0 {
		return nil
	}
	unlock, err := s.lock(ctx, p.client, p.from.Name)
	if err != nil {
		return err
	}
	return errors.Join(dropEmpty(p.client, p.from.Name), unlock())
}

// dropEmpty takes the object around the entry away if nothing is in it.
func dropEmpty(c clients.Client, name string) error {
	f, err := clients.Open(name)
	if err != nil || !f.Exists {
		return err
	}
	parent := c.Path[:len(c.Path)-1]
	left, found, err := jsoncedit.Get(f.Data, parent...)
	if err != nil || !found || string(left) != "{}" {
		return err
	}
	out, err := jsoncedit.Drop(f.Data, parent, 0)
	if err != nil {
		return err
	}
	done, err := f.Replace(out, time.Now())
	if err == nil {
		err = os.Remove(done.Backup) // it differs by an empty object
	}
	return err
}

// lock takes the client's own lock where it has one.
func (s *Set) lock(ctx context.Context, c clients.Client, name string) (unlock func() error, err error) {
	if _, err := os.Stat(filepath.Dir(name)); !c.Locks || err != nil {
		return func() error { return nil }, nil
	}
	ctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	return clients.Lock(ctx, name)
}

// runOwn runs the client's program in a session of its own, with the little that it needs of the environment. What
// it says is in the error only.
func (s *Set) runOwn(ctx context.Context, program string, args []string) error {
	ctx, cancel := context.WithTimeout(ctx, ownTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	var said bytes.Buffer
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = s.ownEnv(), "/", &said, &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		text := said.String()
		cause := fmt.Errorf("run %s %s: %w: %s", filepath.Base(program), strings.Join(args[:2], " "), err, text[:min(len(text), maxSaid)])
		did := "refused"
		if ctx.Err() != nil {
			did = "did not end in time"
		}
		return refusal.Newf(refusal.Conflict, "follow: termic client show "+filepath.Base(program), "the client's own command line %s: %s %s", did, filepath.Base(program), strings.Join(args[:2], " ")).Because(cause)
	}
	return nil
}

// ownEnv is the part of the environment that says where the person's things are; the program shall talk to nobody.
func (s *Set) ownEnv() []string {
	env := []string{"TERM=dumb", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
	for _, entry := range s.Environ {
		switch name, _, _ := strings.Cut(entry, "="); name {
		case "HOME", "PATH", "LANG", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "TMPDIR":
			env = append(env, entry)
		}
	}
	return env
}
