// Package cagetest runs things in cages, for tests: it builds the programs that a cage needs, lays out a machine to
// protect, starts cages of it, and runs one thing outside and inside.
//
// A boundary is shown by WithAndWithout: the forbidden thing succeeds outside, so it is possible here, and is refused
// inside with the error that the boundary gives. Where the kernel offers cages, what cannot be tried fails a test.
package cagetest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"termic/sandbox/capability"
	"termic/sandbox/launch"
	"termic/sandbox/profile"
)

// Variables of a test binary that another one started.
const (
	BinVar    = "TERMIC_TEST_BIN"    // the directory of the built programs
	MarkerVar = "TERMIC_TEST_MARKER" // set: this is the inner run; it plays the app, and this is in its environment
)

var programs struct {
	sync.Once
	dir     string
	support launch.Support
	err     error
}

// Main runs the tests of a package, removes the programs that they had built, and exits. It is for TestMain.
func Main(m *testing.M) { os.Exit(Run(m)) }

// Run is Main for a TestMain that has more to do at its end: it returns the exit code.
func Run(m *testing.M) int {
	status := m.Run()
	if programs.dir != "" && os.Getenv(BinVar) == "" {
		_ = os.RemoveAll(programs.dir)
	}
	return status
}

// Bin returns a directory that anyone may read with the programs stage and hostile, as they are shipped: static.
func Bin(t testing.TB) string {
	t.Helper()
	programs.Do(func() {
		if programs.dir = os.Getenv(BinVar); programs.dir == "" {
			programs.dir, programs.err = build()
		}
		programs.support = launch.Probe(context.Background(), filepath.Join(programs.dir, "stage"))
	})
	if programs.err != nil {
		t.Fatal(programs.err)
	}
	return programs.dir
}

func build() (string, error) {
	// Not in TMPDIR, which may be closed to the other user that tests run as.
	dir, err := os.MkdirTemp("/tmp", "termic-cagetest-")
	if err != nil {
		return "", err
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return dir, err
	}
	for name, pkg := range map[string]string{"stage": "termic/sandbox/stagecmd", "hostile": "termic/sandbox/cagetest/hostile"} {
		cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags="+entry[name], "-o", filepath.Join(dir, name), pkg)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
		if out, err := cmd.CombinedOutput(); err != nil {
			return dir, fmt.Errorf("build %s: %w\n%s", pkg, err, out)
		}
	}
	return dir, nil
}

// Machine is a person's directories with a task in it.
type Machine struct {
	Root                          string
	Home, Data, Checkout, Outside string
	Dirs                          profile.Dirs // of the task
	Support                       launch.Support
}

// New lays out a machine below a new directory, and finds out what the real one supports. See Require.
func New(t testing.TB) *Machine {
	t.Helper()
	Require(t)
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m := &Machine{Root: root, Home: root + "/home", Data: root + "/data", Checkout: root + "/data/tasks/1/checkout", Outside: root + "/outside"}
	for name, content := range map[string]string{
		"home/.ssh/id_test": "key", "home/.bashrc": "# start", "data/mcp-token": "token", "outside/notes": "mine", "home/go/pkg/mod/cached": "cached",
		"data/tasks/2/checkout/file": "other", "data/tasks/1/gitfile": "gitdir: /nowhere",
		"data/tasks/1/checkout/.git": "gitdir: /elsewhere", "data/tasks/1/checkout/.envrc": "x", "data/tasks/1/checkout/main.go": "package main",
		"data/tasks/1/checkout/.vscode/settings.json": "{}", "data/tasks/1/checkout/.claude/settings.json": "{}", "data/tasks/1/checkout/.claude/notes": "mine",
		"data/tasks/1/checkout/.github/workflows/ci.yml": "on: push", "data/tasks/1/git/HEAD": "ref: refs/heads/x",
	} {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m.Dirs = profile.Dirs{Home: m.Home, Checkout: m.Checkout, Data: m.Data, Read: []string{Bin(t)}, Root: os.Getuid() == 0, UID: os.Getuid(),
		Own: []profile.Own{
			{Path: root + "/data/tasks/1/git", Source: root + "/data/tasks/1/git", Write: true, Why: "private git directory"},
			{Path: m.Checkout + "/.git", Source: root + "/data/tasks/1/gitfile", Why: "the cage's view of git"},
		}}
	m.Support = programs.support
	return m
}

// Profile compiles the task's cage.
func (m *Machine) Profile(t testing.TB, mode capability.Mode, set capability.Set) profile.Profile {
	t.Helper()
	p, err := profile.Compile(capability.Declared{Mode: mode, Set: set}, m.Dirs, profile.Machine{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Start starts the task's cage, and ends it with the test. A machine that has no cages fails the test.
func (m *Machine) Start(t testing.TB, mode capability.Mode, set capability.Set) *launch.Cage {
	t.Helper()
	cage, err := launch.Make(t.Context(), m.Support, launch.Order{Profile: m.Profile(t, mode, set), Watch: mode == capability.Enforce, Name: m.Root, Dir: m.Data + "/tasks/1/cage"})
	return m.started(t, cage, err)
}

func (m *Machine) started(t testing.TB, cage *launch.Cage, err error) *launch.Cage {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cage.Kill(); err != nil {
			t.Error(err)
		}
	})
	return cage
}

// Env is the environment of what the tests run in a cage.
func (m *Machine) Env() []string {
	return []string{"HOME=" + m.Home, "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/go/bin", "TERM=xterm", "LANG=C.UTF-8", "TMPDIR=/tmp"}
}

// Outcome is how a program ended.
type Outcome struct {
	Code   int
	Output string // both standard files
}

// patience is how long a program may take in a test.
const patience = time.Minute

// Run runs a program in the cage, in the checkout, without a terminal.
func (m *Machine) Run(t testing.TB, cage *launch.Cage, argv ...string) Outcome {
	t.Helper()
	return m.RunEnv(t, cage, m.Env(), argv...)
}

// RunEnv is Run with another environment than Env.
func (m *Machine) RunEnv(t testing.TB, cage *launch.Cage, env []string, argv ...string) Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p, err := cage.Spawn(ctx, launch.Command{Argv: argv, Env: env, Dir: m.Checkout}, nil, w, w)
	_ = w.Close()
	if err != nil {
		t.Fatalf("%q: %v", argv, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = cage.Kill() })
	defer stop()
	output, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	exit := p.Wait()
	if ctx.Err() != nil {
		t.Fatalf("%q did not end in %v; it wrote:\n%s", argv, patience, output)
	}
	return Outcome{Code: exit.Code, Output: string(output)}
}

// OutsideRun runs a program in the checkout, outside any cage.
func (m *Machine) OutsideRun(t testing.TB, argv ...string) Outcome {
	t.Helper()
	return m.OutsideEnv(t, m.Env(), argv...)
}

// OutsideEnv is OutsideRun with another environment than Env.
func (m *Machine) OutsideEnv(t testing.TB, env []string, argv ...string) Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = m.Checkout, env, &output, &output
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatalf("%q: %v", argv, err)
	}
	return Outcome{Code: cmd.ProcessState.ExitCode(), Output: output.String()}
}

// WithAndWithout runs a program outside and in a cage of the task.
func (m *Machine) WithAndWithout(t testing.TB, mode capability.Mode, set capability.Set, argv ...string) (without, with Outcome) {
	t.Helper()
	return m.OutsideRun(t, argv...), m.Run(t, m.Start(t, mode, set), argv...)
}
