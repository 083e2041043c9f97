package jsonrpc

import (
	"bytes"
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"
)

// Members are the members of a JSON object, in its order. A list and no map: there are a handful, and making maps of them was
// a twentieth of what a call costs.
type Members []member

type member struct {
	name  []byte // without quotes and escapes
	value json.RawMessage
}

// usualMembers is for how many members room is made at once: as many as a message, its params and its _meta have.
const usualMembers = 4

// Get returns the value of a member, which is not empty, or nil where there is no such member.
func (m Members) Get(name string) json.RawMessage {
	for _, one := range m {
		if string(one.name) == name {
			return one.value
		}
	}
	return nil
}

// MembersOf returns the members of a JSON object; they alias it. It must be part of a message that Decode has
// accepted, or Object: every level of that was checked, and is not checked again. What is no object has none.
func MembersOf(accepted json.RawMessage) Members {
	if len(accepted) == 0 || accepted[0] != '{' {
		return nil
	}
	members := make(Members, 0, usualMembers)
	at := skipSpace(accepted, 1)
	for accepted[at] != '}' {
		end := skipString(accepted, at)
		name := nameOf(accepted[at:end])
		at = skipSpace(accepted, end)
		at = skipSpace(accepted, at+1) // the colon
		end = skipValue(accepted, at)
		members = append(members, member{name, accepted[at:end:end]})
		at = skipSpace(accepted, end)
		if accepted[at] == ',' {
			at = skipSpace(accepted, at+1)
		}
	}
	return members
}

// nameOf returns what a name that was accepted stands for; it aliases it where nothing in it is escaped.
func nameOf(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	name, _ := jsontext.AppendUnquote(nil, quoted)
	return name
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
