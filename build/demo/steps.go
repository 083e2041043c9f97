package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/creack/pty"
)

// lead is what the orchestrating agent is told. It has two variables and nothing else.
const lead = `env
let made = call task_new {"name":"worker","agent":"scripted"}
let ready = call task_wait {"task":"$made.task.id"}
call task_send {"task":"$made.task.id","text":"write answer.txt forty-two\nsay the worker is done"}
let end = call task_wait {"task":"$made.task.id"}
call task_log {"task":"$made.task.id"}
call task_diff {"task":"$made.task.id"}
say the lead is done`

func (d *demo) setUp() error {
	return errors.Join(
		d.do("the endpoint is switched on", []string{"settings", "set", "mcp.enabled", "true"}, "true"),
		d.do("a repository becomes a project", []string{"project", "add", d.Repo}, "shop"),
		d.do("an agent of the person's own is defined", []string{"agent", "add", "scripted", "--command", d.Agent}, "scripted"),
	)
}

func (d *demo) agentDrivesAgent() error {
	if err := d.do("a task is made; its agent gets the prompt and settles",
		[]string{"new", "lead", "--project", "shop", "--agent", "scripted", "-p", lead, "--wait", "--timeout", "1m"}, "done"); err != nil {
		return err
	}
	log, err := d.Do("log", "lead", "-n", "1000")
	if err != nil {
		return d.say("the lead's terminal is read", err)
	}
	if err := d.say("the lead's environment holds the two variables", d.checkEnvironment(log)); err != nil {
		return err
	}
	for _, check := range []struct{ what, want string }{
		{"the lead made a second task over MCP", `"name":"worker"`},
		{"the lead sent it a prompt", `"delivery":"submitted"`},
		{"the lead waited until it had settled", `"outcome":"done"`},
		{"the lead read its log", "the worker is done"},
		{"the lead read its diff", "+forty-two"},
		{"the lead ended its work", "the lead is done"},
	} {
		if !strings.Contains(log, check.want) {
			err = fmt.Errorf("its terminal does not show %q:\n%s", check.want, log)
		}
		if err := d.say(check.what, err); err != nil {
			return err
		}
	}
	return nil
}

// checkEnvironment prints termic's variables as the lead's terminal shows them and compares them with what a
// tab may have.
func (d *demo) checkEnvironment(log string) error {
	var names []string
	for line := range strings.Lines(log) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "env TERMIC_"); ok {
			fmt.Printf("            TERMIC_%s\n", rest)
			names = append(names, "TERMIC_"+rest[:strings.IndexAny(rest, "= ")])
		}
	}
	slices.Sort(names)
	want := []string{"TERMIC_CLI", "TERMIC_DATA_DIR", "TERMIC_MCP_TOKEN", "TERMIC_MCP_URL", "TERMIC_TASK", "TERMIC_TASK_ID"}
	if !slices.Equal(names, want) {
		return fmt.Errorf("found %v, want %v", names, want)
	}
	return nil
}

func (d *demo) personDrivesAgent() error {
	return errors.Join(
		d.do("the person sees both tasks", []string{"list"}, "lead", "worker"),
		d.do("the person makes a task", []string{"new", "fix", "--project", "shop", "--agent", "scripted", "--wait"}, "idle"),
		d.do("the person sends it a prompt", []string{"send", "fix", "write fix.txt mended\nsay mended", "--wait"}, "done"),
		d.do("the person reads its log", []string{"log", "fix"}, "mended"),
		d.do("the person reads its diff", []string{"diff", "fix"}, "+mended"),
		d.do("the person opens a shell beside it", []string{"tab", "fix"}, "shell"),
	)
}

// detachKey is ctrl-].
const detachKey = 0x1d

// attach types into the shell's terminal through a terminal of its own, as a person would, and detaches.
func (d *demo) attach() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, d.Termic, "attach", "fix", "--tab", "shell")
	cmd.Env = d.Env
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 30, Cols: 100})
	if err != nil {
		return d.say("the person attaches to its terminal", err)
	}
	defer terminal.Close()
	if _, err := terminal.WriteString("echo attached-$((40+2))\r"); err != nil {
		return d.say("the person attaches to its terminal", err)
	}
	var seen bytes.Buffer
	piece := make([]byte, 4096)
	for !bytes.Contains(seen.Bytes(), []byte("attached-42")) {
		n, err := terminal.Read(piece)
		if err != nil {
			return d.say("the person attaches to its terminal", fmt.Errorf("%w; it showed:\n%s", err, seen.Bytes()))
		}
		seen.Write(piece[:n])
	}
	if err := d.say("the person attaches to its terminal and types there", nil); err != nil {
		return err
	}
	if _, err := terminal.Write([]byte{detachKey}); err != nil {
		return d.say("the person detaches", err)
	}
	_, _ = io.Copy(io.Discard, terminal) // until the program has let the terminal go; its error is that end
	if err := d.say("the person detaches", cmd.Wait()); err != nil {
		return err
	}
	return d.do("the shell goes on", []string{"log", "fix", "--tab", "shell"}, "attached-42")
}

func (d *demo) archive() error {
	if err := d.do("the work is archived", []string{"archive", "fix"}, "untracked files"); err != nil {
		return err
	}
	file := filepath.Join(d.Data+".checkouts", "shop", "fix", "fix.txt")
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		return d.say("its checkout is gone", fmt.Errorf("stat: %v", err))
	}
	if err := d.do("it is restored", []string{"restore", "fix"}); err != nil {
		return err
	}
	content, err := os.ReadFile(file)
	if err == nil && string(content) != "mended\n" {
		err = fmt.Errorf("it holds %q", content)
	}
	if err := d.say("the untracked file is back", err); err != nil {
		return err
	}
	for _, name := range []string{"fix", "worker", "lead"} {
		if err := d.do("task "+name+" is archived", []string{"archive", name}); err != nil {
			return err
		}
	}
	left, err := d.Do("list", "--json")
	if err == nil && !strings.Contains(left, `"tasks": []`) {
		err = fmt.Errorf("still listed: %s", left)
	}
	return d.say("no live task is left", err)
}

// tokensStayInside looks for live tokens where none may be: in the app's environment, and on the command line of
// any process.
func (d *demo) tokensStayInside() error {
	token, err := os.ReadFile(filepath.Join(d.Data, "mcp-token"))
	if err != nil {
		return d.say("no token is where it may not be", err)
	}
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", d.Pid))
	if errors.Is(err, os.ErrNotExist) {
		return nil // no /proc on this system; the tests look on Linux
	}
	if err == nil && bytes.Contains(environ, []byte("termic_")) {
		err = errors.New("the app's environment holds one")
	}
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range lines {
		if text, readErr := os.ReadFile(name); readErr == nil && bytes.Contains(text, token) {
			err = errors.Join(err, errors.New("a command line holds one"))
		}
	}
	return d.say("no token is in the app's environment or on a command line", err)
}
