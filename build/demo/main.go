// Command demo does the main job of termic, with the built program as a child process, on a temporary
// repository: a person makes a task; its agent makes another task over MCP, sends it a prompt, waits for it,
// reads its log and its diff; the person does the same on the command line, attaches to a terminal, archives
// the work and brings it back.
//
// Every step is printed with its result. The exit status is not zero when any step fails. Run it from the top
// of the tree, after `make build`.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "demo failed:", err)
		os.Exit(1)
	}
	fmt.Println("demo: every step succeeded")
}

func run() (err error) {
	base, err := os.MkdirTemp("", "termic-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	d, err := prepare(base)
	if err != nil {
		return err
	}
	stop, err := d.serve()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	for _, part := range []func() error{d.setUp, d.agentDrivesAgent, d.personDrivesAgent, d.attach, d.archive} {
		if err := part(); err != nil {
			return errors.Join(err, d.why())
		}
	}
	return d.tokensStayInside()
}

// demo is one run: a built program, a data directory and a repository that it may do anything with.
type demo struct {
	termic, agent string
	data, repo    string
	env           []string
	log           string
	pid           int
	step          int
}

// prepare builds the scripted agent and makes the repository.
func prepare(base string) (*demo, error) {
	termic, err := filepath.Abs("build/bin/termic")
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(termic); err != nil {
		return nil, fmt.Errorf("%w: run make build first", err)
	}
	d := &demo{
		termic: termic, agent: filepath.Join(base, "testagent"),
		data: filepath.Join(base, "data"), repo: filepath.Join(base, "shop"), log: filepath.Join(base, "serve.log"),
	}
	home := filepath.Join(base, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		return nil, err
	}
	d.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "SHELL=/bin/sh", "LANG=C.UTF-8", "TERM=xterm-256color", "TERMIC_DATA_DIR=" + d.data,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=demo", "GIT_AUTHOR_EMAIL=demo@example.org", "GIT_COMMITTER_NAME=demo", "GIT_COMMITTER_EMAIL=demo@example.org",
	}
	if out, err := exec.Command("go", "build", "-o", d.agent, "./testdata/testagent").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the scripted agent: %w\n%s", err, out)
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main", d.repo}, {"-C", d.repo, "commit", "-q", "--allow-empty", "-m", "first"}} {
		if _, err := d.run("git", args...); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// readyTimeout bounds the start; it takes some 50 ms on a quiet machine.
const readyTimeout = 20 * time.Second

// serve starts the app and returns how to stop it in order.
func (d *demo) serve() (stop func() error, err error) {
	log, err := os.Create(d.log)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(d.termic, "serve")
	cmd.Env, cmd.Stdout, cmd.Stderr = d.env, log, log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	d.pid = cmd.Process.Pid
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for deadline := time.Now().Add(readyTimeout); ; time.Sleep(20 * time.Millisecond) {
		text, err := os.ReadFile(d.log)
		switch {
		case err != nil:
			return nil, err
		case strings.Contains(string(text), "termic serves"):
			return func() error { return d.stop(cmd, ended) }, nil
		case time.Now().After(deadline) || cmd.ProcessState != nil:
			return nil, fmt.Errorf("the app did not start:\n%s", text)
		}
	}
}

// stop ends the app with SIGTERM and checks that nothing is left.
func (d *demo) stop(cmd *exec.Cmd, ended <-chan error) error {
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	select {
	case err := <-ended:
		if err != nil {
			return errors.Join(fmt.Errorf("the app did not stop in order: %w", err), d.why())
		}
	case <-time.After(readyTimeout):
		_ = cmd.Process.Kill()
		return errors.New("the app did not stop")
	}
	for _, name := range []string{"ctl.sock", "cli-token", "mcp-token", "mcp-port"} {
		if _, err := os.Stat(filepath.Join(d.data, name)); !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("%s is left after the stop", name)
		}
	}
	return d.say("the app stopped; no socket, token or port file is left", nil)
}

// say prints one step and its result.
func (d *demo) say(what string, err error) error {
	d.step++
	if err != nil {
		fmt.Printf("%2d  FAILED  %s: %v\n", d.step, what, err)
		return fmt.Errorf("%s: %w", what, err)
	}
	fmt.Printf("%2d  ok      %s\n", d.step, what)
	return nil
}

// run runs a program in the demo's environment and returns what it printed.
func (d *demo) run(program string, args ...string) (string, error) {
	cmd := exec.Command(program, args...)
	cmd.Env = d.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// do is one step on the command line: it must succeed and print every text of want.
func (d *demo) do(what string, args []string, want ...string) error {
	out, err := d.run(d.termic, args...)
	for _, text := range want {
		if err == nil && !strings.Contains(out, text) {
			err = fmt.Errorf("did not print %q but:\n%s", text, out)
		}
	}
	return d.say(what, err)
}

// why is the app's own log, for a failed step.
func (d *demo) why() error {
	text, _ := os.ReadFile(d.log)
	return fmt.Errorf("the app's log:\n%s", text)
}
