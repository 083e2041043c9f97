package ctl

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"

	"termic/registry"
	"termic/registry/refusal"
)

// privateDir returns a directory as the app's data directory is: short, ours, 0700.
func privateDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "ctl")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// routerFunc is a router that is one function.
type routerFunc func(ctx context.Context, caller registry.Caller, verb string, raw json.RawMessage) (json.RawMessage, error)

func (f routerFunc) Dispatch(ctx context.Context, caller registry.Caller, verb string, raw json.RawMessage) (json.RawMessage, error) {
	return f(ctx, caller, verb, raw)
}

// echo answers with the verb and the arguments, and refuses the verb "refuse".
func echo(_ context.Context, caller registry.Caller, verb string, raw json.RawMessage) (json.RawMessage, error) {
	if verb == "refuse" {
		return nil, refusal.New(refusal.Conflict, "the name is taken", "take another").For("r-1")
	}
	if len(raw) == 0 {
		raw = json.RawMessage("null")
	}
	return json.Marshal(map[string]any{"verb": verb, "caller": caller.Name, "arguments": raw})
}

// start serves on dir until the test ends, and returns the listener and what stops it and waits for that.
func start(t *testing.T, dir string, router Router, streams Streams) (*Listener, func() error) {
	t.Helper()
	l, err := Listen(dir, newToken(), quiet())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, l, router, streams, quiet()) }()
	stopped := false
	stop := func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		return <-done
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return l, stop
}

// raw sends bytes on a connection of its own and returns everything that comes back.
func raw(t *testing.T, l *Listener, text string) string {
	t.Helper()
	conn, err := net.Dial("unix", l.path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// A server that hangs up at once makes the write fail; then nothing comes back, which is what is tested.
	_, _ = conn.Write([]byte(text))
	_ = conn.(*net.UnixConn).CloseWrite()
	var got bytes.Buffer
	_, _ = got.ReadFrom(conn)
	return got.String()
}

func wantCode(t *testing.T, err error, want refusal.Code) *refusal.Refusal {
	t.Helper()
	no, ok := refusal.From(err)
	if !ok {
		t.Fatalf("error is %v, want a refusal %s", err, want)
	}
	if no.Code != want {
		t.Fatalf("refusal is %v (cause %v), want code %s", no, no.Cause(), want)
	}
	return no
}

func exists(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}

// newToken is a token such as the app makes at each start.
func newToken() string { return rand.Text() + rand.Text() }
