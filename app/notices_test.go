package app

import (
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"termic/app/gui"
	"termic/app/notify/fakebus"
)

func TestTheDesktopIsToldOfAnAgentThatStopped(t *testing.T) {
	r := newRig(t)
	check := func() (state string) {
		for _, one := range r.must("doctor", `{}`)["checks"].([]any) {
			if one := one.(map[string]any); one["name"] == "notifications" {
				state = one["state"].(string)
			}
		}
		return state
	}
	if got := check(); got != "off" {
		t.Errorf("without a bus: %q", got)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	got := make(chan *dbus.Message, 16)
	r.environ = append(r.environ, fakebus.Listen(t, fakebus.Serve(got, func(string) string { return "" }))...)
	r.start()
	if got := check(); got != "ok" {
		t.Errorf("with one: %q", got)
	}
	<-got // doctor's question
	r.must("settings_set", `{"key":"notify.never_for","value":"demo"}`)
	r.task("hushed", "test", "say x")
	r.wait("hushed")
	r.must("task_archive", `{"task":"hushed"}`)
	r.must("settings_set", `{"key":"notify.never_for","value":""}`)
	r.task("fix-login", "test", "say x")
	r.wait("fix-login")
	select {
	case message := <-got:
		if message.Body[3] != "fix-login: test has stopped" {
			t.Errorf("%v", message.Body)
		}
	case <-time.After(time.Minute):
		t.Error("nothing is said")
	}
}

// frontHost is a window of which only whether it came to the front is known.
type frontHost struct {
	gui.Host
	front chan struct{}
}

func (h frontHost) Front() { h.front <- struct{}{} }

func TestAClickOnANoticeOpensItsTaskInTheWindow(t *testing.T) {
	r := newRig(t)
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	got, clicks := make(chan *dbus.Message, 16), make(chan fakebus.Click)
	r.environ = append(r.environ, fakebus.Listen(t, fakebus.ServeClicks(got, func(string) string { return "" }, clicks))...)
	host := frontHost{front: make(chan struct{}, 16)}
	r.window, r.host = func(*gui.Server) {}, host
	r.start()
	id := r.task("fix-login", "test", "say x")["id"]
	r.wait("fix-login")
	<-got // the notice
	if len(host.front) > 0 {
		t.Error("it comes to the front by itself")
	}
	clicks <- fakebus.Click{Notice: fakebus.Shown, Action: "default"}
	select {
	case <-host.front:
	case <-time.After(time.Minute):
		t.Fatal("the window does not come to the front")
	}
	if calls := r.audited(func(e map[string]any) bool {
		return e["verb"] == "task_open" && e["phase"] == "decided" && e["task"] == id && e["caller"] == "window"
	}); len(calls) != 1 {
		t.Errorf("recorded: %v", calls)
	}
}
