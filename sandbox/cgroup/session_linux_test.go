package cgroup

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
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

// systemdOf is a made-up systemd of a user: a bus with one service, which makes scopes in a made-up kernel.
type systemdOf struct {
	k *kernel
	// old: it knows no OOMPolicy of scopes.
	old bool
	// result of each job; empty: none is ever told.
	result string
	// ignores is a property that it takes and does nothing about.
	ignores string
	asked   []map[string]dbus.Variant
}

func (s *systemdOf) serve(conn net.Conn) {
	in := bufio.NewReader(conn)
	if !fakebus.Greet(in, conn) {
		return
	}
	for serial := uint32(1); ; {
		message, err := dbus.DecodeMessage(in)
		if err != nil {
			return
		}
		member, _ := message.Headers[dbus.FieldMember].Value().(string)
		body, no := []any{}, ""
		var after *dbus.Message
		switch member {
		case "Hello":
			body = []any{":1.7"}
		case "StartTransientUnit":
			if no = s.start(message.Body); no == "" {
				job := dbus.ObjectPath("/org/freedesktop/systemd1/job/7")
				body = []any{job}
				if s.result != "" {
					after = signal(uint32(7), job, message.Body[0], s.result)
				}
			}
		}
		reply := answer(message, no, body)
		for _, m := range []*dbus.Message{signal(uint32(6), dbus.ObjectPath("/org/freedesktop/systemd1/job/6"), "other.scope", "failed"), reply, after} {
			if m == nil || member == "Hello" && m != reply {
				continue
			}
			var encoded bytes.Buffer
			if err := m.EncodeTo(&encoded, binary.LittleEndian); err != nil {
				panic(err)
			}
			binary.LittleEndian.PutUint32(encoded.Bytes()[8:], serial)
			serial++
			if _, err := conn.Write(encoded.Bytes()); err != nil {
				return
			}
		}
	}
}

func answer(to *dbus.Message, no string, body []any) *dbus.Message {
	reply := &dbus.Message{Type: dbus.TypeMethodReply, Flags: dbus.FlagNoReplyExpected, Body: body, Headers: map[dbus.HeaderField]dbus.Variant{
		dbus.FieldReplySerial: dbus.MakeVariant(to.Serial()), dbus.FieldSender: dbus.MakeVariant("org.freedesktop.DBus"),
	}}
	if no != "" {
		reply.Type, reply.Headers[dbus.FieldErrorName] = dbus.TypeError, dbus.MakeVariant(no)
	}
	return signed(reply)
}

func signal(body ...any) *dbus.Message {
	return signed(&dbus.Message{Type: dbus.TypeSignal, Flags: dbus.FlagNoReplyExpected, Body: body, Headers: map[dbus.HeaderField]dbus.Variant{
		dbus.FieldPath: dbus.MakeVariant(object), dbus.FieldInterface: dbus.MakeVariant(manager), dbus.FieldMember: dbus.MakeVariant("JobRemoved"),
		dbus.FieldSender: dbus.MakeVariant(":1.1"),
	}})
}

func signed(m *dbus.Message) *dbus.Message {
	if len(m.Body) > 0 {
		m.Headers[dbus.FieldSignature] = dbus.MakeVariant(dbus.SignatureOf(m.Body...))
	}
	return m
}

// start makes a scope, and moves the process before it answers; really systemd does so before it tells the job's end.
func (s *systemdOf) start(body []any) (no string) {
	name, _ := body[0].(string)
	properties := map[string]dbus.Variant{}
	for _, p := range body[2].([][]any) {
		properties[p[0].(string)] = p[1].(dbus.Variant)
	}
	s.asked = append(s.asked, properties)
	if _, ok := properties["OOMPolicy"]; ok && s.old {
		return "org.freedesktop.DBus.Error.PropertyReadOnly"
	}
	dir := filepath.Join(s.k.root, name)
	if err := s.k.mkdir(dir); err != nil {
		return "org.freedesktop.DBus.Error.Failed"
	}
	for _, l := range limits {
		if n, ok := properties[l.property].Value().(uint64); ok && n < 1<<63 && l.property != s.ignores {
			s.k.put(dbus.MakeVariant(n).String()[len("@t "):]+"\n", dir, l.file)
		}
	}
	for _, pid := range properties["PIDs"].Value().([]uint32) {
		s.k.move(int(pid), "/"+name)
	}
	return ""
}

// onBus returns groups that a systemd makes, in a kernel where the app could make none itself.
func (s *systemdOf) onBus(t *testing.T) *Groups {
	s.k = newKernel(t, "/", "cpu", "memory", "pids")
	s.k.put("", s.k.tree.run, "systemd", "system", "x")
	s.k.put("cpu memory pids\n", s.k.root, "cgroup.subtree_control")
	return open(s.k.tree, prefix, fakeRuntime(t, s.serve))
}

// fakeRuntime returns the environment of a session whose bus is served.
func fakeRuntime(t *testing.T, serve func(net.Conn)) []string {
	address := fakebus.Listen(t, serve)[0]
	return []string{"HOME=/nonexistent", "XDG_RUNTIME_DIR=" + filepath.Dir(strings.TrimPrefix(address, "DBUS_SESSION_BUS_ADDRESS=unix:path="))}
}

func TestSystemdMakesAGroup(t *testing.T) {
	for name, c := range map[string]struct {
		systemd systemdOf
		want    Limits
		held    Limits
	}{
		"every limit":                         {systemdOf{result: "done"}, all, all},
		"one before 253":                      {systemdOf{result: "done", old: true}, all, all},
		"those that are asked for":            {systemdOf{result: "done"}, Limits{CPUWeight: 20}, Limits{CPUWeight: 20}},
		"without the controller of processor": {systemdOf{result: "done", ignores: "CPUWeight"}, all, Limits{Memory: 1 << 30, Processes: 512}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &c.systemd
			group, err := s.onBus(t).Put(t.Context(), "task", cage, c.want)
			if err != nil || group.Held != c.held {
				t.Fatalf("%+v, %v, want %+v", group, err, c.held)
			}
			last := s.asked[len(s.asked)-1]
			if got := last["CollectMode"].Value(); got != "inactive-or-failed" {
				t.Errorf("a scope that was killed stays: %v", got)
			}
			if _, ok := last["OOMPolicy"]; ok == s.old {
				t.Errorf("policy: %v", last)
			}
			if err := group.Remove(); err != nil || !exists(group.dir) { // it is systemd's
				t.Errorf("%v", err)
			}
		})
	}
}

func TestASystemdThatDoesNotMakeAGroupLimitsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		result, want string
		wait         time.Duration
	}{
		"the job failed":      {"failed", "start termic-0123-task", time.Minute},
		"its end is not told": {"", "deadline exceeded", 300 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			s := &systemdOf{result: c.result}
			ctx, cancel := context.WithTimeout(t.Context(), c.wait)
			defer cancel()
			if group, err := s.onBus(t).Put(ctx, "task", cage, all); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v, %v", group, err)
			}
		})
	}
}

func TestASessionWithoutSystemdHasNoGroups(t *testing.T) {
	silent := func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }
	noSystemd := func(conn net.Conn) {
		got := make(chan *dbus.Message, 9)
		fakebus.Serve(got, func(member string) string {
			if member == "Hello" || member == "AddMatch" {
				return ""
			}
			return "org.freedesktop.DBus.Error.ServiceUnknown"
		})(conn)
	}
	for name, serve := range map[string]func(net.Conn){"a bus that is silent": silent, "a bus without systemd": noSystemd} {
		t.Run(name, func(t *testing.T) {
			k := newKernel(t, "/", "hugetlb")
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			group, err := open(k.tree, prefix, fakeRuntime(t, serve)).Put(ctx, "task", cage, all)
			if err == nil || errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "systemd") {
				t.Errorf("%+v, %v", group, err)
			}
		})
	}
	for name, environ := range map[string][]string{"none is named": nil, "there is none": {"XDG_RUNTIME_DIR=" + t.TempDir()}, "a relative one": {"XDG_RUNTIME_DIR=run"}} {
		if g := open(newKernel(t, "/", "hugetlb").tree, prefix, environ); g.way != nil {
			t.Errorf("%s: %v", name, g.way)
		}
	}
}
