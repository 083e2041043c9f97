// Package rig runs the built termic as a child process on a temporary repository, for the programs that show it
// (build/demo), measure it (build/bench) and wear it (build/soak).
package rig

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Rig is one built program, a data directory and a repository that its user may do anything with.
type Rig struct {
	// Termic and Agent are the paths of the built program and of the scripted agent.
	Termic, Agent string
	// Data is the data directory, Repo a git repository with one commit, Base the directory that holds both.
	Data, Repo, Base string
	// Env is the environment of everything that the rig runs.
	Env []string
	// Pid is the running app's.
	Pid int

	log   string
	app   *exec.Cmd
	ended chan error
}

// New makes a rig. It must run from the top of the tree, after `make build`. Remove it with Close.
func New() (*Rig, error) {
	termic, err := filepath.Abs("build/bin/termic")
	if err != nil {
		return nil, err
	}
	return NewOf(termic)
}

// NewOf makes a rig of another built program than make's.
func NewOf(termic string) (*Rig, error) {
	base, err := os.MkdirTemp("", "termic-rig-")
	if err != nil {
		return nil, err
	}
	r, err := prepare(base, termic)
	if err != nil {
		os.RemoveAll(base)
	}
	return r, err
}

// prepare builds the scripted agent and makes the repository.
func prepare(base, termic string) (*Rig, error) {
	if _, err := os.Stat(termic); err != nil {
		return nil, fmt.Errorf("%w: run make build first", err)
	}
	r := &Rig{
		Termic: termic, Agent: filepath.Join(base, "testagent"), Base: base,
		Data: filepath.Join(base, "data"), Repo: filepath.Join(base, "shop"), log: filepath.Join(base, "serve.log"),
	}
	home := filepath.Join(base, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		return nil, err
	}
	r.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "SHELL=/bin/sh", "LANG=C.UTF-8", "TERM=xterm-256color", "TERMIC_DATA_DIR=" + r.Data,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=demo", "GIT_AUTHOR_EMAIL=demo@example.org", "GIT_COMMITTER_NAME=demo", "GIT_COMMITTER_EMAIL=demo@example.org",
	}
	if out, err := exec.Command("go", "build", "-o", r.Agent, "./testdata/testagent").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the scripted agent: %w\n%s", err, out)
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main", r.Repo}, {"-C", r.Repo, "commit", "-q", "--allow-empty", "-m", "first"}} {
		if _, err := r.Run("git", args...); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Close removes everything. Stop the app first.
func (r *Rig) Close() error { return os.RemoveAll(r.Base) }

// readyTimeout bounds start and stop. A start takes some 50 ms on a quiet machine.
const readyTimeout = 20 * time.Second

// Serve starts the app and returns when it serves.
func (r *Rig) Serve() error {
	log, err := os.Create(r.log)
	if err != nil {
		return err
	}
	defer log.Close()
	r.app = exec.Command(r.Termic, "serve")
	r.app.Env, r.app.Stdout, r.app.Stderr = r.Env, log, log
	if err := r.app.Start(); err != nil {
		return err
	}
	r.Pid, r.ended = r.app.Process.Pid, make(chan error, 1)
	go func() { r.ended <- r.app.Wait() }()
	for deadline := time.Now().Add(readyTimeout); ; time.Sleep(10 * time.Millisecond) {
		text := r.Log()
		switch {
		case strings.Contains(text, "termic serves"):
			return nil
		case time.Now().After(deadline) || len(r.ended) > 0:
			return fmt.Errorf("the app did not start:\n%s", text)
		}
	}
}

// Stop ends the app as Ctrl-C does and returns when it has ended; an end that is not orderly is an error.
func (r *Rig) Stop() error {
	if err := r.app.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	select {
	case err := <-r.ended:
		if err != nil {
			return fmt.Errorf("the app did not stop in order: %w\n%s", err, r.Log())
		}
		return nil
	case <-time.After(readyTimeout):
		return errors.Join(errors.New("the app did not stop"), r.app.Process.Kill())
	}
}

// Kill ends the app as a crash does and returns when it has ended.
func (r *Rig) Kill() error {
	if err := r.app.Process.Kill(); err != nil {
		return err
	}
	<-r.ended
	return nil
}

// Log returns what the app has printed.
func (r *Rig) Log() string {
	text, _ := os.ReadFile(r.log) // absent until the app has started
	return string(text)
}

// Run runs a program in the rig's environment and returns what it printed.
func (r *Rig) Run(program string, args ...string) (string, error) {
	cmd := exec.Command(program, args...)
	cmd.Env = r.Env
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// Do runs termic.
func (r *Rig) Do(args ...string) (string, error) { return r.Run(r.Termic, args...) }

// Secret returns a token or port file of the data directory.
func (r *Rig) Secret(name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(r.Data, name))
	return strings.TrimSpace(string(text)), err
}
