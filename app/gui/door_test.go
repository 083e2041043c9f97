package gui

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// answered asks a handler, and returns its status and text.
func answered(h http.Handler, method, path, body string) (int, string, http.Header) {
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, httptest.NewRequest(method, path, strings.NewReader(body)))
	text, _ := io.ReadAll(answer.Body)
	return answer.Code, string(text), answer.Header()
}

func TestThePageIsThereBeforeTheAppIsAndItsCallsWait(t *testing.T) {
	r := newRig(t)
	door := NewDoor(r.Assets)
	for _, path := range []string{"/", "/assets/a.js"} {
		status, _, header := answered(door, http.MethodGet, path, "")
		if status != http.StatusOK || header.Get("Content-Security-Policy") != policy {
			t.Errorf("%s before the app is there: %d, %v", path, status, header)
		}
	}
	got := make(chan string, 1)
	go func() {
		_, text, _ := answered(door, http.MethodPost, "/host/renderer", "")
		got <- text
	}()
	select {
	case text := <-got:
		t.Fatalf("answered before the app is there: %s", text)
	case <-time.After(50 * time.Millisecond):
	}
	door.Open(r.Server)
	if text := <-got; !strings.Contains(text, `"result"`) {
		t.Errorf("once it is there: %s", text)
	}
	if status, _, header := answered(door, http.MethodGet, "/", ""); status != http.StatusOK || header.Get("Content-Security-Policy") != policy {
		t.Errorf("the page afterwards: %d, %v", status, header)
	}
	door.Open(nil)
	if status, _, _ := answered(door, http.MethodPost, "/host/renderer", ""); status != http.StatusOK {
		t.Errorf("a door that was opened has closed: %d", status)
	}
}

func TestAPageOfAnAppThatCouldNotOpenIsToldSo(t *testing.T) {
	door := NewDoor(fstest.MapFS{"index.html": {Data: []byte("page")}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	answer := httptest.NewRecorder()
	door.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/call/task_list", nil).WithContext(ctx)) // who has gone is waited for by nobody
	if answer.Body.Len() > 0 {
		t.Errorf("an answer before there is one: %s", answer.Body)
	}
	door.Open(nil)
	for _, path := range []string{"/call/task_list", "/host/renderer"} {
		if status, text, _ := answered(door, http.MethodPost, path, "{}"); status != http.StatusServiceUnavailable || !strings.Contains(text, "could not start") {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	if status, _, _ := answered(door, http.MethodGet, "/feed/x", ""); status != http.StatusServiceUnavailable {
		t.Errorf("feed: %d", status)
	}
}
