// Command agents records sessions of real agent programs against a fake model on this machine: every byte that they print, every key,
// and at its checkpoints what is true then. The state of an agent is tested on these recordings (app/tab). It makes what
// `make record-agents` keeps in app/tab/testdata; run it from the top of the tree after `make build`.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"termic/app/agent"
)

func main() {
	bin := flag.String("bin", "", "directory that holds the agent programs")
	out := flag.String("out", "app/tab/testdata/agents", "directory for the recordings")
	only := flag.String("only", "", "the sessions to record, separated by commas; default: all")
	tried := flag.String("try", "", "record nothing: test the definitions of these agents, separated by commas, as termic agent test does")
	flag.Parse()
	if err := run(*bin, *out, *only, *tried); err != nil {
		fmt.Fprintln(os.Stderr, "agents:", err)
		os.Exit(1)
	}
}

func run(bin, out, only, tried string) error {
	if tried != "" {
		return tryAll(bin, strings.Split(tried, ","))
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, s := range sessions {
		if only != "" && !slices.Contains(strings.Split(only, ","), s.name) {
			continue
		}
		program := filepath.Join(bin, s.agent)
		version, digest, err := identify(program)
		if err != nil {
			return err
		}
		fmt.Printf("%s: %s, sha256 %s\n", s.name, version, digest[:16])
		if err := s.record(program, version, digest, filepath.Join(out, s.name+".cast.gz")); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// tryAll tests definitions, each as the first session of its agent sets the program up.
func tryAll(bin string, names []string) error {
	var all error
	for _, name := range names {
		i := slices.IndexFunc(sessions, func(s session) bool { return s.agent == name })
		if i < 0 {
			return fmt.Errorf("there is no session of %q", name)
		}
		all = errors.Join(all, try(sessions[i], bin))
	}
	return all
}

// identify returns what a program says of its version, and the digest of its file.
func identify(program string) (version, digest string, err error) {
	text, err := exec.Command(program, "--version").Output()
	if err != nil {
		return "", "", err
	}
	file, err := os.Open(program)
	if err != nil {
		return "", "", err
	}
	defer file.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, file)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1], hex.EncodeToString(sum.Sum(nil)), err
}

func definition(id string) (agent.Definition, error) {
	for _, d := range agent.Builtin() {
		if d.ID == id {
			return d, nil
		}
	}
	return agent.Definition{}, errors.New("no agent " + id)
}
