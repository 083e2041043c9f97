package pty

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestEcho(t *testing.T) {
	c := start(t, sh("exec cat"), size80)
	c.send(t, "hello\r")
	c.expect(t, "hello\r\nhello\r\n") // the terminal's echo, then cat
	c.send(t, "\x04")
	if got := c.Wait(); got != (ExitStatus{}) {
		t.Errorf("ended with %+v", got)
	}
	<-c.ended
	if c.err != io.EOF {
		t.Errorf("read ended with %v, want io.EOF", c.err)
	}
}

func TestResizeIsSeenAtOnce(t *testing.T) {
	c := start(t, sh(`trap 'stty size' WINCH; stty size; while :; do read x; done`), size80)
	c.expect(t, "24 80\r\n")
	if err := c.Resize(Size{Cols: 132, Rows: 50}); err != nil {
		t.Fatal(err)
	}
	c.send(t, "\r") // dash runs a trap when its read returns
	c.expect(t, "50 132\r\n")
}

func TestResizeRefusesAndKeepsTheSize(t *testing.T) {
	c := start(t, sh(`read x; stty size`), size80)
	for _, size := range []Size{{}, {Cols: MinCols - 1, Rows: 24}, {Cols: 80, Rows: MinRows - 1}} {
		var refused *SizeError
		if err := c.Resize(size); !errors.As(err, &refused) || refused.Size != size {
			t.Errorf("%v: %v", size, err)
		}
	}
	c.send(t, "\r")
	c.expect(t, "24 80\r\n")
}

func TestCtrlCInterrupts(t *testing.T) {
	c := start(t, sh(`echo ready; exec sleep 60`), size80)
	c.expect(t, "ready")
	c.send(t, "\x03")
	if got := c.Wait(); got != (ExitStatus{Code: -1, Signal: "SIGINT"}) {
		t.Errorf("ended with %+v", got)
	}
}

func TestExitStatus(t *testing.T) {
	for name, row := range map[string]struct {
		script string
		want   ExitStatus
	}{
		"success":          {"exit 0", ExitStatus{}},
		"failure":          {"exit 3", ExitStatus{Code: 3}},
		"highest code":     {"exit 255", ExitStatus{Code: 255}},
		"killed":           {"kill -KILL $$", ExitStatus{Code: -1, Signal: "SIGKILL"}},
		"ended by request": {"kill -TERM $$", ExitStatus{Code: -1, Signal: "SIGTERM"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t, sh(row.script), size80)
			if got := c.Wait(); got != row.want {
				t.Errorf("%+v, want %+v", got, row.want)
			}
			select {
			case <-c.Done():
			default:
				t.Error("Wait returned before Done")
			}
		})
	}
}

func TestForegroundTellsAShellFromItsCommand(t *testing.T) {
	c := start(t, sh(`set -m; cat; echo back; read x`), size80)
	eventually(t, "the command has the foreground", func() bool {
		group, busy, err := c.Foreground()
		return err == nil && busy && group != c.Pid()
	})
	c.send(t, "\x04")
	c.expect(t, "back")
	group, busy, err := c.Foreground()
	if err != nil || busy || group != c.Pid() {
		t.Errorf("group %d, busy %v, %v; want the shell %d", group, busy, err, c.Pid())
	}
}

// A character that is split between two writes of the process arrives as its bytes (public report: a read loop that
// decodes each chunk by itself shows U+FFFD).
func TestSplitCharacterArrivesWhole(t *testing.T) {
	c := start(t, sh(`stty -echo; echo ready; printf 'cleanup \342'; read x; printf '\200\224 end'`), size80)
	c.expect(t, "cleanup \xe2")
	c.send(t, "\r")
	c.expect(t, "cleanup — end")
}

func TestBytesArriveUnchangedInAFlood(t *testing.T) {
	const lines = 20000
	c := start(t, sh(`i=0; while [ $i -lt 20000 ]; do echo "$i — é 漢"; i=$((i+1)); done`), size80)
	c.Wait()
	<-c.ended
	got := strings.Split(strings.TrimSuffix(c.text(), "\r\n"), "\r\n")
	if len(got) != lines {
		t.Fatalf("%d lines, want %d", len(got), lines)
	}
	if want := "19999 — é 漢"; got[lines-1] != want {
		t.Errorf("last line %q", got[lines-1])
	}
	if strings.ContainsRune(c.text(), '\uFFFD') {
		t.Error("broken character")
	}
}

func TestCloseEndsAPendingRead(t *testing.T) {
	s, err := Start(sh("exec sleep 60"), size80)
	if err != nil {
		t.Fatal(err)
	}
	reading := make(chan struct{})
	result := make(chan error, 1)
	go func() {
		close(reading)
		_, err := s.Read(make([]byte, 1))
		result <- err
	}()
	<-reading
	within(t, time.Second, "Close and the end of Read", func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-result; !errors.Is(err, os.ErrClosed) {
			t.Errorf("read ended with %v", err)
		}
	})
	if err := s.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if got := s.Wait(); got.Signal != "SIGHUP" {
		t.Errorf("process ended with %+v, want the kernel's SIGHUP", got)
	}
	<-s.gone
}

func TestWriteToAProcessThatDoesNotReadCanBeCancelled(t *testing.T) {
	c := start(t, sh("stty raw -echo; echo ready; exec sleep 60"), size80)
	c.expect(t, "ready")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	flood := bytes.Repeat([]byte("x"), 1<<20)
	n, err := c.WriteContext(ctx, flood)
	if !errors.Is(err, context.DeadlineExceeded) || n >= len(flood) {
		t.Fatalf("wrote %d, %v", n, err)
	}
	// A second one, waiting behind a first, is cancelled as well.
	first, stopFirst := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _, _ = c.WriteContext(first, flood) }()
	eventually(t, "the first writer holds the terminal", func() bool { return len(c.writer) == 0 })
	second, stopSecond := context.WithCancel(t.Context())
	stopSecond()
	if _, err := c.WriteContext(second, flood); !errors.Is(err, context.Canceled) {
		t.Errorf("second writer: %v", err)
	}
	stopFirst()
	<-done
}

// The deadline of a cancelled write must not hit the next one.
func TestWriteWorksAfterACancelledOne(t *testing.T) {
	c := start(t, sh("stty raw -echo; echo ready; read go; exec cat"), size80)
	c.expect(t, "ready")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	flood := append(bytes.Repeat([]byte("x"), 1<<20), '\n')
	if _, err := c.WriteContext(ctx, flood); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	// `read` takes all that got in up to the newline; cat echoes what follows.
	within(t, patience, "a write that the process reads", func() { c.send(t, "\nafter") })
	c.expect(t, "after")
}

func TestWritesDoNotMix(t *testing.T) {
	c := start(t, sh("stty raw -echo; echo ready; exec cat"), size80)
	c.expect(t, "ready")
	const size = 100 << 10 // much more than the terminal's queue
	var wg sync.WaitGroup
	for _, letter := range []string{"a", "b", "c"} {
		wg.Go(func() { _, _ = c.Write([]byte(strings.Repeat(letter, size))) })
	}
	wg.Wait()
	c.send(t, "END")
	got := strings.TrimSuffix(strings.SplitN(c.expect(t, "END"), "ready\n", 2)[1], "END")
	got = strings.TrimPrefix(got, "\r")
	changes := 0
	for i := 1; i < len(got); i++ {
		if got[i] != got[i-1] {
			changes++
		}
	}
	if len(got) != 3*size || changes != 2 {
		t.Errorf("%d bytes in %d runs, want %d in 3", len(got), changes+1, 3*size)
	}
}

func TestWriteAfterTheEndIsAnError(t *testing.T) {
	c := start(t, sh("true"), size80)
	c.Wait()
	<-c.ended
	if _, err := c.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("write: %v", err)
	}
}

func TestHundredSessionsLeaveNothing(t *testing.T) {
	run := func() {
		s, err := Start(sh("echo hi"), size80)
		if err != nil {
			t.Error(err)
			return
		}
		if out, err := io.ReadAll(s); err != nil || string(out) != "hi\r\n" {
			t.Errorf("read %q, %v", out, err)
		}
		if err := errors.Join(s.Hangup(time.Second), s.Close()); err != nil {
			t.Error(err)
		}
		<-s.gone
		if err := unix.Kill(s.Pid(), 0); err != unix.ESRCH {
			t.Errorf("process %d is still there: %v", s.Pid(), err)
		}
	}
	run() // the runtime's own descriptors are open after the first
	fds, goroutines := openFDs(t), runtime.NumGoroutine()
	for range 100 / 5 {
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(run)
		}
		wg.Wait()
	}
	if got := openFDs(t); got != fds {
		t.Errorf("%d descriptors before, %d after", fds, got)
	}
	eventually(t, "goroutines are gone", func() bool { return runtime.NumGoroutine() <= goroutines })
}
