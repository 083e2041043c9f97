// Package fakebus is a session bus for tests: a socket that speaks as much of D-Bus as one client needs.
package fakebus

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"
)

// Listen serves each connection with serve, and returns the environment that names the bus.
func Listen(t testing.TB, serve func(net.Conn)) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bus")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { defer conn.Close(); serve(conn) }()
		}
	}()
	return []string{"DBUS_SESSION_BUS_ADDRESS=unix:path=" + path}
}

// Greet does a bus's part of the handshake (D-Bus Specification, authentication protocol).
func Greet(in *bufio.Reader, out io.Writer) bool {
	for {
		line, err := in.ReadString('\n')
		answer := "ERROR"
		switch line = strings.Trim(line, "\x00\r\n"); {
		case err != nil:
			return false
		case line == "BEGIN":
			return true
		case line == "AUTH":
			answer = "REJECTED EXTERNAL"
		case strings.HasPrefix(line, "AUTH EXTERNAL"):
			answer = "OK 0123456789abcdef0123456789abcdef"
		}
		if _, err := io.WriteString(out, answer+"\r\n"); err != nil {
			return false
		}
	}
}

// Serve answers as a bus with a notification service; calls of the service go to got. answer returns the error's
// name for a call, or none.
func Serve(got chan<- *dbus.Message, answer func(member string) string) func(net.Conn) {
	return func(conn net.Conn) {
		in := bufio.NewReader(conn)
		for serial := uint32(1); Greet(in, conn); {
			for {
				message, err := dbus.DecodeMessage(in)
				if err != nil {
					return
				}
				member, _ := message.Headers[dbus.FieldMember].Value().(string)
				reply := &dbus.Message{Type: dbus.TypeMethodReply, Flags: dbus.FlagNoReplyExpected, Headers: map[dbus.HeaderField]dbus.Variant{
					dbus.FieldReplySerial: dbus.MakeVariant(message.Serial()), dbus.FieldSender: dbus.MakeVariant("org.freedesktop.DBus"),
				}}
				body := []any{}
				switch no := answer(member); {
				case no != "":
					reply.Type, reply.Headers[dbus.FieldErrorName] = dbus.TypeError, dbus.MakeVariant(no)
				case member == "Hello":
					body = []any{":1.7"}
				case member == "Notify":
					body = []any{uint32(5)}
				default:
					body = []any{"a service", "x", "1", "1.2"}
				}
				if len(body) > 0 {
					reply.Body, reply.Headers[dbus.FieldSignature] = body, dbus.MakeVariant(dbus.SignatureOf(body...))
				}
				if member != "Hello" {
					got <- message
				}
				var encoded bytes.Buffer
				if err := reply.EncodeTo(&encoded, binary.LittleEndian); err != nil {
					panic(err)
				}
				binary.LittleEndian.PutUint32(encoded.Bytes()[8:], serial) // the serial, which the package sets itself for its own
				serial++
				if _, err := conn.Write(encoded.Bytes()); err != nil {
					return
				}
			}
		}
	}
}
