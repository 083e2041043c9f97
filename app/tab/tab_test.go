package tab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"termic/app/agent"
	"termic/app/pty"
	"termic/app/settle"
	"termic/registry/ident"
)

// testAgent is the path of the scripted agent, built once.
var testAgent string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "termic-tab-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	testAgent = filepath.Join(dir, "testagent")
	if out, err := exec.Command("go", "build", "-o", testAgent, "../../testdata/testagent").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the test agent: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// open starts argv as an agent of the definition and closes it at the end of the test.
func open(t *testing.T, definition agent.Definition, argv ...string) *Tab {
	t.Helper()
	tab, err := Open(Spec{
		ID: ident.NewTab(), Name: "test", Agent: definition, Argv: argv, Dir: t.TempDir(),
		Env:  []string{"PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "HOME=" + t.TempDir(), "PS1=$ ", "LANG=C.UTF-8"},
		Size: pty.Size{Cols: 200, Rows: 30}, Scrollback: 1000,
	}, func(msg string, args ...any) { t.Log(append([]any{msg}, args...)...) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tab.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return tab
}

// shell is a bash with line editing and bracketed paste, as a person has it.
func shell(t *testing.T) *Tab {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	definition := builtin(t, "shell")
	return open(t, definition, bash, "--norc", "--noprofile", "-i")
}

// scripted is the scripted agent, read by the rules of the person's own agents.
func scripted(t *testing.T, flags ...string) *Tab {
	t.Helper()
	definition := agent.Definition{ID: "test", Command: []string{testAgent}}.Normalize()
	return open(t, definition, append([]string{testAgent}, flags...)...)
}

func builtin(t *testing.T, id string) agent.Definition {
	t.Helper()
	for _, d := range agent.Builtin() {
		if d.ID == id {
			return d
		}
	}
	t.Fatalf("no agent %s", id)
	return agent.Definition{}
}

const patience = 20 * time.Second

// wait waits for an outcome.
func wait(t *testing.T, tab *Tab, want Outcome) {
	t.Helper()
	got, err := tab.Wait(t.Context(), patience, "")
	if err != nil || got != want {
		text, _ := tab.Log(50)
		t.Fatalf("wait: %q, %v; want %q; state %+v; screen:\n%s", got, err, want, tab.Info(), text)
	}
}

// see waits until the terminal shows text.
func see(t *testing.T, tab *Tab, want string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	watcher := tab.Watch()
	defer watcher.Close()
	for {
		if text, _ := tab.Log(1000); strings.Contains(text, want) {
			return text
		}
		if _, err := watcher.Next(ctx); err != nil {
			text, _ := tab.Log(1000)
			t.Fatalf("never saw %q (%v); screen:\n%s", want, err, text)
		}
	}
}

func send(t *testing.T, tab *Tab, text string) (delivered bool) {
	t.Helper()
	receipt, err := tab.Send(t.Context(), Message{Text: text})
	if err != nil {
		t.Fatalf("send: %v", err)
	}
	return receipt.Fate == Submitted
}

func TestAPromptIsDeliveredAndWaitedFor(t *testing.T) {
	tab := scripted(t)
	wait(t, tab, Idle)
	if !send(t, tab, "work 300ms\nsay all done") {
		t.Error("not delivered at once")
	}
	wait(t, tab, Done)
	if text, _ := tab.Log(100); !strings.Contains(text, "all done") {
		t.Errorf("done before the answer; screen:\n%s", text)
	}
}

func TestAWaitNeverAnswersFromBeforeTheLastText(t *testing.T) {
	for _, signals := range []string{"title,progress", "title", "progress", ""} {
		t.Run("signals "+signals, func(t *testing.T) {
			t.Parallel()
			tab := scripted(t, "-signals", signals)
			wait(t, tab, Idle)
			for i := range 3 {
				send(t, tab, fmt.Sprintf("work 200ms\nsay answer-%d", i))
				wait(t, tab, Done)
				if text, _ := tab.Log(100); !strings.Contains(text, fmt.Sprintf("answer-%d", i)) {
					t.Fatalf("turn %d: done before its answer; screen:\n%s", i, text)
				}
			}
		})
	}
}

func TestTextsForABusyAgentAreQueuedInOrder(t *testing.T) {
	tab := scripted(t)
	wait(t, tab, Idle)
	send(t, tab, "work 500ms\nsay one")
	if send(t, tab, "say two") || send(t, tab, "say three") {
		t.Error("delivered to a busy agent")
	}
	if n := tab.Info().Queued; n != 2 {
		t.Errorf("%d queued", n)
	}
	wait(t, tab, Done)
	text, _ := tab.Log(1000)
	one, two, three := strings.Index(text, "\none"), strings.Index(text, "\ntwo"), strings.Index(text, "\nthree")
	if one < 0 || two < one || three < two {
		t.Errorf("order %d %d %d; screen:\n%s", one, two, three, text)
	}
}

// TestATextIsDeliveredOnlyIfItsSenderStillMay: the question is put when the text is about to be typed, not when it
// was accepted.
func TestATextIsDeliveredOnlyIfItsSenderStillMay(t *testing.T) {
	tab := scripted(t)
	wait(t, tab, Idle)
	send(t, tab, "work 500ms")
	var revoked atomic.Bool
	still := func() error {
		tab.Info() // whoever answers may look at the tab
		if revoked.Load() {
			return errors.New("revoked")
		}
		return nil
	}
	for text, may := range map[string]func() error{"say from the revoked": still, "say from the other": func() error { return nil }} {
		if _, err := tab.Send(t.Context(), Message{Text: text, Still: may}); err != nil {
			t.Fatal(err)
		}
	}
	revoked.Store(true)
	wait(t, tab, Done)
	text, _ := tab.Log(1000)
	if strings.Contains(text, "from the revoked") || !strings.Contains(text, "from the other") {
		t.Errorf("screen:\n%s", text)
	}
	if n := tab.Info().Dropped; n != 1 {
		t.Errorf("%d are said to be dropped", n)
	}
	if _, err := tab.Send(t.Context(), Message{Text: "say at once", Still: still}); err == nil {
		t.Error("delivered at once, although its sender may not send")
	}
	send(t, tab, "say afterwards") // the tab is free again
	wait(t, tab, Done)
	if text, _ := tab.Log(1000); strings.Contains(text, "at once") || !strings.Contains(text, "afterwards") {
		t.Errorf("screen:\n%s", text)
	}
}

func TestATextNeverAnswersAQuestion(t *testing.T) {
	tab := scripted(t)
	wait(t, tab, Idle)
	send(t, tab, "ask may I?")
	wait(t, tab, NeedsInput)
	if _, err := tab.Send(t.Context(), Message{Text: "say hello"}); !errors.Is(err, ErrWaiting) {
		t.Errorf("send to a waiting agent: %v", err)
	}
	if text, _ := tab.Log(100); strings.Contains(text, "answer:") {
		t.Errorf("the question was answered; screen:\n%s", text)
	}
	if err := tab.Type(t.Context(), []byte("y")); err != nil { // the person may
		t.Fatal(err)
	}
	see(t, tab, "answer: yes")
	wait(t, tab, Done)
}

func TestAPasteCannotLeaveItsFrame(t *testing.T) {
	for name, text := range map[string]string{
		"the end of a paste, then a command": "\x1b[201~\recho pwned-$((6*7))\r",
		"a nested end":                       "\x1b[20\x1b[201~1~\recho pwned-$((6*7))\r",
		"an eight-bit end":                   "\u009b201~\recho pwned-$((6*7))\r",
		"an end in the middle of a line":     "true \x1b[201~\r\x1b[200~echo pwned-$((6*7))\r",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tab := shell(t)
			wait(t, tab, Idle)
			if _, err := tab.Send(t.Context(), Message{Text: text}); err != nil {
				t.Fatal(err)
			}
			wait(t, tab, Done)
			if screen, _ := tab.Log(100); strings.Contains(screen, "pwned-42") {
				t.Errorf("the text ran as keys; screen:\n%s", screen)
			}
		})
	}
	t.Run("twin: the same command as a text of its own runs", func(t *testing.T) {
		tab := shell(t)
		wait(t, tab, Idle)
		send(t, tab, "echo pwned-$((6*7))")
		wait(t, tab, Done)
		see(t, tab, "pwned-42")
	})
}

func TestAShellIsBusyWhileItsCommandRunsSilently(t *testing.T) {
	tab := shell(t)
	wait(t, tab, Idle)
	send(t, tab, "sleep 3; echo slept-$((1+1))")
	wait(t, tab, Done)
	if text, _ := tab.Log(100); !strings.Contains(text, "slept-2") {
		t.Errorf("done while the command still ran; screen:\n%s", text)
	}
}

func TestAShellIsBusyWhileItsOwnLoopRuns(t *testing.T) {
	tab := shell(t)
	wait(t, tab, Idle)
	send(t, tab, "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done; echo looped-$((1+1))")
	wait(t, tab, Done)
	if text, _ := tab.Log(100); !strings.Contains(text, "looped-2") {
		t.Errorf("done while the loop still ran; screen:\n%s", text)
	}
}

// A plain sh says nothing of its prompt, so that it has the keyboard is no proof that it is there.
func TestWhatIsKnownOfAPlainShellIsAGuess(t *testing.T) {
	sh := open(t, builtin(t, "shell"), "/bin/sh", "-i")
	wait(t, sh, Idle)
	if info := sh.Info(); !info.Guess {
		t.Errorf("%+v", info)
	}
}

// A terminal in canonical mode drops what is beyond its line, and a shell would run the rest.
func TestALineThatTheTerminalWouldCutIsRefused(t *testing.T) {
	sh := open(t, builtin(t, "shell"), "/bin/sh", "-i")
	wait(t, sh, Idle)
	long := "echo " + strings.Repeat("a", maxLine)
	if _, err := sh.Send(t.Context(), Message{Text: long}); !errors.Is(err, ErrTooLong) {
		t.Errorf("%v", err)
	}
	if text, _ := sh.Log(100); strings.Contains(text, "aaa") {
		t.Errorf("a part was typed; screen:\n%s", text)
	}
	bash := shell(t) // the twin: its line editor takes any length
	wait(t, bash, Idle)
	send(t, bash, long)
	wait(t, bash, Done)
}

func TestSplitCharactersArriveWhole(t *testing.T) {
	tab := shell(t)
	wait(t, tab, Idle)
	send(t, tab, `printf 'cleanup \342'; sleep 0.05; printf '\200\224 end\n'`)
	wait(t, tab, Done)
	if text := see(t, tab, "cleanup — end"); strings.Contains(text, "\ufffd") {
		t.Errorf("a broken character; screen:\n%s", text)
	}
	// The same at the edges of reads: 100,000 three-byte characters, in lines of a length that no piece of
	// output is a multiple of.
	send(t, tab, `head -c 100000 /dev/zero | tr '\0' x | sed 's/x/—/g' | fold -w 61; echo; echo flood-$((40+2))`)
	wait(t, tab, Done)
	see(t, tab, "flood-42")
	if text, _ := tab.Log(1000); strings.Contains(text, "\ufffd") {
		t.Error("a broken character in the flood")
	}
}

func TestAnExitIsSeenByEveryone(t *testing.T) {
	tab := scripted(t)
	wait(t, tab, Idle)
	watcher := tab.Watch()
	defer watcher.Close()
	send(t, tab, "exit 3")
	wait(t, tab, Exited)
	<-tab.Ended()
	if info := tab.Info(); info.State != settle.Exited || info.Exit.Code != 3 {
		t.Errorf("%+v", info)
	}
	for {
		if _, err := watcher.Next(t.Context()); err != nil {
			if !errors.Is(err, io.EOF) {
				t.Errorf("watcher: %v", err)
			}
			break
		}
	}
	if _, err := tab.Send(t.Context(), Message{Text: "say hello"}); !errors.Is(err, ErrExited) {
		t.Errorf("send after the exit: %v", err)
	}
}

func TestAWatcherThatFallsBehindGetsTheScreenAndNoMoreMemory(t *testing.T) {
	tab := shell(t)
	wait(t, tab, Idle)
	watcher := tab.Watch()
	defer watcher.Close()
	if _, err := watcher.Next(t.Context()); err != nil { // the first snapshot
		t.Fatal(err)
	}
	send(t, tab, "head -c 3000000 /dev/zero | tr '\\0' x | fold -w 100; echo flood-$((40+2))")
	wait(t, tab, Done)
	tab.mu.Lock()
	behind := len(watcher.pending)
	tab.mu.Unlock()
	if behind > maxBehind {
		t.Errorf("%d bytes wait for a watcher that does not read", behind)
	}
	p, err := watcher.Next(t.Context())
	if err != nil || !strings.Contains(string(p), "flood-42") {
		t.Errorf("%d bytes, %v: not the screen as it is", len(p), err)
	}
}

func TestTextsThatCannotBeSent(t *testing.T) {
	tab := scripted(t)
	wait(t, tab, Idle)
	for name, c := range map[string]struct {
		text string
		want error
	}{
		"nothing":                  {"", ErrEmpty},
		"nothing but controls":     {"\x1b\x03\r", ErrEmpty},
		"longer than an agent can": {strings.Repeat("x", agent.MaxPaste+1), ErrTooLong},
	} {
		if _, err := tab.Send(t.Context(), Message{Text: c.text}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAHugeTextArrivesWhole(t *testing.T) {
	tab := scripted(t)
	wait(t, tab, Idle)
	text := strings.Repeat("0123456789abcde\n", 1<<16)[:agent.MaxPaste-1]
	send(t, tab, text)
	wait(t, tab, Done)
	see(t, tab, fmt.Sprintf("prompt: %d bytes", len(text)))
}

func TestAQueueIsBounded(t *testing.T) {
	tab := scripted(t)
	wait(t, tab, Idle)
	send(t, tab, "work 10s")
	for range maxQueue {
		send(t, tab, "say more")
	}
	if _, err := tab.Send(t.Context(), Message{Text: "say one too many"}); !errors.Is(err, ErrQueueFull) {
		t.Errorf("%v", err)
	}
}

func TestClosingLeavesNothingBehind(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 10 {
		tab := scripted(t)
		wait(t, tab, Idle)
		if err := tab.Close(); err != nil {
			t.Fatal(err)
		}
	}
	deadline := time.Now().Add(patience)
	for runtime.NumGoroutine() > before+2 {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines before, %d after", before, runtime.NumGoroutine())
		}
		runtime.Gosched()
	}
}

// A caller that asks before the program has printed anything is told since when it has been starting.
func TestANewTabSaysSinceWhenItIsStarting(t *testing.T) {
	began := time.Now()
	info := open(t, builtin(t, "shell"), "/bin/sleep", "600").Info()
	if info.State != settle.Starting || info.Since.Before(began) {
		t.Errorf("%v since %v, want starting since %v or later", info.State, info.Since, began)
	}
}
