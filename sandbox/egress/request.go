package egress

import (
	"bufio"
	"errors"
	"os"
	"strings"
)

// fault is why what a client sent is refused.
type fault struct {
	class  Class
	reason string
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
		return "", &fault{Malformed, "not an HTTP/1 request"}
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
			return "", &fault{Malformed, "a header line is malformed"}
		}
	}
	if method != "CONNECT" {
		return "", &fault{NotConnect, "only CONNECT is served; use https"}
	}
	return target, nil
}

// readLine returns a line of at most limit bytes without its CR LF. It holds no other control character than
// a tab.
func readLine(r *bufio.Reader, limit int) (string, error) {
	slice, err := r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) || len(slice) > limit {
		return "", &fault{Malformed, "the request is too long"}
	}
	if err != nil {
		return "", err
	}
	line, ok := strings.CutSuffix(string(slice), "\r\n")
	if !ok || strings.ContainsFunc(line, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
		return "", &fault{Malformed, "not an HTTP/1 request"}
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
		return &fault{Slow, "no complete " + what + " came in time"}
	}
	return &fault{gone, "the client ended before a complete " + what}
}
