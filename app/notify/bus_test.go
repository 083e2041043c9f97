package notify

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"termic/app/notify/fakebus"
)

func always(string) string { return "" }

func TestANoticeReachesTheDesktopsService(t *testing.T) {
	got := make(chan *dbus.Message, 4)
	bus := Session(fakebus.Listen(t, fakebus.Serve(got, always)))
	defer bus.Close()
	for range 2 { // over one connection
		if err := bus.Send(t.Context(), Notice{Summary: "fix-login: Claude waits for you", Body: "shop: &lt;b&gt;"}); err != nil {
			t.Fatal(err)
		}
		message := <-got
		path, _ := message.Headers[dbus.FieldPath].Value().(dbus.ObjectPath)
		iface, _ := message.Headers[dbus.FieldInterface].Value().(string)
		if path != object || iface != service || len(message.Body) != 8 || message.Body[0] != "termic" || message.Body[3] != "fix-login: Claude waits for you" || message.Body[4] != "shop: &lt;b&gt;" {
			t.Errorf("%v", message)
		}
	}
	if err := bus.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestTheBusIsReachedAgainAfterItWasLost(t *testing.T) {
	got := make(chan *dbus.Message, 4)
	conns := make(chan net.Conn, 4)
	serve := fakebus.Serve(got, always)
	bus := Session(fakebus.Listen(t, func(conn net.Conn) { conns <- conn; serve(conn) }))
	defer bus.Close()
	if err := bus.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	(<-conns).Close()
	// The end of the connection may be seen by the next call only, which then fails; the one after it connects anew.
	if err := bus.Check(t.Context()); err != nil {
		if err := bus.Check(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestWithoutABusThatAnswersNothingBlocks(t *testing.T) {
	short := func() (context.Context, context.CancelFunc) {
		return context.WithTimeout(t.Context(), 50*time.Millisecond)
	}
	silent := func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }
	noHello := func(conn net.Conn) { fakebus.Greet(bufio.NewReader(conn), conn); silent(conn) }
	for name, c := range map[string]struct {
		environ []string
		noBus   bool
	}{
		"none is named":         {nil, true},
		"a program to start":    {[]string{"DBUS_SESSION_BUS_ADDRESS=unixexec:path=/bin/sh"}, true},
		"a host to ask":         {[]string{"DBUS_SESSION_BUS_ADDRESS=tcp:host=127.0.0.1,port=1"}, true},
		"nobody there":          {[]string{"DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent/bus"}, true},
		"nobody there, runtime": {[]string{"XDG_RUNTIME_DIR=/nonexistent"}, true},
		"silent at once":        {fakebus.Listen(t, silent), true},
		"silent after greeting": {fakebus.Listen(t, noHello), true},
		"no service on it": {fakebus.Listen(t, fakebus.Serve(make(chan *dbus.Message, 9), func(member string) string {
			if member == "Hello" {
				return ""
			}
			return "org.freedesktop.DBus.Error.ServiceUnknown"
		})), false},
	} {
		t.Run(name, func(t *testing.T) {
			bus := Session(c.environ)
			defer bus.Close()
			ctx, cancel := short()
			if !c.noBus {
				ctx = t.Context()
			}
			defer cancel()
			if err := bus.Send(ctx, Notice{Summary: "x", Body: "y"}); err == nil || errors.Is(err, ErrNoBus) != c.noBus {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestAServiceThatNeverAnswersIsLetGoOf(t *testing.T) {
	got := make(chan *dbus.Message) // nobody takes the call, so nobody answers it
	bus := Session(fakebus.Listen(t, fakebus.Serve(got, always)))
	defer bus.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := bus.Check(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if bus.conn != nil {
		t.Error("the connection is kept")
	}
}

func TestTheRuntimeDirectorysBusIsUsedWhereNoneIsNamed(t *testing.T) {
	environ := fakebus.Listen(t, fakebus.Serve(make(chan *dbus.Message, 1), always))
	dir := filepath.Dir(strings.TrimPrefix(environ[0], "DBUS_SESSION_BUS_ADDRESS=unix:path="))
	bus := Session([]string{"XDG_RUNTIME_DIR=" + dir})
	defer bus.Close()
	if err := bus.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAClickOnANoticeLeadsToItsTask(t *testing.T) {
	got := make(chan *dbus.Message, 16)
	clicks := make(chan fakebus.Click)
	opened := make(chan string, 16)
	bus := Session(fakebus.Listen(t, fakebus.ServeClicks(got, always, clicks)))
	defer bus.Close()
	bus.OnClick(func(task string) { opened <- task })
	send := func(task string) []string {
		t.Helper()
		if err := bus.Send(t.Context(), Notice{Summary: "x", Task: task}); err != nil {
			t.Fatal(err)
		}
		actions, _ := (<-got).Body[5].([]string)
		return actions
	}
	if got := strings.Join(send("t-1"), " "); got != "default Open" {
		t.Errorf("offers %q", got)
	}
	clicks <- fakebus.Click{Notice: fakebus.Shown + 1, Action: "default"} // another program's
	clicks <- fakebus.Click{Notice: fakebus.Shown, Action: "other"}       // no action of ours
	clicks <- fakebus.Click{Notice: fakebus.Shown, Action: "default"}
	if task := <-opened; task != "t-1" {
		t.Errorf("opened %q", task)
	}
	clicks <- fakebus.Click{Notice: fakebus.Shown, Action: "default"} // a second time
	send("t-2")                                                       // under the number of the first, which is gone
	clicks <- fakebus.Click{Notice: fakebus.Shown, Action: "default"}
	if task := <-opened; task != "t-2" {
		t.Errorf("opened %q", task)
	}
	if len(opened) > 0 {
		t.Errorf("opened %q as well", <-opened)
	}
	// The twin: where a click can show nothing, none is offered.
	plain := Session(fakebus.Listen(t, fakebus.Serve(got, always)))
	defer plain.Close()
	if err := plain.Send(t.Context(), Notice{Summary: "x", Task: "t-1"}); err != nil {
		t.Fatal(err)
	}
	if actions, _ := (<-got).Body[5].([]string); len(actions) > 0 {
		t.Errorf("offers %q", actions)
	}
}

func TestNoMoreClicksAreKnownThanCanBe(t *testing.T) {
	var c clicks
	for id := range uint32(maxShown + 9) {
		c.note(id, "t")
	}
	if len(c.shown) != maxShown || c.take(8) != "" || c.take(9) != "t" || c.take(9) != "" {
		t.Errorf("%d are known", len(c.shown))
	}
}
