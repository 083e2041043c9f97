package shellenv

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func bash(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// home is a home directory with these rc files, and the environment of a session that a desktop started there.
func home(t *testing.T, files map[string]string) (dir string, environ []string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, []string{"HOME=" + dir, "PATH=/usr/bin:/bin", "SHELL=" + bash(t), "DISPLAY=:9"}
}

func TestCapture(t *testing.T) {
	for name, rc := range map[string]string{
		"plainly":                           ``,
		"with a banner":                     `echo welcome; echo "PATH=/evil" >&2; printf 'A=1\0PATH=/evil\0'`,
		"although it writes where we read":  `printf 'PATH=/evil\0' >&3; echo mess >&3`,
		"although it asks a question":       `read -p "which version? " answer; select x in a b; do break; done`,
		"although it wants the terminal":    `echo hi > /dev/tty; stty sane < /dev/tty; read x < /dev/tty`,
		"although it ignores TERM":          `trap '' TERM HUP INT`,
		"although it prints when it ends":   `trap 'echo "bye PATH=/evil"; sleep 30' EXIT`,
		"although a background job stays":   `sleep 30 & disown`,
		"although a background job floods":  `yes & `,
		"although it forbids unset names":   `set -u; set -o pipefail`,
		"although it defines its own env":   `env() { echo fooled; }; alias env=false`,
		"although it fails":                 `false; nosuchcommand; cd /nonexistent`,
		"although it prints without an end": `head -c 3000000 /dev/zero`,
		"although it prints at every step":  `set -x; trap 'echo "at $LINENO PATH=/evil"' DEBUG`,
		"although it ends with an answer":   `exit() { echo "exit PATH=/evil"; command exit "$@"; }; trap exit EXIT`,
		"although it sets half a megabyte":  much + `for i in 1 2 3 4 5; do export BIG$i=$x; done`,
		"although another shell runs in it": `/bin/sh -i -c 'PATH=/evil; echo hello; read x'; bash --norc -i </dev/null`,
	} {
		t.Run(name, func(t *testing.T) {
			_, environ := home(t, map[string]string{
				".bash_profile": rc + "\nexport PATH=/opt/mine:/usr/bin:/bin\nexport POEM='two\nlines'\n. ~/.bashrc",
				".bashrc":       "[[ $- == *i* ]] || return\nexport FROM_BASHRC=yes",
				".bash_logout":  "echo goodbye; sleep 30",
			})
			got, err := Capture(t.Context(), bash(t), environ)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"PATH=/opt/mine:/usr/bin:/bin", "POEM=two\nlines", "FROM_BASHRC=yes", "DISPLAY=:9"} {
				if !slices.Contains(got, want) {
					t.Errorf("no %q in %q", want, got)
				}
			}
		})
	}
}

// much sets x to 100,000 characters; a single variable may have 131,072 (MAX_ARG_STRLEN, execve(2)).
const much = `x=$(head -c 100000 /dev/zero | tr '\0' x); `

// An rc file that waits holds nobody up for longer than it was given, and nothing of it stays (get-bb/bb#3484).
func TestCaptureOfAShellThatWaitsLeavesNothing(t *testing.T) {
	// What bash runs in its place has no way to answer (it closes the descriptor), so that its end need not be waited for.
	for name, row := range map[string]struct {
		rc   string
		want error
	}{
		"ignoring TERM":           {`trap '' TERM HUP INT; sleep 60`, ErrTimeout},
		"in a loop":               {`while :; do sleep 60; done`, ErrTimeout},
		"with children that wait": {`trap '' TERM; (trap '' TERM; sleep 60) & sleep 60 | cat; wait`, ErrTimeout},
		"in a group of its own":   {`set -m; (trap '' TERM HUP; sleep 60) & wait`, ErrTimeout},
		"stopped":                 {`kill -STOP $$`, ErrTimeout},
		"printing without an end": {`while :; do echo y; done`, ErrTimeout},
		"as itself, again":        {`exec bash -l -i`, ErrSilent},
		"as another shell":        {`exec sh -c 'trap "" TERM HUP; while :; do sleep 60; done'`, ErrSilent},
		"as a flood":              {`exec yes`, ErrSilent},
	} {
		t.Run(name, func(t *testing.T) {
			dir, environ := home(t, map[string]string{".bash_profile": `exec 30>~/alive; ` + row.rc})
			// Every process of the session holds the writing end: the reader's end comes with the last of them. (A bash that begins closes
			// what lies between 3 and 19.)
			if err := unix.Mkfifo(filepath.Join(dir, "alive"), 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, late := context.WithCancelCause(t.Context())
			defer late(nil)
			gone := make(chan error, 1)
			go func() {
				alive, err := os.Open(filepath.Join(dir, "alive"))
				defer time.AfterFunc(500*time.Millisecond, func() { late(context.DeadlineExceeded) }).Stop() // it runs now
				if err == nil {
					_, err = io.ReadAll(alive)
					alive.Close()
				}
				gone <- err
			}()
			if _, err := Capture(ctx, bash(t), environ); !errors.Is(err, row.want) {
				t.Errorf("%v, want %v", err, row.want)
			}
			select {
			case err := <-gone:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(5 * time.Second):
				t.Error("a process of the shell is still there")
			}
		})
	}
}

func TestCaptureFails(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, row := range map[string]struct {
		ctx       context.Context
		shell, rc string
		want      error
	}{
		"when an rc file ends the shell":       {t.Context(), bash(t), "exit 0", ErrSilent},
		"when an rc file runs another program": {t.Context(), bash(t), "exec true", ErrSilent},
		"when an rc file runs another shell":   {t.Context(), bash(t), "exec sh -i", ErrSilent},
		"when it sets more than is taken":      {t.Context(), bash(t), much + "for i in {1..12}; do export BIG$i=$x; done", ErrSilent},
		"when nothing can be started then":     {t.Context(), bash(t), much + "for i in {1..80}; do export BIG$i=$x; done", ErrSilent},
		"when the answer has no end":           {t.Context(), bash(t), "exec head -c 3000000 /dev/zero >&3", ErrSilent},
		"for a program that is no shell":       {t.Context(), "/usr/bin/env", "", ErrShell},
		"for a shell without a path":           {t.Context(), "bash", "", ErrShell},
		"without a shell":                      {t.Context(), "", "", ErrShell},
		"for a shell that is not there":        {t.Context(), "/nonexistent/bash", "", os.ErrNotExist},
		"when the caller has gone":             {cancelled, bash(t), "sleep 60", context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			_, environ := home(t, map[string]string{".bash_profile": row.rc})
			if got, err := Capture(row.ctx, row.shell, environ); !errors.Is(err, row.want) || got != nil {
				t.Errorf("%d entries, %v; want %v", len(got), err, row.want)
			}
		})
	}
}

func TestSource(t *testing.T) {
	dir, environ := home(t, map[string]string{".bash_profile": "export PATH=/opt/mine:/usr/bin:/bin COLOR=blue"})
	environ = append(environ, "TERM=dumb", "APPDIR=/tmp/.mount_x", "LD_LIBRARY_PATH=/tmp/.mount_x/lib", "PATH=/usr/bin:/bin:/opt/termic")
	environ = slices.DeleteFunc(environ, func(entry string) bool { return entry == "PATH=/usr/bin:/bin" })
	s := Own(environ)
	if got, _ := lookup(s.Environ(), "COLOR"); got != "" {
		t.Errorf("before: COLOR=%s", got)
	}
	if err := s.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"PATH": "/opt/mine:/usr/bin:/bin:/opt/termic", "COLOR": "blue", "TERM": "", "LD_LIBRARY_PATH": "", captureMark: "", "SHLVL": ""} {
		if got, _ := lookup(s.Environ(), name); got != want {
			t.Errorf("%s=%s, want %s", name, got, want)
		}
	}
	if shell, problem := s.State(); shell != bash(t) || problem != nil {
		t.Errorf("state %q, %v", shell, problem)
	}
	// A later capture that fails is told, and what was had stays.
	if err := os.WriteFile(filepath.Join(dir, ".bash_profile"), []byte("exit 3"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Refresh(t.Context()); !errors.Is(err, ErrSilent) {
		t.Errorf("%v", err)
	}
	if got, _ := lookup(s.Environ(), "COLOR"); got != "blue" {
		t.Errorf("after a failure: COLOR=%s", got)
	}
	if _, problem := s.State(); !errors.Is(problem, ErrSilent) {
		t.Errorf("problem %v", problem)
	}
	s.UseOwn()
	if shell, problem := s.State(); shell != "" || problem != nil || slices.Contains(s.Environ(), "COLOR=blue") {
		t.Errorf("own again: %q, %v", shell, problem)
	}
	given := s.Environ()
	given[0] = "changed"
	if slices.Contains(s.Environ(), "changed") {
		t.Error("a caller changed it for the others")
	}
}

func TestLoginShell(t *testing.T) {
	if got := LoginShell([]string{"SHELL=/bin/zsh"}); got != "/bin/zsh" {
		t.Errorf("%s", got)
	}
	if got := LoginShell(nil); !strings.HasPrefix(got, "/") {
		t.Errorf("without SHELL: %q", got)
	}
}
