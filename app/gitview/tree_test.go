//go:build unix

package gitview

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"termic/app/git"
)

// FuzzParseTree: no input panics, and what is read, written again, is the input.
func FuzzParseTree(f *testing.F) {
	id := git.OID(strings.Repeat("ab", 20))
	f.Add([]byte(line("100644", "a", id) + line("40000", "b", id)))
	f.Add([]byte("100644 a\x00short"))
	f.Add([]byte("x y\x00"))
	f.Add([]byte(" \x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := parseTree(data, 20)
		if err != nil {
			return
		}
		var again bytes.Buffer
		for _, e := range list {
			raw, err := hex.DecodeString(string(e.oid))
			if err != nil || e.name == "" {
				t.Fatalf("%+v", e)
			}
			again.WriteString(e.mode + " " + e.name + "\x00")
			again.Write(raw)
		}
		if !bytes.Equal(again.Bytes(), data) {
			t.Errorf("%q was read as %q", data, again.Bytes())
		}
	})
}

// FuzzParseClaims: what is taken has the form of ids.
func FuzzParseClaims(f *testing.F) {
	f.Add([]byte(strings.Repeat("a", 40) + "\n\n"))
	f.Add([]byte("--all\n"))
	f.Add([]byte(strings.Repeat("0", 40)))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := ParseClaims(data)
		for _, oid := range list {
			if !oid.Valid() || err != nil {
				t.Errorf("%q, %v", oid, err)
			}
		}
	})
}

func TestWithoutUserinfo(t *testing.T) {
	for in, want := range map[string]string{
		"https://example.org/p.git":                     "https://example.org/p.git",
		"https://me@example.org/p.git":                  "https://example.org/p.git",
		"https://me:t0k@example.org:8443/p.git?x=t0k#y": "https://example.org:8443/p.git",
		"HTTPS://t0k@example.org/p":                     "https://example.org/p",
		"ssh://git@example.org/p":                       "ssh://git@example.org/p",
		"ssh://git:t0k@example.org/p":                   "ssh://git@example.org/p",
		"git@example.org:p.git":                         "git@example.org:p.git",
		"/srv/p.git":                                    "/srv/p.git",
		"../p.git":                                      "../p.git",
		"ext::sh -c t0k":                                "",
		"transport::https://t0k@example.org":            "",
		"https://exa mple.org/t0k":                      "",
		"a\nb":                                          "",
	} {
		got, ok := withoutUserinfo(in)
		if got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", in, got, ok)
		}
	}
}
