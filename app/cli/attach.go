package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"termic/app/ctl"
	"termic/registry/refusal"
	"termic/registry/render"
)

// restoreScreen undoes what a program in the tab may have switched on in this terminal: it was written for a
// terminal of its own, and goes on without this one. The cursor ends below all that is shown.
const restoreScreen = "\x1b[?1047l" + // the main screen, which has its own keyboard modes; the cursor stays
	"\x1b[<99u" + // keyboard: all kitty modes popped
	"\x1b[>4;0m" + // keyboard: modifyOtherKeys off
	"\x1b[?1000;1002;1003;1006;1015l" + // mouse reports off
	"\x1b[?1004;2004;2026l" + // focus reports, bracketed paste, synchronized output off
	"\x1b[?1l\x1b>" + // cursor keys and keypad as usual
	"\x1b[?6;69l\x1b[r\x1b[4l\x1b[?7h" + // origin, margins, scroll region, insert mode off; wrapping on
	"\x1b(B\x0f\x1b[0m" + // US ASCII, no attributes
	"\x1b[0 q\x1b[?25h" + // the cursor's shape, and it is visible
	bottomLine + "\r\n"

// bottomLine moves the cursor to the last line: terminals stop there.
const bottomLine = "\x1b[9999;1H"

// screen is the terminal while it is handed over.
type screen struct {
	in, out *os.File
	once    sync.Once
	state   *term.State
}

// takeOver puts the terminal into raw mode and moves what it shows into its scrollback, since the tab's screen
// is drawn over it. The caller must call restore.
func takeOver(in, out *os.File) (*screen, error) {
	state, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil, fmt.Errorf("put the terminal into raw mode: %w", err)
	}
	s := &screen{in: in, out: out, state: state}
	_, rows := s.size()
	_, _ = io.WriteString(out, bottomLine+strings.Repeat("\n", rows))
	return s, nil
}

// size returns columns and rows; they are 0 where the terminal does not know them.
func (s *screen) size() (cols, rows int) {
	cols, rows, err := term.GetSize(int(s.out.Fd()))
	if err != nil {
		return 0, 0
	}
	return cols, rows
}

// tellSize sends the size, where there is one. If that fails, Copy fails too, and says why.
func (s *screen) tellSize(remote *ctl.Terminal) {
	if cols, rows := s.size(); cols > 0 {
		_ = remote.Resize(cols, rows)
	}
}

// restore gives the terminal back as it was. It may be called several times and from any goroutine.
func (s *screen) restore() {
	s.once.Do(func() {
		_, _ = io.WriteString(s.out, restoreScreen)
		_ = term.Restore(int(s.in.Fd()), s.state)
	})
}

// guarded runs f in a goroutine of its own. A panic in it ends the program, and the terminal is restored first.
func (s *screen) guarded(f func()) {
	go func() {
		defer func() {
			if p := recover(); p != nil {
				s.restore()
				panic(p)
			}
		}()
		f()
	}()
}

// attach connects this terminal to what a stream verb answered with, until the person detaches (nil), what
// runs in the tab ends (agent_exited), the app goes away or a signal comes.
func (s *session) attach(ctx context.Context, cmd *cobra.Command, client *ctl.Client, form *render.Form, arguments map[string]any) error {
	in, inOK := terminal(s.env.Stdin)
	out, outOK := terminal(s.env.Stdout)
	if !inOK || !outOK || s.json {
		return &usageError{command: cmd, reason: "standard input and output must be a terminal, without --json", hint: "use the commands that print, or run this one in a terminal"}
	}
	raw, err := encode(arguments)
	if err != nil {
		return err
	}
	result, err := client.Call(ctx, form.Verb.Name, raw)
	if err != nil {
		return err
	}
	var opened struct {
		Ticket string `json:"ticket"`
	}
	if err := json.Unmarshal(result, &opened); err != nil {
		return fmt.Errorf("read the result of %s: %w", form.Verb.CLI.Path, err)
	}
	remote, err := client.Open(ctx, opened.Ticket)
	if err != nil {
		return err
	}
	defer remote.Close()
	s.note("attached; ctrl-] detaches, and the tab goes on")
	local, err := takeOver(in, out)
	if err != nil {
		return err
	}
	defer local.restore()
	err = connect(ctx, local, remote)
	local.restore() // before anything is said about how it ended
	if err == nil {
		s.note("detached; the tab goes on")
	}
	return err
}

// connect moves keys, output and size between the two until one end is done.
func connect(ctx context.Context, local *screen, remote *ctl.Terminal) error {
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	defer signal.Stop(resized)
	local.tellSize(remote) // before anything is drawn
	ended := make(chan error, 3)
	local.guarded(func() {
		status, err := remote.Copy(local.out)
		if err == nil {
			err = refusal.Newf(refusal.AgentExited, "attach to another tab, or open one", "what ran in the tab has ended with status %d", status)
		}
		ended <- err
	})
	// A read of the terminal cannot be ended from here: these goroutines stay until the program does.
	pieces := make(chan []byte)
	local.guarded(func() { readPieces(local.in, pieces) })
	local.guarded(func() {
		if typeUntilDetached(pieces, remote) {
			ended <- nil
		}
	})
	for {
		select {
		case err := <-ended:
			return err
		case <-ctx.Done():
			return refusal.New(refusal.Cancelled, "detached by a signal", "")
		case <-resized:
			local.tellSize(remote)
		}
	}
}
