//go:build desktop || page

package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"termic/app"
	"termic/app/ctl"
	"termic/app/gui"
	"termic/app/store"
	"termic/registry/refusal"
)

// dist is the window's page; build/window.sh builds it.
//
//go:embed all:frontend/dist
var dist embed.FS

// windowArguments returns the data directory that the arguments name, and false when they ask for something else
// than the window.
func windowArguments(args []string) (dataDir string, ok bool, err error) {
	switch {
	case len(args) == 0:
		dataDir, err = store.Dir(os.Getenv)
	case len(args) == 2 && args[0] == "--data-dir":
		dataDir, err = filepath.Abs(args[1])
	default:
		return "", false, nil
	}
	return dataDir, true, err
}

// running is the app behind a window.
type running struct {
	door   *gui.Door
	cancel context.CancelFunc
	opened chan struct{} // closed when the app has opened, with server
	server *gui.Server
	ended  chan struct{} // closed when the app has ended, with err
	err    error
}

// wait returns the server once the app has opened, or why it could not.
func (r *running) wait() (*gui.Server, error) {
	select {
	case <-r.opened:
		return r.server, nil
	case <-r.ended:
		return nil, r.err
	}
}

// stop ends the app and returns when everything is stopped.
func (r *running) stop() error {
	select {
	case <-r.ended:
		return r.err
	default:
	}
	r.cancel()
	<-r.ended
	select {
	case <-r.opened:
		return r.err
	default:
	}
	if errors.Is(r.err, context.Canceled) {
		return nil // it was opening, and that was broken off
	}
	return r.err
}

// start runs the app and returns once the data directory is its own, while it goes on opening; nil when another one has the
// directory and was brought to the front instead.
func start(ctx context.Context, dataDir string, environ []string, loginShell bool, host gui.Host) (*running, error) {
	assets, err := fs.Sub(dist, "frontend/dist")
	if err != nil {
		return nil, err
	}
	program, err := commandLine()
	if err != nil {
		return nil, err
	}
	// The app ends after the window, not with the signal: the window says that it closes first.
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r := &running{door: gui.NewDoor(assets), cancel: cancel, opened: make(chan struct{}), ended: make(chan struct{})}
	held := make(chan struct{})
	go func() {
		defer close(r.ended)
		defer r.door.Open(nil)
		r.err = app.Run(own, app.Options{
			DataDir: dataDir, Environ: environ, LoginShell: loginShell, CLI: program, Stage: stage(program), Version: version,
			Log:  slog.New(slog.NewTextHandler(os.Stderr, nil)),
			Held: func() { close(held) },
			Window: func(s *gui.Server) {
				r.server = s
				close(r.opened)
				r.door.Open(s)
			},
			Host: host, Assets: assets,
		})
	}()
	select {
	case <-held:
		return r, nil
	case <-r.ended:
		cancel()
		var locked *store.LockedError
		if errors.As(r.err, &locked) {
			return nil, showOther(ctx, dataDir)
		}
		return nil, r.err
	}
}

// showOther brings the window of the app that runs already to the front.
func showOther(ctx context.Context, dataDir string) error {
	_, err := ctl.NewClient(dataDir).Call(ctx, "task_open", []byte("{}"))
	if no, ok := refusal.From(err); ok && no.Code == refusal.NoWindow {
		return fmt.Errorf("termic runs already on %s, without a window; stop that one first", dataDir)
	}
	return err
}

// commandLine returns the program that tabs get as termic: the static one beside this, or this one.
func commandLine() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	beside := filepath.Join(filepath.Dir(self), "termic")
	if _, err := os.Stat(beside); err == nil {
		return beside, nil
	}
	return self, nil
}
