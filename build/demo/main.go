// Command demo does the main job of termic, with the built program as a child process, on a temporary
// repository: a person makes a task; its agent makes another task over MCP, sends it a prompt, waits for it,
// reads its log and its diff; the person does the same on the command line, attaches to a terminal, archives
// the work and brings it back. On Linux the same happens in cages, and the app is killed while they run.
//
// Every step is printed with its result. The exit status is not zero when any step fails. Run it from the top
// of the tree, after `make build`.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"termic/build/rig"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "demo failed:", err)
		os.Exit(1)
	}
	fmt.Println("demo: every step succeeded")
}

// demo is one run.
type demo struct {
	*rig.Rig
	step int
}

func run() (err error) {
	r, err := rig.New()
	if err != nil {
		return err
	}
	defer r.Close()
	d := &demo{Rig: r}
	if err := d.say("the app starts", r.Serve()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	for _, part := range []func() error{d.setUp, d.agentDrivesAgent, d.cagedAgents, d.killed, d.personDrivesAgent, d.attach, d.archive, d.tokensStayInside} {
		if err := part(); err != nil {
			return fmt.Errorf("%w\nthe app's log:\n%s", err, r.Log())
		}
	}
	return nil
}

// stop ends the app and checks that nothing is left.
func (d *demo) stop() error {
	err := d.Stop()
	for _, name := range []string{"ctl.sock", "cli-token", "mcp-token", "mcp-port"} {
		if _, statErr := os.Stat(filepath.Join(d.Data, name)); !errors.Is(statErr, os.ErrNotExist) {
			err = errors.Join(err, fmt.Errorf("%s is left", name))
		}
	}
	return d.say("the app stops; no socket, token or port file is left", err)
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

// do is one step on the command line: it must succeed and print every text of want.
func (d *demo) do(what string, args []string, want ...string) error {
	out, err := d.Do(args...)
	for _, text := range want {
		if err == nil && !strings.Contains(out, text) {
			err = fmt.Errorf("did not print %q but:\n%s", text, out)
		}
	}
	return d.say(what, err)
}
