package egress

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
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

// TestWhatPlainHTTPNames: the person is told which host was wanted, and nothing else of the request.
func TestWhatPlainHTTPNames(t *testing.T) {
	const plain, other = "plain HTTP does not go through this proxy; use https", "only CONNECT is served"
	tests := []struct{ name, uri, want, reason string }{
		{"a host", "http://a.test/", "a.test:80", plain},
		{"a host alone", "http://a.test", "a.test:80", plain},
		{"a query right behind the host", "http://a.test?secret", "a.test:80", plain},
		{"a fragment right behind the host", "http://a.test#secret", "a.test:80", plain},
		{"a path with a colon", "http://a.test/secret:443", "a.test:80", plain},
		{"a port", "http://a.test:8080/secret", "a.test:8080", plain},
		{"upper case", "HTTP://A.Test./secret", "a.test:80", plain},
		{"https in a request for the proxy to make", "https://a.test/secret", "a.test:443", other},
		{"an address", "http://169.254.169.254/secret", "169.254.169.254:80", plain},
		{"an address and a port", "http://127.0.0.1:631/", "127.0.0.1:631", plain},
		{"an IPv6 address", "http://[::1]/", "[::1]:80", plain},
		{"an IPv6 address and a port", "http://[::1]:8080/", "[::1]:8080", plain},
		{"a user", "http://secret@a.test/", "", plain},
		{"a user who looks like a host", "http://a.test:80@secret.test/", "", plain},
		{"a backslash, which some read as a slash", `http://a.test\@secret.test/`, "", plain},
		{"an escape", "http://%61.test/", "", plain},
		{"a zone, which is free text", "http://[fe80::1%25secret]/", "", plain},
		{"no host", "http:///secret", "", plain},
		{"a port alone", "http://:80/", "", plain},
		{"an empty port", "http://a.test:/", "", plain},
		{"port 0", "http://a.test:0/", "", plain},
		{"a port beyond the last", "http://a.test:65536/", "", plain},
		{"a wildcard", "http://*.a.test/", "", plain},
		{"a number for an address", "http://2130706433/", "", plain},
		{"a name outside ASCII", "http://b\xc3\xbccher.test/", "", plain},
		{"another scheme", "ftp://a.test/", "", other},
		{"a path, which is a request to the proxy itself", "/http://a.test/", "", other},
		{"the target of a CONNECT", "a.test:443", "", other},
		{"a scheme cut short", "http:/a.test/", "", other},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := head(strings.NewReader("GET " + tt.uri + " HTTP/1.1\r\nHost: secret.test\r\n\r\n"))
			var f *fault
			if !errors.As(err, &f) || f.class != NotConnect || f.reason != tt.reason {
				t.Fatalf("%v", err)
			}
			if got := naming(f.asked); got != tt.want || f.asked.Allow || f.asked.Class != "" || f.asked.Reason != "" {
				t.Errorf("named %q of %+v, want %q", got, f.asked, tt.want)
			}
		})
	}
}

// naming is the host and port that d names, else "".
func naming(d Decision) string {
	switch {
	case d.Host != "":
		return HostPort{d.Host, d.Port}.String()
	case d.Addr.IsValid():
		return netip.AddrPortFrom(d.Addr, d.Port).String()
	}
	return ""
}

// FuzzNotConnect: what is named of a refused request is a host or an address and a port that stands in it, as
// net/url reads it too, and never anything else.
func FuzzNotConnect(f *testing.F) {
	for _, uri := range []string{"http://a.test/x", "https://a.test:8443?x", "http://[::1]:80/", "http://a.test:80@b.test/", `http://a.test\b.test/`, "/x", "http://[::ffff:1.2.3.4]"} {
		f.Add(uri)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		d := notConnect(uri).asked
		got := naming(d)
		if got == "" {
			if d != (Decision{}) {
				t.Errorf("%+v names nothing", d)
			}
			return
		}
		if to, err := ParseHostPort(got); d.Host != "" && (err != nil || to.String() != got || d.Addr.IsValid()) {
			t.Errorf("%q is no host and port: %v", got, err)
		}
		read, err := url.Parse(uri)
		if err != nil {
			t.Skip(err) // a path or a query that is malformed does not matter here
		}
		port := read.Port()
		if port == "" {
			port = map[string]string{"http": "80", "https": "443"}[read.Scheme]
		}
		host := strings.TrimSuffix(strings.ToLower(read.Hostname()), ".")
		if addr, err := netip.ParseAddr(host); err == nil {
			host = addr.String()
		}
		if read.User != nil || net.JoinHostPort(host, port) != got {
			t.Errorf("%q is named of %q, where net/url reads %q", got, uri, net.JoinHostPort(host, port))
		}
	})
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
