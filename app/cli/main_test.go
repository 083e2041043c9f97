package cli

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"termic/registry/refusal"
	"termic/registry/verbs"
)

// TestMain makes the command line a program of the test binary: scripts and tests run it as "termic".
func TestMain(m *testing.M) {
	// A program that is built with -race sleeps for a second before it ends, and there are hundreds here.
	os.Setenv("GORACE", noSleepAtExit)
	testscript.Main(m, map[string]func(){"termic": func() { os.Exit(runTermic()) }})
}

const noSleepAtExit = "atexit_sleep_ms=0"

func runTermic() int {
	return Main(context.Background(), verbs.All(), os.Args[1:], Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		DataDir: func() (string, error) {
			dir := os.Getenv("TERMIC_DATA_DIR")
			if dir == "" {
				return "", errors.New("neither HOME nor TERMIC_DATA_DIR is set")
			}
			return dir, nil
		},
		Serve: func(ctx context.Context, dataDir string) error {
			if _, err := os.Stat(dataDir); err != nil {
				return refusal.New(refusal.Conflict, "no such data directory", "make one").Because(err)
			}
			_, err := os.Stdout.WriteString("serving " + dataDir + "\n")
			<-ctx.Done()
			return err
		},
		Version: "1.2.3-test",
	})
}

var update = flag.Bool("update", false, "write what cmp finds in the scripts' goldens")

// The scripts in testdata run the command line against a fake app behind a real socket and a real router.
// Besides testscript's commands they have:
//
//	exits N PROGRAM ARGS...   runs the program and wants exit status N
//	called TEXT               wants the last call to be TEXT: the verb and its arguments
//	uncalled                  wants that there was no call since the last "called" or "uncalled"
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata",
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			for name, text := range map[string]string{
				"binary": "\x00\xff\xfe", "longest": strings.Repeat("x", maxStdin), "long": strings.Repeat("x", maxStdin+1),
			} {
				if err := os.WriteFile(filepath.Join(env.WorkDir, name), []byte(text), 0o600); err != nil {
					return err
				}
			}
			env.Setenv("GORACE", noSleepAtExit)
			env.Setenv("BYTES", "\xff\xfe")
			app := startApp(t, env.Defer)
			env.Values["app"] = app
			env.Setenv("TERMIC_DATA_DIR", app.dir)
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits, "called": called, "uncalled": uncalled,
		},
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits N PROGRAM ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	var failed *exec.ExitError
	switch {
	case err == nil && want == 0:
	case errors.As(err, &failed) && failed.ExitCode() == want:
	default:
		ts.Fatalf("exit: %v, want status %d", err, want)
	}
}

func called(ts *testscript.TestScript, neg bool, args []string) {
	calls := ts.Value("app").(*fakeApp).takeCalls()
	if neg || len(args) != 1 {
		ts.Fatalf("usage: called TEXT")
	}
	if len(calls) == 0 || calls[len(calls)-1] != args[0] {
		ts.Fatalf("calls: %q; want the last to be %q", calls, args[0])
	}
}

func uncalled(ts *testscript.TestScript, neg bool, args []string) {
	if calls := ts.Value("app").(*fakeApp).takeCalls(); len(calls) > 0 {
		ts.Fatalf("calls: %q; want none", calls)
	}
}

// sources returns the text of the package's files that are no tests.
func sources(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(name, "_test.go") {
			texts[name] = string(text)
		}
	}
	return texts
}

// Commands come from the verbs' data alone, so a new verb needs no change here.
func TestTheSourceNamesNoVerb(t *testing.T) {
	texts := sources(t)
	if len(texts) < 5 {
		t.Fatalf("only %d files were looked at", len(texts))
	}
	for _, v := range verbs.All() {
		for name, text := range texts {
			if strings.Contains(text, v.Name) {
				t.Errorf("%s names the verb %s", name, v.Name)
			}
		}
	}
}
