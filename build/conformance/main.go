// Command conformance runs the official conformance suite's server scenarios for our revision of the protocol: all of
// them against the built termic, and those that call tools by name against our endpoint with such tools. A check that
// does not pass must be one that is listed here with the reason why it cannot apply (exceptions.go); one that is listed
// and passes is a mistake too. Run it from the top of the tree, after `make build`.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"termic/build/rig"
)

func main() {
	node := flag.String("node", "node", "Node 22 or newer")
	packages := flag.String("packages", "", "directory of the npm packages of build/conformance")
	flag.Parse()
	if err := run(suite{*node, *packages}); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

func run(s suite) error { return errors.Join(tryBuilt(s), tryFixture(s)) }

// tryBuilt runs every scenario that the revision requires against the built termic, and then the official client.
func tryBuilt(s suite) (err error) {
	r, err := rig.New()
	if err != nil {
		return err
	}
	defer r.Close()
	if err := r.Serve(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Stop()) }()
	if _, err := r.Do("settings", "set", "mcp.enabled", "true"); err != nil {
		return err
	}
	port, portErr := r.Secret("mcp-port")
	token, tokenErr := r.Secret("mcp-token")
	if err := errors.Join(portErr, tokenErr); err != nil {
		return err
	}
	return errors.Join(
		try("the built termic", "127.0.0.1:"+port, token, ofBuilt, func(url, dir string) error {
			return s.run(url, dir, "--requirements", revision)
		}),
		tryClient(r, s.node, s.packages, port),
	)
}

// tryFixture runs the scenarios that need tools of certain names.
func tryFixture(s suite) error {
	dir, err := os.MkdirTemp("", "fixture-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "fixture")
	if out, err := exec.Command("go", "build", "-o", program, "./build/conformance/fixture").CombinedOutput(); err != nil {
		return fmt.Errorf("build the fixture: %w\n%s", err, out)
	}
	cmd := exec.Command(program)
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr, cmd.Start()); err != nil {
		return err
	}
	var address, token string
	_, err = fmt.Fscan(out, &address, &token)
	if err == nil {
		err = try("our endpoint with the suite's tools", address, token, ofFixture, s.named)
	}
	return errors.Join(err, in.Close(), cmd.Wait())
}

// try runs scenarios through a front and judges their checks.
func try(what, endpoint, token string, known exceptions, scenarios func(url, dir string) error) error {
	front, err := newFront(endpoint, token)
	if err != nil {
		return err
	}
	defer front.Close()
	dir, err := os.MkdirTemp("", "conformance-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := scenarios(front.URL(), dir); err != nil {
		return err
	}
	checks, err := read(dir)
	if err != nil {
		return err
	}
	passed, wrong := known.judge(checks)
	fmt.Printf("%s: %d checks passed, %d cannot apply\n", what, passed, len(checks)-passed-len(wrong))
	if len(wrong) > 0 {
		return fmt.Errorf("%s: %w", what, errors.Join(wrong...))
	}
	return nil
}
