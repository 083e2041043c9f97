package cgroup

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/godbus/dbus/v5"
)

// session makes groups as scopes of the user's systemd, which removes them when they are empty.
type session struct{ bus string } // its D-Bus address

// What systemd is called on a bus; org.freedesktop.systemd1(5).
const (
	systemd = "org.freedesktop.systemd1"
	manager = systemd + ".Manager"
	object  = dbus.ObjectPath("/org/freedesktop/systemd1")
)

func (session) words() string            { return "in the systemd session of the user" }
func (session) named(name string) string { return name + ".scope" }

// remove has nothing to do: systemd removes a scope that is empty (CollectMode).
func (session) remove(string) error { return nil }

// userBus returns the address of the bus that the user's systemd listens on. It is at one place, whatever bus the
// environment names for a desktop.
func userBus(environ []string) (string, error) {
	for _, entry := range environ {
		if dir, ok := strings.CutPrefix(entry, "XDG_RUNTIME_DIR="); ok && filepath.IsAbs(dir) {
			name := filepath.Join(dir, "bus")
			if info, err := os.Stat(name); err != nil || info.Mode().Type() != os.ModeSocket {
				break
			}
			return "unix:path=" + dbus.EscapeBusAddressValue(name), nil
		}
	}
	return "", errors.New("there is no systemd session of the user")
}

func (s session) put(ctx context.Context, name string, pid int, want Limits) error {
	conn, err := dbus.Connect(s.bus, dbus.WithContext(ctx))
	if err != nil {
		return fmt.Errorf("reach systemd: %w", err)
	}
	defer conn.Close()
	unit := s.named(name)
	jobs := make(chan *dbus.Signal, 64) // those of this unit alone
	conn.Signal(jobs)
	err = conn.AddMatchSignalContext(ctx, dbus.WithMatchInterface(manager), dbus.WithMatchMember("JobRemoved"), dbus.WithMatchArg(2, unit))
	if err != nil {
		return fmt.Errorf("listen to systemd: %w", err)
	}
	asked := conn.Object(systemd, object)
	if err := asked.CallWithContext(ctx, manager+".Subscribe", 0).Err; err != nil {
		return fmt.Errorf("listen to systemd: %w", err)
	}
	// What is killed for memory is the process that took it, and not the whole cage. Scopes have no such choice before
	// systemd 253, and need none there.
	job, err := start(ctx, asked, unit, append(properties(pid, want), property{"OOMPolicy", dbus.MakeVariant("continue")}))
	var no dbus.Error
	if errors.As(err, &no) {
		job, err = start(ctx, asked, unit, properties(pid, want))
	}
	if err != nil {
		return fmt.Errorf("start %s: %w", unit, err)
	}
	return await(ctx, jobs, job, unit)
}

// property is a property of a unit: (sv).
type property struct {
	Name  string
	Value dbus.Variant
}

func properties(pid int, want Limits) []property {
	list := []property{
		{"Description", dbus.MakeVariant("cage of a termic task")},
		{"PIDs", dbus.MakeVariant([]uint32{uint32(pid)})},
		{"CollectMode", dbus.MakeVariant("inactive-or-failed")}, // nothing is left of one that was killed
	}
	for _, l := range limits {
		switch wanted := *l.of(&want); {
		case wanted != 0:
			list = append(list, property{l.property, dbus.MakeVariant(uint64(wanted))})
		case l.controller == "pids": // systemd has a limit of its own
			list = append(list, property{l.property, dbus.MakeVariant(uint64(math.MaxUint64))})
		}
	}
	if want.Memory != 0 {
		list = append(list, property{"MemorySwapMax", dbus.MakeVariant(uint64(0))})
	}
	return list
}

// auxiliary is the last argument of StartTransientUnit, of which there is none: a(sa(sv)).
type auxiliary struct {
	Name       string
	Properties []property
}

func start(ctx context.Context, asked dbus.BusObject, unit string, properties []property) (job dbus.ObjectPath, err error) {
	err = asked.CallWithContext(ctx, manager+".StartTransientUnit", 0, unit, "fail", properties, []auxiliary{}).Store(&job)
	return job, err
}

// await returns when the unit has started: before, the process is where it was.
func await(ctx context.Context, jobs <-chan *dbus.Signal, job dbus.ObjectPath, unit string) error {
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("start %s: %w", unit, ctx.Err())
		case signal, ok := <-jobs:
			if !ok {
				return fmt.Errorf("start %s: the connection to systemd ended", unit)
			}
			var id uint32
			var removed dbus.ObjectPath
			var of, result string
			if signal.Name != manager+".JobRemoved" || dbus.Store(signal.Body, &id, &removed, &of, &result) != nil || removed != job {
				continue
			}
			if result != "done" {
				return fmt.Errorf("start %s: %s", unit, result)
			}
			return nil
		}
	}
}
