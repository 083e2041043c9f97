package launch_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"termic/sandbox/cagetest"
	"termic/sandbox/capability"
	"termic/sandbox/launch"
	"termic/sandbox/linuxcage"
)

// appVar makes this binary an app that starts a cage by the plan in it, and is killed.
const appVar = "TERMIC_TEST_APP"

func beTheApp() {
	var plan linuxcage.Plan
	if err := json.Unmarshal([]byte(os.Getenv(appVar)), &plan); err != nil {
		panic(err)
	}
	support := launch.Probe(context.Background(), os.Getenv("STAGE"))
	cage, err := launch.Start(context.Background(), support, plan)
	if err != nil {
		panic(err)
	}
	if _, err := cage.Spawn(context.Background(), launch.Command{Argv: []string{"/usr/bin/sleep", "1000"}, Dir: "/", Terminal: true}); err != nil {
		panic(err)
	}
	fmt.Println("ready")
	select {}
}

// TestKilledApp: when the app is killed, nothing of its cage lives on.
func TestKilledApp(t *testing.T) {
	m := cagetest.New(t)
	plan, err := json.Marshal(m.Plan(t, capability.Enforce, capability.Set{}))
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	app := exec.Command(exe)
	app.Env = []string{appVar + "=" + string(plan), "STAGE=" + filepath.Join(cagetest.Bin(t), "stage")}
	app.Stderr = os.Stderr
	out, err := app.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := app.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the app said %q, %v", line, err)
	}
	caged := descendants(t, app.Process.Pid)
	if len(caged) != 2 { // process 1 and sleep
		t.Errorf("the app has the processes %v", caged)
	}
	if err := app.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = app.Wait() // it was killed
	for pid, handle := range caged {
		fds := []unix.PollFd{{Fd: int32(handle), Events: unix.POLLIN}} // readable when the process has ended
		if n, err := unix.Poll(fds, int(time.Minute.Milliseconds())); n != 1 {
			t.Errorf("process %d lives on (%v)", pid, err)
		}
		_ = unix.Close(handle)
	}
}

// descendants returns the processes below one, with a handle on each.
func descendants(t *testing.T, of int) map[int]int {
	t.Helper()
	all := map[int]int{}
	parents := []int{of}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for len(parents) > 0 {
		parent := parents[0]
		parents = parents[1:]
		for _, entry := range entries {
			pid, err := strconv.Atoi(entry.Name())
			if err != nil || parentOf(pid) != parent {
				continue
			}
			handle, err := unix.PidfdOpen(pid, 0)
			if err != nil {
				t.Fatal(err)
			}
			all[pid] = handle
			parents = append(parents, pid)
		}
	}
	return all
}

func parentOf(pid int) int {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// pid (comm) state ppid …; comm may hold anything
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	parent, _ := strconv.Atoi(fields[1])
	return parent
}
