package cagetest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termic/sandbox/cagetest"
	"termic/sandbox/capability"
	"termic/sandbox/launch"
)

// controls must do the same in a cage as outside. A program that is not on this machine is not tried.
var controls = []struct {
	name string
	argv []string
}{
	{"own servers, files and processes", []string{"hostile", "works"}},
	{"a shell", []string{"sh", "-c", "echo $((6*7)); d=$(mktemp -d) && cd \"$d\" && mkdir x && echo y > x/z && cat x/z && rm -r \"$d\""}},
	{"programs of the system", []string{"sh", "-c", "ls /usr/bin/env && env true && id -u && grep -c root: /etc/passwd"}},
	{"git", []string{"sh", "-c", `d=$(mktemp -d) && cd "$d" && git init -q -b main repo && cd repo && git config user.email a@b && git config user.name c &&
		echo x > f && git add f && git commit -qm one && git worktree add -q ../tree && cd ../tree && git status --short && git log --format=%s && rm -rf "$d"`}},
	{"python", []string{"/usr/bin/python3", "-c", `import ssl, multiprocessing as m, tempfile, locale
def f(x): return x * x
if __name__ == "__main__":
    with m.Pool(2) as p: print(p.map(abs, [-1, 2]))
    print(len(ssl.create_default_context().get_ca_certs()) > 0, locale.getpreferredencoding(), "ü")`}},
	{"node", []string{"node", "-e", `const { Worker } = require("worker_threads"); const http = require("http");
		new Worker("require('worker_threads').parentPort.postMessage(7)", { eval: true }).on("message", (m) => {
			const s = http.createServer((q, r) => r.end("served")).listen(0, "127.0.0.1", () =>
				fetch("http://127.0.0.1:" + s.address().port).then((r) => r.text()).then((t) => { console.log(m, t); s.close(); })); });`}},
	{"go", []string{"sh", "-c", "go version && gofmt -l /usr/local/go/src/fmt && go env GOOS"}},
	{"locale and time zone", []string{"sh", "-c", "TZ=Europe/Berlin date -d @0 +%H:%M && printf 'b\\na\\n' | LC_ALL=C.UTF-8 sort"}},
	{"certificates", []string{"sh", "-c", "ls /etc/ssl/certs | wc -l"}},
	{"names", []string{"getent", "hosts", "localhost"}},
	{"colours", []string{"tput", "-T", "xterm-256color", "colors"}},
	{"a terminal in a terminal", []string{"script", "-qec", "tty > /dev/null && echo ok", "/dev/null"}},
	{"a debugger", []string{"strace", "-f", "-o", "/dev/null", "true"}},
}

func TestControls(t *testing.T) {
	if !cagetest.Inner() {
		cagetest.AgainAsUsers(t)
		return
	}
	m := cagetest.New(t)
	for _, mode := range []capability.Mode{capability.Enforce, capability.EnforceFS} {
		t.Run(mode.String(), func(t *testing.T) {
			if mode == capability.EnforceFS {
				requireScopes(t, m)
			}
			cage := m.Start(t, mode, capability.Set{})
			tried, works := 0, 0
			for _, c := range controls {
				t.Run(c.name, func(t *testing.T) {
					argv := c.argv
					if argv[0] == "hostile" {
						argv = append([]string{filepath.Join(cagetest.Bin(t), "hostile")}, argv[1:]...)
					} else if _, err := exec.LookPath(argv[0]); err != nil {
						t.Logf("not on this machine: %v", err)
						return
					}
					outside := m.OutsideRun(t, argv...)
					if outside.Code != 0 {
						t.Logf("not on this machine: it does not work outside either: %+v", outside)
						return
					}
					tried++
					if inside := m.Run(t, cage, argv...); inside != outside {
						t.Errorf("inside %+v, outside %+v", inside, outside)
						return
					}
					works++
				})
			}
			cagetest.Tally(t, "cage of %s, %-10s %-11s tried %3d, work as outside %3d, not on this machine %d", user(), mode, "controls", tried, works,
				len(controls)-tried)
			if tried < 8 {
				t.Errorf("only %d controls could be tried", tried)
			}
		})
	}
}

// TestJobControl drives a shell on a terminal of a cage as a person does.
func TestJobControl(t *testing.T) {
	m := cagetest.New(t)
	cage := m.Start(t, capability.Enforce, capability.Set{})
	p, err := cage.Spawn(t.Context(), launch.Command{Argv: []string{"bash", "--norc", "--noprofile", "-i"}, Env: append(m.Env(), "PS1=> "), Dir: m.Checkout,
		Terminal: true, Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Master.Close()
	said := ""
	expect := func(word string) {
		t.Helper()
		buffer := make([]byte, 4096)
		_ = p.Master.SetReadDeadline(time.Now().Add(time.Minute))
		for !strings.Contains(said, word) {
			n, err := p.Master.Read(buffer)
			said += string(buffer[:n])
			if err != nil {
				t.Fatalf("waiting for %q: %v; it said %q", word, err, said)
			}
		}
		said = said[strings.LastIndex(said, word)+len(word):]
	}
	job := filepath.Join(cagetest.Bin(t), "hostile") + " job"
	for _, step := range []struct{ send, want string }{
		{"", "> "},
		{job + "\n", "up"},
		{"\x1a", "Stopped"}, // Ctrl-Z
		{"jobs\n", "Stopped"},
		{"bg\n", "continued"},
		{"kill %1; wait; echo d''one\n", "done"},
		{job + "\n", "up"},
		{"\x1a", "Stopped"},
		{"fg\n", "continued"}, // the shell gives it the terminal before it continues it
		{"\x03", "> "},        // Ctrl-C
		{"echo code $?\n", "code 130"},
		{"tty; cat < /dev/tty\n", "/dev/pts/"},
		{"echoed\n", "echoed"},
		{"\x04", "> "}, // end of input
		{"stty -a | head -1\n", "rows 24; columns 80"},
		{"exit 3\n", "exit"},
	} {
		if _, err := p.Master.WriteString(step.send); err != nil {
			t.Fatal(err)
		}
		expect(step.want)
	}
	if got := p.Wait(); got.Code != 3 {
		t.Errorf("the shell ended %+v", got)
	}
}

// TestWithAndWithout shows one boundary, and how a rule of the person moves it.
func TestWithAndWithout(t *testing.T) {
	m := cagetest.New(t)
	without, with := m.WithAndWithout(t, capability.Enforce, capability.Set{}, "cat", m.Outside+"/notes")
	if without.Code != 0 || without.Output != "mine\n" {
		t.Errorf("outside: %+v", without)
	}
	if with.Code != 1 || !strings.Contains(with.Output, "No such file or directory") {
		t.Errorf("inside: %+v", with)
	}
	with = m.Run(t, m.Start(t, capability.Enforce, capability.Set{Read: must(capability.PathsOf(m.Outside))}), "sh", "-c", "cat "+m.Outside+"/notes; touch "+m.Outside+"/x")
	if !strings.HasPrefix(with.Output, "mine\n") || !strings.Contains(with.Output, "Read-only file system") {
		t.Errorf("with a rule to read it: %+v", with)
	}
	with = m.Run(t, m.Start(t, capability.Enforce, capability.Set{Write: must(capability.PathsOf(m.Outside))}), "touch", m.Outside+"/x")
	if _, err := os.Stat(m.Outside + "/x"); with.Code != 0 || err != nil {
		t.Errorf("with a rule to write it: %+v, %v", with, err)
	}
}
