package egress

import (
	"bufio"
	"io"
	"strings"
)

// Bounds of a ClientHello, in bytes. Browsers send about 2 KiB with post-quantum keys.
const (
	maxRecord = 1 << 14  // RFC 8446, section 5.1
	maxHello  = 32 << 10 // the message
	maxRaw    = 64 << 10 // the message in records of any size that a client would choose
)

// Values of RFC 8446, sections 4 and 5.1, and RFC 6066, section 3.
const (
	recordHandshake   = 22
	typeClientHello   = 1
	extServerName     = 0
	nameTypeHost      = 0
	recordHeaderBytes = 5
)

var (
	errNotTLS      = &fault{class: NotTLS, reason: "only TLS passes, and this is not a TLS ClientHello"}
	errNoName      = &fault{class: NoName, reason: "the TLS ClientHello names no host; it must name the one of the request"}
	errSeveral     = &fault{class: NoName, reason: "the TLS ClientHello names more than one host"}
	errLongHello   = &fault{class: NotTLS, reason: "the TLS ClientHello is too long"}
	errAfterHello  = &fault{class: NotTLS, reason: "more follows the TLS ClientHello before an answer"}
	errBrokenHello = &fault{class: NotTLS, reason: "the TLS ClientHello is malformed"}
)

// readHello reads the records that hold a TLS ClientHello. It returns exactly the bytes that it took from r,
// and the host named there, folded to lower case. The error is a *fault, or that of r.
//
// It is stricter than servers are, so that none finds another name in the same bytes: no extension twice, one
// entry in the list of names, nothing left over in any field, and nothing behind the message in its record.
func readHello(r *bufio.Reader) (raw []byte, host string, err error) {
	var message []byte
	for {
		header := make([]byte, recordHeaderBytes)
		// The first byte alone tells: who speaks another protocol may send less than a header and wait.
		if kind, err := r.Peek(1); err != nil {
			return nil, "", err
		} else if kind[0] != recordHandshake {
			return nil, "", errNotTLS
		}
		if _, err := io.ReadFull(r, header); err != nil {
			return nil, "", err
		}
		n := int(header[3])<<8 | int(header[4])
		if header[1] != 3 || n == 0 || n > maxRecord {
			return nil, "", errNotTLS
		}
		if len(raw)+len(header)+n > maxRaw {
			return nil, "", errLongHello
		}
		raw = append(raw, header...)
		raw = append(raw, make([]byte, n)...)
		if _, err := io.ReadFull(r, raw[len(raw)-n:]); err != nil {
			return nil, "", err
		}
		message = append(message, raw[len(raw)-n:]...)
		if message[0] != typeClientHello {
			return nil, "", errNotTLS
		}
		if len(message) < 4 {
			continue
		}
		size := 4 + int(message[1])<<16 + int(message[2])<<8 + int(message[3])
		switch {
		case size > maxHello:
			return nil, "", errLongHello
		case len(message) > size:
			return nil, "", errAfterHello
		case len(message) == size:
			host, err := serverName(message[4:])
			return raw, host, err
		}
	}
}

// serverName returns the one host name of the body of a ClientHello (RFC 8446, section 4.1.2).
func serverName(body []byte) (string, error) {
	m := field{rest: body}
	m.take(2 + 32) // legacy_version, random
	m.vector(1)    // legacy_session_id
	m.vector(2)    // cipher_suites
	m.vector(1)    // legacy_compression_methods
	if m.broken {
		return "", errBrokenHello
	}
	if len(m.rest) == 0 {
		return "", errNoName // TLS 1.2 and older: no extensions at all
	}
	extensions := m.vector(2)
	if m.broken || len(m.rest) != 0 {
		return "", errBrokenHello
	}
	seen := map[int]bool{}
	var names []byte
	for e := (field{rest: extensions}); len(e.rest) > 0; {
		kind, data := e.number(2), e.vector(2)
		if e.broken || seen[kind] {
			return "", errBrokenHello
		}
		seen[kind] = true
		if kind == extServerName {
			names = data
		}
	}
	if !seen[extServerName] {
		return "", errNoName
	}
	return onlyName(names)
}

// onlyName reads a ServerNameList (RFC 6066, section 3).
func onlyName(data []byte) (string, error) {
	outer := field{rest: data}
	list := field{rest: outer.vector(2)}
	if outer.broken || len(outer.rest) != 0 {
		return "", errBrokenHello
	}
	if len(list.rest) == 0 {
		return "", errNoName
	}
	kind, name := list.number(1), list.vector(2)
	switch {
	case list.broken || kind != nameTypeHost || len(name) == 0:
		return "", errBrokenHello
	case len(list.rest) != 0:
		return "", errSeveral
	}
	return lower(string(name)), nil
}

// lower folds ASCII only: other letters that Unicode folds to ASCII (the Kelvin sign) stay different.
func lower(s string) string {
	return strings.Map(func(c rune) rune {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		return c
	}, s)
}

// field reads from the front of rest. Once something is missing it is broken and everything read is empty.
type field struct {
	rest   []byte
	broken bool
}

func (f *field) take(n int) []byte {
	if f.broken || n > len(f.rest) {
		f.broken = true
		return nil
	}
	taken := f.rest[:n]
	f.rest = f.rest[n:]
	return taken
}

// number reads a big-endian number of so many bytes.
func (f *field) number(bytes int) int {
	n := 0
	for _, b := range f.take(bytes) {
		n = n<<8 | int(b)
	}
	return n
}

// vector reads a vector whose length is a number of so many bytes.
func (f *field) vector(bytes int) []byte { return f.take(f.number(bytes)) }
