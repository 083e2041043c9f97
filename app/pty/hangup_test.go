package pty

import (
	"io"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func running(pid int) bool { return unix.Kill(pid, 0) == nil }

func TestHangupEndsAProcessThatListens(t *testing.T) {
	c := start(t, sh(`trap 'echo saved; exit 5' HUP; echo ready; while :; do sleep 0.05; done`), size80)
	c.expect(t, "ready")
	within(t, patience, "hangup", func() {
		if err := c.Hangup(time.Hour); err != nil {
			t.Error(err)
		}
	})
	if got := c.Wait(); got != (ExitStatus{Code: 5}) {
		t.Errorf("ended with %+v", got)
	}
	c.expect(t, "saved")
}

func TestHangupKillsAProcessThatIgnoresIt(t *testing.T) {
	c := start(t, sh(`trap '' HUP; echo ready; while :; do sleep 60; done`), size80)
	c.expect(t, "ready")
	begin := time.Now()
	const grace = 200 * time.Millisecond
	if err := c.Hangup(grace); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took < grace {
		t.Errorf("killed after %v, before the grace of %v", took, grace)
	}
	if got := c.Wait(); got.Signal != "SIGKILL" {
		t.Errorf("ended with %+v", got)
	}
}

func TestHangupEndsAStoppedProcess(t *testing.T) {
	c := start(t, sh(`trap 'exit 4' HUP; echo ready; kill -STOP $$; while :; do sleep 0.05; done`), size80)
	c.expect(t, "ready")
	if err := c.Hangup(time.Hour); err != nil {
		t.Fatal(err)
	}
	if got := c.Wait(); got != (ExitStatus{Code: 4}) {
		t.Errorf("ended with %+v, want its own trap", got)
	}
}

func TestHangupLeavesNoOneOfTheSession(t *testing.T) {
	const loop = `(trap '' HUP TERM INT; while :; do sleep 60; done)`
	for name, script := range map[string]string{
		"a grandchild in its own process group":             `set -m; ` + loop + ` & echo "pid=$! ready"; wait`,
		"a grandchild in the foreground in its own group":   `set -m; (trap '' HUP; echo "pid=$(exec sh -c 'echo $PPID') ready"; while :; do sleep 60; done)`,
		"a grandchild whose parent is gone":                 `set -m; sh -c '` + `(trap "" HUP; while :; do sleep 60; done) & echo "pid=$! ready"` + `'; read x`,
		"a grandchild that outlives the shell":              `set -m; ` + loop + ` & echo "pid=$! ready"; exit 0`,
		"a grandchild with the terminal closed on its side": `set -m; ` + loop + ` </dev/null >/dev/null 2>&1 & echo "pid=$! ready"; exit 0`,
	} {
		t.Run(name, func(t *testing.T) {
			life, held, err := os.Pipe() // every process of the session holds one end: the other ends with the last of them
			if err != nil {
				t.Fatal(err)
			}
			defer life.Close()
			cmd := sh(script)
			cmd.ExtraFiles = []*os.File{held}
			c := start(t, cmd, size80)
			if err := held.Close(); err != nil {
				t.Fatal(err)
			}
			if pid := number(t, c.expect(t, "ready"), "pid="); !running(pid) {
				t.Fatalf("grandchild %d is not running", pid)
			}
			if err := c.Hangup(50 * time.Millisecond); err != nil {
				t.Fatal(err)
			}
			within(t, patience, "the end of the last process", func() {
				if n, err := life.Read(make([]byte, 1)); n != 0 || err != io.EOF {
					t.Errorf("read %d, %v", n, err)
				}
			})
		})
	}
}

// A session that ended long ago must not reach a stranger who got its number: until Close nobody gets it, after Close
// nobody is signalled.
func TestProcessIDIsHeldUntilClose(t *testing.T) {
	c := start(t, sh("true"), size80)
	c.Wait()
	<-c.ended
	if !running(c.Pid()) {
		t.Error("process id was given back before Close")
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	<-c.gone
	if running(c.Pid()) {
		t.Error("process id was not given back by Close")
	}
	if err := c.Hangup(time.Hour); err != nil {
		t.Error(err)
	}
}

func TestHangupSparesTheNeighbour(t *testing.T) {
	neighbour := start(t, sh("echo ready; exec cat"), size80)
	neighbour.expect(t, "ready")
	c := start(t, sh("echo ready; exec cat"), size80)
	c.expect(t, "ready")
	if err := c.Hangup(time.Second); err != nil {
		t.Fatal(err)
	}
	neighbour.send(t, "alive\r")
	neighbour.expect(t, "alive\r\nalive\r\n")
}

func TestHangupOfManyAtOnce(t *testing.T) {
	c := start(t, sh(`i=0; while [ $i -lt 20 ]; do (trap '' HUP; while :; do sleep 60; done) & i=$((i+1)); done; echo ready; wait`), size80)
	c.expect(t, "ready")
	within(t, patience, "hangup by three callers", func() {
		done := make(chan error)
		for range 3 {
			go func() { done <- c.Hangup(20 * time.Millisecond) }()
		}
		for range 3 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}
