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
	"sync"
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

// Click is a signal that a notification's action was chosen.
type Click struct {
	Notice uint32
	Action string
}

// Shown is the number that each notification gets.
const Shown = 5

// Serve answers as a bus with a notification service; calls of the service go to got. answer returns the error's
// name for a call, or none.
func Serve(got chan<- *dbus.Message, answer func(member string) string) func(net.Conn) {
	return ServeClicks(got, answer, nil)
}

// ServeClicks is Serve of a service whose notifications are clicked on.
func ServeClicks(got chan<- *dbus.Message, answer func(member string) string, clicks <-chan Click) func(net.Conn) {
	return func(conn net.Conn) {
		in := bufio.NewReader(conn)
		gone := make(chan struct{})
		defer close(gone)
		conn = &ordered{Conn: conn}
		go func() {
			for serial := uint32(1 << 20); ; serial++ { // far from those of the answers
				select {
				case click := <-clicks:
					body := []any{click.Notice, click.Action}
					_ = send(conn, serial, &dbus.Message{Type: dbus.TypeSignal, Body: body, Headers: map[dbus.HeaderField]dbus.Variant{
						dbus.FieldPath: dbus.MakeVariant(dbus.ObjectPath("/org/freedesktop/Notifications")), dbus.FieldInterface: dbus.MakeVariant("org.freedesktop.Notifications"),
						dbus.FieldMember: dbus.MakeVariant("ActionInvoked"), dbus.FieldSender: dbus.MakeVariant(":1.8"), dbus.FieldSignature: dbus.MakeVariant(dbus.SignatureOf(body...)),
					}}) // a client that is gone reads none
				case <-gone:
					return
				}
			}
		}()
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
				case member == "AddMatch":
				case member == "Notify":
					body = []any{uint32(Shown)}
				default:
					body = []any{"a service", "x", "1", "1.2"}
				}
				if len(body) > 0 {
					reply.Body, reply.Headers[dbus.FieldSignature] = body, dbus.MakeVariant(dbus.SignatureOf(body...))
				}
				if member != "Hello" && member != "AddMatch" { // the bus's own
					got <- message
				}
				if err := send(conn, serial, reply); err != nil {
					return
				}
				serial++
			}
		}
	}
}

// ordered lets one message out after the other.
type ordered struct {
	net.Conn
	mu sync.Mutex
}

func (o *ordered) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.Conn.Write(p)
}

// send writes a message under a serial, which the package sets itself for its own.
func send(conn io.Writer, serial uint32, message *dbus.Message) error {
	var encoded bytes.Buffer
	if err := message.EncodeTo(&encoded, binary.LittleEndian); err != nil {
		panic(err)
	}
	binary.LittleEndian.PutUint32(encoded.Bytes()[8:], serial)
	_, err := conn.Write(encoded.Bytes())
	return err
}
