//go:build page && !desktop

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
)

// This program serves the window's page to a browser on a loopback port, for tests of the page. It is never
// shipped: whoever reaches the port is the person.

func init() { window = servePage }

// servePage runs the app and serves the page until a signal. It prints the address.
func servePage(args []string) (status int, opened bool) {
	dataDir, ok, err := windowArguments(args)
	if !ok {
		return 0, false
	}
	if err == nil {
		err = serveOn(dataDir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "termic:", err)
		return 1, true
	}
	return 0, true
}

func serveOn(dataDir string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	running, err := start(ctx, dataDir, os.Environ(), false, browser{stop})
	if err != nil || running == nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return errors.Join(err, running.stop())
	}
	own := listener.Addr().String()
	fmt.Printf("page at http://%s/\n", own)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if origin := r.Header.Get("Origin"); r.Host != own || origin != "" && origin != "http://"+own {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		running.server.ServeHTTP(w, r)
	})}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return errors.Join(err, running.stop())
	}
	return running.stop()
}

// browser is the host of a page that no window holds.
type browser struct{ quit func() }

// PickDirectory returns what TERMIC_PAGE_DIRECTORY says, as if the person had chosen it.
func (browser) PickDirectory(string) (string, error) { return os.Getenv("TERMIC_PAGE_DIRECTORY"), nil }

func (browser) OpenURL(url string) error {
	slog.Info("would open", "url", url)
	return nil
}

func (browser) Front() {}

func (browser) Renderer() string { return "webgl" }

func (b browser) Quit() { b.quit() }
