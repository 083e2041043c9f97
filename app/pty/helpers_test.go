package pty

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long a test waits for an event before it calls it missing.
const patience = 10 * time.Second

var size80 = Size{Cols: 80, Rows: 24}

// sh is a command that runs a script in an environment of its own.
func sh(script string) *exec.Cmd {
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TERM=xterm-256color"}
	return cmd
}

// console is a session with its output collected, as a tab's read loop does.
type console struct {
	*Session
	mu    sync.Mutex
	out   bytes.Buffer
	news  chan struct{} // one token when out has grown or ended
	ended chan struct{}
	err   error // of the read that ended it
}

func start(t *testing.T, cmd *exec.Cmd, size Size) *console {
	t.Helper()
	s, err := Start(cmd, size)
	if err != nil {
		t.Fatal(err)
	}
	c := &console{Session: s, news: make(chan struct{}, 1), ended: make(chan struct{})}
	go c.collect()
	t.Cleanup(func() {
		if err := s.Hangup(0); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		<-c.ended
		<-s.gone // the next test may count descriptors
	})
	return c
}

func (c *console) collect() {
	defer close(c.ended)
	buf := make([]byte, 4096)
	for {
		n, err := c.Read(buf)
		c.mu.Lock()
		c.out.Write(buf[:n])
		c.mu.Unlock()
		select {
		case c.news <- struct{}{}:
		default:
		}
		if err != nil {
			c.err = err
			return
		}
	}
}

func (c *console) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.String()
}

// expect waits until the output holds want, and returns the output.
func (c *console) expect(t *testing.T, want string) string {
	t.Helper()
	late := time.After(patience)
	for {
		if got := c.text(); strings.Contains(got, want) {
			return got
		}
		select {
		case <-c.news:
		case <-c.ended:
			if got := c.text(); !strings.Contains(got, want) {
				t.Fatalf("output ended without %q: %q", want, got)
			}
		case <-late:
			t.Fatalf("no %q in %q", want, c.text())
		}
	}
}

func (c *console) send(t *testing.T, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

// eventually waits for a condition that no event announces.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("not in %v: %s", patience, what)
		}
	}
}

// within fails the test when f takes longer than limit.
func within(t *testing.T, limit time.Duration, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(limit):
		t.Fatalf("%s took more than %v", what, limit)
	}
}

func openFDs(t *testing.T) int {
	t.Helper()
	for _, dir := range []string{"/proc/self/fd", "/dev/fd"} {
		if names, err := os.ReadDir(dir); err == nil {
			return len(names)
		}
	}
	t.Fatal(errors.New("no list of open descriptors"))
	return 0
}

// number reads the number that follows label in text.
func number(t *testing.T, text, label string) int {
	t.Helper()
	var n int
	_, after, _ := strings.Cut(text, label)
	if _, err := fmt.Sscanf(after, "%d", &n); err != nil {
		t.Fatalf("no number after %q in %q", label, text)
	}
	return n
}
