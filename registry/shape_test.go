package registry

import (
	"encoding/json"
	"testing"
)

// TestAResultHasNoMemberTwice: what Marshal writes is not looked through again for members that are there twice, so it must
// be Marshal that refuses them, wherever they come from.
func TestAResultHasNoMemberTwice(t *testing.T) {
	type result struct {
		Any any `json:"any" jsonschema:"a"`
	}
	s, err := newShape[result]("result")
	if err != nil {
		t.Fatal(err)
	}
	for text, fits := range map[string]bool{`{"a":1,"b":2}`: true, `{"a":1,"a":2}`: false, `{"b":{"a":1,"a":1}}`: false, `{"a":1,"\u0061":2}`: false} {
		if raw, err := s.encode(result{json.RawMessage(text)}); (err == nil) != fits {
			t.Errorf("%s was written as %s, %v", text, raw, err)
		}
	}
}
