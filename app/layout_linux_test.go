package app

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"termic/registry/grant"
)

// tabLog returns what a tab shows.
func (r *rig) tabLog(tab string) string {
	r.t.Helper()
	return r.must("task_log", `{"task":"fix","tab":%q,"lines":500}`, tab)["text"].(string)
}

// logged waits until a tab shows text.
func (r *rig) logged(tab, want string) string {
	r.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if text := r.tabLog(tab); strings.Contains(text, want) {
			return text
		}
	}
	r.t.Fatalf("never saw %q in\n%s", want, r.tabLog(tab))
	return ""
}

func TestTabsSurviveARestart(t *testing.T) {
	r := newRig(t)
	made := r.task("fix", "shell", "")
	r.must("task_tab", `{"task":"fix","agent":"shell","name":"second"}`)
	token := grant.NewToken()
	r.must("task_send", `{"task":"fix","tab":"shell","text":%q}`, `printf 'out\033[31m-red-\033[m%s\n' put; echo "<`+token+`>"; echo end-$((40+2))`)
	r.logged("shell", "end-42")
	r.must("task_send", `{"task":"fix","tab":"second","text":"echo other-$((40+2))"}`)
	r.logged("second", "other-42")
	r.restart()
	file := filepath.Join(r.dir, "tabs", made["id"].(string)+".json")
	kept, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(kept), token) {
		t.Error("a token is on disk")
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for tab, want := range map[string]string{"shell": "out-red-put\n<" + grant.Redacted + ">\nend-42", "second": "other-42"} {
		if text := r.tabLog(tab); !strings.Contains(text, want) || !strings.Contains(text, "--- above: what this tab showed before the app ended on") {
			t.Errorf("%s shows\n%s", tab, text)
		}
	}
	if !strings.Contains(string(kept), `\u001b[0;31m-red-`) {
		t.Errorf("the colours are not kept: %s", kept)
	}
	// A tab of the same name takes its place; what was shown stays above the mark.
	r.must("task_tab", `{"task":"fix","agent":"shell","name":"shell"}`)
	r.must("task_send", `{"task":"fix","tab":"shell","text":"echo anew-$((40+2))"}`)
	text := r.logged("shell", "anew-42")
	old, mark, anew := strings.Index(text, "end-42"), strings.Index(text, "--- above"), strings.Index(text, "anew-42")
	if old < 0 || old > mark || mark > anew {
		t.Errorf("it shows\n%s", text)
	}
	tabs := r.must("task_status", `{"task":"fix"}`)["task"].(map[string]any)["tabs"].([]any)
	var names []string
	for _, tab := range tabs {
		names = append(names, fmt.Sprint(tab.(map[string]any)["name"], " ", tab.(map[string]any)["state"]))
	}
	if len(names) != 2 || names[1] != "second exited" {
		t.Errorf("tabs %q", names)
	}
	r.must("task_tab_close", `{"task":"fix","tab":"second"}`)
	r.restart()
	r.refused("not_found", "task_log", `{"task":"fix","tab":"second"}`)
	r.must("task_archive", `{"task":"fix","force":true}`)
	if _, err := os.Stat(file); err != nil {
		t.Errorf("what the tabs of an archived task showed is not kept: %v", err)
	}
}

// TestACrashLeavesNobody: what still runs in a tab's session when the app starts again, since a crash left it, is ended; what only
// has the number of such a session is not.
func TestACrashLeavesNobody(t *testing.T) {
	r := newRig(t)
	made := r.task("fix", "shell", "")
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	survivor := func(task string) *exec.Cmd {
		cmd := exec.Command("/bin/sh", "-c", "trap '' HUP; echo ready; while :; do sleep 60; done")
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TERMIC_TASK_ID=" + task}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 6)); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	ours, stranger := survivor(made["id"].(string)), survivor("t-other")
	t.Cleanup(func() {
		_ = syscall.Kill(-stranger.Process.Pid, syscall.SIGKILL)
		_ = stranger.Wait()
	})
	file := filepath.Join(r.dir, "tabs", made["id"].(string)+".json")
	content := fmt.Sprintf(`{"version":1,"data":[{"id":"b-x","name":"shell","agent":"shell","cols":80,"rows":24,"cage":"off","session":%d},{"id":"b-y","name":"other","agent":"shell","cols":80,"rows":24,"cage":"off","session":%d},{"id":"b-z","name":"caged","agent":"shell","cols":80,"rows":24,"cage":"enforce","lines":["secret"]}]}`,
		ours.Process.Pid, stranger.Process.Pid)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- ours.Wait() }()
	r.start()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("what a crash left in a tab's session still runs")
	}
	if pid, err := syscall.Wait4(stranger.Process.Pid, nil, syscall.WNOHANG, nil); pid != 0 {
		t.Errorf("a stranger was ended: %v", err)
	}
	r.refused("not_found", "task_log", `{"task":"fix","tab":"caged"}`) // it was another cage's
	if text := r.tabLog("shell"); strings.TrimSpace(text) != "" {
		t.Errorf("%q", text)
	}
}

// TestOutputIsOnDiskWithinSeconds: what a crash costs of the output is what came in the last seconds, and each piece after a save is
// saved again.
func TestOutputIsOnDiskWithinSeconds(t *testing.T) {
	r := newRig(t)
	made := r.task("fix", "shell", "")
	file := filepath.Join(r.dir, "tabs", made["id"].(string)+".json")
	for _, word := range []string{"first", "second"} {
		r.must("task_send", `{"task":"fix","text":%q}`, "echo "+word+"-$((40+2))")
		r.logged("shell", word+"-42")
		shown := time.Now()
		for !strings.Contains(readIfThere(t, file), word+"-42") {
			if time.Since(shown) > 20*time.Second { // 3 s on a quiet machine
				t.Fatalf("%q is not on disk after %v", word, time.Since(shown))
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
}

func readIfThere(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}
