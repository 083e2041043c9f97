package processes_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"termic/sandbox/processes"
)

func TestFamily(t *testing.T) {
	all := []processes.Process{
		{PID: 1, Parent: 0, Session: 1},    // the system's first
		{PID: 10, Parent: 1, Session: 10},  // the leader
		{PID: 11, Parent: 10, Session: 10}, // its child
		{PID: 12, Parent: 11, Session: 12}, // a grandchild with a session of its own
		{PID: 13, Parent: 1, Session: 12},  // whose parent is gone, in that session
		{PID: 14, Parent: 1, Session: 10},  // whose parent is gone, in the leader's
		{PID: 20, Parent: 1, Session: 20},  // a stranger
		{PID: 21, Parent: 20, Session: 20}, // and its child
		{PID: 30, Parent: 1, Session: 30},  // one that left session and parent
	}
	pids := func(sessions ...int) (pids []int) {
		for _, p := range processes.Family(all, sessions) {
			pids = append(pids, p.PID)
		}
		return pids
	}
	for name, row := range map[string]struct{ got, want []int }{
		"one session":   {pids(10), []int{10, 11, 12, 13, 14}},
		"two":           {pids(10, 20), []int{10, 11, 12, 13, 14, 20, 21}},
		"none":          {pids(), nil},
		"an ended one":  {pids(99), nil},
		"a leaf's":      {pids(30), []int{30}},
		"its own again": {pids(12), []int{12, 13}},
	} {
		if !reflect.DeepEqual(row.got, row.want) {
			t.Errorf("%s: %v, want %v", name, row.got, row.want)
		}
	}
}

// leader starts a shell that leads a session and prints what its script prints, one line.
func leader(t *testing.T, script string) (cmd *exec.Cmd, line string) {
	t.Helper()
	cmd = exec.Command("/bin/sh", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return cmd, strings.TrimSpace(line)
}

func TestKillEndsTheFamilyAndSparesTheNeighbour(t *testing.T) {
	setsid, err := exec.LookPath("setsid")
	if err != nil {
		t.Skip("there is no setsid(1) here")
	}
	neighbour, _ := leader(t, "echo ready; exec sleep 600")
	cmd, line := leader(t, setsid+` sh -c 'trap "" TERM HUP; echo $$; while :; do sleep 1; done' & wait`)
	child, err := strconv.Atoi(line)
	if err != nil || !alive(t, child) {
		t.Fatalf("the child %q: %v", line, err)
	}
	if err := processes.Kill(cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	if alive(t, cmd.Process.Pid) || alive(t, child) {
		t.Error("something of the family lives")
	}
	if !alive(t, neighbour.Process.Pid) {
		t.Error("the neighbour was killed")
	}
	if exit := processes.AwaitExit(cmd.Process.Pid); exit.Signal != "SIGKILL" {
		t.Errorf("the leader ended with %+v", exit)
	}
}

func TestKillRefusesWhatIsNoSessionOfOurs(t *testing.T) {
	for _, session := range []int{-1, 0, 1} {
		if err := processes.Kill(session); err == nil {
			t.Errorf("session %d is taken", session)
		}
	}
}

func TestListKnowsUs(t *testing.T) {
	all, err := processes.List()
	if err != nil {
		t.Fatal(err)
	}
	session, err := unix.Getsid(0)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if p.PID == os.Getpid() {
			name := filepath.Base(os.Args[0])
			want := processes.Process{PID: os.Getpid(), Parent: os.Getppid(), Session: session, Name: name[:min(len(name), 15)], Terminal: p.Terminal}
			if p != want {
				t.Errorf("we are %+v, want %+v", p, want)
			}
			return
		}
	}
	t.Error("we are not in the list")
}

func alive(t *testing.T, pid int) bool {
	all, err := processes.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if p.PID == pid {
			return true
		}
	}
	return false
}
