package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// TestMain lets the test binary be the agent: with its name as argv[0] it is.
func TestMain(m *testing.M) {
	if os.Args[0] == name {
		syscall.Exit(run(os.Args[1:])) // os.Exit would wait a second for the race detector's sake
	}
	os.Exit(m.Run())
}

// console is an agent on a terminal, and what it has written.
type console struct {
	t      *testing.T
	master *os.File
	cmd    *exec.Cmd
	dir    string
	mu     sync.Mutex
	text   bytes.Buffer
	from   int // await looks from here
	grown  chan struct{}
}

func start(t *testing.T, env []string, args ...string) *console {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &console{t: t, dir: t.TempDir(), grown: make(chan struct{}, 1)}
	c.cmd = &exec.Cmd{Path: self, Args: append([]string{name}, args...), Dir: c.dir, Env: append(env, "PATH=/bin")}
	if c.master, err = pty.StartWithSize(c.cmd, &pty.Winsize{Rows: 24, Cols: 100}); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		p := make([]byte, 32<<10)
		for {
			n, err := c.master.Read(p)
			c.mu.Lock()
			c.text.Write(p[:n])
			c.mu.Unlock()
			select {
			case c.grown <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
		<-done
		c.master.Close()
	})
	return c
}

// await waits until want stands in the output after what the last await found, and returns what came before it.
func (c *console) await(want string) string {
	c.t.Helper()
	timeout := time.After(20 * time.Second)
	for {
		rest := c.all()[c.from:]
		if i := strings.Index(rest, want); i >= 0 {
			c.from += i + len(want)
			return rest[:i]
		}
		select {
		case <-c.grown:
		case <-timeout:
			c.t.Fatalf("no %q in %.3000q", want, rest)
		}
	}
}

// all returns everything written so far.
func (c *console) all() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

func (c *console) send(s string) {
	c.t.Helper()
	if _, err := io.WriteString(c.master, s); err != nil {
		c.t.Fatal(err)
	}
}

// paste delivers a prompt as the program does: framed, Enter when the box has shown it and a moment is over.
func (c *console) paste(prompt, shown string) {
	c.t.Helper()
	c.send("\x1b[200~" + prompt + "\x1b[201~")
	c.await(shown)
	time.Sleep(enterGrace + 20*time.Millisecond) // the grace runs from the read of the paste, which nothing shows
	c.send("\r")
}

const ready = "\x1b]0;✳ ready\x07\x1b]9;4;0;0\x07"

func TestTurnOnATerminal(t *testing.T) {
	c := start(t, nil)
	if head := c.await(ready); !strings.Contains(head, "\x1b[?2004h") {
		t.Errorf("bracketed paste is not on: %q", head)
	}
	c.await("> ")
	c.paste("say hello\nwork 200ms\nwrite sub/a.txt it works\nsplit", "> split")
	c.await("\x1b]0;⠋ working…\x07\x1b]9;4;3;0\x07")
	c.await(describe("say hello\nwork 200ms\nwrite sub/a.txt it works\nsplit"))
	c.await("hello\r\n")
	c.await("\x1b]0;⠙ working…\x07") // the spinner steps
	c.await("wrote sub/a.txt\r\n")
	c.await("cleanup — end\r\n")
	c.await(ready)
	if got, err := os.ReadFile(filepath.Join(c.dir, "sub/a.txt")); err != nil || string(got) != "it works\n" {
		t.Errorf("the file holds %q, %v", got, err)
	}
	c.send("\x04")
	c.await("\x1b[?2004l")
	if err := c.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestPickerTakesEnterForYes: a paste is dropped, the Enter after it approves. It is the accident that senders must
// not cause.
func TestPickerTakesEnterForYes(t *testing.T) {
	for _, test := range []struct{ name, keys, want string }{
		{"Enter", "\x1b[200~say other\x1b[201~" + "\r", "answer: yes"},
		{"y", "y", "answer: yes"},
		{"n", "n", "answer: no"},
		{"Esc", "\x1b", "answer: no"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := start(t, nil, "-prompt", "ask run rm -rf?\nsay after")
			c.await("? run rm -rf? [Y/n]\r\n")
			c.await("❯ 1. Yes  2. No")
			c.await("\x1b]0;✋ Action Required (testagent)\x07\x1b]9;4;4;0\x07")
			if strings.HasSuffix(test.keys, "\r") {
				c.send(strings.TrimSuffix(test.keys, "\r"))
				time.Sleep(enterGrace + 50*time.Millisecond) // a dropped paste shows nothing to wait for
				c.send("\r")
			} else {
				c.send(test.keys)
			}
			c.await(test.want + "\r\n")
			rest := c.await(ready)
			if strings.Contains(rest, "after") != strings.HasSuffix(test.want, "yes") {
				t.Errorf("after %s: %q", test.want, rest)
			}
			if strings.Contains(c.all(), "other") {
				t.Error("the paste reached the box")
			}
		})
	}
}

func TestQueueInterruptAndExit(t *testing.T) {
	c := start(t, nil, "-prompt=work 1h")
	c.await("prompt: 7 bytes")
	c.paste("say second", "> say second")
	c.send("\x1b")
	c.await("interrupted\r\n")
	if between := c.await("second\r\n"); strings.Contains(between, "✳ ready") {
		t.Errorf("ready between two queued turns: %q", between)
	}
	c.await(ready)
	c.paste("say $t.id", "> say $t.id")
	c.await("error: nothing is kept as $t.id\r\n")
	c.await(ready)
	c.paste("exit 7", "> exit 7")
	c.await("\x1b[?2004l")
	if err := c.cmd.Wait(); c.cmd.ProcessState.ExitCode() != 7 {
		t.Errorf("exit: %v", err)
	}
}

func TestLongPasteShowsAToken(t *testing.T) {
	c := start(t, nil)
	c.await(ready)
	long := strings.Repeat("0123456789abcdef", 1<<16) // 1 MiB
	c.paste(long, "> [Pasted text +0 lines]")
	c.await(describe(long))
	c.await(ready)
}

func TestStatusReports(t *testing.T) {
	c := start(t, nil, "-signals=status", "-trust")
	c.await("? trust this folder [Y/n]\r\n")
	c.await("\x1b]7501;state=blocked:app=testagent:kind=permission:msg=dHJ1c3QgdGhpcyBmb2xkZXI=\x07")
	c.send("y")
	c.await("\x1b[?2004h")
	c.await("\x1b]7501;state=idle:app=testagent\x07")
	c.paste("background 50ms", "> background 50ms")
	c.await("\x1b]7501;state=working:app=testagent\x07")
	c.await("\x1b]7501;state=working:app=testagent:id=bg\x07")
	c.await("background: finished\r\n")
	c.await("\x1b]7501;state=clear:id=bg\x07")
	c.await("\x1b]7501;state=idle:app=testagent\x07")
	c.paste("work never", "> work never")
	c.await("\x1b]7501;state=error:app=testagent:msg=")
	c.send("\x04")
	c.await("\x1b]7501;state=clear\x1b\\")
	if strings.Contains(c.all(), "\x1b]0;") || strings.Contains(c.all(), "\x1b]9;4") {
		t.Error("signals that were not asked for")
	}
}

func TestFloodIsExact(t *testing.T) {
	c := start(t, nil, "-spin=false", "-prompt", "flood 200001")
	c.await("prompt: 12 bytes")
	c.await("\r\n")
	out := c.await(ready)
	out = regexp.MustCompile(`\x1b\[2K[^0]?> |\r\x1b\[2K|⠋ > `).ReplaceAllString(out, "")
	if n := strings.Count(out, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ\r\n"); n != 200001/64 {
		t.Errorf("%d whole lines, want %d", n, 200001/64)
	}
}

// TestCallsTheEndpoint: the request is what revision 2026-07-28 asks for; results are kept and used; refusals of
// each kind are printed.
func TestCallsTheEndpoint(t *testing.T) {
	var mu sync.Mutex
	var faults []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		faults = append(faults, answerCall(w, r)...)
	}))
	defer server.Close()
	c := start(t, []string{"TERMIC_MCP_URL=" + server.URL + "/mcp", "TERMIC_MCP_TOKEN=s3cret"})
	c.await(ready)
	c.paste(strings.Join([]string{
		`tools`,
		`let t = call task_new {"name":"a","prompt":"say x\nsay y"}`,
		`call task_send {"task":"$t.task.id","n":"$t.task.n","text":"go $t.task.id"}`,
		`call refused {}`,
		`call unknown {}`,
		`call broken {}`,
		`say new task $t.task.id`,
	}, "\n"), "> say new task $t.task.id")
	c.await("tools -> task_new task_send\r\n")
	c.await(`task_new -> {"task":{"id":"T 1","n":7}}` + "\r\n")
	c.await(`task_send -> {"n":7,"task":"T 1","text":"go T 1"}` + "\r\n")
	c.await(`refused -> error {"code":"conflict"}` + "\r\n")
	c.await("unknown -> error -32602 no such tool\r\n")
	c.await("broken -> error HTTP 401\r\n")
	c.await("new task T 1\r\n")
	c.await(ready)
	mu.Lock()
	defer mu.Unlock()
	if len(faults) > 0 {
		t.Errorf("requests: %s", strings.Join(faults, "; "))
	}
	if strings.Contains(c.all(), "s3cret") {
		t.Error("the token is on the screen")
	}
}

// answerCall is the server; it returns what is wrong with the request.
func answerCall(w http.ResponseWriter, r *http.Request) (faults []string) {
	var body struct {
		JSONRPC string `json:"jsonrpc"`
		ID      any    `json:"id"`
		Method  string `json:"method"`
		Params  struct {
			Name      string         `json:"name"`
			Arguments map[string]any `json:"arguments"`
			Meta      map[string]any `json:"_meta"`
		} `json:"params"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return []string{err.Error()}
	}
	for _, want := range [][2]string{
		{r.Method, "POST"}, {r.URL.Path, "/mcp"}, {body.JSONRPC, "2.0"},
		{r.Header.Get("Authorization"), "Bearer s3cret"}, {r.Header.Get("Content-Type"), "application/json"},
		{r.Header.Get("MCP-Protocol-Version"), "2026-07-28"}, {r.Header.Get("Mcp-Method"), body.Method},
		{r.Header.Get("Mcp-Name"), body.Params.Name},
		{fmt.Sprint(body.Params.Meta["io.modelcontextprotocol/protocolVersion"]), "2026-07-28"},
		{fmt.Sprint(body.Params.Meta["io.modelcontextprotocol/clientCapabilities"]), "map[]"},
		{fmt.Sprint(body.Params.Meta["io.modelcontextprotocol/clientInfo"]), "map[name:testagent version:1.0.0]"},
	} {
		if want[0] != want[1] {
			faults = append(faults, fmt.Sprintf("%s: got %q, want %q", body.Params.Name, want[0], want[1]))
		}
	}
	result := map[string]any{"resultType": "complete", "content": []any{}}
	answer := map[string]any{"jsonrpc": "2.0", "id": body.ID, "result": result}
	switch body.Params.Name {
	case "":
		result["tools"] = []map[string]string{{"name": "task_new"}, {"name": "task_send"}}
	case "task_new":
		result["structuredContent"] = json.RawMessage(`{ "task": {"id": "T 1", "n": 7} }`)
	case "task_send":
		result["structuredContent"] = body.Params.Arguments
	case "refused":
		result["isError"], result["structuredContent"] = true, json.RawMessage(`{"code":"conflict"}`)
	case "unknown":
		delete(answer, "result")
		answer["error"] = map[string]any{"code": -32602, "message": "no such tool"}
		w.WriteHeader(http.StatusBadRequest)
	case "broken":
		w.WriteHeader(http.StatusUnauthorized)
		return faults
	}
	_ = json.NewEncoder(w).Encode(answer)
	return faults
}
