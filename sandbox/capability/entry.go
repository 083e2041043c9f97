package capability

import (
	pathpkg "path"
	"strconv"
	"strings"
	"unicode/utf8"
)

// path is the kind of an absolute, cleaned path below "/".
type path struct{}

const maxPath = 4095 // bytes; PATH_MAX of Linux (4096) counts the final NUL

func (path) normalise(entry string) (string, error) {
	bad := func(why string) (string, error) { return "", &InvalidError{Kind: "path", Value: entry, Why: why} }
	switch {
	case !strings.HasPrefix(entry, "/"):
		return bad("write an absolute path")
	case len(entry) > maxPath:
		return bad("longer than " + strconv.Itoa(maxPath) + " bytes")
	case strings.ContainsRune(entry, 0):
		return bad("contains a NUL byte")
	case !utf8.ValidString(entry):
		return bad("not UTF-8, so it would not survive being stored")
	case strings.Contains(entry+"/", "/../"):
		return bad(`contains ".."; resolve the path first`)
	}
	clean := pathpkg.Clean(entry)
	if clean == "/" {
		return bad("ask for every path by name (all)")
	}
	return clean, nil
}

func (path) wider(entry string) (string, bool) {
	i := strings.LastIndexByte(entry, '/')
	return entry[:max(i, 0)], i > 0
}

// host is the kind of a host pattern, normalised to `name:port` or `*.name:port`.
type host struct{}

// Limits of RFC 1035, section 2.3.4, as a name is written: 255 octets on the wire are 253 characters.
const (
	maxName  = 253
	maxLabel = 63
)

const defaultPort = "443"

func (host) normalise(entry string) (string, error) {
	name, port, ported := strings.Cut(entry, ":")
	if !ported {
		port = defaultPort
	}
	why := ""
	if strings.Contains(entry, "/") {
		why = "write a host name, not a URL"
	} else if strings.ContainsAny(port, ":[]") || strings.ContainsAny(name, "[]") {
		why = notAddress
	} else if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || port[0] == '0' {
		why = "a port is a number from 1 to 65535"
	}
	star := ""
	if rest, ok := strings.CutPrefix(name, "*."); ok {
		name, star = rest, "*."
	}
	name = hostName(name)
	if why == "" {
		why = nameFault(name)
	}
	if why != "" {
		return "", &InvalidError{Kind: "host pattern", Value: entry, Why: why}
	}
	return star + name + ":" + port, nil
}

const notAddress = "addresses are never reached; write a host name"

// hostName folds what does not tell names apart: ASCII case and the dot of the root.
func hostName(s string) string {
	s = strings.TrimSuffix(s, ".")
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, s)
}

// nameFault returns what is wrong with a folded host name, or "". The rule is RFC 1123, section 2.1
// (letters, digits, inner hyphens), less names that end like an address (inet_aton reads "0x7f.1" as one).
func nameFault(name string) string {
	if len(name) > maxName {
		return "a host name has at most " + strconv.Itoa(maxName) + " characters"
	}
	labels := strings.Split(name, ".")
	for _, label := range labels {
		switch {
		case label == "":
			return "a label of the host name is empty"
		case len(label) > maxLabel:
			return "a label has at most " + strconv.Itoa(maxLabel) + " characters"
		case strings.Contains(label, "*"):
			return `"*" stands only in front, as in "*.example.com"`
		case label[0] == '-' || label[len(label)-1] == '-':
			return "a label neither begins nor ends with a hyphen"
		}
		for _, c := range []byte(label) {
			switch {
			case c >= utf8.RuneSelf:
				return `write names outside ASCII in their "xn--" form`
			case !lowerAlnum(c) && c != '-':
				return "a host name has letters, digits, hyphens and dots only"
			}
		}
	}
	if last := labels[len(labels)-1]; '0' <= last[0] && last[0] <= '9' {
		return notAddress
	}
	return ""
}

func lowerAlnum(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }

// wider of `a.b.c:443` is `*.b.c:443`, of that `*.c:443`, of that none.
func (host) wider(entry string) (string, bool) {
	_, rest, ok := strings.Cut(strings.TrimPrefix(entry, "*."), ".")
	return "*." + rest, ok
}

// Reaches reports whether a connection to the named host and port is allowed. A name that no pattern could
// name (an address, a wildcard) is reached only if every host is.
func (s Set) Reaches(name string, port uint16) bool {
	if s.Network.all {
		return true
	}
	name = hostName(name)
	return nameFault(name) == "" && s.Network.holds(name+":"+strconv.Itoa(int(port)))
}

// variable is the kind of a name of an environment variable.
type variable struct{}

func (variable) normalise(entry string) (string, error) {
	for i := range len(entry) {
		c := entry[i]
		letter := c == '_' || lowerAlnum(c|0x20) && c > '9'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return "", &InvalidError{Kind: "variable name", Value: entry,
				Why: `write letters, digits and "_", no digit first`}
		}
	}
	if entry == "" {
		return "", &InvalidError{Kind: "variable name", Why: "is empty"}
	}
	return entry, nil
}

func (variable) wider(string) (string, bool) { return "", false }

// project is the kind of an id of a project, which this package does not look into.
type project struct{}

const maxProject = 128 // bytes; ids are far shorter, this only bounds what is stored and repeated

func (project) normalise(entry string) (string, error) {
	if entry == "" || len(entry) > maxProject || !utf8.ValidString(entry) {
		return "", &InvalidError{Kind: "project", Value: entry,
			Why: "an id is UTF-8 text of 1 to " + strconv.Itoa(maxProject) + " bytes"}
	}
	return entry, nil
}

func (project) wider(string) (string, bool) { return "", false }
