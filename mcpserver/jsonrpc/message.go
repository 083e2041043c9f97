// Package jsonrpc reads and writes JSON-RPC 2.0 messages as the Model Context Protocol uses them: one message
// a body, no batches, ids that are strings or integers, parameters that are objects.
//
// It is strict where two readers of one message could disagree: a member twice, text after the value, invalid
// UTF-8 and numbers that do not survive a double are refused. It never copies what it reads: ids, parameters
// and members alias the message.
package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// maxDepth bounds the nesting of a message. The deepest arguments of any verb nest three levels and sit two
	// levels deep in the message; the rest is room for what clients put in _meta. It keeps hostile input
	// from costing stack.
	maxDepth = 64
	// maxID is the longest id, in bytes as written. Ids come back in answers; real clients send a number or
	// some dozens of letters.
	maxID = 512
	// maxSafeInteger is 2^53-1, the largest integer that every JSON reader keeps exact (RFC 8259 section 6).
	maxSafeInteger = 1<<53 - 1
)

// ID is the id of a request exactly as it was written, so that an answer repeats it byte for byte. The zero
// value is no id.
type ID []byte

// Message is a request, or a notification when it has no id.
type Message struct {
	ID     ID
	Method string
	// Params is a JSON object, or nil when there was none.
	Params json.RawMessage
}

// IsNotification tells whether nobody waits for an answer.
func (m Message) IsNotification() bool { return m.ID == nil }

// Decode reads one request or notification. When it returns an error the message holds at most the id, which
// the answer must then repeat, and which is nil where it could not be read.
func Decode(raw []byte) (Message, *Error) {
	members, err := object(raw)
	switch {
	case errors.Is(err, errNotObject):
		return Message{}, ErrInvalidRequest.With("a message is one JSON object; batches are not served")
	case err != nil:
		return Message{}, ErrParse.With("not valid JSON: " + err.Error())
	}
	var message Message
	if id := members.Get("id"); id != nil {
		if err := checkID(id); err != nil {
			return Message{}, ErrInvalidRequest.With("id " + err.Error())
		}
		message.ID = ID(id)
	}
	failed := Message{ID: message.ID}
	if version, ok := String(members.Get("jsonrpc")); !ok || version != "2.0" {
		return failed, ErrInvalidRequest.With(`jsonrpc is not "2.0"`)
	}
	if members.Get("result") != nil || members.Get("error") != nil {
		return failed, ErrInvalidRequest.With("a response is not expected here")
	}
	method, ok := String(members.Get("method"))
	if !ok || method == "" {
		return failed, ErrInvalidRequest.With("method is not a name")
	}
	if params := members.Get("params"); params != nil && params[0] != '{' {
		return failed, ErrInvalidRequest.With("params is not an object")
	}
	message.Method, message.Params = method, members.Get("params")
	return message, nil
}

// checkID accepts strings and integers. MCP forbids null; a fraction or a huge number would not come back
// as it went (JSON-RPC 2.0 section 4, RFC 8259 section 6).
func checkID(raw []byte) error {
	switch {
	case len(raw) > maxID:
		return fmt.Errorf("is longer than %d bytes", maxID)
	case raw[0] == '"':
		return nil
	case raw[0] != '-' && (raw[0] < '0' || raw[0] > '9'):
		return errors.New("is neither a string nor an integer")
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil || n > maxSafeInteger || n < -maxSafeInteger {
		return errors.New("is not an integer of at most 53 bits")
	}
	return nil
}

var errNotObject = errors.New("not an object")

// Object returns the members of a JSON object by name, for callers that change them; values alias raw. It refuses everything
// but exactly one valid object: no member twice at any level, valid UTF-8, at most maxDepth levels, nothing after it.
func Object(raw []byte) (map[string]json.RawMessage, error) {
	members, err := object(raw)
	if err != nil {
		return nil, err
	}
	byName := make(map[string]json.RawMessage, len(members))
	for _, one := range members {
		byName[string(one.name)] = one.value
	}
	return byName, nil
}

// object is Object, with the members in their order.
func object(raw []byte) (Members, error) {
	if err := checkDepth(raw); err != nil {
		return nil, err
	}
	reader := readers.Get().(*reader)
	defer readers.Put(reader)
	decoder := reader.over(raw)
	if decoder.PeekKind() != '{' {
		if _, err := decoder.ReadValue(); err != nil {
			return nil, plain(err)
		}
		if err := end(decoder); err != nil {
			return nil, err
		}
		return nil, errNotObject
	}
	if _, err := decoder.ReadToken(); err != nil {
		return nil, plain(err)
	}
	members := make(Members, 0, usualMembers)
	last := func(length int) []byte { // what was read last, where it stands in raw
		stop := decoder.InputOffset()
		return raw[stop-int64(length) : stop : stop]
	}
	for decoder.PeekKind() != '}' {
		name, err := decoder.ReadValue()
		if err != nil {
			return nil, plain(err)
		}
		key := nameOf(last(len(name)))
		value, err := decoder.ReadValue()
		if err != nil {
			return nil, plain(err)
		}
		members = append(members, member{key, last(len(value))})
	}
	if _, err := decoder.ReadToken(); err != nil {
		return nil, plain(err)
	}
	return members, end(decoder)
}

// reader is a decoder that is used again: what it allocates to find members that are there twice is half of what
// reading a message costs.
type reader struct {
	decoder *jsontext.Decoder
	buffer  bytes.Buffer
}

var readers = sync.Pool{New: func() any { return &reader{decoder: jsontext.NewDecoder(bytes.NewReader(nil))} }}

// over returns the decoder at the beginning of raw.
func (r *reader) over(raw []byte) *jsontext.Decoder {
	r.buffer = *bytes.NewBuffer(raw)
	r.decoder.Reset(&r.buffer)
	return r.decoder
}

// String returns the text of a JSON string, and false for anything else, absent values included.
func String(raw json.RawMessage) (string, bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	var room [128]byte // names and versions fit
	text, err := jsontext.AppendUnquote(room[:0], raw)
	return string(text), err == nil
}

func end(decoder *jsontext.Decoder) error {
	if _, err := decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.New("text after the value")
	}
	return nil
}

// plain says what is wrong and where, without the library's own framing.
func plain(err error) error {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) && syntax.Err != nil {
		return fmt.Errorf("%w at byte %d", syntax.Err, syntax.ByteOffset)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it ends too early")
	}
	return err
}

func checkDepth(raw []byte) error {
	depth, inString, escaped := 0, false, false
	for _, c := range raw {
		switch {
		case escaped:
			escaped = false
		case inString:
			escaped = c == '\\'
			inString = c != '"'
		case c == '"':
			inString = true
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return fmt.Errorf("nested more than %d levels deep", maxDepth)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
}
