// Package pty runs one process on a pseudo-terminal of its own.
//
// Open makes the terminal, Terminal.Start puts a process on it, Start does both. The process leads its own session,
// has the terminal as controlling terminal, gets exactly the environment that its command names, and inherits no
// descriptor of ours above 2.
//
// Session is safe for concurrent use. Who starts a session owes it two calls: Hangup when nothing of it may survive,
// then Close, which gives the terminal and the process id back to the system.
package pty

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"syscall"

	creack "github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// Smallest terminal that is ever set. A view that is hidden or collapsed computes a size of a few columns; a program that is told
// so lays out everything it has printed anew, for good (asheshgoplani/agent-deck#1157: two columns). No person works in fewer
// than these.
const (
	MinCols = 10
	MinRows = 2
)

// Size of a terminal, in character cells.
type Size struct {
	Cols, Rows uint16
}

// SizeError refuses a terminal that is too small to use.
type SizeError struct {
	Size Size
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("terminal size %dx%d is below %dx%d", e.Size.Cols, e.Size.Rows, MinCols, MinRows)
}

func (s Size) check() error {
	if s.Cols < MinCols || s.Rows < MinRows {
		return &SizeError{Size: s}
	}
	return nil
}

// ErrStdio refuses a command whose standard streams are already spoken for: they are the terminal's.
var ErrStdio = errors.New("command has standard streams of its own")

// Terminal is a pseudo-terminal that no process runs on yet. It exists apart from Session because a process may have to
// find the name of its own terminal in its environment.
type Terminal struct {
	master *os.File
	tty    *os.File
}

// Open makes a terminal. Its error is a *SizeError for a size that is too small, else what the system said.
func Open(size Size) (*Terminal, error) {
	if err := size.check(); err != nil {
		return nil, err
	}
	blocking, tty, err := creack.Open()
	if err != nil {
		return nil, fmt.Errorf("open terminal: %w", err)
	}
	t := &Terminal{tty: tty}
	if t.master, err = pollable(blocking); err != nil {
		return nil, errors.Join(fmt.Errorf("open terminal: %w", err), tty.Close())
	}
	if err := errors.Join(setSize(t.master, size), markUTF8(tty)); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// pollable returns the same terminal on a descriptor that the runtime polls, and closes f in any case. The one that
// creack/pty v1.1.24 returns is in blocking mode (its ioctls go through File.Fd): a Close does not end a pending Read and
// deadlines are ignored (tried 2026-11-29).
func pollable(f *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3) // never a standard stream
	if cerr := f.Close(); err == nil && cerr != nil {
		err = errors.Join(cerr, unix.Close(fd))
	}
	if err != nil {
		return nil, err
	}
	// After the Close: the flag belongs to the open file, and f.Fd has just cleared it.
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	master := os.NewFile(uintptr(fd), "ptmx")
	if err := master.SetReadDeadline(noDeadline); err != nil {
		return nil, errors.Join(fmt.Errorf("terminal cannot be polled: %w", err), master.Close())
	}
	return master, nil
}

// markUTF8 lets the line discipline erase whole characters, as every terminal program of today does.
func markUTF8(tty *os.File) error {
	return control(tty, "set terminal to UTF-8", func(fd int) error {
		tio, err := unix.IoctlGetTermios(fd, ioctlGetTermios)
		if err != nil {
			return err
		}
		tio.Iflag |= unix.IUTF8
		return unix.IoctlSetTermios(fd, ioctlSetTermios, tio)
	})
}

// Name is the path of the terminal's device, for example /dev/pts/3.
func (t *Terminal) Name() string { return t.tty.Name() }

// Close gives up a terminal on which nothing was started.
func (t *Terminal) Close() error { return errors.Join(t.master.Close(), t.tty.Close()) }

// Start opens a terminal of that size and runs cmd on it.
//
// The environment is cmd.Env and nothing else: a nil Env is an empty one, not ours. cmd.Path is used as it stands;
// exec.Command has looked it up in our PATH, not in the one of cmd.Env. A program that does not exist is an error that
// wraps exec.ErrNotFound, a missing cmd.Dir is not.
func Start(cmd *exec.Cmd, size Size) (*Session, error) {
	t, err := Open(size)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	return t.Start(cmd)
}

// Start runs cmd on the terminal, as the function Start does. The terminal is used up, whatever the result.
func (t *Terminal) Start(cmd *exec.Cmd) (*Session, error) {
	if cmd.Stdin != nil || cmd.Stdout != nil || cmd.Stderr != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", cmd.Path, ErrStdio), t.Close())
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = t.tty, t.tty, t.tty
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setsid = true
	cmd.SysProcAttr.Setctty = true
	cmd.SysProcAttr.Ctty = 0 // the child's standard input

	defaultSignals()
	if err := closeOnExec(); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: keep descriptors from it: %w", cmd.Path, err), t.Close())
	}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", cmd.Path, notFound(cmd, err)), t.Close())
	}
	name := t.tty.Name()
	if err := t.tty.Close(); err != nil {
		// A copy of ours that stays open would keep Read from ever ending.
		return nil, errors.Join(fmt.Errorf("start %s: %w", cmd.Path, err), cmd.Process.Kill(), cmd.Wait(), t.master.Close())
	}
	return newSession(cmd, t.master, name), nil
}

// notFound adds exec.ErrNotFound to the error of a path that names no file; exec does so only for names that it looks up.
// The kernel's answer is the same for a missing directory, which is told apart here.
func notFound(cmd *exec.Cmd, err error) error {
	var path *fs.PathError
	if !errors.As(err, &path) || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if cmd.Dir != "" {
		if _, dirErr := os.Stat(cmd.Dir); dirErr != nil {
			return dirErr
		}
	}
	return fmt.Errorf("%w: %w", exec.ErrNotFound, err)
}
