package app

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	creack "github.com/creack/pty"

	"termic/app/ctl"
)

// built is the built program at work: a process of its own, at a terminal of its own, at which the test is the person.
type built struct {
	*rig
	pid        int
	keys       *os.File // what the person types
	screen     *screenText
	token, url string // of the unnamed outside client
	asked      int
}

// screenText is what a terminal was sent so far.
type screenText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *screenText) read(from *os.File) {
	one := make([]byte, 4096)
	for {
		n, err := from.Read(one)
		if err != nil {
			return
		}
		s.mu.Lock()
		s.text.Write(one[:n])
		s.mu.Unlock()
	}
}

func (s *screenText) sent() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// all returns the text, without the carriage returns of the terminal.
func (s *screenText) all() string { return strings.ReplaceAll(s.sent(), "\r", "") }

// until waits until what is true. Nothing tells of a change in another process, so it looks again and again.
func (b *built) until(saying string, what func() bool) {
	b.t.Helper()
	for deadline := time.Now().Add(time.Minute); !what(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			b.t.Fatalf("%s: not within a minute; the terminal shows:\n%s", saying, b.screen.all())
		}
	}
}

// startBuilt runs the built program on the rig's data directory until stop.
func (b *built) startBuilt() {
	b.t.Helper()
	master, tty, err := creack.Open()
	if err != nil {
		b.t.Fatal(err)
	}
	log, err := os.OpenFile(filepath.Join(b.dir+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		b.t.Fatal(err)
	}
	defer log.Close()
	defer tty.Close()
	serve := exec.Command(testTermic, "serve")
	serve.Env = append(b.environ, "TERMIC_DATA_DIR="+b.dir)
	serve.Stdin, serve.Stdout, serve.Stderr = tty, tty, log
	if err := serve.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.pid, b.keys, b.screen = serve.Process.Pid, master, &screenText{}
	go b.screen.read(master)
	ended := make(chan error, 1)
	go func() { ended <- serve.Wait() }()
	b.stop = func() error {
		b.stop = nil
		defer master.Close()
		if err := serve.Process.Signal(os.Interrupt); err != nil {
			return err
		}
		return <-ended
	}
	b.until("the program starts", func() bool { return len(ended) > 0 || strings.Contains(b.screen.all(), "termic serves") })
	if len(ended) > 0 {
		b.t.Fatalf("the program did not start:\n%s", readFile(b.t, log.Name()))
	}
	b.client = ctl.NewClient(b.dir)
}

// newBuilt starts the built program with its control plane on.
func newBuilt(t *testing.T) *built {
	t.Helper()
	b := &built{rig: newRig(t)}
	if err := b.stop(); err != nil {
		t.Fatal(err)
	}
	b.startBuilt()
	b.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	b.advertised()
	return b
}

// advertised reads the endpoint's address and token.
func (b *built) advertised() { b.token, b.url = b.secret("mcp-token"), b.rig.url() }

// status asks for a discovery, changed by change, and wants an HTTP status; 0: nobody answers.
func (b *built) status(want int, change func(*http.Request)) {
	b.t.Helper()
	if change == nil {
		change = func(*http.Request) {}
	}
	if got := askAs(b.t, b.url, b.token, change); got != want {
		b.t.Errorf("status %d, want %d", got, want)
	}
}

// bearer makes a request carry another token.
func bearer(token string) func(*http.Request) {
	return func(q *http.Request) { q.Header.Set("Authorization", "Bearer "+token) }
}

// allowed has a caged agent make calls, one after the other, that have to succeed.
func (b *built) allowed(task string, calls ...string) {
	b.t.Helper()
	script := make([]string, len(calls))
	for i, call := range calls {
		script[i] = "call " + call
	}
	if got := b.tell(task, script...); toolError.MatchString(got) || strings.Count(got, " -> ") < len(calls) {
		b.t.Errorf("twin: %s: %s", calls, got)
	}
}

// lead makes a caged orchestrator and waits for it.
func (b *built) lead(name, more string) {
	b.t.Helper()
	b.cagedTask(name, `,"mcp":true`+more)
	b.rig.wait(name)
}

// flag returns a field of a task's status.
func (b *built) flag(name, field string) any {
	b.t.Helper()
	return b.must("task_status", `{"task":%q}`, name)["task"].(map[string]any)[field]
}

// askAs makes a discovery with other headers or another host than discover does, and returns the status.
func askAs(t *testing.T, url, token string, change func(*http.Request)) int {
	t.Helper()
	request, err := http.NewRequest(http.MethodPost, url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer " + token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "server/discover",
	} {
		request.Header.Set(name, value)
	}
	change(request)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

// boundaryCase does what a row of registry.Boundaries forbids, and its twin.
type boundaryCase struct {
	name string
	try  func(b *built)
}

// TestEveryEnforcedBoundaryRefuses does forbidden things to the built program (its own process, socket, port, terminal
// and cages), and the same without what forbids them. Each case is a row of registry.Boundaries. They run in this order
// on one program: each leaves it as the next ones need it.
func TestEveryEnforcedBoundaryRefuses(t *testing.T) {
	b := newBuilt(t)
	other := filepath.Join(filepath.Dir(b.repo), "other")
	newRepository(t, other)
	b.must("project_add", `{"path":%q}`, other)
	var cases []boundaryCase
	for _, some := range [][]boundaryCase{doorCases, custodyCases, grantCases, wallCases, gitCases, holdCases, auditCases, endCases} {
		cases = append(cases, some...)
	}
	for _, c := range cases {
		if !builtCases[c.name] {
			t.Errorf("case %s is not in the list", c.name)
		}
		t.Run(c.name, func(sub *testing.T) {
			b.t = sub
			defer func() { b.t = t }()
			c.try(b)
		})
	}
	if len(cases) != len(builtCases) {
		t.Errorf("%d cases, %d in the list", len(cases), len(builtCases))
	}
}
