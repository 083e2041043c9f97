package app

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"termic/app/ctl"
	"termic/app/gui"
	"termic/registry/refusal"
)

// testAgent is the path of the scripted agent, testStage that of the stage program; built once for all tests of the
// package.
var testAgent, testStage string

// testTermic is the path of the whole program, beside the stage.
var testTermic string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "termic-app-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	testAgent, testStage, testTermic = filepath.Join(dir, "testagent"), filepath.Join(dir, "stage"), filepath.Join(dir, "termic")
	for program, arguments := range map[string][]string{
		testAgent:  {"../testdata/testagent"},
		testStage:  {"-ldflags=-E stage_entry", "../sandbox/stagecmd"}, // as build/build.sh links it
		testTermic: {".."},
	} {
		build := exec.Command("go", append([]string{"build", "-o", program}, arguments...)...)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "go %v: %v\n%s", build.Args, err, out)
			os.Exit(1)
		}
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// rig is a running app with one project, driven through its socket as the command line drives it.
type rig struct {
	t       *testing.T
	dir     string // data directory
	repo    string
	client  *ctl.Client
	log     *bytes.Buffer
	environ []string
	stop    func() error
	// terminal is given to the app at its next start; nil: it has none.
	terminal io.ReadWriter
	// window is given the page's server at the app's next start; nil: the app has no window.
	window func(*gui.Server)
	// host is what the window can do; nil: nothing, nobody looks at it.
	host  gui.Host
	cli   string // the termic program, where a test needs it
	lines int    // that were run in shells of cages
}

// newRig starts an app on a fresh data directory, with a repository as project "demo" and the scripted agent
// as agent "test".
func newRig(t *testing.T) *rig {
	t.Helper()
	return newRigIn(t, filepath.Join(t.TempDir(), "data"))
}

// newRigIn is newRig with the data directory at dir.
func newRigIn(t *testing.T, dir string) *rig {
	t.Helper()
	base := t.TempDir()
	r := &rig{t: t, dir: dir, repo: filepath.Join(base, "demo"), log: &bytes.Buffer{}}
	r.environ = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(base, "home"), "SHELL=/bin/bash", "LANG=C.UTF-8"}
	if err := os.Mkdir(filepath.Join(base, "home"), 0o700); err != nil {
		t.Fatal(err)
	}
	newRepository(t, r.repo)
	r.start()
	t.Cleanup(func() {
		if r.stop != nil {
			if err := r.stop(); err != nil {
				t.Errorf("stop: %v", err)
			}
		}
	})
	r.must("project_add", `{"path":%q}`, r.repo)
	r.must("agent_add", `{"id":"test","command":%q}`, testAgent)
	return r
}

// newRepository makes a repository with one commit.
func newRepository(t *testing.T, dir string) {
	t.Helper()
	for _, args := range [][]string{
		{"init", "-q", "-b", "main", dir},
		{"-C", dir, "commit", "-q", "--allow-empty", "-m", "first"},
	} {
		runGit(t, args...)
	}
	if err := os.WriteFile(filepath.Join(dir, "README"), []byte("demo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	runGit(t, "-C", dir, "add", "README")
	runGit(t, "-C", dir, "commit", "-q", "-m", "second")
}

// runGit runs git as the person would, without any configuration of the machine.
func runGit(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// start runs the app on the rig's data directory and waits until it serves.
func (r *rig) start() {
	r.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready := make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, Options{
			DataDir: r.dir, Environ: r.environ, CLI: cmp.Or(r.cli, "/nonexistent/termic"), Stage: testStage, Version: "test", Terminal: r.terminal,
			Window: r.window, Host: cmp.Or[gui.Host](r.host, headless{}), Assets: theAssets,
			Log:   slog.New(slog.NewTextHandler(&lockedWriter{w: r.log}, nil)),
			Ready: func(string, string) { close(ready) },
		})
	}()
	select {
	case <-ready:
	case err := <-ended:
		r.t.Fatalf("start: %v", err)
	case <-time.After(20 * time.Second):
		r.t.Fatal("the app did not become ready")
	}
	r.client = ctl.NewClient(r.dir)
	r.stop = func() error {
		cancel()
		r.stop = nil
		return <-ended
	}
}

// restart stops the app in order and starts it again on the same data.
func (r *rig) restart() {
	r.t.Helper()
	if err := r.stop(); err != nil {
		r.t.Fatalf("stop: %v", err)
	}
	r.start()
}

// try makes one call and returns its result as loose JSON.
func (r *rig) try(verb, arguments string, args ...any) (map[string]any, error) {
	raw, err := r.client.Call(context.Background(), verb, json.RawMessage(fmt.Sprintf(arguments, args...)))
	if err != nil {
		return nil, err
	}
	var result map[string]any
	if err := json.Unmarshal(raw, &result); err != nil {
		r.t.Fatalf("%s: %v", verb, err)
	}
	return result, nil
}

// must makes one call that has to succeed.
func (r *rig) must(verb, arguments string, args ...any) map[string]any {
	r.t.Helper()
	result, err := r.try(verb, arguments, args...)
	if err != nil {
		r.t.Fatalf("%s %s: %v\nlog:\n%s", verb, fmt.Sprintf(arguments, args...), err, r.log)
	}
	return result
}

// refused makes one call that has to be refused with code.
func (r *rig) refused(code refusal.Code, verb, arguments string, args ...any) *refusal.Refusal {
	r.t.Helper()
	result, err := r.try(verb, arguments, args...)
	no, ok := refusal.From(err)
	if !ok || no.Code != code {
		r.t.Fatalf("%s %s: %v, %v; want refusal %s\nlog:\n%s", verb, fmt.Sprintf(arguments, args...), result, err, code, r.log)
	}
	return no
}

// task makes a task and returns it. A prompt is sent at its start.
func (r *rig) task(name, agent, prompt string) map[string]any {
	r.t.Helper()
	made := r.must("task_new", `{"name":%q,"project":"demo","agent":%q,"prompt":%q}`, name, agent, prompt)
	return made["task"].(map[string]any)
}

// wait waits for a task to settle and returns the outcome.
func (r *rig) wait(name string) string {
	r.t.Helper()
	return r.must("task_wait", `{"task":%q,"timeoutMs":60000}`, name)["outcome"].(string)
}

// text returns a task's log.
func (r *rig) text(name string) string {
	r.t.Helper()
	return r.must("task_log", `{"task":%q,"lines":2000}`, name)["text"].(string)
}

// shown fails for each text that is not in what a terminal shows.
func shown(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("the terminal does not show %q:\n%s", want, text)
		}
	}
}

// lockedWriter lets several goroutines log into one buffer.
type lockedWriter struct {
	mu sync.Mutex
	w  *bytes.Buffer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// discardLog is a logger for apps whose log no test reads.
func discardLog() *slog.Logger { return slog.New(slog.DiscardHandler) }

// headless is a window that nobody looks at.
type headless struct{}

func (headless) PickDirectory(string) (string, error) { return "", nil }
func (headless) OpenURL(string) error                 { return nil }
func (headless) Renderer() string                     { return "dom" }
func (headless) Front()                               {}
func (headless) Quit()                                {}

// theAssets stand for the page, which no test here looks at.
var theAssets = fstest.MapFS{"index.html": {Data: []byte("<!doctype html>")}}

// put writes a file of a task's checkout, as something in the task would.
func (r *rig) put(task map[string]any, name, text string) {
	r.t.Helper()
	path := filepath.Join(task["path"].(string), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}
