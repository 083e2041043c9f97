package maccage

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"termic/sandbox/capability"
	"termic/sandbox/seatbelt"
)

// TestOnAMac does the trial of each mode under the system's own sandbox-exec, as the app does, and then starts a cage by the launcher.
func TestOnAMac(t *testing.T) {
	for _, mode := range caged {
		t.Run("trial of "+mode.String(), func(t *testing.T) {
			if err := Probe(t.Context(), System{}, self(t), mode); err != nil {
				t.Fatal(err)
			}
		})
		t.Run("cage of "+mode.String(), func(t *testing.T) { launched(t, mode) })
	}
}

// launched starts a cage as the app does and looks around in it, on a terminal.
func launched(t *testing.T, mode capability.Mode) {
	dir, p := task(t, mode)
	m, err := Make(t.Context(), self(t), dir, "task", p, &Ports{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := m.Kill(); err != nil {
			t.Error(err)
		}
	}()
	base := strings.TrimSuffix(dir, "/data/tasks/7")
	script := `
stty size; tty
echo x > ` + base + `/checkout/a/new && echo wrote
cat ` + base + `/home/.ssh/key || echo no key
cat /System/Volumes/Data` + base + `/home/.ssh/key || echo no key by its volume
ps -p 1 > /dev/null 2>&1 || echo no process 1
git --version && git rev-parse --absolute-git-dir
`
	q, err := m.Spawn(t.Context(), Command{Argv: []string{"/bin/sh", "-c", script}, Dir: base + "/checkout", Terminal: true, Rows: 24, Cols: 80,
		Env: seatbelt.Environ(p, m.Places, []string{"PATH=/usr/bin:/bin", "TERM=xterm"})})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Master.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = m.Kill() })()
	out, _ := io.ReadAll(q.Master)
	q.Wait()
	t.Logf("in the cage:\n%s", out)
	for _, want := range []string{"24 80", "/dev/ttys", "wrote", "no key\r\n", "no key by its volume"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q", want)
		}
	}
	if data, err := os.ReadFile(base + "/checkout/a/new"); err != nil || string(data) != "x\n" {
		t.Errorf("outside, what it wrote: %q, %v", data, err)
	}
}
