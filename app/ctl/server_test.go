package ctl

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"termic/registry"
	"termic/registry/refusal"
)

func TestACallComesBackAsThePersonsResult(t *testing.T) {
	dir := privateDir(t)
	start(t, dir, routerFunc(echo), nil)
	got, err := NewClient(dir).Call(t.Context(), "greet", json.RawMessage(`{"name":"<é>"}`))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"arguments":{"name":"\u003cé\u003e"},"caller":"cli","verb":"greet"}`; string(got) != want {
		t.Errorf("result is %s, want %s", got, want)
	}
}

func TestARefusalComesBackWhole(t *testing.T) {
	dir := privateDir(t)
	start(t, dir, routerFunc(echo), nil)
	_, err := NewClient(dir).Call(t.Context(), "refuse", nil)
	if no := wantCode(t, err, refusal.Conflict); no.Reason != "the name is taken" || no.Remedy != "take another" || no.Request != "r-1" {
		t.Errorf("refusal is %+v", no)
	}
}

// Every row but the last differs from it in one thing.
func TestRequestsThatAreNotTheClientsLearnNothing(t *testing.T) {
	dir := privateDir(t)
	called := false
	l, _ := start(t, dir, routerFunc(func(ctx context.Context, c registry.Caller, verb string, raw json.RawMessage) (json.RawMessage, error) {
		called = true
		return echo(ctx, c, verb, raw)
	}), nil)
	other := newToken()
	request := func(line string, headers ...string) string {
		return line + " HTTP/1.1\r\nHost: termic\r\nConnection: close\r\nContent-Length: 2\r\n" + strings.Join(append(headers, "\r\n{}"), "\r\n")
	}
	right := "Authorization: Bearer " + l.token
	rows := []struct {
		name, request, status string
		called                bool
	}{
		{"no token", request("POST /call/greet"), "401", false},
		{"another token", request("POST /call/greet", "Authorization: Bearer "+other), "401", false},
		{"an empty token", request("POST /call/greet", "Authorization: Bearer "), "401", false},
		{"half of the token", request("POST /call/greet", right[:len(right)-32]), "401", false},
		{"the token and more", request("POST /call/greet", right+"0"), "401", false},
		{"the token twice", request("POST /call/greet", right, right), "401", false},
		{"the token without its scheme", request("POST /call/greet", "Authorization: "+l.token), "401", false},
		{"a wrong token on a path that there is not", request("GET /nothing", "Authorization: Bearer "+other), "401", false},
		{"a page's origin", request("POST /call/greet", right, "Origin: http://localhost"), "403", false},
		{"another method", request("GET /call/greet", right), "405", false},
		{"another path", request("POST /calls/greet", right), "404", false},
		{"the client's own", request("POST /call/greet", right), "200", true},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			called = false
			got := raw(t, l, row.request)
			if !strings.HasPrefix(got, "HTTP/1.1 "+row.status) || called != row.called {
				t.Errorf("called: %v, answer: %s", called, got)
			}
			if row.status == "401" && !strings.HasSuffix(got, "\r\n\r\n") {
				t.Errorf("a refused token is answered with a body: %q", got)
			}
		})
	}
}

func TestArgumentsMayBeTwoMebibytesAndNoMore(t *testing.T) {
	dir := privateDir(t)
	start(t, dir, routerFunc(func(_ context.Context, _ registry.Caller, _ string, raw json.RawMessage) (json.RawMessage, error) {
		return json.Marshal(len(raw))
	}), nil)
	text := func(size int) json.RawMessage { return json.RawMessage(`"` + strings.Repeat("x", size-2) + `"`) }
	if got, err := NewClient(dir).Call(t.Context(), "size", text(maxBody)); err != nil || string(got) != "2097152" {
		t.Errorf("the longest: %s, %v", got, err)
	}
	_, err := NewClient(dir).Call(t.Context(), "size", text(maxBody+1))
	wantCode(t, err, refusal.BadInput)
}

// TestACallTellsHowFarItHasCome: to who asks for that, before the answer or the refusal; who does not ask gets the answer alone.
func TestACallTellsHowFarItHasCome(t *testing.T) {
	dir := privateDir(t)
	next := make(chan struct{})
	start(t, dir, routerFunc(func(ctx context.Context, _ registry.Caller, verb string, _ json.RawMessage) (json.RawMessage, error) {
		registry.Progress(ctx, "half")
		if verb != "alone" {
			<-next
		}
		if verb == "refuse" {
			return nil, refusal.New(refusal.Conflict, "taken", "")
		}
		return json.RawMessage(`"done"`), nil
	}), nil)
	var told []string
	say := func(text string) { told = append(told, text); next <- struct{}{} }
	if got, err := NewClient(dir).CallTold(t.Context(), "work", nil, say); err != nil || string(got) != `"done"` || !slices.Equal(told, []string{"half"}) {
		t.Errorf("%s, %v, told %q", got, err, told)
	}
	_, err := NewClient(dir).CallTold(t.Context(), "refuse", nil, say)
	if no := wantCode(t, err, refusal.Conflict); no.Reason != "taken" || len(told) != 2 {
		t.Errorf("%v, told %q", no, told)
	}
	if got, err := NewClient(dir).Call(t.Context(), "alone", nil); err != nil || string(got) != `"done"` {
		t.Errorf("%s, %v", got, err)
	}
}

func TestCallerThatGoesAwayEndsItsCall(t *testing.T) {
	dir := privateDir(t)
	begun, ended := make(chan struct{}), make(chan error)
	start(t, dir, routerFunc(func(ctx context.Context, _ registry.Caller, _ string, _ json.RawMessage) (json.RawMessage, error) {
		close(begun)
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, refusal.New(refusal.Cancelled, "given up", "")
	}), nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-begun; cancel() }()
	_, err := NewClient(dir).Call(ctx, "wait", nil)
	wantCode(t, err, refusal.Cancelled)
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the call's context ended with %v", err)
	}
}

func TestStoppingEndsWaitsAndSaysSo(t *testing.T) {
	dir := privateDir(t)
	begun := make(chan struct{})
	_, stop := start(t, dir, routerFunc(func(ctx context.Context, _ registry.Caller, _ string, _ json.RawMessage) (json.RawMessage, error) {
		close(begun)
		<-ctx.Done()
		return nil, refusal.New(refusal.Cancelled, "given up", "")
	}), nil)
	answered := make(chan error, 1)
	go func() {
		_, err := NewClient(dir).Call(context.Background(), "wait", nil)
		answered <- err
	}()
	<-begun
	if err := stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	wantCode(t, <-answered, refusal.NotRunning)
	for _, name := range []string{socketName, tokenName} {
		if exists(dir, name) {
			t.Errorf("%s is still there after the stop", name)
		}
	}
}

func TestABegunWriteIsFinishedAndAnsweredWhenTheAppStops(t *testing.T) {
	dir := privateDir(t)
	begun, finish := make(chan struct{}), make(chan struct{})
	_, stop := start(t, dir, routerFunc(func(ctx context.Context, _ registry.Caller, _ string, _ json.RawMessage) (json.RawMessage, error) {
		close(begun)
		<-ctx.Done() // the app stops; a write goes on
		<-finish
		return json.RawMessage(`"written"`), nil
	}), nil)
	answered := make(chan string, 1)
	go func() {
		got, err := NewClient(dir).Call(context.Background(), "write", nil)
		answered <- string(got) + errorText(err)
	}()
	<-begun
	stopped := make(chan error)
	go func() { stopped <- stop() }()
	for exists(dir, tokenName) { // removed before the wait for calls begins
		runtime.Gosched()
	}
	close(finish)
	if got := <-answered; got != `"written"` {
		t.Errorf("answer is %s", got)
	}
	if err := <-stopped; err != nil {
		t.Errorf("stop: %v", err)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestTooManyCallsAtOnceAreRefusedAsBusy(t *testing.T) {
	s := &server{log: quiet(), calls: make(gate, 1)}
	if !s.calls.enter() || s.calls.enter() {
		t.Fatal("a gate for one lets two in, or none")
	}
	s.calls.leave()
	if !s.calls.enter() {
		t.Fatal("a gate does not open again")
	}
}

func TestACallWithoutAnAppIsNotRunning(t *testing.T) {
	dir := privateDir(t)
	for name, data := range map[string]string{"no data directory": filepath.Join(dir, "none"), "no socket": dir} {
		t.Run(name, func(t *testing.T) {
			_, err := NewClient(data).Call(t.Context(), "greet", nil)
			if no := wantCode(t, err, refusal.NotRunning); no.Remedy != "start it with: termic serve" {
				t.Errorf("remedy is %q", no.Remedy)
			}
		})
	}
	t.Run("a dead socket", func(t *testing.T) {
		leaveDeadSocket(t, filepath.Join(dir, socketName))
		_, err := NewClient(dir).Call(t.Context(), "greet", nil)
		wantCode(t, err, refusal.NotRunning)
	})
}

func TestAnAppThatDiesDuringACallIsNotRunning(t *testing.T) {
	dir := privateDir(t)
	listener, err := net.Listen("unix", filepath.Join(dir, socketName))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if err := writePrivate(filepath.Join(dir, tokenName), newToken()); err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 1))
			conn.Close()
		}
	}()
	_, err = NewClient(dir).Call(t.Context(), "greet", nil)
	if no := wantCode(t, err, refusal.NotRunning); !strings.Contains(no.Reason, "may have been done") {
		t.Errorf("reason %q promises that nothing was done", no.Reason)
	}
}

func TestARestartedAppsNewTokenIsFound(t *testing.T) {
	dir := privateDir(t)
	l, _ := start(t, dir, routerFunc(echo), nil)
	path := filepath.Join(dir, tokenName)
	if err := writePrivate(path, newToken()); err != nil {
		t.Fatal(err)
	}
	_, err := NewClient(dir).Call(t.Context(), "greet", nil)
	wantCode(t, err, refusal.NotPermitted)
	if err := writePrivate(path, l.token); err != nil {
		t.Fatal(err)
	}
	if _, err := NewClient(dir).Call(t.Context(), "greet", nil); err != nil {
		t.Errorf("with the right token again: %v", err)
	}
}

func TestTheTokenIsPrivateAndNewAtEachStart(t *testing.T) {
	dir := privateDir(t)
	first, stop := start(t, dir, routerFunc(echo), nil)
	info, err := os.Lstat(filepath.Join(dir, tokenName))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != 0o600 || info.Size() != 52 {
		t.Errorf("the token's file has mode %v and %d bytes", info.Mode(), info.Size())
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	second, _ := start(t, dir, routerFunc(echo), nil)
	if first.token == second.token {
		t.Error("two starts have one token")
	}
}
