package pty

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

var (
	noDeadline = time.Time{}
	longAgo    = time.Unix(1, 0)
)

// Session is a process on its terminal.
type Session struct {
	cmd    *exec.Cmd // nil for a guest
	guest  Guest     // nil for a process of ours
	master *os.File
	name   string
	pid    int

	writer chan struct{} // holds one token: who has it may write and owns the write deadline

	done   chan struct{} // closed when the process has ended; status is set before
	status ExitStatus

	closing  sync.Once
	released chan struct{} // closed by Close: the process id may be given back
	gone     chan struct{} // closed when it has been

	mu     sync.Mutex // guards reaped, and keeps the process id from being given back while signals are sent
	reaped bool
}

func newSession(cmd *exec.Cmd, master *os.File, name string) *Session {
	s := &Session{
		cmd:      cmd,
		master:   master,
		name:     name,
		pid:      cmd.Process.Pid,
		writer:   make(chan struct{}, 1),
		done:     make(chan struct{}),
		released: make(chan struct{}),
		gone:     make(chan struct{}),
	}
	s.writer <- struct{}{}
	go s.await()
	return s
}

// Pid is the process id, which is also the id of its process group and of its session. The system gives it to no other
// process before Close, but that of a guest.
func (s *Session) Pid() int { return s.pid }

// Name is the path of the terminal's device.
func (s *Session) Name() string { return s.name }

// Read reads what the session's processes wrote. It returns io.EOF when the last of them has closed the terminal, and an
// error that wraps os.ErrClosed after Close, which also ends a Read that is waiting.
func (s *Session) Read(p []byte) (int, error) {
	n, err := s.master.Read(p)
	if n == 0 && errors.Is(err, syscall.EIO) { // Linux: no process has the terminal open any more
		return 0, io.EOF
	}
	if err != nil && err != io.EOF {
		err = fmt.Errorf("read terminal: %w", err)
	}
	return n, err
}

// Write is WriteContext without a limit: it waits until the session's processes have read, or Close.
func (s *Session) Write(p []byte) (int, error) {
	return s.WriteContext(context.Background(), p)
}

// WriteContext types p. It returns when everything is in the terminal's input queue, or the context is over: then with
// the number of bytes that got in and the context's error. A process that does not read its input (or a stopped one) would
// hold it for ever else. Writes are whole: those of two callers do not mix.
//
// When no process has the terminal open the error wraps io.ErrClosedPipe.
func (s *Session) WriteContext(ctx context.Context, p []byte) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, fmt.Errorf("write terminal: %w", err)
	}
	select {
	case <-s.writer:
		defer func() { s.writer <- struct{}{} }()
	case <-ctx.Done():
		return 0, fmt.Errorf("write terminal: %w", ctx.Err())
	}
	fired := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(fired)
		_ = s.master.SetWriteDeadline(longAgo) // fails only after Close, which ends the Write as well
	})
	err := s.listening()
	n := 0
	if err == nil {
		n, err = s.master.Write(p)
	}
	if !stop() { // it runs or has run: it must be over before the next writer starts
		<-fired
		_ = s.master.SetWriteDeadline(noDeadline)
	}
	switch {
	case err == nil:
		return n, nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = ctx.Err()
	case errors.Is(err, syscall.EIO):
		err = io.ErrClosedPipe
	}
	return n, fmt.Errorf("write terminal: %w", err)
}

// listening is an error when no process has the terminal open. Linux would take the bytes and lose them (tried on 6.18).
func (s *Session) listening() error {
	return control(s.master, "poll", func(fd int) error {
		fds := []unix.PollFd{{Fd: int32(fd)}} // POLLHUP is always told
		if _, err := unix.Poll(fds, 0); err != nil && err != unix.EINTR {
			return err
		}
		if fds[0].Revents&unix.POLLHUP != 0 {
			return io.ErrClosedPipe
		}
		return nil
	})
}

// Resize sets the terminal's size; the kernel tells the foreground processes (SIGWINCH). It refuses what Start refuses, with
// a *SizeError.
func (s *Session) Resize(size Size) error {
	if err := size.check(); err != nil {
		return err
	}
	return setSize(s.master, size)
}

func setSize(f *os.File, size Size) error {
	return control(f, "set terminal size", func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: size.Cols, Row: size.Rows})
	})
}

// Foreground returns the process group that the terminal's keyboard belongs to (0 when there is none), and whether that is
// another one than the process we started: a shell's command is running.
func (s *Session) Foreground() (pgid int, busy bool, err error) {
	err = control(s.master, "ask for the foreground group", func(fd int) error {
		pgid, err = unix.IoctlGetInt(fd, unix.TIOCGPGRP)
		return err
	})
	if err != nil {
		return 0, false, err
	}
	return pgid, pgid != 0 && pgid != s.pid, nil
}

// Canonical tells whether the terminal collects whole lines for a program that reads them plainly (ICANON). It then
// has room for one line of a few KiB, and drops the rest of a longer one.
func (s *Session) Canonical() (bool, error) {
	canonical := false
	err := control(s.master, "ask for the terminal's mode", func(fd int) error {
		mode, err := unix.IoctlGetTermios(fd, getTermios)
		if err == nil {
			canonical = mode.Lflag&unix.ICANON != 0
		}
		return err
	})
	return canonical, err
}

// control runs f on the descriptor without taking it out of the poller's hands, as File.Fd would.
func control(file *os.File, what string, f func(fd int) error) error {
	conn, err := file.SyscallConn()
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	var inner error
	if err := conn.Control(func(fd uintptr) { inner = f(int(fd)) }); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if inner != nil {
		return fmt.Errorf("%s: %w", what, inner)
	}
	return nil
}

// Close gives up our end of the terminal: pending reads and writes end, and the kernel sends SIGHUP to the session's
// leader and its foreground group. It does not wait and kills nobody; Hangup, before it, does.
func (s *Session) Close() error {
	s.closing.Do(func() { close(s.released) })
	if err := s.master.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("close terminal: %w", err)
	}
	return nil
}
