//go:build unix

package gitview

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"termic/app/git"
)

// entry is one line of a tree object.
type entry struct {
	mode string // octal digits as they stand there
	kind kind
	name string
	oid  git.OID
}

type kind int

const (
	blob kind = iota
	link
	tree
	gitlink
)

// parseTree reads a tree object: "<mode> <name>\0<id>" repeated, the id in idLen bytes (gitformat-pack(5) and
// git's tree-walk.c). It takes any bytes; what git would not read is an error.
func parseTree(data []byte, idLen int) ([]entry, error) {
	var list []entry
	for len(data) > 0 {
		sp := bytes.IndexByte(data, ' ')
		if sp < 1 || sp > 7 {
			return nil, fmt.Errorf("entry %d has no mode", len(list))
		}
		mode, err := strconv.ParseUint(string(data[:sp]), 8, 32)
		if err != nil {
			return nil, fmt.Errorf("entry %d has mode %.8q", len(list), data[:sp])
		}
		nul := bytes.IndexByte(data, 0)
		if nul <= sp+1 || len(data) < nul+1+idLen {
			return nil, fmt.Errorf("entry %d is cut short or has no name", len(list))
		}
		e := entry{mode: string(data[:sp]), name: string(data[sp+1 : nul]), oid: git.OID(hex.EncodeToString(data[nul+1 : nul+1+idLen]))}
		switch mode & 0o170000 { // as git takes them, cache.h: object_type and canon_mode
		case 0o100000:
			e.kind = blob
		case 0o120000:
			e.kind = link
		case 0o040000:
			e.kind = tree
		default:
			e.kind = gitlink
		}
		list, data = append(list, e), data[nul+1+idLen:]
	}
	return list, nil
}

// writtenModes are the modes that git writes; 100664 is of git before 2005.
var writtenModes = map[string]bool{"100644": true, "100755": true, "120000": true, "40000": true, "160000": true}

// badName returns why a name cannot be a component of a path: such an entry is refused. git's own check (--strict)
// comes first and knows more spellings of .git.
func badName(name string) string {
	switch {
	case name == "." || name == "..":
		return "a name that climbs"
	case strings.Contains(name, "/"):
		return "a name with a slash"
	case strings.EqualFold(name, ".git"):
		return "a name that git keeps for itself"
	}
	return ""
}

func oddName(name string) bool {
	return len(name) > 255 || !utf8.ValidString(name) || strings.ContainsFunc(name, func(c rune) bool {
		return c < 0x20 || 0x7f <= c && c < 0xa0 || c == '\u200e' || c == '\u200f' || 0x202a <= c && c <= 0x202e || 0x2066 <= c && c <= 0x2069
	})
}

// linkedFiles are read by git by name; as links they would lead it out of the tree.
var linkedFiles = map[string]bool{".gitattributes": true, ".gitignore": true, ".gitmodules": true, ".mailmap": true}

func fold(name string) string { return norm.NFC.String(cases.Fold().String(name)) }

// clashes returns names of the entries that are one file where file systems fold case and Unicode forms.
func clashes(list []entry) []string {
	seen := map[string]string{}
	var names []string
	for _, e := range list {
		key := fold(e.name)
		if other, ok := seen[key]; ok && other != e.name {
			names = append(names, e.name)
		}
		seen[key] = e.name
	}
	return names
}
