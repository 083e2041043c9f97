package egress

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// exchange is one connection of the task on its way to a decision.
type exchange struct {
	*server
	client   net.Conn
	in       *bufio.Reader // of client
	upstream net.Conn      // nil until connected
	accepted bool          // 200 was sent: what follows is no HTTP
	decided  bool
}

func (s *server) serve(client net.Conn) {
	x := &exchange{server: s, client: client, in: bufio.NewReaderSize(client, maxHead)}
	defer x.close()
	stop := context.AfterFunc(s.ending, func() { _ = client.Close() })
	hello, d := x.open()
	if !stop() {
		d = d.deny(Closing, "the task's proxy is ending")
	}
	x.decide(d)
	if !d.Allow {
		x.refuse(d)
		return
	}
	s.splice(client, x.upstream, io.MultiReader(bytes.NewReader(hello), x.in))
}

// close ends both connections. What a cage writes must not end the app, should the code that reads it have a
// fault: such a connection is refused.
func (x *exchange) close() {
	if p := recover(); p != nil && !x.decided {
		x.decide(Decision{}.deny(Internal, "the proxy failed"))
	}
	_ = x.client.Close()
	if x.upstream != nil {
		_ = x.upstream.Close()
	}
}

// decide reports d, which is done once.
func (x *exchange) decide(d Decision) {
	x.decided = true
	x.Decided(d)
}

// open takes client up to the point where bytes may pass: every rule holds, upstream is connected, and hello,
// which was read from client, is yet to be sent there.
func (x *exchange) open() (hello []byte, d Decision) {
	to, d := x.request()
	if !d.Allow {
		return nil, d
	}
	if d = x.connect(to); !d.Allow {
		return nil, d
	}
	_ = x.client.SetDeadline(time.Now().Add(x.limits.Head))
	if _, err := io.WriteString(x.client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return nil, d.deny(NotTLS, "the client went away before an answer")
	}
	x.accepted = true
	hello, name, err := readHello(x.in)
	if err != nil {
		f := readFault(err, NotTLS, "TLS ClientHello")
		return nil, d.deny(f.class, "%s", f.reason)
	}
	if name != to.host {
		return nil, d.deny(OtherName, "the TLS ClientHello names another host than %s", to.host)
	}
	return hello, d
}

// request reads the request and decides by what it names.
func (x *exchange) request() (HostPort, Decision) {
	_ = x.client.SetDeadline(time.Now().Add(x.limits.Head))
	target, err := readConnect(x.in)
	if err != nil {
		f := readFault(err, Malformed, "request")
		return HostPort{}, f.asked.deny(f.class, "%s", f.reason)
	}
	to, err := ParseHostPort(target)
	if err != nil {
		return HostPort{}, named(target).deny(BadTarget, "%s", err)
	}
	return to, x.Policy.Listed(to)
}

// connect looks up to, decides by the answers, and connects to one of them.
func (x *exchange) connect(to HostPort) Decision {
	ctx, cancel := context.WithTimeout(x.ending, x.limits.Resolve)
	answers, err := x.resolve.Resolve(ctx, to.host)
	cancel()
	if err != nil {
		return Decision{Host: to.host, Port: to.port}.deny(Unresolved, "the look-up of %s failed", to.host)
	}
	own, err := x.own()
	if err != nil {
		own = nil // which Decide refuses
	}
	d := x.Policy.Decide(to, answers, own)
	if !d.Allow {
		return d
	}
	ctx, cancel = context.WithTimeout(x.ending, x.limits.Dial)
	defer cancel()
	x.upstream, d.Addr, err = dialAny(ctx, x.dial, answers, to.port)
	switch {
	case errors.Is(err, errOwn):
		return d.deny(Own, "%s is this machine", to.host)
	case err != nil:
		return d.deny(Unreached, "connecting to %s: %s", to, why(err))
	}
	return d
}

// turnAway refuses a connection that is one too many, whatever it asks for.
func (s *server) turnAway(client net.Conn) {
	defer client.Close()
	x := &exchange{server: s, client: client, in: bufio.NewReaderSize(client, 16)} // 16: the least
	d := Decision{}.deny(Busy, "this task has %d connections open, which is the most", s.limits.Conns)
	x.decide(d)
	x.refuse(d)
}

// accessDenied is a fatal TLS alert (RFC 8446, section 6; 49). Clients show it by name, where a mere close
// reads as a broken network.
const accessDenied = "\x15\x03\x01\x00\x02\x02\x31"

// refuse tells the client d. The reason is the status line's phrase as well as the body: of a refused CONNECT
// most clients show only the former.
func (x *exchange) refuse(d Decision) {
	_ = x.client.SetDeadline(time.Now().Add(time.Second))
	answer := accessDenied
	switch {
	case !x.accepted:
		code, header := status(d.Class)
		answer = fmt.Sprintf("HTTP/1.1 %d %s\r\n%sContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%[2]s\n",
			code, d.Reason, header, len(d.Reason)+1)
	case d.Class == NotTLS || d.Class == Slow:
		return
	}
	if _, err := io.WriteString(x.client, answer); err != nil {
		return
	}
	// Closing with something unread resets the connection, and the answer may then never be read.
	closeWrite(x.client)
	_, _ = io.CopyN(io.Discard, x.in, 64<<10)
}

// status returns the HTTP status of a refusal and the headers that go with it.
func status(c Class) (code int, header string) {
	switch c {
	case Malformed, BadTarget:
		return 400, ""
	case NotConnect:
		return 405, "Allow: CONNECT\r\n" // RFC 9110, section 15.5.6
	case Slow:
		return 408, ""
	case Unresolved, Unreached:
		return 502, ""
	case Busy, Closing:
		return 503, ""
	}
	return 403, ""
}
