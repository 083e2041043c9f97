// Command clients tries the built termic with real agent programs, against a fake model on this machine. Each is
// registered by `termic client add`, must list our tools and call one, must still do so after the endpoint was bound
// anew with new tokens in the middle of its session, and after `termic client remove` its configuration must be what
// it was, byte for byte. Run it from the top of the tree, after `make build`.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"termic/build/rig"
)

func main() {
	bin := flag.String("bin", "", "directory that holds claude, codex, gemini and opencode")
	only := flag.String("only", "", "the clients to try, separated by commas; default: all")
	dump := flag.String("dump", "", "directory for everything that the fake model is asked")
	flag.Parse()
	if err := run(*bin, *only, *dump); err != nil {
		fmt.Fprintln(os.Stderr, "clients:", err)
		os.Exit(1)
	}
}

func run(bin, only, dump string) error {
	var all error
	for _, c := range programs {
		if only != "" && !slices.Contains(strings.Split(only, ","), c.name) {
			continue
		}
		if _, err := os.Stat(filepath.Join(bin, c.name)); err != nil {
			if c.optional {
				fmt.Printf("--  %s: not tried, since it is not pinned for this machine\n", c.name)
			} else {
				all = errors.Join(all, fmt.Errorf("%s: %w", c.name, err))
			}
			continue
		}
		if err := try(c, bin, dump); err != nil {
			all = errors.Join(all, fmt.Errorf("%s: %w", c.name, err))
		}
	}
	return all
}

// try runs one client through its whole life, with an app and a home directory of its own.
func try(c program, bin, dump string) (err error) {
	r, err := rig.New()
	if err != nil {
		return err
	}
	defer r.Close()
	home := filepath.Join(r.Base, "home")
	for i, entry := range r.Env {
		if strings.HasPrefix(entry, "PATH=") {
			r.Env[i] = "PATH=" + bin + ":" + strings.TrimPrefix(entry, "PATH=")
		}
	}
	if err := r.Serve(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Stop()) }()
	if _, err := r.Do("settings", "set", "mcp.enabled", "true"); err != nil {
		return err
	}
	m, err := newModel(dump, func() error { return rebind(r, c.name) })
	if err != nil {
		return err
	}
	defer m.close()
	s := &session{program: c, rig: r, model: m, home: home, bin: bin}
	return s.life()
}

// rebind switches the endpoint off and on: the port stays, every token is new.
func rebind(r *rig.Rig, name string) error {
	before, err := r.Secret("clients/" + name + ".token")
	if err != nil {
		return err
	}
	for _, value := range []string{"false", "true"} {
		if _, err := r.Do("settings", "set", "mcp.enabled", value); err != nil {
			return err
		}
	}
	after, err := r.Secret("clients/" + name + ".token")
	if err == nil && after == before {
		err = errors.New("the token is the same after the endpoint was bound anew")
	}
	return err
}

// session is one client with its app.
type session struct {
	program
	rig       *rig.Rig
	model     *model
	home, bin string
}

// patience bounds one run of a client; it takes some seconds on a quiet machine.
const patience = 3 * time.Minute

// ask runs the client in its home directory and returns what it printed.
func (s *session) ask(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, s.name), args...)
	work := filepath.Join(s.rig.Base, "work")
	if err := os.MkdirAll(work, 0o700); err != nil {
		return "", err
	}
	cmd.Dir = work
	cmd.Env = append([]string{"HOME=" + s.home, "PATH=" + s.bin + ":" + os.Getenv("PATH"), "TERM=dumb", "LANG=C.UTF-8"}, s.env(s.model.url)...)
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("%s %s: %w\n%s", s.name, args[0], err, out)
	}
	return string(out), nil
}

// life registers and removes the client, then registers it again, runs a session of it, and removes it again.
func (s *session) life() error {
	version, err := s.ask("--version")
	if err != nil {
		return err
	}
	for path, text := range s.files {
		path = filepath.Join(s.home, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			return err
		}
	}
	if s.before != nil {
		if _, err := s.ask(s.before...); err != nil {
			return err
		}
	}
	start, err := s.read()
	if err != nil {
		return err
	}
	if err := errors.Join(s.register(), s.remove(start, false)); err != nil {
		return err
	}
	if err := s.register(); err != nil {
		return err
	}
	said, err := s.ask(s.run(s.model.url)...)
	if err = errors.Join(err, s.model.outcome()); err != nil {
		return fmt.Errorf("%w\nit said:\n%s\nthe app's log:\n%s", err, said, s.rig.Log())
	}
	for _, further := range s.also {
		if err := further(s); err != nil {
			return err
		}
	}
	if s.ownWrites {
		if start, err = s.read(); err == nil {
			start, err = withoutServers(start)
		}
	}
	if err = errors.Join(err, s.remove(start, s.ownWrites)); err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSpace(version), "\n")
	fmt.Printf("ok  %s %s: registered, called, called again after new tokens, removed without a trace\n", s.name, lines[len(lines)-1])
	return nil
}

func (s *session) read() ([]byte, error) { return os.ReadFile(filepath.Join(s.home, s.config)) }

func (s *session) register() error {
	if _, err := s.rig.Do("client", "add", s.name, "--all-servers"); err != nil {
		return err
	}
	shown, err := s.rig.Do("client", "show", s.name, "--json")
	if err == nil && !strings.Contains(shown, `"entry": "current"`) {
		err = fmt.Errorf("after it was registered:\n%s", shown)
	}
	return err
}

// remove removes the client and compares its configuration with what it should be then, byte for byte, or where the
// client rewrote it meanwhile by what it means.
func (s *session) remove(want []byte, byMeaning bool) error {
	if _, err := s.rig.Do("client", "remove", s.name); err != nil {
		return err
	}
	got, err := s.read()
	if err != nil {
		return err
	}
	if string(got) != string(want) && !(byMeaning && sameJSON(got, want)) {
		return fmt.Errorf("its configuration is not what it was:\n%s\nbefore:\n%s", got, want)
	}
	left, err := filepath.Glob(filepath.Join(s.home, s.config) + ".termic-*")
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("left beside its configuration: %v", left)
	}
	return err
}

// withoutServers returns a configuration without the object that holds our entry.
func withoutServers(text []byte) ([]byte, error) {
	var members map[string]any
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, err
	}
	delete(members, "mcpServers")
	return json.Marshal(members)
}

func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
