package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain lets the test binary be the agent that is probed, under the names that link links to it. A program
// written by the test itself could not be started safely while other tests fork (ETXTBSY).
func TestMain(m *testing.M) {
	if act, ok := fakes[filepath.Base(os.Args[0])]; ok {
		act()
		syscall.Exit(0) // os.Exit would wait a second for the race detector's sake
	}
	os.Exit(m.Run())
}

// fakes are the programs that the test binary can be.
var fakes = map[string]func(){
	"says-version": func() { fmt.Print("\n\x1b[1m2.1.332\x1b[0m (Fake)\nsecond line\n") },
	"says-env": func() {
		dir, _ := os.Getwd()
		fmt.Println(strings.Join(os.Environ(), " "), strings.Join(os.Args[1:], " "), dir)
	},
	"floods": func() {
		for range 10_000 {
			fmt.Print(strings.Repeat("x", 1000))
		}
	},
	"fails": func() { syscall.Exit(3) },
	"hangs": func() {
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
		child := startChild()
		_ = os.WriteFile(os.Args[1], fmt.Appendf(nil, "%d %d", os.Getpid(), child), 0o600)
		stay()
	},
	"leaves-child": func() { fmt.Println(startChild()) },
	"child":        stay,
}

// stay outlives every test; a bare select would be a deadlock to the runtime.
func stay() { time.Sleep(time.Minute) }

// startChild starts a child that keeps this process's output open, and returns its pid.
func startChild() int {
	self, _ := os.Executable()
	child := &exec.Cmd{Path: self, Args: []string{"child"}, Stdout: os.Stdout}
	if err := child.Start(); err != nil {
		syscall.Exit(4)
	}
	return child.Process.Pid
}

// link puts the test binary under name into a new directory and returns that.
func link(t *testing.T, name string) (dir string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func fake(name string) Definition {
	return Definition{ID: name, Command: []string{name}, Version: []string{"--version"}}
}

func TestProbe(t *testing.T) {
	t.Setenv("TERMIC_MCP_TOKEN", "secret") // of this process: the probed program must not see it
	tests := []struct {
		name, want string
		fails      bool
	}{
		{"says-version", "[1m2.1.332[0m (Fake)", false},
		{"floods", strings.Repeat("x", maxVersion), false},
		{"fails", "", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := Probe(t.Context(), fake(test.name), Where{Path: link(t, test.name)})
			if (err != nil) != test.fails || got.Version != test.want || !got.Installed() {
				t.Errorf("Probe = %+v, %v", got, err)
			}
		})
	}
	dir := link(t, "says-env")
	got, err := run(t.Context(), filepath.Join(dir, "says-env"), []string{"--version"}, probeEnv(Where{Path: dir, Home: "/h"}))
	if want := "LANG=C.UTF-8 TERM=dumb PATH=" + dir + " HOME=/h --version /\n"; err != nil || got != want {
		t.Errorf("the program saw %q, %v; want %q", got, err, want)
	}
	if got, err := Probe(t.Context(), fake("nowhere"), Where{Path: t.TempDir()}); !errors.Is(err, ErrNotInstalled) || got.Installed() {
		t.Errorf("Probe of a program that is not there: %+v, %v", got, err)
	}
	silent := Definition{ID: "sh", Command: []string{LoginShell}}
	if got, err := Probe(t.Context(), silent, Where{}); err != nil || got.Path != "/bin/sh" || got.Version != "" {
		t.Errorf("Probe of a shell: %+v, %v", got, err)
	}
}

// TestProbeEndsWhatItStarted: a program that hangs, and one whose child keeps the pipe, leave nothing behind.
func TestProbeEndsWhatItStarted(t *testing.T) {
	t.Run("it hangs", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		file := filepath.Join(t.TempDir(), "pids")
		d := fake("hangs")
		d.Version = []string{file}
		var pids [2]int
		go func() {
			defer cancel()
			for ctx.Err() == nil { // the file is the only sign that both run
				text, _ := os.ReadFile(file)
				if n, _ := fmt.Sscan(string(text), &pids[0], &pids[1]); n == 2 {
					return
				}
				time.Sleep(5 * time.Millisecond)
			}
		}()
		got, err := Probe(ctx, d, Where{Path: link(t, "hangs")})
		if !errors.Is(err, context.Canceled) || got.Path == "" || got.Version != "" {
			t.Fatalf("Probe = %+v, %v", got, err)
		}
		<-ctx.Done()
		awaitEnd(t, pids[0])
		awaitEnd(t, pids[1])
	})
	t.Run("its child stays", func(t *testing.T) {
		got, err := Probe(t.Context(), fake("leaves-child"), Where{Path: link(t, "leaves-child")})
		if err != nil || got.Version == "" {
			t.Fatalf("Probe = %+v, %v", got, err)
		}
		var pid int
		if _, err := fmt.Sscan(got.Version, &pid); err != nil {
			t.Fatal(err)
		}
		awaitEnd(t, pid)
	})
}

// awaitEnd waits until a process that is not our child has ended; there is no event to wait for.
func awaitEnd(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); syscall.Kill(pid, 0) == nil && !zombie(pid); {
		if time.Now().After(deadline) {
			t.Fatalf("process %d still runs", pid)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// zombie says whether a process has ended and only waits to be collected, as an orphan does where process 1 does
// not collect.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

func TestFind(t *testing.T) {
	dir := link(t, "tool")
	empty := t.TempDir()
	for name, mode := range map[string]os.FileMode{"plain": 0o644, "runs": 0o755} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(empty, "tool"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	t.Setenv("PATH", dir)
	tests := []struct {
		name, program string
		where         Where
		want          string // empty: ErrNotInstalled
	}{
		{"in PATH", "tool", Where{Path: empty + ":" + dir}, filepath.Join(dir, "tool")},
		{"a directory of that name is passed over", "tool", Where{Path: empty}, ""},
		{"not this process's PATH", "tool", Where{}, ""},
		{"not the current directory by an empty entry", "tool", Where{Path: ":" + empty}, ""},
		{"nor by a dot", "tool", Where{Path: ".:" + empty}, ""},
		{"nor by a path that starts here", "./tool", Where{Path: dir}, ""},
		{"not executable", "plain", Where{Path: dir}, ""},
		{"twin: executable", "runs", Where{Path: dir}, filepath.Join(dir, "runs")},
		{"absolute", filepath.Join(dir, "runs"), Where{}, filepath.Join(dir, "runs")},
		{"absolute and gone", filepath.Join(dir, "gone"), Where{Path: dir}, ""},
		{"the login shell", LoginShell, Where{Shell: filepath.Join(dir, "runs")}, filepath.Join(dir, "runs")},
		{"no login shell known", LoginShell, Where{}, "/bin/sh"},
		{"a login shell that is gone", LoginShell, Where{Shell: filepath.Join(dir, "gone")}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := Find(Definition{ID: "x", Command: []string{test.program}}, test.where)
			if got != test.want || (test.want == "") != errors.Is(err, ErrNotInstalled) {
				t.Errorf("Find = %q, %v; want %q", got, err, test.want)
			}
		})
	}
}
