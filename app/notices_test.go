package app

import (
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

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
