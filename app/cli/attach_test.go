package cli

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/term"
)

// person is somebody at a real terminal in which the command line runs.
type person struct {
	t        *testing.T
	app      *fakeApp
	terminal *os.File // what the person types into and reads from
	line     *os.File // the other side, which outlives the program
	before   *term.State
	cmd      *exec.Cmd
	exited   chan error
	mu       sync.Mutex
	cond     *sync.Cond
	seen     bytes.Buffer
}

// curtain is written to the terminal after the program has ended: nothing more of it can come.
const curtain = "(the program has ended)"

// sitDown runs termic with its three streams on a terminal of 80 columns and 24 rows.
func sitDown(t *testing.T, arguments ...string) *person {
	t.Helper()
	return sitDownAt(t, pty.Winsize{Cols: 80, Rows: 24}, arguments...)
}

func sitDownAt(t *testing.T, size pty.Winsize, arguments ...string) *person {
	t.Helper()
	p := &person{t: t, app: startApp(t, t.Cleanup), exited: make(chan error, 1)}
	p.cond = sync.NewCond(&p.mu)
	var err error
	if p.terminal, p.line, err = pty.Open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.line.Close(); p.terminal.Close() })
	if err := pty.Setsize(p.terminal, &size); err != nil {
		t.Fatal(err)
	}
	if p.before, err = term.GetState(int(p.line.Fd())); err != nil {
		t.Fatal(err)
	}
	p.cmd = exec.Command("termic", arguments...)
	p.cmd.Env = append(os.Environ(), "TERMIC_DATA_DIR="+p.app.dir)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = p.line, p.line, p.line
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	go p.watch()
	go func() {
		err := p.cmd.Wait()
		_, _ = p.line.WriteString(curtain)
		p.exited <- err
	}()
	return p
}

func (p *person) watch() {
	buf := make([]byte, 4096)
	for {
		n, err := p.terminal.Read(buf)
		p.mu.Lock()
		p.seen.Write(buf[:n])
		p.cond.Broadcast()
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// sees waits until the terminal has shown text, or until the program has ended without.
func (p *person) sees(text string) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for !strings.Contains(p.seen.String(), text) {
		if strings.Contains(p.seen.String(), curtain) {
			p.t.Fatalf("the terminal shows %q; want %q", &p.seen, text)
		}
		p.cond.Wait()
	}
}

func (p *person) types(text string) {
	p.t.Helper()
	if _, err := p.terminal.WriteString(text); err != nil {
		p.t.Fatal(err)
	}
}

// exits waits for the program, checks its exit status and returns all that the terminal has shown.
func (p *person) exits(status int) string {
	p.t.Helper()
	err := <-p.exited
	var failed *exec.ExitError
	switch {
	case err == nil && status == 0:
	case errors.As(err, &failed) && failed.ExitCode() == status:
	default:
		p.t.Errorf("exit: %v, want status %d", err, status)
	}
	p.sees(curtain)
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen.String()
}

// restored is exits, and checks that the terminal is as it was.
func (p *person) restored(status int) {
	p.t.Helper()
	seen := p.exits(status)
	after, err := term.GetState(int(p.line.Fd()))
	if err != nil || !reflect.DeepEqual(after, p.before) {
		p.t.Errorf("the terminal's modes are %+v, were %+v (%v)", after, p.before, err)
	}
	if !strings.Contains(seen, restoreScreen) {
		p.t.Errorf("the screen was not given back: %q", seen)
	}
}

func TestAttachIsATerminalUntilTheKeyIsTyped(t *testing.T) {
	for name, key := range map[string]string{
		"as a control character":   "\x1d",
		"as kitty encodes it":      "\x1b[93;5u",
		"as modifyOtherKeys does":  "\x1b[27;5;93~",
		"after other keys at once": "x\x1d",
	} {
		t.Run(name, func(t *testing.T) {
			p := sitDown(t, "attach", "fix-login")
			p.sees("termic: attached; ctrl-] detaches, and the tab goes on")
			p.sees(bottomLine + strings.Repeat("\n", 24)) // what was shown is in the scrollback
			p.sees("the screen")
			if size := <-p.app.stream.sizes; size != [2]int{80, 24} {
				t.Errorf("the first size is %v", size)
			}
			p.types("hello\x03\x1a") // ctrl-c and ctrl-z are the tab's
			p.sees("HELLO\x03\x1a")
			if err := pty.Setsize(p.terminal, &pty.Winsize{Cols: 120, Rows: 40}); err != nil {
				t.Fatal(err)
			}
			if size := <-p.app.stream.sizes; size != [2]int{120, 40} {
				t.Errorf("the next size is %v", size)
			}
			p.types(key)
			p.sees("termic: detached; the tab goes on")
			p.restored(0)
			<-p.app.stream.closed
		})
	}
}

func TestAttachEndsWithTheTab(t *testing.T) {
	p := sitDown(t, "attach", "fix-login")
	p.sees("the screen")
	p.types("exit 3")
	p.sees("termic: what ran in the tab has ended with status 3")
	p.restored(8)
}

func TestASignalRestoresTheTerminal(t *testing.T) {
	for signal, status := range map[syscall.Signal]int{syscall.SIGTERM: 143, syscall.SIGINT: 130, syscall.SIGHUP: 129} {
		t.Run(signal.String(), func(t *testing.T) {
			p := sitDown(t, "attach", "fix-login")
			p.sees("the screen")
			if err := p.cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			p.restored(status)
			<-p.app.stream.closed
		})
	}
}

func TestAttachEndsWhenTheAppDoes(t *testing.T) {
	p := sitDown(t, "attach", "fix-login")
	p.sees("the screen")
	p.app.stop()
	p.sees("termic: the connection to the app ended")
	p.restored(6)
}

func TestATerminalWithoutASizeLeavesTheTabsSize(t *testing.T) {
	p := sitDownAt(t, pty.Winsize{}, "attach", "fix-login") // as a terminal is that was never told one
	p.sees("the screen")
	if err := pty.Setsize(p.terminal, &pty.Winsize{Cols: 100, Rows: 30}); err != nil {
		t.Fatal(err)
	}
	if size := <-p.app.stream.sizes; size != [2]int{100, 30} {
		t.Errorf("the tab was told %v", size)
	}
	p.types("\x1d")
	p.restored(0)
}

func TestARefusedAttachLeavesTheTerminalAlone(t *testing.T) {
	p := sitDown(t, "attach", "refuse-agent_exited")
	p.sees("termic: this task is for agent_exited")
	if seen := p.exits(8); strings.Contains(seen, "\x1b") {
		t.Errorf("the terminal was touched: %q", seen)
	}
}

func TestOnATerminalNothingThatWasPrintedActs(t *testing.T) {
	p := sitDown(t, "log", "fix-login")
	p.sees(`line \x1b]0;title\x07two`)
	if seen := p.exits(0); strings.Contains(seen, "\x1b") {
		t.Errorf("the terminal got %q", seen)
	}
}

func TestOnATerminalAWaitSaysHowToEndIt(t *testing.T) {
	p := sitDown(t, "wait", "forever")
	p.sees("termic: waiting; ctrl-c ends the wait, and the task goes on")
	p.types("\x03") // the terminal makes a signal of it
	p.sees("termic: interrupted; what is under way in the app goes on")
	p.exits(130)
}

func TestAPanicRestoresTheTerminalFirst(t *testing.T) {
	if os.Getenv("CLI_TEST_PANIC") != "" {
		local, err := takeOver(os.Stdin, os.Stdout)
		if err != nil {
			t.Fatal(err)
		}
		local.guarded(func() { panic("boom") })
		select {}
	}
	terminal, line, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	defer line.Close()
	before, err := term.GetState(int(line.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	cmd := exec.Command(os.Args[0], "-test.run=^TestAPanicRestoresTheTerminalFirst$")
	cmd.Env = append(os.Environ(), "CLI_TEST_PANIC=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = line, line, &said
	if err := cmd.Run(); err == nil || !strings.Contains(said.String(), "boom") {
		t.Errorf("the program ends with %v: %s", err, &said)
	}
	if after, err := term.GetState(int(line.Fd())); err != nil || !reflect.DeepEqual(after, before) {
		t.Errorf("the terminal's modes are %+v, were %+v (%v)", after, before, err)
	}
}

func TestWhatDetaches(t *testing.T) {
	rows := []struct {
		name, typed string
		want        int
	}{
		{"nothing", "", -1},
		{"text", "hello ]", -1},
		{"ctrl-]", "\x1d", 0},
		{"ctrl-] after text", "ab\x1dcd", 2},
		{"kitty", "\x1b[93;5u", 0},
		{"kitty after text", "ab\x1b[93;5u", 2},
		{"kitty after another key", "\x1b[97;5u\x1b[93;5u", 7},
		{"kitty with alternates and event type", "\x1b[93:125:93;5:1u", 0},
		{"kitty with caps lock and num lock", "\x1b[93;197u", 0},
		{"kitty when the key is released", "\x1b[93;5:3u", -1},
		{"kitty with shift", "\x1b[93;6u", -1},
		{"kitty with alt", "\x1b[93;7u", -1},
		{"kitty without a modifier", "\x1b[93u", -1},
		{"kitty, another key", "\x1b[91;5u", -1},
		{"modifyOtherKeys", "\x1b[27;5;93~", 0},
		{"modifyOtherKeys with shift", "\x1b[27;6;93~", -1},
		{"escape", "\x1b", -1},
		{"an arrow", "\x1b[A", -1},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if got := detachAt([]byte(row.typed)); got != row.want {
				t.Errorf("detaches at %d, want %d", got, row.want)
			}
		})
	}
}

func FuzzDetachAt(f *testing.F) {
	f.Add([]byte("ab\x1b[93;5u"))
	f.Add([]byte("\x1b[93;99999999999999999999u\x1d"))
	f.Fuzz(func(t *testing.T, typed []byte) {
		at := detachAt(typed)
		plain := bytes.IndexByte(typed, detachKey)
		switch {
		case plain >= 0 && (at < 0 || at > plain):
			t.Fatalf("%q detaches at %d, and ctrl-] is at %d", typed, at, plain)
		case at >= 0 && typed[at] != detachKey && typed[at] != 0x1b:
			t.Fatalf("%q detaches at %d, where no key begins", typed, at)
		}
	})
}
