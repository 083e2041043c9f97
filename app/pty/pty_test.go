package pty

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestStartRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(file, []byte("not a program"), 0o600); err != nil {
		t.Fatal(err)
	}
	withDir := sh("true")
	withDir.Dir = filepath.Join(t.TempDir(), "missing")
	withStdout := sh("true")
	withStdout.Stdout = os.Stderr
	isSize := func(err error) bool { var e *SizeError; return errors.As(err, &e) }
	is := func(target error) func(error) bool {
		return func(err error) bool { return errors.Is(err, target) }
	}
	for name, row := range map[string]struct {
		cmd  *exec.Cmd
		size Size
		want func(error) bool
	}{
		"a size of zero":                         {sh("true"), Size{}, isSize},
		"a column too few":                       {sh("true"), Size{Cols: MinCols - 1, Rows: MinRows}, isSize},
		"a row too few":                          {sh("true"), Size{Cols: MinCols, Rows: MinRows - 1}, isSize},
		"no row":                                 {sh("true"), Size{Cols: 80}, isSize},
		"a path that names no file":              {exec.Command("/nonexistent/agent"), size80, is(exec.ErrNotFound)},
		"a name that is in no directory of PATH": {exec.Command("no-such-agent"), size80, is(exec.ErrNotFound)},
		"a file that is not executable":          {exec.Command(file), size80, is(os.ErrPermission)},
		"a directory that does not exist": {withDir, size80, func(err error) bool {
			return errors.Is(err, os.ErrNotExist) && !errors.Is(err, exec.ErrNotFound)
		}},
		"a command with a standard stream": {withStdout, size80, is(ErrStdio)},
	} {
		t.Run(name, func(t *testing.T) {
			before := openFDs(t)
			s, err := Start(row.cmd, row.size)
			if err == nil {
				t.Fatalf("started %d", s.Pid())
			}
			if !row.want(err) {
				t.Errorf("wrong error: %v", err)
			}
			if after := openFDs(t); after != before {
				t.Errorf("%d descriptors before, %d after", before, after)
			}
		})
	}
}

func TestSmallestSizeStarts(t *testing.T) {
	c := start(t, sh("stty size"), Size{Cols: MinCols, Rows: MinRows})
	c.expect(t, fmt.Sprintf("%d %d\r\n", MinRows, MinCols))
	if got := c.Wait(); got != (ExitStatus{}) {
		t.Errorf("ended with %+v", got)
	}
}

func TestEnvironmentIsExactlyWhatIsPassed(t *testing.T) {
	t.Setenv("TERMIC_TEST_SECRET", "leaked")
	for name, row := range map[string]struct {
		env, want []string
	}{
		"nil is empty, not ours": {nil, nil},
		"two variables":          {[]string{"A=1", "B=x y"}, []string{"A=1", "B=x y"}},
	} {
		t.Run(name, func(t *testing.T) {
			env, err := exec.LookPath("env")
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(env)
			cmd.Env = row.env
			c := start(t, cmd, size80)
			c.Wait()
			<-c.ended
			var got []string
			if out := strings.TrimSpace(c.text()); out != "" {
				got = strings.Split(out, "\r\n")
			}
			if !reflect.DeepEqual(got, row.want) {
				t.Errorf("environment %q, want %q", got, row.want)
			}
		})
	}
}

func TestProcessLeadsItsSessionAndOwnsTheTerminal(t *testing.T) {
	c := start(t, sh(`echo "pid=$$ tty=$(tty)"; echo controls > /dev/tty; read x`), size80)
	out := c.expect(t, "controls")
	if got := number(t, out, "pid="); got != c.Pid() {
		t.Errorf("pid %d, Pid says %d", got, c.Pid())
	}
	if !strings.Contains(out, "tty="+c.Name()+"\r\n") {
		t.Errorf("terminal %s not in %q", c.Name(), out)
	}
	if sid, err := unix.Getsid(c.Pid()); err != nil || sid != c.Pid() {
		t.Errorf("session %d (%v), want %d", sid, err, c.Pid())
	}
}

// A process may be told the name of its terminal, which must then be known before it starts.
func TestNameIsKnownBeforeTheStart(t *testing.T) {
	term, err := Open(size80)
	if err != nil {
		t.Fatal(err)
	}
	cmd := sh(`[ "$OWN" = "$(tty)" ] && echo same`)
	cmd.Env = append(cmd.Env, "OWN="+term.Name())
	s, err := term.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close(); <-s.gone }()
	buf := make([]byte, 64)
	n, err := s.Read(buf)
	if err != nil || string(buf[:n]) != "same\r\n" {
		t.Errorf("read %q, %v", buf[:n], err)
	}
}

func TestUnusedTerminalLeavesNothing(t *testing.T) {
	before := openFDs(t)
	term, err := Open(size80)
	if err != nil {
		t.Fatal(err)
	}
	if err := term.Close(); err != nil {
		t.Fatal(err)
	}
	if after := openFDs(t); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

// Runs this test binary again below a shell that ignores the two signals, as under nohup.
func TestSignalsWorkAlthoughWeIgnoreThem(t *testing.T) {
	if os.Getenv("PTY_TEST_IGNORED") != "" {
		c := start(t, sh(`trap 'echo hup works' HUP; trap 'echo int works' INT; kill -HUP $$; kill -INT $$; echo end`), size80)
		out := c.expect(t, "end")
		if !strings.Contains(out, "hup works") || !strings.Contains(out, "int works") {
			t.Errorf("signals are ignored in the child: %q", out)
		}
		return
	}
	cmd := exec.Command("/bin/sh", "-c", `trap '' HUP INT; exec "$0" -test.run='^TestSignalsWorkAlthoughWeIgnoreThem$' -test.v`, os.Args[0])
	cmd.Env = append(os.Environ(), "PTY_TEST_IGNORED=1")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("%v\n%s", err, out)
	}
}
