package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"termic/build/rig"
)

// tryClient drives the built termic with the official TypeScript client, and switches the endpoint off and on when
// that says so.
func tryClient(r *rig.Rig, node, packages, port string) error {
	for _, args := range [][]string{
		{"project", "add", r.Repo},
		{"agent", "add", "scripted", "--command", r.Agent},
		{"new", "busy", "--project", "shop", "--agent", "scripted", "-p", "work 5m"},
	} {
		if _, err := r.Do(args...); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	url, token := "http://127.0.0.1:"+port+"/mcp", filepath.Join(r.Data, "mcp-token")
	cmd := exec.CommandContext(ctx, node, "build/conformance/client.mjs", packages, url, token, "busy")
	cmd.Stderr = os.Stderr
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr, cmd.Start()); err != nil {
		return err
	}
	said, _ := bufio.NewReader(out).ReadString('\n')
	err := rebind(r, said)
	if err == nil {
		_, err = io.WriteString(in, "done\n")
	}
	if err := errors.Join(err, cmd.Wait()); err != nil {
		return fmt.Errorf("the TypeScript client: %w", err)
	}
	fmt.Println("the TypeScript client: discovers, lists, calls, is told no, is told progress, cancels, takes the new token")
	return tryOlder(ctx, r, node, packages, url, token)
}

// tryOlder drives the built termic with the clients of older revisions, as it is and with mcp.older_clients.
func tryOlder(ctx context.Context, r *rig.Rig, node, packages, url, token string) error {
	for _, row := range []struct{ setting, want string }{{"false", "told"}, {"true", "served"}} {
		if _, err := r.Do("settings", "set", "mcp.older_clients", row.setting); err != nil {
			return err
		}
		cmd := exec.CommandContext(ctx, node, "build/conformance/older.mjs", packages, url, token, row.want)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("older TypeScript clients, to be %s: %w\n%s", row.want, err, out)
		}
		fmt.Printf("older TypeScript clients with mcp.older_clients %s: %s\n", row.setting, row.want)
	}
	return nil
}

// rebind switches the endpoint off and on, which makes every token new.
func rebind(r *rig.Rig, said string) error {
	if said != "rebind\n" {
		return fmt.Errorf("it ended early, saying %q", said)
	}
	for _, value := range []string{"false", "true"} {
		if _, err := r.Do("settings", "set", "mcp.enabled", value); err != nil {
			return err
		}
	}
	return nil
}
