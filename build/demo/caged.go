package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// cagedLead is what an orchestrating agent in a cage is told: it makes a worker, which is caged as it is, and works with
// it through the one port that it has. Then it tries what it may not.
const cagedLead = `env
let made = call task_new {"name":"hand","agent":"scripted"}
let ready = call task_wait {"task":"$made.task.id"}
call task_send {"task":"$made.task.id","text":"write answer.txt forty-three\nsay the hand is done"}
let end = call task_wait {"task":"$made.task.id"}
call task_log {"task":"$made.task.id"}
call task_diff {"task":"$made.task.id"}
call task_new {"name":"wider","agent":"scripted","hosts":["example.org"]}
call task_new {"name":"free","agent":"scripted","cage":"off"}
call task_status {"task":"lead"}
say the caged lead is done`

// cagedAgents is the main job in cages. There are none but on Linux.
func (d *demo) cagedAgents() error {
	if runtime.GOOS != "linux" {
		return nil
	}
	if err := d.do("a caged task is made; its agent gets the prompt and settles",
		[]string{"new", "boss", "--project", "shop", "--agent", "scripted", "--cage", "enforce", "--mcp", "-p", cagedLead, "--wait", "--timeout", "1m"}, "done"); err != nil {
		return err
	}
	log, err := d.Do("log", "boss", "-n", "1000")
	for _, check := range []struct{ what, want string }{
		{"it is told of the port in its cage", "env TERMIC_MCP_URL=http://127.0.0.1:24311/mcp"},
		{"it made a worker, caged as it is", `"cage":"enforce"`},
		{"it waited until that had settled", `"outcome":"done"`},
		{"it read the worker's log", "the hand is done"},
		{"it read the worker's diff", "+forty-three"},
		{"a worker that reaches a host more is refused", `task_new -> error exceeds_grant: hosts would gain`},
		{"a worker without a cage is refused", `task_new -> error exceeds_grant: mode would weaken`},
		{"a task that it did not make is not there for it", `task_status -> error not_found`},
		{"it ended its work", "the caged lead is done"},
	} {
		if err == nil && !strings.Contains(log, check.want) {
			err = fmt.Errorf("its terminal does not show %q:\n%s", check.want, log)
		}
		if err := d.say(check.what, err); err != nil {
			return err
		}
	}
	return d.do("the person sees how it is caged", []string{"status", "boss"}, "Reaches no host.")
}

// killed kills the app while caged agents run: none may outlive it, and the next start finds everything in order.
func (d *demo) killed() error {
	if runtime.GOOS != "linux" {
		return nil
	}
	if running := d.agents(); len(running) < 2 {
		return d.say("caged agents run", fmt.Errorf("found %v", running))
	}
	if err := d.Kill(); err != nil {
		return d.say("the app is killed", err)
	}
	var err error
	for deadline := time.Now().Add(5 * time.Second); len(d.agents()) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			err = fmt.Errorf("still running: %v", d.agents())
			break
		}
	}
	if err := d.say("the app is killed, and with it every caged agent", err); err != nil {
		return err
	}
	if err := d.say("the app starts again", d.Serve()); err != nil {
		return err
	}
	return errors.Join(
		d.do("the caged tasks are there", []string{"list"}, "boss", "hand"),
		d.do("their cages start again", []string{"tab", "boss", "--agent", "scripted"}, "scripted"),
		d.do("the worker is archived", []string{"archive", "hand", "--force"}),
		d.do("the caged task is archived", []string{"archive", "boss", "--force"}),
	)
}

// agents are the processes of the scripted agent in cages.
func (d *demo) agents() []string {
	var running []string
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range lines {
		if text, err := os.ReadFile(name); err == nil && bytes.HasPrefix(text, []byte(d.Agent)) && caged(filepath.Dir(name)) {
			running = append(running, filepath.Base(filepath.Dir(name)))
		}
	}
	return running
}

// caged tells whether a process is in another process namespace than we are.
func caged(proc string) bool {
	theirs, err := os.Stat(proc + "/ns/pid")
	ours, ourErr := os.Stat("/proc/self/ns/pid")
	if err != nil || ourErr != nil {
		return false
	}
	return theirs.Sys().(*syscall.Stat_t).Ino != ours.Sys().(*syscall.Stat_t).Ino
}
