package notify

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/godbus/dbus/v5"
)

// ErrNoBus is returned where the app was started without a session bus that it may use: the desktop has none, or
// there is no desktop.
var ErrNoBus = errors.New("there is no session bus")

// The service (Desktop Notifications Specification 1.2).
const (
	service = "org.freedesktop.Notifications"
	object  = dbus.ObjectPath("/org/freedesktop/Notifications")
)

// Bus is the session bus of the desktop that the app was started in. It connects when it is first needed, again
// after it was cut off, and is safe for concurrent use.
type Bus struct {
	address string
	clicks  clicks

	mu   sync.Mutex // held over each exchange, so that a connection is made once
	conn *dbus.Conn // nil while there is none
	end  context.CancelFunc
}

// Session returns the bus that an environment names. Only sockets of this machine count: an address may also name a
// program to start or a host to ask.
func Session(environ []string) *Bus {
	var address, runtime string
	for _, entry := range environ {
		switch key, value, _ := strings.Cut(entry, "="); key {
		case "DBUS_SESSION_BUS_ADDRESS":
			address = value
		case "XDG_RUNTIME_DIR":
			runtime = value
		}
	}
	for one := range strings.SplitSeq(address, ";") {
		if strings.HasPrefix(one, "unix:path=/") || strings.HasPrefix(one, "unix:abstract=") {
			return &Bus{address: one}
		}
	}
	if address == "" && filepath.IsAbs(runtime) {
		return &Bus{address: "unix:path=" + dbus.EscapeBusAddressValue(filepath.Join(runtime, "bus"))}
	}
	return &Bus{}
}

// Send shows a notice and returns once the desktop's service took it. The error wraps ErrNoBus where there is no bus.
func (b *Bus) Send(ctx context.Context, notice Notice) error {
	hints := map[string]dbus.Variant{
		"urgency": dbus.MakeVariant(byte(1)),
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	// -1: the service decides for how long.
	body, err := b.exchange(ctx, "Notify", "termic", uint32(0), "", notice.Summary, notice.Body, b.clicks.actions(notice), hints, int32(-1))
	var id uint32
	if err == nil && dbus.Store(body, &id) == nil {
		b.clicks.note(id, notice.Task)
	}
	return err
}

// Check returns nil when the desktop's service answers.
func (b *Bus) Check(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, err := b.exchange(ctx, "GetServerInformation")
	return err
}

// exchange calls the service and returns its answer. A connection that gave none in time is not used again.
// mu is held.
func (b *Bus) exchange(ctx context.Context, method string, arguments ...any) ([]any, error) {
	if err := b.connect(ctx); err != nil {
		return nil, err
	}
	release := context.AfterFunc(ctx, b.end)
	call := b.conn.Object(service, object).CallWithContext(ctx, service+"."+method, 0, arguments...)
	err := call.Err
	var no dbus.Error // the service's own answer, or the bus's that there is no service
	if !release() || err != nil && !errors.As(err, &no) {
		b.drop()
	}
	if ctx.Err() != nil { // whichever of the two ends is noticed first
		err = ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("tell the desktop: %w", err)
	}
	return call.Body, nil
}

// connect makes the connection unless there is one that works; mu is held.
func (b *Bus) connect(ctx context.Context) error {
	if b.conn != nil && b.conn.Connected() {
		return nil
	}
	b.drop()
	if b.address == "" {
		return ErrNoBus
	}
	life, end := context.WithCancel(context.Background())
	release := context.AfterFunc(ctx, end) // a bus that is silent is let go of
	conn, err := dbus.Connect(b.address, dbus.WithContext(life))
	if err == nil {
		if err = b.listen(ctx, life, conn); err != nil {
			_ = conn.Close() // nothing of ours waits in it
		}
	}
	if !release() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		end()
		return fmt.Errorf("reach the session bus: %w", errors.Join(ErrNoBus, err))
	}
	b.conn, b.end = conn, end
	return nil
}

// drop ends the connection, if there is one; mu is held.
func (b *Bus) drop() {
	if b.conn == nil {
		return
	}
	b.end()
	_ = b.conn.Close() // nothing of ours waits in it
	b.conn, b.end = nil, nil
	b.clicks.forget()
}

// Close ends the connection. It waits for an exchange that is under way.
func (b *Bus) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drop()
}
