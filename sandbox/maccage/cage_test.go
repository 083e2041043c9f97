package maccage

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"termic/sandbox/processes"
)

func TestAProcessOfACage(t *testing.T) {
	r := newRig(t)
	for script, want := range map[string]string{
		`echo out; echo err >&2`: "out\nerr",
		`echo "$POLICY"`:         "for",
		`env | grep -v "^\(_\|PWD\|SHLVL\|OLDPWD\|POLICY\)=" | sort`: "A=1\nPATH=/usr/bin:/bin:/usr/sbin:/sbin",
		`pwd`:                      "/",
		`cat`:                      "", // its standard input is empty
		`test -t 1 || echo no tty`: "no tty",
	} {
		if got, exit := r.run(script); got != want || exit.Code != 0 {
			t.Errorf("%s: %q, %+v, want %q", script, got, exit, want)
		}
	}
	if _, exit := r.run("exit 7"); exit != (processes.Exit{Code: 7}) {
		t.Errorf("exit 7: %+v", exit)
	}
	if _, exit := r.run("kill -TERM $$"); exit != (processes.Exit{Code: -1, Signal: "SIGTERM"}) {
		t.Errorf("a signal: %+v", exit)
	}
	if out, exit := r.run("exec /nonexistent"); exit.Code == 0 {
		t.Errorf("a program that is not there: %q, %+v", out, exit)
	}
	// What has ended is collected, so that the warden does not keep its number.
	eventually(t, "all are collected", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(r.running) == 0
	})
}

func TestATerminalOfACage(t *testing.T) {
	r := newRig(t)
	p, err := r.Spawn(t.Context(), Command{Argv: []string{"/bin/sh", "-c", `stty size; echo "policy $POLICY"; echo "tty $(tty)"; echo "group $(ps -o pgid= -p $$) $$"; read x; echo "read $x"`},
		Env: []string{"PATH=/usr/bin:/bin"}, Dir: "/", Terminal: true, Rows: 31, Cols: 97})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Master.Close()
	var text strings.Builder
	go func() { // so that nothing hangs for ever
		<-time.After(20 * time.Second)
		_ = r.Kill()
	}()
	if _, err := p.Master.WriteString("word\n"); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(&text, p.Master) // Linux ends it with EIO
	if exit := p.Wait(); exit.Code != 0 {
		t.Fatalf("%+v: %s", exit, text.String())
	}
	words := map[string]string{}
	for line := range strings.SplitSeq(text.String(), "\r\n") {
		name, rest, _ := strings.Cut(line, " ")
		words[name] = rest
	}
	group := strings.Fields(words["group"])
	if words["31"] != "97" || !strings.HasPrefix(words["tty"], "/dev/") || words["policy"] != "for "+words["tty"] || words["read"] != "word" || len(group) != 2 || group[0] != group[1] {
		t.Errorf("the terminal: %s", text.String())
	}
}

func TestSpawnRefuses(t *testing.T) {
	r := newRig(t)
	file, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	command := Command{Argv: []string{"/bin/true"}, Dir: "/"}
	onTerminal := command
	onTerminal.Terminal, onTerminal.Rows, onTerminal.Cols = true, 24, 80
	nowhere := command
	nowhere.Dir = "/nonexistent"
	over, cancel := context.WithCancel(context.Background())
	cancel()
	for what, f := range map[string]func() (*Process, error){
		"a file of the host for a standard file": func() (*Process, error) { return r.Spawn(t.Context(), command, file) },
		"four standard files":                    func() (*Process, error) { return r.Spawn(t.Context(), command, nil, nil, nil, nil) },
		"a terminal and a pipe":                  func() (*Process, error) { return r.Spawn(t.Context(), onTerminal, nil) },
		"a directory that is not there":          func() (*Process, error) { return r.Spawn(t.Context(), nowhere) },
		"a context that is over":                 func() (*Process, error) { return r.Spawn(over, command) },
	} {
		if p, err := f(); err == nil {
			t.Errorf("%s: process %d", what, p.PID)
		}
	}
	bad := errors.New("no policy")
	r.spec.Policy = func(string) (string, error) { return "", bad }
	if _, err := r.Spawn(t.Context(), command); !errors.Is(err, bad) {
		t.Errorf("without a policy: %v", err)
	}
	r.spec.Policy = func(string) (string, error) { return "p", nil }
	if p, err := r.Spawn(t.Context(), command); err != nil || p.Wait().Code != 0 {
		t.Errorf("twin: %v", err)
	}
	if err := r.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Spawn(t.Context(), command); !errors.Is(err, ErrEnded) {
		t.Errorf("after the end: %v", err)
	}
}

// A descriptor that a library opened without close-on-exec would be a way out of any policy.
func TestAProcessInheritsNothing(t *testing.T) {
	r := newRig(t)
	fd, err := unix.Open(self(t), unix.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if fd <= controlFD {
		t.Fatalf("descriptor %d", fd)
	}
	line := fmt.Sprintf(`if [ -e /dev/fd/%d ]; then echo open; else echo closed; fi`, fd)
	if got, _ := r.run(line); got != "closed" {
		t.Errorf("in the cage it is %q", got)
	}
	if out, err := exec.Command("/bin/sh", "-c", line).Output(); err != nil || string(out) != "open\n" { // the twin
		t.Errorf("in a child of ours it is %q, %v", out, err)
	}
}

func TestTheGateWaitsForTheWarden(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	for _, word := range []string{"", "\x01"} {
		theirs, ours, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(self(t), commandGate, "/bin/sh", "-c", "echo x > "+mark)
		cmd.ExtraFiles = []*os.File{theirs}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_ = theirs.Close()
		_, _ = ours.WriteString(word)
		_ = ours.Close()
		err = cmd.Wait()
		_, stat := os.Stat(mark)
		if ran := stat == nil; ran != (word != "") || ran != (err == nil) {
			t.Errorf("with %q: the program ran %v, %v", word, ran, err)
		}
	}
}

// brood starts, in a cage, a shell with a child and one in a session of its own, and returns all their ids.
func brood(t *testing.T, r *rig) (*Process, []int) {
	t.Helper()
	setsid, err := exec.LookPath("setsid")
	if err != nil {
		setsid = `perl -e 'use POSIX; fork && exit; POSIX::setsid(); exec @ARGV'` // macOS
	}
	const stay = `sh -c 'trap "" HUP TERM INT; echo $$; while :; do sleep 1; done'`
	p, out := r.spawn("echo $$; " + stay + " & " + setsid + " " + stay + " & wait")
	lines, pids := bufio.NewReader(out), []int{}
	for range 3 {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return p, pids
}

func TestKillEndsAllOfACageAndKeepsItsPorts(t *testing.T) {
	r, neighbour := newRig(t), newRig(t)
	other, _ := neighbour.spawn("sleep 600")
	p, pids := brood(t, r)
	if err := r.Kill(); err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		if living(t, pid) {
			t.Errorf("process %d of %v lives", pid, pids)
		}
	}
	if exit := p.Wait(); exit.Signal != "SIGKILL" {
		t.Errorf("%+v", exit)
	}
	if !living(t, other.PID) {
		t.Error("the neighbour's process was killed")
	}
	if free(t, r.pair.MCP.Number()) || free(t, r.pair.Proxy.Number()) {
		t.Error("a port of the cage can be bound by another program")
	}
	if again, err := r.ports.Hold("task"); err != nil || again != r.pair {
		t.Errorf("the next cage of the name has other ports: %v", err)
	}
	if err := p.Signal(syscall.SIGKILL); !errors.Is(err, ErrEnded) {
		t.Errorf("signal after the end: %v", err)
	}
}

func TestALeaderThatEndsLeavesItsSessionToTheCage(t *testing.T) {
	r := newRig(t)
	p, out := r.spawn(`sleep 600 >/dev/null 2>&1 & echo $!`)
	text, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || p.Wait().Code != 0 || !living(t, child) {
		t.Fatalf("%q, %v", text, err)
	}
	if err := p.Signal(syscall.SIGSTOP); err != nil { // it reaches who is left
		t.Error(err)
	}
	if err := r.Kill(); err != nil || living(t, child) {
		t.Errorf("the child lives: %v", err)
	}
}

func TestTheEndOfTheWardenIsThatOfTheCage(t *testing.T) {
	r := newRig(t)
	_, pids := brood(t, r)
	if err := r.guard.process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-r.Done()
	if slices.ContainsFunc(pids, func(pid int) bool { return living(t, pid) }) {
		t.Errorf("something of %v lives", pids)
	}
}

// app is an app that starts a cage, says what is in it, and waits to be killed.
func app() {
	pair, err := (&Ports{}).Hold("task")
	if err != nil {
		panic(err)
	}
	stage, err := os.Executable()
	if err != nil {
		panic(err)
	}
	c, err := Start(spec(stage, []*Port{pair.MCP, pair.Proxy}))
	if err != nil {
		panic(err)
	}
	p, err := c.Spawn(context.Background(), Command{Argv: []string{"/bin/sleep", "600"}, Dir: "/"})
	if err != nil {
		panic(err)
	}
	fmt.Println(p.PID, pair.MCP.Number(), pair.Proxy.Number())
	select {}
}

// The app's end is the cage's, and until that the ports are held: at no moment is one free while something may connect to it.
func TestTheEndOfTheAppIsThatOfTheCage(t *testing.T) {
	cmd := exec.Command(self(t), "app")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	var mcp, proxy uint16
	if _, err := fmt.Sscan(line, &pid, &mcp, &proxy); err != nil || !living(t, pid) || free(t, mcp) || free(t, proxy) {
		t.Fatalf("%q: %v", line, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for end := time.Now().Add(20 * time.Second); ; {
		bound := !free(t, mcp) && !free(t, proxy) // first: what is alive after it was free was alive then
		alive := living(t, pid)
		switch {
		case !bound && alive:
			t.Fatal("a port is free and the cage lives")
		case !bound && !alive:
			return
		case time.Now().After(end):
			t.Fatalf("after 20 s: bound %v, alive %v", bound, alive)
		}
	}
}

func TestTheWardenTakesNoOtherWord(t *testing.T) {
	for _, words := range []string{"+1\n", "+0\n", "-1\n", "+x\n", "5\n", "\n", "+\n", "+5 6\n"} {
		if err := warden(strings.NewReader(words)); err == nil {
			t.Errorf("%q is taken", words)
		}
	}
	cmd := exec.Command("/bin/sleep", "600")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = cmd.Process.Kill(), cmd.Wait() }()
	id := cmd.Process.Pid
	if err := warden(strings.NewReader(fmt.Sprintf("+%d\n-%d\n", id, id))); err != nil || !living(t, id) {
		t.Errorf("a session that was taken back is gone: %v", err)
	}
	if err := warden(strings.NewReader(fmt.Sprintf("+%d\nnonsense\n", id))); err == nil || living(t, id) {
		t.Errorf("after a word that it does not know it goes on: %v", err)
	}
}

func TestMainRefuses(t *testing.T) {
	for _, args := range [][]string{nil, {"x"}, {commandGate}, {commandWarden, "x"}, {commandTry}} {
		if got := Main(args); got != exitRefused {
			t.Errorf("%q: %d", args, got)
		}
	}
}
