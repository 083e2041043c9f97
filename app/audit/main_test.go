package audit

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termic/registry"
	"termic/registry/ident"
)

// childEnv names the part that a child process of the test binary plays: one that is killed, or that has limits of its own.
const childEnv = "TERMIC_AUDIT_TEST_CHILD"

var children = map[string]func(dir string) error{
	"record in a loop": childRecordLoop,
	"small file limit": childFileLimit,
}

func TestMain(m *testing.M) {
	if name := os.Getenv(childEnv); name != "" {
		if err := children[name](os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func child(t *testing.T, name, dir string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, dir)
	cmd.Env = append(os.Environ(), childEnv+"="+name, "GORACE=atexit_sleep_ms=0")
	return cmd
}

func startChild(t *testing.T, name, dir string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := child(t, name, dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, bufio.NewScanner(out)
}

// opened opens a log, closed with the test.
func opened(t testing.TB, dir string, opts Options) *Log {
	t.Helper()
	l, err := Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func logDir(t testing.TB) string { return filepath.Join(t.TempDir(), "audit") }

// decided is the decision of a write, the kind that has to be on disk.
func decided(n int) registry.Event {
	return registry.Event{
		Time: time.Date(2026, 1, 2, 3, 4, 5, n, time.UTC), Phase: registry.Decided, Request: ident.Request(fmt.Sprint("r-", n)),
		Verb: "task_send", Class: registry.Write, Way: registry.MCP, Scope: registry.Scoped, Caller: "task", Allow: true,
	}
}

func finished(n int) registry.Event {
	e := decided(n)
	e.Phase = registry.Finished
	return e
}

func read(n int) registry.Event {
	e := decided(n)
	e.Class, e.Verb = registry.Read, "task_status"
	return e
}

func of(grant ident.Grant, e registry.Event) registry.Event {
	e.Grant = grant
	return e
}

func record(t testing.TB, l *Log, events ...registry.Event) {
	t.Helper()
	for _, e := range events {
		if err := l.Record(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
}

func shut(t testing.TB, l *Log) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// files returns the paths of the log's files, oldest first.
func files(t testing.TB, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, segmentPrefix+"*"+segmentSuffix))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// lines returns a file's lines, each with its newline.
func lines(t testing.TB, path string) [][]byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := bytes.SplitAfter(b, []byte("\n"))
	return all[:len(all)-1]
}

func put(t testing.TB, path string, parts ...[]byte) {
	t.Helper()
	if err := os.WriteFile(path, bytes.Join(parts, nil), 0o600); err != nil {
		t.Fatal(err)
	}
}

func verified(t testing.TB, dir string) Report {
	t.Helper()
	r, err := Verify(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// whole fails the test unless the log verifies.
func whole(t testing.TB, dir string) Report {
	t.Helper()
	r := verified(t, dir)
	if !r.OK() || r.Torn {
		t.Fatalf("log is not whole (torn %v): %v", r.Torn, r.Problems)
	}
	return r
}

func all(t testing.TB, l *Log) []Entry {
	t.Helper()
	e, err := l.Tail(1_000_000, nil)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// requests returns the request ids of the entries that are events.
func requests(entries []Entry) string {
	var ids []string
	for _, e := range entries {
		if e.Event != nil {
			ids = append(ids, strings.TrimPrefix(string(e.Event.Request), "r-"))
		}
	}
	return strings.Join(ids, " ")
}

func kinds(notes []Note) string {
	var k []string
	for _, n := range notes {
		k = append(k, string(n.Kind))
	}
	return strings.Join(k, " ")
}
