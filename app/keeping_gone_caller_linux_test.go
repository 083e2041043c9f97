package app

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	creack "github.com/creack/pty"
)

// callers are the ways to ask for a task and to go away again. Each returns once its call is under way; leave ends it as
// its user would, and done is closed when it has ended.
var callers = map[string]func(r *rig, arguments map[string]string) (leave func(), done chan struct{}){
	"ctrl-c in the command line": func(r *rig, a map[string]string) (func(), chan struct{}) { return r.commandLine(a, syscall.SIGINT) },
	"the command line is killed": func(r *rig, a map[string]string) (func(), chan struct{}) { return r.commandLine(a, syscall.SIGKILL) },
	"a client closes its connection": func(r *rig, a map[string]string) (func(), chan struct{}) {
		ctx, leave := context.WithCancel(context.Background())
		done := make(chan struct{})
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"task_new","arguments":{"name":%q,"agent":"shell","fetch":%s},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
			a["name"], a["fetch"])
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1:"+r.secret("mcp-port")+"/mcp", strings.NewReader(body))
		if err != nil {
			r.t.Fatal(err)
		}
		for name, value := range map[string]string{
			"Authorization": "Bearer " + r.secret("mcp-token"), "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "task_new",
		} {
			request.Header.Set(name, value)
		}
		go func() {
			defer close(done)
			if response, err := http.DefaultClient.Do(request); err == nil {
				response.Body.Close()
			}
		}()
		return leave, done
	},
}

func (r *rig) commandLine(a map[string]string, signal syscall.Signal) (leave func(), done chan struct{}) {
	cmd := exec.Command(testTermic, "new", a["name"], "--agent", "shell", "--fetch="+a["fetch"], "--data-dir", r.dir)
	cmd.Env = r.environ
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	done = make(chan struct{})
	go func() { defer close(done); _ = cmd.Wait() }()
	return func() { _ = cmd.Process.Signal(signal) }, done
}

// eventually waits until what holds.
func (r *rig) eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within a minute\nlog:\n%s", what, r.log)
		}
	}
}

// TestACallerThatLeavesGetsNoTask: whoever asks for a task and goes away while its base is fetched, or its files are checked out,
// leaves nothing: no task, branch, directory, lock or process. Who stays gets the task.
func TestACallerThatLeavesGetsNoTask(t *testing.T) {
	r := newRig(t)
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	steps := map[string]func() slowStep{"in the fetch": r.slowRemote, "in the checkout": r.slowFilter}
	n := 0
	for what, slow := range steps {
		for way, call := range callers {
			n++
			name, fetch := fmt.Sprintf("task-%d", n), fmt.Sprint(what == "in the fetch")
			t.Run(what+", "+way, func(t *testing.T) {
				step := slow()
				defer step.over()
				clean := r.traces()
				leave, done := call(r, map[string]string{"name": name, "fetch": fetch})
				r.eventually(t, "the call is under way", step.begun)
				leave()
				<-done
				r.eventually(t, "what was under way has ended", step.ended)
				step.release()
				r.eventually(t, "nothing is left", func() bool { return r.traces() == clean })
				// The name is given out again only when the call is over, and never when it made the task after all.
				r.eventually(t, "the name is free", func() bool {
					_, err := r.try("task_new", `{"name":%q,"agent":"shell"}`, name)
					return err == nil
				})
				r.must("task_archive", `{"task":%q}`, name)
			})
		}
		stays := fmt.Sprintf("stays-%d", n)
		t.Run(what+", who stays", func(t *testing.T) {
			step := slow()
			defer step.over()
			_, done := r.commandLine(map[string]string{"name": stays, "fetch": fmt.Sprint(what == "in the fetch")}, syscall.SIGKILL)
			r.eventually(t, "the call is under way", step.begun)
			step.release()
			<-done
			r.must("task_archive", `{"task":%q}`, stays)
		})
	}
}

// TestACreationIsWatchedOnATerminal: how far it has come is one line, drawn over and gone at the end, and what was asked for
// stands alone on standard output.
func TestACreationIsWatchedOnATerminal(t *testing.T) {
	r := newRig(t)
	step := r.slowFilter()
	defer step.over()
	master, tty, err := creack.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	var out bytes.Buffer
	cmd := exec.Command(testTermic, "new", "watched", "--agent", "shell", "--data-dir", r.dir)
	cmd.Env, cmd.Stdout, cmd.Stderr = r.environ, &out, tty
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	screen := &screenText{}
	go screen.read(master)
	r.eventually(t, "progress is shown", func() bool { return strings.Contains(screen.sent(), "\rtermic: checking out\x1b[K") })
	step.release()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	r.eventually(t, "it is gone", func() bool { return strings.HasSuffix(screen.sent(), "\r\x1b[K") })
	if !strings.Contains(out.String(), "watched") || strings.ContainsAny(out.String(), "\r\x1b") {
		t.Errorf("standard output: %q", out.String())
	}
}

// slowStep is a step of a creation that waits until it is released.
type slowStep struct {
	begun, ended  func() bool
	release, over func()
}

// slowRemote makes origin a server that takes a connection and says nothing until it is released; then it hangs up, and the task is
// made from what is here.
func (r *rig) slowRemote() slowStep {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	runGit(r.t, "-C", r.repo, "config", "remote.origin.url", "git://"+server.Addr().String()+"/demo")
	runGit(r.t, "-C", r.repo, "config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")
	conns, hungUp := make(chan net.Conn, 1), make(chan struct{})
	go func() {
		conn, err := server.Accept()
		if err != nil {
			return
		}
		conns <- conn
		_, _ = io.Copy(io.Discard, conn)
		close(hungUp)
	}()
	return slowStep{
		begun: func() bool { return len(conns) > 0 },
		ended: func() bool {
			select {
			case <-hungUp:
				return true
			default:
				return false
			}
		},
		release: func() { (<-conns).Close() },
		over:    func() { server.Close() },
	}
}

// slowFilter makes the checkout of one file wait until it is released.
func (r *rig) slowFilter() slowStep {
	dir := r.t.TempDir()
	hold, pid := filepath.Join(dir, "hold"), filepath.Join(dir, "pid")
	for path, text := range map[string]string{hold: "", filepath.Join(r.repo, ".git", "info", "attributes"): "README filter=slow\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
	runGit(r.t, "-C", r.repo, "config", "filter.slow.smudge", fmt.Sprintf("echo $$ > '%s'; while [ -e '%s' ]; do sleep 0.05; done; cat", pid, hold))
	ended := func() bool { return syscall.Kill(running(r.t, pid), 0) != nil }
	return slowStep{begun: func() bool { return running(r.t, pid) > 0 }, ended: ended, release: func() { os.Remove(hold) }, over: func() {
		os.Remove(hold)
		r.eventually(r.t, "the filter has ended", ended)
		runGit(r.t, "-C", r.repo, "config", "--remove-section", "filter.slow")
		if err := os.Remove(filepath.Join(r.repo, ".git", "info", "attributes")); err != nil {
			r.t.Fatal(err)
		}
	}}
}

// running returns the process that wrote its number into a file; 0 before it has.
func running(t *testing.T, path string) int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil || !strings.HasSuffix(string(text), "\n") {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}
