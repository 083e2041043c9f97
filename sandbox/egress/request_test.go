package egress

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
)

func head(r io.Reader) (string, error) { return readConnect(bufio.NewReaderSize(r, maxHead)) }

func TestReadConnect(t *testing.T) {
	connect := func(headers string) string { return "CONNECT a.test:443 HTTP/1.1\r\n" + headers + "\r\n" }
	fill := func(n int) string { // a request of n bytes
		return connect("X: " + strings.Repeat("x", n-len(connect("X: \r\n"))) + "\r\n")
	}
	lines := func(n int) string { // of n bytes, in short lines
		s := connect("")
		for len(s)+100 < n {
			s = strings.Replace(s, "\r\n", "\r\nX: "+strings.Repeat("x", 15)+"\r\n", 1)
		}
		return strings.Replace(s, "\r\n", "\r\nX: "+strings.Repeat("x", n-len(s)-5)+"\r\n", 1)
	}
	tests := []struct {
		name, request string
		class         Class // "" if read
	}{
		{"no headers", connect(""), ""},
		{"HTTP/1.0", "CONNECT a.test:443 HTTP/1.0\r\n\r\n", ""},
		{"headers of clients", connect("Host: a.test:443\r\nProxy-Connection: keep-alive\r\nUser-Agent: x/1 (y; z)\r\n"), ""},
		{"an empty header, tabs and bytes outside ASCII", connect("A:\r\nB:\tb\r\nC: \xe9\r\n"), ""},
		{"as long as may be", fill(maxHead), ""},
		{"one byte longer", fill(maxHead + 1), Malformed},
		{"as long as may be in short lines", lines(maxHead), ""},
		{"one byte longer in short lines", lines(maxHead + 1), Malformed},
		{"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Malformed},
		{"HTTP/0.9", "GET /\r\n", Malformed},
		{"another version", "CONNECT a.test:443 HTTP/1.2\r\n\r\n", Malformed},
		{"a version in lower case", "CONNECT a.test:443 http/1.1\r\n\r\n", Malformed},
		{"plain HTTP through the proxy", "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n", NotConnect},
		{"plain HTTP to the proxy", "GET / HTTP/1.1\r\n\r\n", NotConnect},
		{"another method", "TRACE a.test:443 HTTP/1.1\r\n\r\n", NotConnect},
		{"the method in lower case", "connect a.test:443 HTTP/1.1\r\n\r\n", NotConnect},
		{"no method", " a.test:443 HTTP/1.1\r\n\r\n", Malformed},
		{"a method that is none", "CONNECT: a.test:443 HTTP/1.1\r\n\r\n", Malformed},
		{"no target", "CONNECT  HTTP/1.1\r\n\r\n", Malformed},
		{"two spaces", "CONNECT  a.test:443 HTTP/1.1\r\n\r\n", Malformed},
		{"a tab for a space", "CONNECT\ta.test:443 HTTP/1.1\r\n\r\n", Malformed},
		{"two targets", "CONNECT a.test:443 b.test:443 HTTP/1.1\r\n\r\n", Malformed},
		{"a space at the end", "CONNECT a.test:443 HTTP/1.1 \r\n\r\n", Malformed},
		{"an empty line first", "\r\n" + connect(""), Malformed},
		{"LF for CR LF", "CONNECT a.test:443 HTTP/1.1\n\n", Malformed},
		{"LF for CR LF in a header", connect("A: b\n"), Malformed},
		{"a CR inside a line", connect("A: b\rC: d\r\n"), Malformed},
		{"a NUL", connect("A: \x00\r\n"), Malformed},
		{"a line without a colon", connect("A\r\n"), Malformed},
		{"a header without a name", connect(": a\r\n"), Malformed},
		{"a space before the colon", connect("A : b\r\n"), Malformed},
		{"a folded header", connect("A: b\r\n c\r\n"), Malformed},
		{"TLS", "\x16\x03\x01\x00\x05\x01\x00\x00\x01\n", Malformed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			const rest = "what follows\n"
			r := bufio.NewReaderSize(iotest.HalfReader(strings.NewReader(tt.request+rest)), maxHead)
			got, err := readConnect(r)
			if tt.class != "" {
				var f *fault
				if !errors.As(err, &f) || f.class != tt.class || got != "" {
					t.Fatalf("%q, %v; want class %s", got, err, tt.class)
				}
				return
			}
			if err != nil || got != "a.test:443" {
				t.Fatalf("%q, %v", got, err)
			}
			if left, _ := io.ReadAll(r); string(left) != rest {
				t.Errorf("left %q for the tunnel", left)
			}
		})
	}
}

func FuzzReadConnect(f *testing.F) {
	f.Add([]byte("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\nrest"))
	f.Add([]byte("CONNECT a.test:443 HTTP/1.0\r\n\r\n"))
	f.Add([]byte("GET http://a.test/ HTTP/1.1\r\nA: b\r\n\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bufio.NewReaderSize(bytes.NewReader(data), maxHead)
		got, err := readConnect(r)
		if again, err2 := head(iotest.OneByteReader(bytes.NewReader(data))); again != got || (err == nil) != (err2 == nil) {
			t.Errorf("byte by byte: %q, %v; at once: %q, %v", again, err2, got, err)
		}
		if err != nil {
			if got != "" {
				t.Errorf("%q and %v", got, err)
			}
			return
		}
		left, _ := io.ReadAll(r)
		taken := data[:len(data)-len(left)]
		if !bytes.HasPrefix(taken, []byte("CONNECT "+got+" HTTP/1.")) || len(taken) > maxHead ||
			bytes.Index(taken, []byte("\r\n\r\n")) != len(taken)-4 {
			t.Errorf("%q was read of %q", got, taken)
		}
		if other, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(taken))); err == nil && other.RequestURI != got {
			t.Errorf("net/http reads %q, not %q", other.RequestURI, got)
		}
	})
}
