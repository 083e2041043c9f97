// Command termic runs many coding agents side by side, each in its own task: the command line, and with
// `termic serve` the whole app without a window.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"golang.org/x/term"

	"termic/app"
	"termic/app/cli"
	"termic/app/hook"
	"termic/app/store"
	"termic/app/task"
	"termic/registry/verbs"
)

// version is set by the build.
var version = "unknown"

// window opens the app's window, in the programs that are built with one. It returns the exit status, and false
// when the arguments ask for something else.
var window func(args []string) (status int, opened bool)

func main() {
	if len(os.Args) == 3 && os.Args[1] == "hook" { // an agent waits for it, so before anything else
		hook.Report(os.Args[2], os.Stdin, os.Getenv)
		return
	}
	if window != nil {
		if status, opened := window(os.Args[1:]); opened {
			os.Exit(status)
		}
	}
	os.Exit(cli.Main(context.Background(), verbs.All(), os.Args[1:], cli.Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		DataDir: func() (string, error) { return store.Dir(os.Getenv) },
		Serve:   serve,
		Version: version,
	}))
}

// stage is the path of the program that makes cages: beside this one, or where a package puts it, so that a security
// module's profile can name it.
func stage(program string) string {
	if real, err := filepath.EvalSymlinks(program); err == nil {
		program = real
	}
	beside := filepath.Join(filepath.Dir(program), "stage")
	if _, err := os.Stat(beside); err == nil {
		return beside
	}
	return "/usr/lib/termic/stage"
}

// terminal is standard input and output together.
type terminal struct {
	io.Reader
	io.Writer
}

// person returns the terminal of the person who started this program, or nil: there is none, or the program was started
// in a tab of termic, where whoever types may be an agent.
func person() io.ReadWriter {
	inTab := os.Getenv(task.EnvTaskID) != ""
	if inTab || !term.IsTerminal(int(os.Stdin.Fd())) || !term.IsTerminal(int(os.Stdout.Fd())) {
		return nil
	}
	return terminal{os.Stdin, os.Stdout}
}

// serve runs the app in the foreground until ctx ends.
func serve(ctx context.Context, dataDir string) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	return app.Run(ctx, app.Options{
		DataDir:  dataDir,
		Environ:  os.Environ(),
		CLI:      program,
		Stage:    stage(program),
		Version:  version,
		Terminal: person(),
		Log:      slog.New(slog.NewTextHandler(os.Stderr, nil)),
		Ready: func(url, why string) {
			fmt.Printf("termic serves %s\n", dataDir)
			switch {
			case url != "":
				fmt.Printf("MCP endpoint at %s\n", url)
			case why != "":
				fmt.Printf("MCP endpoint does not serve: %s\n", why)
			default:
				fmt.Println("MCP endpoint is off: termic settings set mcp.enabled true")
			}
		},
	})
}
