package app

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestNothingOutlivesItsTab starts processes that will not end by themselves, ignore hang-ups and are in groups of their own, and
// waits until the last of them is gone, however the tab ends.
func TestNothingOutlivesItsTab(t *testing.T) {
	for name, end := range map[string]func(*rig){
		"when it is closed":         func(r *rig) { r.must("task_tab_close", `{"task":"fix","tab":"shell"}`) },
		"when the task is archived": func(r *rig) { r.must("task_archive", `{"task":"fix","force":true}`) },
		"when the app quits": func(r *rig) {
			if err := r.stop(); err != nil {
				r.t.Fatal(err)
			}
			r.start()
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.task("fix", "shell", "")
			// Every process holds the writing end; reading it ends with the last of them.
			fifo := filepath.Join(t.TempDir(), "alive")
			if err := unix.Mkfifo(fifo, 0o600); err != nil {
				t.Fatal(err)
			}
			started, gone := make(chan struct{}), make(chan error, 1)
			go func() {
				alive, err := os.Open(fifo)
				close(started)
				if err == nil {
					_, err = io.Copy(io.Discard, alive)
					alive.Close()
				}
				gone <- err
			}()
			r.must("task_send", `{"task":"fix","text":%q}`, fmt.Sprintf(
				`exec 9>%s; set -m; nohup sleep 300 & (trap '' HUP TERM INT; while :; do sleep 300; done) & (sleep 300 | sleep 300) & sleep 300`, fifo))
			<-started
			end(r)
			select {
			case err := <-gone:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(20 * time.Second):
				t.Error("something of the tab still runs")
			}
		})
	}
}

// TestWhatLeavesItsTabIsListed: setsid is how a person keeps something running, so it is not ended, but said.
func TestWhatLeavesItsTabIsListed(t *testing.T) {
	r := newRig(t)
	dir := r.task("fix", "shell", "")["path"].(string)
	listed := func() string {
		for _, check := range r.must("doctor", `{}`)["checks"].([]any) {
			if check := check.(map[string]any); check["name"] == "process of fix" {
				return fmt.Sprint(check["evidence"], " ", check["remedy"])
			}
		}
		return ""
	}
	r.must("task_send", `{"task":"fix","text":"sleep 300 & jobs -p > inside"}`)
	pidIn := func(name string) string {
		for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
			if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil && strings.HasSuffix(string(text), "\n") {
				return strings.TrimSpace(string(text))
			}
		}
		t.Fatalf("nothing was written to %s", name)
		return ""
	}
	pidIn("inside")
	if got := listed(); got != "" {
		t.Errorf("what runs in its tab is listed: %s", got)
	}
	r.wait("fix")
	r.must("task_send", `{"task":"fix","text":"setsid sh -c 'echo $$ > escaped; exec sleep 300' &"}`)
	pid := pidIn("escaped")
	t.Cleanup(func() {
		var n int
		if _, err := fmt.Sscan(pid, &n); err == nil {
			_ = syscall.Kill(n, syscall.SIGKILL)
		}
	})
	r.must("task_tab_close", `{"task":"fix","tab":"shell"}`)
	if got := listed(); !strings.Contains(got, "kill "+pid) {
		t.Errorf("process %s is not listed: %q", pid, got)
	}
	r.restart()
	if got := listed(); !strings.Contains(got, "kill "+pid) {
		t.Errorf("process %s is not listed by the next run: %q", pid, got)
	}
}
