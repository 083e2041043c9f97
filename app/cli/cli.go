// Package cli is the command line: arguments become one call of one verb, its result becomes text or JSON and
// an exit status. Commands, flags and help are made from the verbs' data, and the source names no verb.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"termic/app/ctl"
	"termic/registry"
	"termic/registry/refusal"
	"termic/registry/render"
)

// Env is what the command line has of the world outside.
type Env struct {
	// Stdin, Stdout and Stderr are terminals when they are *os.File and the kernel says so.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Dir is the directory that relative paths start from; empty means the process's.
	Dir string
	// DataDir returns the app's data directory where --data-dir does not name one.
	DataDir func() (string, error)
	// Serve runs the app on a data directory until ctx ends, in an orderly way. nil means that this program
	// has no app in it.
	Serve func(ctx context.Context, dataDir string) error
	// Version is this program's own.
	Version string
}

// Main runs one command line, argv without the program's name, and returns the exit status. The first SIGINT,
// SIGTERM or SIGHUP ends what is under way, the second the process.
func Main(ctx context.Context, verbs []*registry.Verb, argv []string, env Env) int {
	p := newPrinter(env.Stdout, env.Stderr, asksJSON(argv))
	forms, err := render.Forms(verbs)
	if err != nil {
		return finish(p, fmt.Errorf("read the verbs: %w", err))
	}
	ctx, stop := untilSignal(ctx)
	defer stop()
	s := &session{env: env, forms: forms, verbs: verbs, printer: p}
	root := s.root()
	root.SetArgs(slices.Clone(argv)) // never nil, for which cobra takes os.Args
	if len(argv) == 0 {
		root.SetArgs([]string{})
	}
	return finish(p, signalled(ctx, root.ExecuteContext(ctx)))
}

// asksJSON looks for --json itself, since a command line that cannot be parsed is refused in JSON too.
func asksJSON(argv []string) bool {
	for _, word := range argv {
		switch word {
		case "--":
			return false
		case "--json", "--json=true":
			return true
		}
	}
	return false
}

// session is one command line under way.
type session struct {
	*printer
	env     Env
	forms   []*render.Form
	verbs   []*registry.Verb
	dataDir string // as given by the flag
}

// place returns the absolute path of the app's data directory.
func (s *session) place() (string, error) {
	if s.dataDir != "" {
		return s.absolute(s.dataDir)
	}
	dir, err := s.env.DataDir()
	if err != nil {
		return "", refusal.New(refusal.BadInput, err.Error(), "name the data directory with --data-dir")
	}
	return dir, nil
}

func (s *session) client() (*ctl.Client, error) {
	dir, err := s.place()
	if err != nil {
		return nil, err
	}
	return ctl.NewClient(dir), nil
}

func (s *session) absolute(path string) (string, error) {
	if filepath.IsAbs(path) || s.env.Dir == "" {
		return filepath.Abs(path)
	}
	return filepath.Join(s.env.Dir, path), nil
}

// usageError is a command line that says nothing that could be done.
type usageError struct {
	command *cobra.Command
	reason  string
	hint    string // empty: the command's help
}

func (e *usageError) Error() string { return e.reason }

func (e *usageError) refusal() *refusal.Refusal {
	hint := e.hint
	if hint == "" {
		hint = "see: " + e.command.CommandPath() + " --help"
	}
	return refusal.New(refusal.BadInput, e.reason, hint)
}

// stopped is a refusal that came after something had been reached, which --json prints with it.
type stopped struct {
	no      *refusal.Refusal
	reached []byte
}

func (e *stopped) Error() string { return e.no.Error() }
func (e *stopped) Unwrap() error { return e.no }

// outcome is a result whose exit status is not 0, and which was printed.
type outcome struct{ status int }

func (e *outcome) Error() string { return fmt.Sprintf("exit status %d", e.status) }

// interrupted is the end by a signal.
type interrupted struct{ signal syscall.Signal }

func (e *interrupted) Error() string { return "ended by " + e.signal.String() }

// undone is the end of a call that the app undoes when its caller goes away.
type undone struct{ error }

func (e *undone) Unwrap() error { return e.error }

// finish says what an error is and returns the exit status for it.
func finish(p *printer, err error) int {
	var usage *usageError
	var ended *outcome
	var broken *interrupted
	var after *stopped
	var taken *undone
	switch {
	case err == nil:
		return 0
	case errors.As(err, &ended):
		return ended.status
	case errors.As(err, &usage):
		return sayNo(p, usage.refusal(), nil, refusal.BadInput.Exit())
	case errors.As(err, &broken):
		no := refusal.New(refusal.Cancelled, "interrupted; what is under way in the app goes on", "")
		if errors.As(err, &taken) {
			no.Reason = "interrupted; nothing is left of it, unless its agent had started already"
		}
		var reached []byte
		if errors.As(err, &after) {
			reached = after.reached
		}
		return sayNo(p, no, reached, 128+int(broken.signal))
	case errors.As(err, &after):
		return sayNo(p, after.no, after.reached, after.no.Code.Exit())
	}
	no := refusal.Of(err)
	return sayNo(p, no, nil, no.Code.Exit())
}

func sayNo(p *printer, no *refusal.Refusal, reached []byte, status int) int {
	if err := p.refused(no, reached); err != nil {
		fmt.Fprintln(p.err, "termic:", err)
	}
	return status
}

// untilSignal returns a context that the first signal ends, with the signal as its cause.
func untilSignal(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	done := make(chan struct{})
	go func() {
		select {
		case s := <-signals:
			signal.Stop(signals) // the next one has its usual effect
			cancel(&interrupted{s.(syscall.Signal)})
		case <-done:
		}
	}()
	return ctx, func() { signal.Stop(signals); close(done); cancel(nil) }
}

// signalled adds the signal that ended ctx to the refusal that says so. Any other error says more than that.
func signalled(ctx context.Context, err error) error {
	var broken *interrupted
	if no, ok := refusal.From(err); ok && no.Code == refusal.Cancelled && errors.As(context.Cause(ctx), &broken) {
		return errors.Join(broken, err)
	}
	return err
}
