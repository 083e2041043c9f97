package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/creack/pty"

	"termic/build/rig"
)

// attached is a `termic attach` on a terminal of ours, as a person has it.
type attached struct {
	tty  *os.File
	cmd  *exec.Cmd
	news chan []byte // closed at its end
}

func attach(r *rig.Rig, tab string) (*attached, error) {
	cmd := exec.Command(r.Termic, "attach", "fix", "--tab", tab)
	cmd.Env = r.Env
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 120, Rows: 36})
	if err != nil {
		return nil, fmt.Errorf("attach: %w", err)
	}
	a := &attached{tty: tty, cmd: cmd, news: make(chan []byte, 1024)}
	go func() {
		defer close(a.news)
		for {
			buf := make([]byte, 64<<10)
			n, err := tty.Read(buf)
			if n > 0 {
				a.news <- buf[:n]
			}
			if err != nil {
				return
			}
		}
	}()
	return a, nil
}

// close detaches.
func (a *attached) close() {
	_, _ = a.tty.WriteString("\x1d")
	for range a.news { // to its end
	}
	_ = a.cmd.Wait() // a detach is no error, and nothing depends on it
	a.tty.Close()
}

const feelTimeout = 10 * time.Second

// until reads until the output holds want.
func (a *attached) until(want string) error {
	late := time.NewTimer(feelTimeout)
	defer late.Stop()
	var tail []byte
	for {
		select {
		case p, ok := <-a.news:
			if !ok {
				return fmt.Errorf("attach ended before %q", want)
			}
			tail = append(tail, p...)
			if bytes.Contains(tail, []byte(want)) {
				return nil
			}
			tail = tail[max(0, len(tail)-len(want)):]
		case <-late.C:
			return fmt.Errorf("no %q in %v", want, feelTimeout)
		}
	}
}

func (a *attached) types(keys, want string) error {
	if _, err := a.tty.WriteString(keys); err != nil {
		return err
	}
	return a.until(want)
}

// feel measures what a person feels at a terminal.
func feel(s *samples, r *rig.Rig, rounds int) (err error) {
	if err := r.Serve(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Stop()) }()
	for _, args := range [][]string{{"project", "add", r.Repo}, {"new", "fix", "--project", "shop", "--agent", "shell"}, {"tab", "fix", "--agent", "shell", "--name", "flood"}} {
		if _, err := r.Do(args...); err != nil {
			return err
		}
	}
	quiet, err := attach(r, "shell")
	if err != nil {
		return err
	}
	defer quiet.close()
	flood, err := attach(r, "flood")
	if err != nil {
		return err
	}
	defer flood.close()
	// The marks are put together by the shell, so that its echo of the command does not look like the answer.
	if err := errors.Join(quiet.types("echo quiet-$((1+1)); cat > /dev/null\r", "quiet-2"), flood.types("echo flood-$((1+1))\r", "flood-2")); err != nil {
		return err
	}
	echo := func(what string) error {
		for i := range rounds {
			key := string(rune('A' + i%26))
			if err := s.time(what, func() error { return quiet.types(key, key) }); err != nil {
				return err
			}
			time.Sleep(10 * time.Millisecond) // no faster than a hand
		}
		return nil
	}
	if err := echo(echoIdle); err != nil {
		return err
	}
	for i := range max(rounds/6, 1) {
		mark := fmt.Sprintf("stopped-%d", i+2)
		if _, err := flood.tty.WriteString(fmt.Sprintf("yes 'a line of a flood that goes on and on'; echo stopped-$((%d+1))\r", i+1)); err != nil {
			return err
		}
		if err := flood.until("a line of a flood that goes on and on\r\na line of a flood"); err != nil {
			return err
		}
		if i == 0 {
			if err := echo(echoFlood); err != nil {
				return err
			}
		}
		if err := s.time(stopFlood, func() error { return stop(flood, mark) }); err != nil {
			return err
		}
	}
	return nil
}

// stop presses Ctrl-C and waits until the flood's end is on the screen. dash gives up the whole line then, so the mark is asked for
// again when the prompt is back.
func stop(flood *attached, mark string) error {
	return flood.types("\x03echo "+mark[:8]+"$((0+"+mark[8:]+"))\r", mark)
}

// many measures 20 tabs: idle, spinning, and full.
func many(s *samples, r *rig.Rig) (err error) {
	if err := r.Serve(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Stop()) }()
	for i := range 20 {
		if _, err := r.Do("tab", "fix", "--agent", "shell", "--name", "n"+strconv.Itoa(i)); err != nil {
			return err
		}
	}
	each := func(line string) error {
		for i := range 20 {
			if _, err := r.Do("send", "fix", line, "--tab", "n"+strconv.Itoa(i)); err != nil {
				return err
			}
		}
		return nil
	}
	if err := spent(s, r, cpuIdle); err != nil {
		return err
	}
	if err := each(`i=0; while [ $i -lt 10060 ]; do printf '%0119d\n' $i; i=$((i+1)); done`); err != nil {
		return err
	}
	for i := range 20 {
		if _, err := r.Do("wait", "fix", "--tab", "n"+strconv.Itoa(i)); err != nil {
			return err
		}
	}
	resident, err := residentKiB(r.Pid)
	if err != nil {
		return err
	}
	s.Micros[memoryTabs] = append(s.Micros[memoryTabs], resident)
	out, err := exec.Command("node", "app/screen/testdata/xterm.mjs", "memory", "20", "10000").Output()
	if err != nil {
		return fmt.Errorf("measure the memory of xterm.js: %w", err)
	}
	peer, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	if err != nil {
		return fmt.Errorf("measure the memory of xterm.js: %w", err)
	}
	s.Micros[memoryPeer] = append(s.Micros[memoryPeer], peer/1024)
	// As an agent that works: a frame and a title ten times a second.
	if err := each(`while :; do printf '\r\033[2K* Working... \033]2;* busy\007'; sleep 0.1; done`); err != nil {
		return err
	}
	return spent(s, r, cpuSpin)
}

// spent measures the processor time that the app takes in some seconds.
func spent(s *samples, r *rig.Rig, what string) error {
	before, err := cpuTicks(r.Pid)
	if err != nil {
		return err
	}
	const seconds = 5
	time.Sleep(seconds * time.Second)
	after, err := cpuTicks(r.Pid)
	if err != nil {
		return err
	}
	s.Micros[what] = append(s.Micros[what], (after-before)*10_000/seconds) // a tick is 10 ms (USER_HZ, time(7))
	return nil
}

// cpuTicks is user and system time of a process: fields 14 and 15 of proc(5)'s stat.
func cpuTicks(pid int) (int64, error) {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	user, err := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	return user + system, errors.Join(err, err2)
}

// residentKiB is VmRSS of proc(5)'s status.
func residentKiB(pid int) (int64, error) {
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0, fmt.Errorf("no VmRSS of %d", pid)
	}
	return strconv.ParseInt(fields[0], 10, 64)
}
