// Command clients tries the built termic's endpoint with real agent programs. Each registers the endpoint in a
// configuration of its own, with a helper that reads the token when it connects, and must say that it is
// connected; with a wrong token it must not. No model is asked. Run it from the top of the tree, after `make build`.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"termic/build/rig"
)

func main() {
	claude := flag.String("claude", "", "path of the claude program")
	flag.Parse()
	if err := run(*claude); err != nil {
		fmt.Fprintln(os.Stderr, "clients:", err)
		os.Exit(1)
	}
}

func run(claude string) (err error) {
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
	port, err := r.Secret("mcp-port")
	if err != nil {
		return err
	}
	url := "http://127.0.0.1:" + port + "/mcp"
	return errors.Join(
		tryClaude(r, claude, url, filepath.Join(r.Data, "mcp-token"), true),
		tryClaude(r, claude, url, os.DevNull, false),
	)
}

// patience bounds one start of a client; it takes half a second on a quiet machine.
const patience = time.Minute

// tryClaude registers the endpoint with a helper that reads tokenFile, and compares what claude says of the
// connection with what it should.
func tryClaude(r *rig.Rig, claude, url, tokenFile string, connects bool) error {
	home, err := os.MkdirTemp(r.Base, "client-")
	if err != nil {
		return err
	}
	helper := filepath.Join(home, "helper")
	script := fmt.Sprintf("#!/bin/sh\nprintf '{\"Authorization\":\"Bearer %%s\"}' \"$(cat %s)\"\n", tokenFile)
	if err := os.WriteFile(helper, []byte(script), 0o700); err != nil {
		return err
	}
	entry := fmt.Sprintf(`{"type":"http","url":%q,"headersHelper":%q}`, url, helper)
	if _, err := ask(home, claude, "mcp", "add-json", "-s", "user", "termic", entry); err != nil {
		return err
	}
	version, err := ask(home, claude, "--version")
	if err != nil {
		return err
	}
	said, err := ask(home, claude, "mcp", "list")
	if err != nil {
		return err
	}
	if strings.Contains(said, "Connected") != connects {
		return fmt.Errorf("%s with the token of %s says:\n%s", strings.TrimSpace(version), tokenFile, said)
	}
	fmt.Printf("ok  %s; connects with this token: %v\n", strings.TrimSpace(version), connects)
	return nil
}

// ask runs a client in a home of its own and returns what it printed. The variables keep it from the network, and
// from what its vendor may switch from afar.
func ask(home, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = home
	cmd.Env = []string{
		"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TERM=xterm", "LANG=C.UTF-8",
		"MCP_PROTOCOL_NEGOTIATION=auto", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), args[0], err, out)
	}
	return string(out), nil
}
