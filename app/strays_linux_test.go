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
	for _, verb := range []string{"task_preflight", "task_status"} {
		if got := fmt.Sprint(r.must(verb, `{"task":"fix"}`)["running"]); !strings.Contains(got, "process "+pid) || strings.Contains(got, ";") {
			t.Errorf("%s tells %q", verb, got)
		}
	}
	r.must("task_tab_close", `{"task":"fix","tab":"shell"}`)
	if got := listed(); !strings.Contains(got, "kill "+pid) {
		t.Errorf("process %s is not listed: %q", pid, got)
	}
	r.restart()
	if got := listed(); !strings.Contains(got, "kill "+pid) {
		t.Errorf("process %s is not listed by the next run: %q", pid, got)
	}
}

// TestWhatHidesItsOriginIsFoundByItsPlace: a program that left its session and has nothing of its environment is told by the directory
// that it works in. One that works elsewhere is not, and git at work for the app is none.
func TestWhatHidesItsOriginIsFoundByItsPlace(t *testing.T) {
	r := newRig(t)
	dir := r.task("fix", "shell", "")["path"].(string)
	elsewhere := t.TempDir()
	r.must("task_send", `{"task":"fix","text":%q}`, `mkdir deep; for at in deep `+elsewhere+`; do (cd $at; setsid env -i /bin/sh -c 'echo $$ > pid; exec sleep 300' &); done`)
	pids := map[string]string{}
	for name, file := range map[string]string{"below": filepath.Join(dir, "deep/pid"), "elsewhere": filepath.Join(elsewhere, "pid")} {
		for deadline := time.Now().Add(20 * time.Second); pids[name] == "" && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
			if text, err := os.ReadFile(file); err == nil && strings.HasSuffix(string(text), "\n") {
				pids[name] = strings.TrimSpace(string(text))
			}
		}
		var n int
		if _, err := fmt.Sscan(pids[name], &n); err != nil {
			t.Fatalf("%s: no process: %v", name, err)
		}
		t.Cleanup(func() { _ = syscall.Kill(n, syscall.SIGKILL) })
	}
	r.wait("fix")
	for _, verb := range []string{"task_preflight", "task_status"} {
		got := fmt.Sprint(r.must(verb, `{"task":"fix"}`)["running"])
		if !strings.Contains(got, "works in the checkout and is in no tab, as process "+pids["below"]) {
			t.Errorf("%s does not tell of %s: %q", verb, pids["below"], got)
		}
		if strings.Contains(got, pids["elsewhere"]) || strings.Count(got, "process") != 1 {
			t.Errorf("%s tells of more: %q", verb, got)
		}
	}
}
