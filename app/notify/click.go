package notify

import (
	"context"
	"fmt"
	"slices"

	"github.com/godbus/dbus/v5"
)

// maxShown bounds the notices whose click is known: services show a handful, and forget older ones.
const maxShown = 64

// defaultAction is what a click on the notice itself means (Desktop Notifications Specification 1.2, Notify).
const defaultAction = "default"

// clicks knows which notice leads where. Bus.mu guards it: while a notice is on its way its number is not known yet, and a click waits.
type clicks struct {
	open  func(task string) // nil: a click does nothing, and none is asked for
	shown []shown           // the latest last
}

type shown struct {
	id   uint32
	task string
}

// OnClick says what a click on a notice does; task is the id of the one that it is about. It is called before the first Send.
func (b *Bus) OnClick(open func(task string)) { b.clicks.open = open }

// actions are those that a notice offers.
func (c *clicks) actions(notice Notice) []string {
	if c.open == nil || notice.Task == "" {
		return []string{}
	}
	return []string{defaultAction, "Open"}
}

// note keeps where a notice leads. A service gives a number again once the notice that had it is gone.
func (c *clicks) note(id uint32, task string) {
	c.shown = slices.DeleteFunc(c.shown, func(s shown) bool { return s.id == id })
	c.shown = append(c.shown, shown{id, task})
	c.shown = c.shown[max(0, len(c.shown)-maxShown):]
}

// take returns where the notice of a click leads, once; empty for one that is not ours.
func (c *clicks) take(id uint32) (task string) {
	c.shown = slices.DeleteFunc(c.shown, func(s shown) bool {
		if s.id == id {
			task = s.task
		}
		return s.id == id
	})
	return task
}

// forget drops all: the numbers are those of one connection to one service.
func (c *clicks) forget() { c.shown = nil }

// listen hears the clicks on a connection until life ends. Only signals of whoever owns the service's name come: the bus sees to it.
func (b *Bus) listen(ctx, life context.Context, conn *dbus.Conn) error {
	if b.clicks.open == nil {
		return nil
	}
	err := conn.AddMatchSignalContext(ctx, dbus.WithMatchSender(service), dbus.WithMatchObjectPath(object), dbus.WithMatchInterface(service), dbus.WithMatchMember("ActionInvoked"))
	if err != nil {
		return fmt.Errorf("listen for clicks: %w", err)
	}
	heard := make(chan *dbus.Signal, maxShown)
	conn.Signal(heard)
	go func() {
		for {
			select {
			case signal, ok := <-heard:
				if !ok {
					return
				}
				b.clicked(signal)
			case <-life.Done():
				return
			}
		}
	}()
	return nil
}

// clicked opens what a click is about.
func (b *Bus) clicked(signal *dbus.Signal) {
	var id uint32
	var action string
	if signal.Name != service+".ActionInvoked" || dbus.Store(signal.Body, &id, &action) != nil || action != defaultAction {
		return
	}
	b.mu.Lock()
	task := b.clicks.take(id)
	b.mu.Unlock()
	if task != "" {
		b.clicks.open(task)
	}
}
