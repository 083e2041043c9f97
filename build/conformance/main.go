// Command conformance runs the official conformance suite's server scenarios for our revision of the protocol: all of
// them against the built termic, and those that call tools by name against our endpoint with such tools. A check that
// does not pass must be one that is listed here with the reason why it cannot apply (exceptions.go); one that is listed
// and passes is a mistake too. Run it from the top of the tree, after `make build`.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

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
func tryFixture(s suite) (err error) {
	ctx := context.Background()
	f, err := newFixture(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.endpoint.Stop(ctx)) }()
	address, err := f.address()
	if err != nil {
		return err
	}
	return try("our endpoint with the suite's tools", address, fixtureToken, ofFixture, func(url, dir string) error {
		for _, scenario := range []string{"server-stateless", "tools-call-simple-text", "tools-call-error", "tools-call-with-progress"} {
			if err := s.run(url, dir, "--spec-version", revision, "--scenario", scenario); err != nil {
				return err
			}
		}
		return nil
	})
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
