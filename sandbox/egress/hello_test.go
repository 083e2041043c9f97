package egress

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// vec is a vector whose length takes so many bytes.
func vec(bytes int, parts ...string) string {
	all := strings.Join(parts, "")
	return string(binary.BigEndian.AppendUint32(nil, uint32(len(all)))[4-bytes:]) + all
}

func ext(kind uint16, data string) string {
	return string(binary.BigEndian.AppendUint16(nil, kind)) + vec(2, data)
}

// sni is a server_name extension with these host names.
func sni(names ...string) string {
	var list string
	for _, name := range names {
		list += "\x00" + vec(2, name)
	}
	return ext(0, vec(2, list))
}

// greeting is a ClientHello message, which real servers read, with these extensions.
func greeting(extensions ...string) string {
	return "\x01" + vec(3, "\x03\x03", strings.Repeat("r", 32), vec(1, "session"), vec(2, "\x13\x01\xc0\x2f"), vec(1, "\x00"), vec(2, extensions...))
}

// records is a message in records of at most size bytes.
func records(message string, size int) string {
	var out string
	for len(message) > 0 {
		n := min(size, len(message))
		out += "\x16\x03\x01" + vec(2, message[:n])
		message = message[n:]
	}
	return out
}

func hello(names ...string) string { return records(greeting(sni(names...)), maxRecord) }

// firstFlight is what crypto/tls sends for config before it waits.
func firstFlight(t testing.TB, config *tls.Config) []byte {
	t.Helper()
	near, far := net.Pipe()
	defer far.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = tls.Client(near, config).Handshake()
	}()
	header := make([]byte, 5)
	if _, err := io.ReadFull(far, header); err != nil {
		t.Fatal(err)
	}
	body := make([]byte, binary.BigEndian.Uint16(header[3:]))
	if _, err := io.ReadFull(far, body); err != nil {
		t.Fatal(err)
	}
	far.Close()
	<-done
	return append(header, body...)
}

func TestReadHello(t *testing.T) {
	padded := func(n int) string { // a message of n bytes
		short := len(greeting(sni("a.test"), ext(21, "")))
		return greeting(sni("a.test"), ext(21, strings.Repeat("p", n-short)))
	}
	withRest := func(rest string) string { // rest stands where extensions begin
		return records("\x01"+vec(3, "\x03\x03", strings.Repeat("r", 32), vec(1), vec(2, "\x13\x01"), vec(1, "\x00"), rest), maxRecord)
	}
	tests := []struct {
		name, bytes string
		want        error // nil if a.test is read
	}{
		{"one record", hello("a.test"), nil},
		{"letter case", hello("A.Test"), nil},
		{"what crypto/tls sends", string(firstFlight(t, &tls.Config{ServerName: "a.test"})), nil},
		{"what crypto/tls sends for TLS 1.2", string(firstFlight(t, &tls.Config{ServerName: "a.test", MaxVersion: tls.VersionTLS12})), nil},
		{"other extensions around", records(greeting(ext(10, "x"), sni("a.test"), ext(0xfe0d, "inner")), maxRecord), nil},
		{"records of one byte", records(greeting(sni("a.test")), 1), nil},
		{"records of three bytes", records(greeting(sni("a.test")), 3), nil},
		{"records of four bytes", records(greeting(sni("a.test")), 4), nil},
		{"as long as may be", records(padded(maxHello), maxRecord), nil},
		{"one byte longer", records(padded(maxHello+1), maxRecord), errLongHello},
		{"short in all, in too many records", records(padded(12<<10), 1), errLongHello},
		{"plain HTTP", "GET / HTTP/1.1\r\n", errNotTLS},
		{"SSH", "SSH-2.0-x\r\n", errNotTLS},
		{"one byte of another protocol", "S", errNotTLS},
		{"an alert", "\x15\x03\x01\x00\x02\x02\x31", errNotTLS},
		{"an alert between its records", records(greeting(sni("a.test")), 40)[:45] + "\x15\x03\x01\x00\x02\x02\x31", errNotTLS},
		{"SSL 2", "\x80\x2e\x01\x03\x01", errNotTLS},
		{"another major version", "\x16\x02" + hello("a.test")[2:], errNotTLS},
		{"an empty record", "\x16\x03\x01\x00\x00" + hello("a.test"), errNotTLS},
		{"an empty record in between", records(greeting(sni("a.test")), 40)[:45] + "\x16\x03\x01\x00\x00", errNotTLS},
		{"a record as long as may be", records(padded(maxRecord), maxRecord), nil},
		{"a record one byte longer", records(padded(maxRecord+1), maxRecord+1), errNotTLS},
		{"another message", records("\x02"+greeting(sni("a.test"))[1:], maxRecord), errNotTLS},
		{"a second message in its record", records(greeting(sni("a.test"))+greeting(sni("b.test")), maxRecord), errAfterHello},
		{"one more byte in its record", records(greeting(sni("a.test"))+"x", maxRecord), errAfterHello},
		{"no name", records(greeting(ext(10, "x")), maxRecord), errNoName},
		{"no extensions", records(greeting(), maxRecord), errNoName},
		{"no field of extensions", withRest(""), errNoName},
		{"an empty list of names", records(greeting(ext(0, vec(2))), maxRecord), errNoName},
		{"two names", hello("a.test", "b.test"), errSeveral},
		{"one name twice", hello("a.test", "a.test"), errSeveral},
		{"two lists of names", records(greeting(sni("a.test"), sni("b.test")), maxRecord), errBrokenHello},
		{"an extension twice", records(greeting(sni("a.test"), ext(10, ""), ext(10, "")), maxRecord), errBrokenHello},
		{"an empty name", hello(""), errBrokenHello},
		{"a name of another type", records(greeting(ext(0, vec(2, "\x01", vec(2, "a.test")))), maxRecord), errBrokenHello},
		{"a name that is cut off", records(greeting(ext(0, vec(2, "\x00\x00\x07a.test"))), maxRecord), errBrokenHello},
		{"a rest behind the list of names", records(greeting(ext(0, vec(2, "\x00", vec(2, "a.test"))+"x")), maxRecord), errBrokenHello},
		{"a rest behind a name", records(greeting(ext(0, vec(2, "\x00", vec(2, "a.test"), "x"))), maxRecord), errSeveral},
		{"an extension that is cut off", withRest(vec(2, sni("a.test"), "\x00\x0a\x00\x01")), errBrokenHello},
		{"an extension that is well", withRest(vec(2, sni("a.test"), "\x00\x0a\x00\x01x")), nil},
		{"a rest behind the extensions", withRest(vec(2, sni("a.test")) + "x"), errBrokenHello},
		{"a message that ends early", records("\x01"+vec(3, "\x03\x03", strings.Repeat("r", 31)), maxRecord), errBrokenHello},
		{"nothing", "", io.EOF},
		{"a record that ends early", hello("a.test")[:50], io.ErrUnexpectedEOF},
		{"a header that ends early", hello("a.test")[:3], io.ErrUnexpectedEOF},
		{"records that end early", records(greeting(sni("a.test")), 40)[:45], io.EOF},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rest := "what follows"
			if tt.want != nil {
				rest = ""
			}
			r := bufio.NewReaderSize(iotest.HalfReader(strings.NewReader(tt.bytes+rest)), maxHead)
			raw, name, err := readHello(r)
			if !errors.Is(err, tt.want) {
				t.Fatalf("%q, %v; want %v", name, err, tt.want)
			}
			if tt.want != nil {
				return
			}
			left, _ := io.ReadAll(r)
			if name != "a.test" || string(raw) != tt.bytes || string(left) != rest {
				t.Errorf("name %q, %d of %d bytes, left %q", name, len(raw), len(tt.bytes), left)
			}
		})
	}
}

// TestHelloFoldsASCIIOnly: the Kelvin sign folds to k in Unicode, and is no letter of a host name.
func TestHelloFoldsASCIIOnly(t *testing.T) {
	for name, want := range map[string]string{"K.test": "k.test", "\u212a.test": "\u212a.test", "k.test.": "k.test."} {
		_, got, err := readHello(bufio.NewReader(strings.NewReader(hello(name))))
		if err != nil || got != want {
			t.Errorf("%q = %q, %v", name, got, err)
		}
	}
}

// silent is a connection that holds bytes to read and swallows what is written.
type silent struct {
	net.Conn
	io.Reader
}

func (s silent) Read(b []byte) (int, error)     { return s.Reader.Read(b) }
func (silent) Write(b []byte) (int, error)      { return len(b), nil }
func (silent) Close() error                     { return nil }
func (silent) SetWriteDeadline(time.Time) error { return nil }

// standardName is the name that crypto/tls finds, and whether it got as far as having one.
func standardName(raw []byte) (name string, ok bool) {
	server := tls.Server(silent{Reader: bytes.NewReader(raw)}, &tls.Config{
		GetConfigForClient: func(info *tls.ClientHelloInfo) (*tls.Config, error) {
			name, ok = info.ServerName, true
			return nil, errors.New("seen")
		},
	})
	_ = server.Handshake()
	return name, ok
}

func TestStandardLibraryFindsTheSameName(t *testing.T) {
	for _, message := range []string{hello("A.test"), records(greeting(sni("A.test"), ext(0xfe0d, "\x00")), 20)} {
		if name, ok := standardName([]byte(message)); ok && name != "A.test" {
			t.Errorf("crypto/tls finds %q", name)
		}
	}
	if name, ok := standardName(firstFlight(t, &tls.Config{ServerName: "a.test"})); !ok || name != "a.test" {
		t.Errorf("crypto/tls finds %q, %v: the fuzz target compares with nothing", name, ok)
	}
}

func FuzzReadHello(f *testing.F) {
	f.Add(firstFlight(f, &tls.Config{ServerName: "a.test"}), uint16(7))
	f.Add([]byte(hello("a.test")), uint16(1))
	f.Add([]byte(hello("a.test", "b.test")), uint16(1))
	f.Add([]byte(records(greeting(sni("a.test"), ext(0, "")), 9)), uint16(100))
	f.Fuzz(func(t *testing.T, data []byte, size uint16) {
		r := bufio.NewReaderSize(bytes.NewReader(data), maxHead)
		raw, name, err := readHello(r)
		slow, name2, err2 := readHello(bufio.NewReaderSize(iotest.OneByteReader(bytes.NewReader(data)), maxHead))
		if !bytes.Equal(slow, raw) || name2 != name || (err == nil) != (err2 == nil) {
			t.Errorf("byte by byte: %q, %v; at once: %q, %v", name2, err2, name, err)
		}
		if err != nil {
			return
		}
		left, _ := io.ReadAll(r)
		if name == "" || len(raw) > maxRaw || !bytes.Equal(append(bytes.Clone(raw), left...), data) {
			t.Fatalf("name %q, %d bytes read, %d left of %d", name, len(raw), len(left), len(data))
		}
		var message []byte
		for rest := raw; len(rest) > 0; rest = rest[5+binary.BigEndian.Uint16(rest[3:]):] {
			message = append(message, rest[5:5+binary.BigEndian.Uint16(rest[3:])]...)
		}
		again := records(string(message), int(size%maxRecord)+1)
		_, name3, err := readHello(bufio.NewReader(strings.NewReader(again)))
		if err == nil && name3 != name || err != nil && (!errors.Is(err, errLongHello) || len(again) <= maxRaw) {
			t.Errorf("in other records: %q, %v; was %q", name3, err, name)
		}
		if standard, ok := standardName(raw); ok && lower(standard) != name {
			t.Errorf("crypto/tls finds %q, not %q", standard, name)
		}
	})
}
