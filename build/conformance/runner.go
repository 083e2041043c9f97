package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"
)

// revision is the revision of the protocol whose requirements are tried.
const revision = "2026-07-28"

// patience bounds one run of the suite; all scenarios take ten seconds on a busy machine.
const patience = 3 * time.Minute

// suite is the program, and what runs it.
type suite struct{ node, packages string }

// run runs scenarios, whose checks it leaves in dir. The suite's exit status says only that some check did not pass, which
// is ours to judge.
func (s suite) run(url, dir string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	script := filepath.Join(s.packages, "node_modules/@modelcontextprotocol/conformance/dist/index.js")
	cmd := exec.CommandContext(ctx, s.node, append([]string{script, "server", "--url", url, "-o", dir}, args...)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	if ctx.Err() != nil || err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		return fmt.Errorf("run the suite: %w\n%s", errors.Join(err, ctx.Err()), out.String())
	}
	return nil
}

// named runs the scenarios that call tools by name, as far as such tools can be ours.
func (s suite) named(url, dir string) error {
	for _, scenario := range []string{"server-stateless", "tools-call-simple-text", "tools-call-error", "tools-call-with-progress"} {
		if err := s.run(url, dir, "--spec-version", revision, "--scenario", scenario); err != nil {
			return err
		}
	}
	return nil
}

// check is one judgement of the suite.
type check struct {
	scenario string
	ID       string `json:"id"`
	Status   string `json:"status"`
	Message  string `json:"errorMessage"`
	Details  any    `json:"details"`
}

// resultDir is how the suite names the directory of a scenario's checks.
var resultDir = regexp.MustCompile(`^server-(.+)-\d{4}-\d\d-\d\dT[0-9-]+Z$`)

// read returns every check of a run.
func read(dir string) ([]check, error) {
	scenarios, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all []check
	for _, entry := range scenarios {
		match := resultDir.FindStringSubmatch(entry.Name())
		if match == nil {
			return nil, fmt.Errorf("not a scenario's directory: %s", entry.Name())
		}
		text, err := os.ReadFile(filepath.Join(dir, entry.Name(), "checks.json"))
		if err != nil {
			return nil, err
		}
		var checks []check
		if err := json.Unmarshal(text, &checks); err != nil {
			return nil, fmt.Errorf("read the checks of %s: %w", match[1], err)
		}
		for _, c := range checks {
			c.scenario = match[1]
			all = append(all, c)
		}
	}
	return all, nil
}
