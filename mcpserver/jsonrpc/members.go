package jsonrpc

import (
	"bytes"
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"
)

// Members returns the members of a JSON object by name; values alias it. It must be part of a message that Decode has
// accepted, or Object: every level of that was checked, and is not checked again. What is no object has none.
func Members(accepted json.RawMessage) map[string]json.RawMessage {
	if len(accepted) == 0 || accepted[0] != '{' {
		return nil
	}
	members := map[string]json.RawMessage{}
	at := skipSpace(accepted, 1)
	for accepted[at] != '}' {
		end := skipString(accepted, at)
		name := nameOf(accepted[at:end])
		at = skipSpace(accepted, end)
		at = skipSpace(accepted, at+1) // the colon
		end = skipValue(accepted, at)
		members[name] = accepted[at:end:end]
		at = skipSpace(accepted, end)
		if accepted[at] == ',' {
			at = skipSpace(accepted, at+1)
		}
	}
	return members
}

func nameOf(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	text, _ := jsontext.AppendUnquote(nil, quoted)
	return string(text)
}

func skipSpace(raw []byte, at int) int {
	for raw[at] == ' ' || raw[at] == '\t' || raw[at] == '\r' || raw[at] == '\n' {
		at++
	}
	return at
}

// skipString returns where the string that begins at `at` has ended.
func skipString(raw []byte, at int) int {
	for at++; raw[at] != '"'; at++ {
		if raw[at] == '\\' {
			at++
		}
	}
	return at + 1
}

// skipValue returns where the value that begins at `at` has ended.
func skipValue(raw []byte, at int) int {
	switch raw[at] {
	case '"':
		return skipString(raw, at)
	case '{', '[':
		return skipNested(raw, at)
	}
	for ; raw[at] != ',' && raw[at] != '}' && raw[at] != ']' && raw[at] > ' '; at++ {
	}
	return at
}

func skipNested(raw []byte, at int) int {
	for depth := 0; ; {
		switch raw[at] {
		case '"':
			at = skipString(raw, at)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if at++; depth == 0 {
			return at
		}
	}
}
