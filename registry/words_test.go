package registry

import (
	"encoding/json"
	"strings"
	"testing"

	"termic/registry/refusal"
)

// Callers are told what to mend in their own words, and nothing of schemas.
func TestBadArgumentsAreNamedInPlainWords(t *testing.T) {
	r := newRig(t, allow, nil)
	for arguments, want := range map[string]string{
		`{}`:                                     `"text" is missing`,
		`{"text":"a","nope":1}`:                  `there is no argument "nope"`,
		`{"text":1}`:                             `text is of type integer and has to be of type string`,
		`{"text":"a","kind":"c"}`:                `kind has to be one of: a b`,
		`{"text":""}`:                            `text has 0 characters and needs 1 at least`,
		`{"text":"abcdefghijk"}`:                 `text has 11 characters and may have 10 at most`,
		`{"text":"a","list":["a","b","c"]}`:      `list has 3 entries and may have 2 at most`,
		`{"text":"a","list":[1]}`:                `list is of type integer and has to be of type string`,
		`{"text":"a","n":-1}`:                    `n has to be 0 or more`,
		`{"text":"a","most":-2}`:                 `most has to be -1 or more`,
		`{"text":"a","n":10}`:                    `n has to be 9 or less`,
		`[]`:                                     `is of type array and has to be of type object`,
		`{"text":"line\nwith \"want\" [in] it"}`: `text has 24 characters and may have 10 at most`,
	} {
		_, err := r.Dispatch(t.Context(), person, "test_write", json.RawMessage(arguments))
		no, ok := refusal.From(err)
		if !ok || no.Code != refusal.BadInput || no.Reason != want {
			t.Errorf("%s: %v, want %q", arguments, err, want)
		}
		for _, jargon := range []string{"properties", "validating", "schema", "Unicode code points", "enum:"} {
			if ok && strings.Contains(no.Reason, jargon) {
				t.Errorf("%s: %q", arguments, no.Reason)
			}
		}
	}
}
