package app

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"termic/registry/grant"
	"termic/registry/refusal"
)

// doorCases are about who gets in at the endpoint.
var doorCases = []boundaryCase{
	{"loopback", func(b *built) {
		port := b.secret("mcp-port")
		addresses := []string{"127.0.0.2"}
		if own, err := net.InterfaceAddrs(); err == nil {
			for _, a := range own {
				if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && n.IP.To4() != nil {
					addresses = append(addresses, n.IP.String())
				}
			}
		}
		for _, address := range addresses {
			if conn, err := net.Dial("tcp", net.JoinHostPort(address, port)); err == nil {
				conn.Close()
				b.t.Errorf("%s answers", address)
			} else if !strings.Contains(err.Error(), "refused") {
				b.t.Errorf("%s: %v", address, err)
			}
		}
		conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", port))
		if err != nil {
			b.t.Fatalf("twin: %v", err)
		}
		conn.Close()
	}},
	{"origin", func(b *built) {
		b.status(http.StatusForbidden, func(q *http.Request) { q.Header.Set("Origin", "https://evil.example.org") })
		b.status(http.StatusOK, nil)
	}},
	{"host", func(b *built) {
		b.status(http.StatusMisdirectedRequest, func(q *http.Request) { q.Host = "evil.example.org" })
		b.status(http.StatusOK, nil)
	}},
	{"credential", func(b *built) {
		for _, wrong := range []string{"", "Bearer", "Bearer x", "Bearer " + b.token + "x", "Basic " + b.token} {
			b.status(http.StatusUnauthorized, func(q *http.Request) { q.Header.Set("Authorization", wrong) })
		}
		b.status(http.StatusOK, nil)
	}},
	{"doors", func(b *built) {
		b.status(http.StatusUnauthorized, bearer(b.secret("cli-token")))
		b.status(http.StatusOK, nil)
	}},
	{"older", func(b *built) {
		old := func() int {
			body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"old","version":"1"}}}`
			request, err := http.NewRequest(http.MethodPost, b.url, strings.NewReader(body))
			if err != nil {
				b.t.Fatal(err)
			}
			bearer(b.token)(request)
			request.Header.Set("Content-Type", "application/json")
			answer, err := http.DefaultClient.Do(request)
			if err != nil {
				b.t.Fatal(err)
			}
			defer answer.Body.Close()
			text, err := io.ReadAll(answer.Body)
			if err != nil || answer.StatusCode != http.StatusOK && !strings.Contains(string(text), "-32022") {
				b.t.Errorf("%d %s, %v", answer.StatusCode, text, err)
			}
			return answer.StatusCode
		}
		if got := old(); got != http.StatusBadRequest {
			b.t.Errorf("status %d", got)
		}
		b.must("settings_set", `{"key":"mcp.older_clients","value":"true"}`)
		if got := old(); got != http.StatusOK {
			b.t.Errorf("twin: status %d", got)
		}
		b.must("settings_set", `{"key":"mcp.older_clients","value":"false"}`)
	}},
	{"channel", channelCase},
}

// channelCase takes each token to the door that it is not for.
func channelCase(b *built) {
	made := b.cagedShell("spy", `,"mcp":true`)
	dir := made["path"].(string)
	b.inside("spy", `printf %s "$TERMIC_MCP_TOKEN" > own.txt`)
	own := readFile(b.t, filepath.Join(dir, "own.txt"))
	b.status(http.StatusUnauthorized, bearer(own))
	b.status(http.StatusOK, nil)
	if err := os.WriteFile(filepath.Join(dir, "full.txt"), []byte(b.token), 0o600); err != nil {
		b.t.Fatal(err)
	}
	if got := b.askInside("spy", "full.txt"); !strings.Contains(got, "401") {
		b.t.Errorf("a full token inside a cage: %q", got)
	}
	if got := b.askInside("spy", "own.txt"); !strings.Contains(got, "200") {
		b.t.Errorf("twin: its own token: %q", got)
	}
}

// askInside asks for a discovery at the port of a cage, with a token from a file in the task's checkout, and returns the first
// line of the answer.
func (b *built) askInside(name, file string) string {
	b.t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	script := fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/24311\nprintf 'POST /mcp HTTP/1.1\\r\\nHost: 127.0.0.1:24311\\r\\nAuthorization: Bearer %%s\\r\\nContent-Type: application/json\\r\\nAccept: application/json, text/event-stream\\r\\nMCP-Protocol-Version: 2026-07-28\\r\\nMcp-Method: server/discover\\r\\nConnection: close\\r\\nContent-Length: %d\\r\\n\\r\\n%%s' \"$(cat %s)\" '%s' >&3\nhead -1 <&3\n", len(body), file, body)
	if err := os.WriteFile(filepath.Join(b.flag(name, "path").(string), "ask.sh"), []byte(script), 0o600); err != nil {
		b.t.Fatal(err)
	}
	return b.run(name, "bash ask.sh")
}

// run runs a line in the shell of a task and returns what it printed, on one line.
func (b *built) run(name, line string) string {
	b.t.Helper()
	b.asked++
	text := b.inside(name, fmt.Sprintf(`E=$( { %s; } 2>&1 | tr -d '\r'); printf '\nverdict-%d %%s-over\n' "$E"`, line, b.asked))
	flat := strings.ReplaceAll(text, "\n", "")
	_, after, ok := strings.Cut(flat[strings.LastIndex(flat, fmt.Sprintf("verdict-%d ", b.asked)):], " ")
	got, _, over := strings.Cut(after, "-over")
	if !ok || !over {
		b.t.Fatalf("%s: no verdict in %s", line, text)
	}
	return got
}

// custodyCases are about where tokens are.
var custodyCases = []boundaryCase{
	{"files", func(b *built) {
		for name, mode := range map[string]os.FileMode{"": 0o700, "cli-token": 0o600, "mcp-token": 0o600, "mcp-port": 0o600} {
			info, err := os.Stat(filepath.Join(b.dir, name))
			if err != nil {
				b.t.Fatal(err)
			}
			if info.Mode().Perm() != mode {
				b.t.Errorf("%q: %v", name, info.Mode())
			}
		}
	}},
	{"environment", func(b *built) {
		b.task("holder", "shell", `printf %s "$TERMIC_MCP_TOKEN" > token.txt; sleep 600`)
		token := ""
		b.until("the task has its token", func() bool {
			text, _ := os.ReadFile(filepath.Join(b.flag("holder", "path").(string), "token.txt"))
			token = string(text)
			return len(token) >= 40
		})
		secrets := [][]byte{[]byte(token), []byte(b.token), []byte(b.secret("cli-token"))}
		holders := 0
		processes, err := filepath.Glob("/proc/[0-9]*")
		if err != nil {
			b.t.Fatal(err)
		}
		for _, process := range processes {
			line, _ := os.ReadFile(process + "/cmdline")
			environ, _ := os.ReadFile(process + "/environ")
			for i, secret := range secrets {
				own := process == fmt.Sprintf("/proc/%d", b.pid)
				if bytes.Contains(line, secret) || bytes.Contains(environ, secret) && (i > 0 || own) {
					b.t.Errorf("%s shows secret %d", process, i)
				}
				if i == 0 && bytes.Contains(environ, secret) {
					holders++
				}
			}
		}
		if holders == 0 {
			b.t.Error("twin: not even the task's own processes hold its token")
		}
		b.must("task_archive", `{"task":"holder","force":true}`)
	}},
	{"output", func(b *built) {
		b.task("leaky", "shell", `echo "<$TERMIC_MCP_TOKEN>" | tee leaked.txt`)
		b.rig.wait("leaky")
		diff := fmt.Sprint(b.must("task_diff", `{"task":"leaky"}`)["patch"])
		if text := b.text("leaky"); !strings.Contains(text, "<"+grant.Redacted+">") || !strings.Contains(diff, "<"+grant.Redacted+">") {
			b.t.Errorf("shown:\n%s\n%s", text, diff)
		}
		if leaked := readFile(b.t, filepath.Join(b.flag("leaky", "path").(string), "leaked.txt")); len(leaked) < 40 {
			b.t.Errorf("twin: the file holds %q", leaked)
		}
	}},
	{"peer", peerCase},
	{"binding", func(b *built) {
		b.must("settings_set", `{"key":"mcp.enabled","value":"false"}`)
		b.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
		b.status(http.StatusUnauthorized, nil)
		b.advertised()
		b.status(http.StatusOK, nil)
	}},
	{"port", func(b *built) {
		port := b.secret("mcp-port")
		if err := b.stop(); err != nil {
			b.t.Fatal(err)
		}
		thief, err := net.Listen("tcp4", "127.0.0.1:"+port)
		if err != nil {
			b.t.Fatal(err)
		}
		b.startBuilt()
		b.refused(refusal.Unavailable, "settings_set", `{"key":"mcp.enabled","value":"true"}`)
		if b.secret("mcp-token") != "" || b.secret("mcp-port") != "" {
			b.t.Error("advertised although another program has the port")
		}
		if err := thief.Close(); err != nil {
			b.t.Fatal(err)
		}
		b.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
		b.advertised()
		if b.secret("mcp-port") != port {
			b.t.Errorf("twin: port %s became %s", port, b.secret("mcp-port"))
		}
		b.status(http.StatusOK, nil)
	}},
}

// nobody is a user that is not the one who runs the tests.
const nobody = 65534

// peerCase asks the socket as another user, with every file mode out of the way. Only root can become another user: anybody
// else finds the doors of the data directory shut already, which is tried instead.
func peerCase(b *built) {
	ask := func(uid uint32) (string, error) {
		cmd := exec.Command(testTermic, "project", "list")
		cmd.Env = append(b.environ, "TERMIC_DATA_DIR="+b.dir)
		cmd.Dir = "/"
		if os.Geteuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := ask(uint32(os.Geteuid())); err != nil || !strings.Contains(out, "demo") {
		b.t.Fatalf("twin: %s, %v", out, err)
	}
	if os.Geteuid() != 0 {
		if info, err := os.Stat(b.dir); err != nil || info.Mode().Perm()&0o077 != 0 {
			b.t.Errorf("the socket's directory is open to others: %v, %v", info, err)
		}
		return
	}
	for dir := b.dir; len(dir) > 1; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			b.t.Fatal(err)
		}
		mode := info.Mode().Perm()
		if err := os.Chmod(dir, mode|0o755); err != nil {
			b.t.Fatal(err)
		}
		defer os.Chmod(dir, mode)
	}
	for _, path := range []string{filepath.Join(b.dir, "cli-token"), filepath.Join(b.dir, "mcp.sock"), filepath.Dir(testTermic)} {
		info, err := os.Stat(path)
		if err != nil {
			b.t.Fatal(err)
		}
		mode := info.Mode().Perm()
		if err := os.Chmod(path, mode|0o777); err != nil {
			b.t.Fatal(err)
		}
		defer os.Chmod(path, mode)
	}
	if out, err := ask(nobody); err == nil || strings.Contains(out, "demo") {
		b.t.Errorf("another user is answered: %s", out)
	}
}
