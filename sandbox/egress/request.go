package egress

import (
	"bufio"
	"errors"
	"net/netip"
	"os"
	"strings"
)

// fault is why what a client sent is refused.
type fault struct {
	class  Class
	reason string
	asked  Decision // what a request other than CONNECT named, else zero
}

func (f *fault) Error() string { return f.reason }

// maxHead bounds in bytes the request line and headers together, and each line: clients send some 200.
const maxHead = 8 << 10

// readConnect reads one HTTP/1 request up to and including its empty line, and returns the target of a
// CONNECT. What follows stays in r. The error is a *fault, or that of r. Headers are read for their shape only:
// none of them decides anything, and they are not kept.
//
// Lines end in CR LF, as every client at hand writes them; one reading of a request is enough.
func readConnect(r *bufio.Reader) (target string, err error) {
	first, err := readLine(r, maxHead)
	if err != nil {
		return "", err
	}
	method, rest, _ := strings.Cut(first, " ")
	target, version, _ := strings.Cut(rest, " ")
	if !isToken(method) || target == "" || version != "HTTP/1.1" && version != "HTTP/1.0" {
		return "", &fault{class: Malformed, reason: "not an HTTP/1 request"}
	}
	for left := maxHead - len(first) - len("\r\n"); ; {
		line, err := readLine(r, left)
		if err != nil {
			return "", err
		}
		left -= len(line) + len("\r\n")
		if line == "" {
			break
		}
		if name, _, ok := strings.Cut(line, ":"); !ok || !isToken(name) {
			return "", &fault{class: Malformed, reason: "a header line is malformed"}
		}
	}
	if method != "CONNECT" {
		return "", notConnect(target)
	}
	return target, nil
}

// notConnect refuses a request for target by another method. A proxy is sent the absolute form (RFC 9112, section
// 3.2.2), so target says which host was wanted: the person is shown it, and nothing else of target.
func notConnect(target string) *fault {
	if rest, ok := cutScheme(target, "http"); ok {
		return &fault{NotConnect, "plain HTTP does not go through this proxy; use https", named(hostAndPort(rest, ":80"))}
	}
	rest, _ := cutScheme(target, "https")
	return &fault{NotConnect, "only CONNECT is served", named(hostAndPort(rest, ":443"))}
}

func cutScheme(uri, scheme string) (rest string, ok bool) {
	n := len(scheme) + len("://")
	if len(uri) < n || !strings.EqualFold(uri[:n], scheme+"://") {
		return "", false
	}
	return uri[n:], true
}

// hostAndPort returns host and port of a URI without its scheme, port if it names none. One with a user in it, or
// with anything that programs read differently from each other, becomes "", which names nothing.
func hostAndPort(uri, port string) string {
	if end := strings.IndexAny(uri, "/?#"); end >= 0 {
		uri = uri[:end]
	}
	if uri == "" || strings.ContainsAny(uri, `@\%`) {
		return ""
	}
	if colon := strings.LastIndexByte(uri, ':'); colon <= strings.LastIndexByte(uri, ']') { // those of IPv6 are in brackets
		uri += port
	}
	return uri
}

// named returns a Decision that holds the host, or the address in place of one, and the port that target names,
// and nothing else of it.
func named(target string) Decision {
	if to, err := ParseHostPort(target); err == nil {
		return Decision{Host: to.host, Port: to.port}
	}
	if literal, err := netip.ParseAddrPort(target); err == nil {
		return Decision{Addr: literal.Addr().WithZone(""), Port: literal.Port()} // a zone is free text
	}
	return Decision{}
}

// readLine returns a line of at most limit bytes without its CR LF. It holds no other control character than
// a tab.
func readLine(r *bufio.Reader, limit int) (string, error) {
	slice, err := r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) || len(slice) > limit {
		return "", &fault{class: Malformed, reason: "the request is too long"}
	}
	if err != nil {
		return "", err
	}
	line, ok := strings.CutSuffix(string(slice), "\r\n")
	if !ok || strings.ContainsFunc(line, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
		return "", &fault{class: Malformed, reason: "not an HTTP/1 request"}
	}
	return line, nil
}

// isToken is token of RFC 9110, section 5.6.2.
func isToken(s string) bool {
	for _, c := range []byte(s) {
		alnum := '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
		if !alnum && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}

// readFault returns what an error of reading from the client means, which was waiting for what. The class of
// a client that went away is gone.
func readFault(err error, gone Class, what string) *fault {
	var f *fault
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &fault{class: Slow, reason: "no complete " + what + " came in time"}
	}
	return &fault{class: gone, reason: "the client ended before a complete " + what}
}
