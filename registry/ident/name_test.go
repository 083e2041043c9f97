package ident

import (
	"strings"
	"testing"
)

func TestCheckName(t *testing.T) {
	for name, ok := range map[string]bool{
		"fix-login":             true,
		"v1.2_beta":             true,
		"7":                     true,
		"größe":                 true,
		"日本語":                   true,
		"हिन्दी":                true,
		strings.Repeat("a", 64): true,
		strings.Repeat("a", 65): false,
		"":                      false,
		"a/b":                   false,
		"..":                    false,
		"a..b":                  false,
		"a.":                    false,
		"a.lock":                false,
		"a~1":                   false,
		"a^":                    false,
		"a:b":                   false,
		"a b":                   false,
		"a\nb":                  false,
		"a\x00b":                false,
		"-a":                    false,
		".a":                    false,
		"_a":                    false,
		"a\xff":                 false,
		"gro\u0308sse":          false, // a combining mark where NFC has one letter
		"a\u200bb":              false, // zero-width space
		"a\u202eb":              false, // right-to-left override
		string(NewTask()):       false,
		string(NewTask()) + "x": true,
		"t-short":               true,
		"e\u0301":               false,
		"\u0301a":               false,
	} {
		if err := CheckName(name); (err == nil) != ok {
			t.Errorf("CheckName(%q) = %v, want ok %v", name, err, ok)
		}
	}
}
