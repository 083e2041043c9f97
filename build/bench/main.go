// Command bench measures the built termic against peers in the same run, the runs interleaved: the round trip of
// the command line against a program that does nothing; task_status over MCP through the whole router (token, guard,
// audit, schemas) against the official Go SDK's stateless server with the same tool and against a handler of net/http that
// only answers the same bytes; the start of a cage against plain exec and bubblewrap, its memory, and a build in it;
// terminals: parsing and memory against @xterm/headless, echo, Ctrl-C in a flood, idle cost; new tasks against git worktree add;
// and the window: its start, its keys, its memory.
//
// It prints tables; with -record it also keeps every raw sample and writes the tables into docs/benchmarks.md. Run it
// from the top of the tree, after `make build`.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"termic/build/rig"
)

// realtime is for machines that do other things meanwhile: it puts whatever is measured of cages before them, cages and
// their peers alike.
var realtime = flag.Bool("realtime", false, "as root: give cages and their peers real-time priority")

func main() {
	record := flag.Bool("record", false, "keep the raw samples in docs/bench and the tables in docs/benchmarks.md")
	rounds := flag.Int("rounds", 60, "rounds of the command line and of cages")
	only := flag.String("only", "", "measure one section: calls, cages, terminals, tasks or window")
	in := flag.String("inside", "", "for bench itself: measure cages as this user, with the programs in this directory")
	flag.Parse()
	if *in != "" {
		check(inside(*in, *rounds))
		return
	}
	sections := []section{
		{"calls", "", callsPlace, run, (*samples).table},
		{"cages", "cages-", cagesPlace, cages, (*samples).cageTable},
		{"terminals", "terminals-", terminalsPlace, terminals, (*samples).terminalTable},
		{"tasks", "tasks-", tasksPlace, tasks, (*samples).taskTable},
		{"window", "window-", windowPlace, window, (*samples).windowTable},
	}
	for _, part := range sections {
		if *only == "" || *only == part.name {
			check(part.measure(*rounds, *record))
		}
	}
}

// section is one table of the page.
type section struct {
	name   string
	prefix string // of the file of its samples
	place  place
	run    func(*samples, int) error
	table  func(*samples) []string
}

func (p section) measure(rounds int, record bool) error {
	s := newSamples()
	err := p.run(s, rounds)
	if errors.Is(err, errNoCages) || errors.Is(err, errNoWindow) {
		fmt.Printf("%s: not measured: %v\n", p.name, err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	fmt.Printf("%s\n\n", strings.Join(p.table(s), "\n"))
	if !record {
		return nil
	}
	file := "bench/" + p.prefix + s.When.Format("2006-01-02") + ".json"
	return errors.Join(s.write("docs/"+file), writePage("docs/benchmarks.md", p.place, file, s, p.table(s)))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(s *samples, rounds int) (err error) {
	r, err := rig.New()
	if err != nil {
		return err
	}
	defer r.Close()
	if err := r.Serve(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Stop()) }()
	for _, args := range [][]string{
		{"settings", "set", "mcp.enabled", "true"},
		{"project", "add", r.Repo},
		{"new", "fix", "--project", "shop", "--agent", "shell", "--wait"},
		{"client", "add", "claude"},
	} {
		if _, err := r.Do(args...); err != nil {
			return err
		}
	}
	nothing, err := build(r, "nothing")
	if err != nil {
		return err
	}
	port, err := r.Secret("mcp-port")
	if err != nil {
		return err
	}
	programs := []program{
		{floor, []string{nothing}},
		{help, []string{r.Termic, "version"}},
		{cliCall, []string{r.Termic, "status", "fix", "--json"}},
		{headers, []string{r.Termic, "mcp-headers", "--client", "claude", "--url", "http://127.0.0.1:" + port + "/mcp", "--data-dir", r.Data}},
	}
	for range rounds {
		if err := round(s, r, programs); err != nil {
			return err
		}
	}
	return measureMCP(s, r)
}

// program is one that is measured from its start to its end.
type program struct {
	what string
	argv []string
}

// round measures the programs once, in turn.
func round(s *samples, r *rig.Rig, programs []program) error {
	for _, p := range programs {
		if err := s.time(p.what, func() error { _, err := r.Run(p.argv[0], p.argv[1:]...); return err }); err != nil {
			return err
		}
	}
	return nil
}

// build builds one of the programs beside this one, with the versions that go.mod pins.
func build(r *rig.Rig, name string) (string, error) {
	program := filepath.Join(r.Base, name)
	out, err := exec.Command("go", "build", "-o", program, "./build/bench/"+name).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", name, err, out)
	}
	return program, nil
}
