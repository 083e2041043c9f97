// Command bench measures the built termic against peers in the same run, the runs interleaved: the round trip of
// the command line against a program that does nothing, and task_status over MCP through the whole router (token, guard,
// audit, schemas) against the official Go SDK's stateless server with the same tool and against a handler of net/http that
// only answers the same bytes.
//
// It prints a table; with -record it also keeps every raw sample and writes the table into docs/benchmarks.md. Run it from the top of the tree, after `make build`.
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

func main() {
	record := flag.Bool("record", false, "keep the raw samples in docs/bench and the table in docs/benchmarks.md")
	rounds := flag.Int("rounds", 60, "rounds of the command line")
	flag.Parse()
	s := newSamples()
	if err := run(s, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	fmt.Println(strings.Join(s.table(), "\n"))
	if !*record {
		return
	}
	file := "bench/" + s.When.Format("2006-01-02") + ".json"
	if err := errors.Join(s.write("docs/"+file), writePage("docs/benchmarks.md", file, s)); err != nil {
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
	} {
		if _, err := r.Do(args...); err != nil {
			return err
		}
	}
	nothing, err := build(r, "nothing")
	if err != nil {
		return err
	}
	for range rounds {
		if err := round(s, r, nothing); err != nil {
			return err
		}
	}
	return measureMCP(s, r)
}

// round measures the programs once, in turn.
func round(s *samples, r *rig.Rig, nothing string) error {
	programs := []struct {
		what string
		argv []string
	}{{floor, []string{nothing}}, {help, []string{r.Termic, "version"}}, {cliCall, []string{r.Termic, "status", "fix", "--json"}}}
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
