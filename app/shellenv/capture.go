// Package shellenv finds out the environment that the person's login shell makes: an app that a desktop starts has another one,
// without the PATH that their rc files set.
package shellenv

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"termic/app/pty"
)

// Timeout is how long a shell may take. Slow ones (nvm, conda, a plugin manager that updates itself) take two or three seconds; a
// person who waits for the window accepts no more than ten.
const Timeout = 8 * time.Second

// maxEnviron bounds what a shell may tell; Linux takes 2 MiB of environment and arguments for a new program (ARG_MAX).
const maxEnviron = 1 << 20

// captureMark is set while an rc file is read for its environment and not for a person.
const captureMark = "TERMIC_CAPTURE"

// tell writes the environment between two marks, each of which is written as another one. env by its path, since rc files define
// functions and aliases of any name.
const tell = "/usr/bin/env -i MARK=begin /usr/bin/env -0 >&3; /usr/bin/env -0 >&3; /usr/bin/env -i MARK=end /usr/bin/env -0 >&3"

// What may go wrong, for callers that tell it apart.
var (
	// ErrTimeout: the shell had not told its environment in time; an rc file waits for something.
	ErrTimeout = errors.New("the login shell did not answer in time")
	// ErrSilent: the shell ended without telling its environment; an rc file ends it.
	ErrSilent = errors.New("the login shell ended without telling its environment")
	// ErrShell: it is no shell that is known to take -l -i -c, or none at all.
	ErrShell = errors.New("unknown login shell")
)

// known are the shells that take "-l -i -c COMMAND" and run the command below.
var known = []string{"bash", "zsh", "fish", "ksh", "mksh", "dash", "ash", "sh"}

// Capture runs shell as a login shell that thinks it is interactive, since many set PATH in the file for those, and returns the
// environment that its rc files make of environ.
//
// Nothing that they do can hang it or leave anything behind: the shell is in a session of its own without a terminal, its input is
// empty, what it prints goes nowhere, and when it has answered, or the time is over, every process of the session is killed. Its
// answer comes over a descriptor of its own, between two marks that no rc file knows.
func Capture(ctx context.Context, shell string, environ []string) ([]string, error) {
	if !filepath.IsAbs(shell) || !slices.Contains(known, filepath.Base(shell)) {
		return nil, fmt.Errorf("%w: %q", ErrShell, shell)
	}
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("capture environment: %w", err)
	}
	defer read.Close()
	mark := rand.Text()
	cmd := exec.Command(shell, "-l", "-i", "-c", strings.ReplaceAll(tell, "MARK", mark))
	// Many rc files start no multiplexer and draw no prompt in a dumb terminal; the other one is for those who want to tell.
	cmd.Env = append(slices.Clone(environ), "TERM=dumb", captureMark+"=1")
	cmd.Dir = "/"
	cmd.ExtraFiles = []*os.File{write} // descriptor 3
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err = pty.CloseOnExec(); err == nil {
		err = cmd.Start()
	}
	write.Close()
	if err != nil {
		return nil, fmt.Errorf("capture environment: %w", err)
	}
	defer context.AfterFunc(ctx, func() { _ = read.SetReadDeadline(time.Unix(1, 0)) })() // a pipe of ours takes deadlines
	captured, err := answer(read, mark)
	if ctx.Err() != nil && err != nil {
		err = ErrTimeout
		if cause := context.Cause(ctx); !errors.Is(cause, context.DeadlineExceeded) {
			err = cause
		}
	}
	killed := pty.KillSession(cmd.Process.Pid)
	_ = cmd.Wait() // it was killed
	if err := errors.Join(err, killed); err != nil {
		return nil, fmt.Errorf("capture environment of %s: %w", shell, err)
	}
	return captured, nil
}

// answer reads the environment between two marks.
func answer(from io.Reader, mark string) ([]string, error) {
	scan := bufio.NewScanner(io.LimitReader(from, maxEnviron))
	scan.Buffer(nil, maxEnviron)
	scan.Split(func(data []byte, end bool) (int, []byte, error) {
		if i := bytes.IndexByte(data, 0); i >= 0 {
			return i + 1, data[:i], nil
		}
		return 0, nil, nil // what has no end is no entry
	})
	var entries []string
	begun := false
	for scan.Scan() {
		text := scan.Text()
		switch {
		case !begun:
			begun = strings.HasSuffix(text, mark+"=begin") // an rc file may have written before it
		case text == mark+"=end":
			return entries, nil
		case strings.Contains(text, "="):
			entries = append(entries, text)
		}
	}
	if err := scan.Err(); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, err
	}
	return nil, ErrSilent
}
