package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func nested(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }

func TestDecode(t *testing.T) {
	for _, row := range []struct {
		says, body string
		id, method string
		params     string
		fails      *Error
		mentions   string
	}{
		{says: "a request with an integer id", body: `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"a":1}}`, id: "7", method: "tools/list", params: `{"a":1}`},
		{says: "a request without params", body: `{"jsonrpc":"2.0","id":7,"method":"ping"}`, id: "7", method: "ping"},
		{says: "a notification has no id", body: `{"jsonrpc":"2.0","method":"notifications/cancelled"}`, method: "notifications/cancelled"},
		{says: "a string id keeps its escapes", body: `{"jsonrpc":"2.0","id":"\u0061\/","method":"m"}`, id: `"\u0061\/"`, method: "m"},
		{says: "an empty string is an id", body: `{"jsonrpc":"2.0","id":"","method":"m"}`, id: `""`, method: "m"},
		{says: "zero is an id", body: `{"jsonrpc":"2.0","id":0,"method":"m"}`, id: "0", method: "m"},
		{says: "minus zero comes back as it went", body: `{"jsonrpc":"2.0","id":-0,"method":"m"}`, id: "-0", method: "m"},
		{says: "the largest exact integer is an id", body: `{"jsonrpc":"2.0","id":9007199254740991,"method":"m"}`, id: "9007199254740991", method: "m"},
		{says: "the longest id", body: `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", maxID-2) + `","method":"m"}`, id: `"` + strings.Repeat("x", maxID-2) + `"`, method: "m"},
		{says: "white space around everything", body: " \n{ \"jsonrpc\" : \"2.0\" , \"id\" : 1 , \"method\" : \"m\" , \"params\" : { } }\t\r\n", id: "1", method: "m", params: "{ }"},
		{says: "an escaped member name is the member", body: `{"jsonrpc":"2.0","id":1,"\u006dethod":"m"}`, id: "1", method: "m"},
		{says: "members that we do not know are left alone", body: `{"jsonrpc":"2.0","id":1,"method":"m","extra":[null]}`, id: "1", method: "m"},
		{says: "the deepest nesting", body: `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":` + nested(maxDepth-2) + `}}`, id: "1", method: "m", params: `{"a":` + nested(maxDepth-2) + `}`},
		{says: "brackets in a string are no nesting", body: `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"\"` + strings.Repeat("[", 200) + `"}}`, id: "1", method: "m", params: `{"a":"\"` + strings.Repeat("[", 200) + `"}`},

		{says: "nothing", body: ``, fails: ErrParse},
		{says: "only white space", body: " \n", fails: ErrParse},
		{says: "half a message", body: `{"jsonrpc":"2.0","id":1,`, fails: ErrParse},
		{says: "half a member", body: `{"jsonrpc":"2.0","id"`, fails: ErrParse},
		{says: "a byte order mark", body: "\ufeff" + `{"jsonrpc":"2.0","id":1,"method":"m"}`, fails: ErrParse},
		{says: "text after the message", body: `{"jsonrpc":"2.0","id":1,"method":"m"}x`, fails: ErrParse, mentions: "after"},
		{says: "two messages", body: `{"jsonrpc":"2.0","id":1,"method":"m"}{"jsonrpc":"2.0","id":2,"method":"m"}`, fails: ErrParse, mentions: "after"},
		{says: "a zero byte after the message", body: "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}\x00", fails: ErrParse},
		{says: "a member twice", body: `{"jsonrpc":"2.0","id":1,"method":"m","method":"n"}`, fails: ErrParse, mentions: "duplicate"},
		{says: "a member twice, once escaped", body: `{"jsonrpc":"2.0","id":1,"method":"m","\u006dethod":"n"}`, fails: ErrParse, mentions: "duplicate"},
		{says: "a member twice, deep down", body: `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[{"b":1,"b":2}]}}`, fails: ErrParse, mentions: "duplicate"},
		{says: "invalid UTF-8", body: "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\xff\"}", fails: ErrParse, mentions: "UTF-8"},
		{says: "half a surrogate pair", body: `{"jsonrpc":"2.0","id":1,"method":"\ud800"}`, fails: ErrParse},
		{says: "one level too deep", body: `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":` + nested(maxDepth-1) + `}}`, fails: ErrParse, mentions: "nested"},
		{says: "a million levels", body: strings.Repeat("[", 1<<20), fails: ErrParse, mentions: "nested"},
		{says: "a comment", body: `{"jsonrpc":"2.0",/**/"id":1,"method":"m"}`, fails: ErrParse},
		{says: "a trailing comma", body: `{"jsonrpc":"2.0","id":1,"method":"m",}`, fails: ErrParse},

		{says: "a batch", body: `[{"jsonrpc":"2.0","id":1,"method":"m"}]`, fails: ErrInvalidRequest, mentions: "batch"},
		{says: "an empty batch", body: `[]`, fails: ErrInvalidRequest, mentions: "batch"},
		{says: "a batch and then text", body: `[] x`, fails: ErrParse},
		{says: "null", body: `null`, fails: ErrInvalidRequest},
		{says: "a string", body: `"m"`, fails: ErrInvalidRequest},
		{says: "no jsonrpc", body: `{"id":1,"method":"m"}`, id: "1", fails: ErrInvalidRequest, mentions: "jsonrpc"},
		{says: "jsonrpc 1.0", body: `{"jsonrpc":"1.0","id":1,"method":"m"}`, id: "1", fails: ErrInvalidRequest, mentions: "jsonrpc"},
		{says: "jsonrpc as a number", body: `{"jsonrpc":2.0,"id":1,"method":"m"}`, id: "1", fails: ErrInvalidRequest, mentions: "jsonrpc"},
		{says: "a member in the wrong case", body: `{"jsonrpc":"2.0","id":1,"Method":"m"}`, id: "1", fails: ErrInvalidRequest, mentions: "method"},
		{says: "no method", body: `{"jsonrpc":"2.0","id":1}`, id: "1", fails: ErrInvalidRequest, mentions: "method"},
		{says: "an empty method", body: `{"jsonrpc":"2.0","id":1,"method":""}`, id: "1", fails: ErrInvalidRequest, mentions: "method"},
		{says: "a method that is no string", body: `{"jsonrpc":"2.0","id":1,"method":["m"]}`, id: "1", fails: ErrInvalidRequest, mentions: "method"},
		{says: "a response", body: `{"jsonrpc":"2.0","id":1,"result":{}}`, id: "1", fails: ErrInvalidRequest, mentions: "response"},
		{says: "an error response", body: `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}`, id: "1", fails: ErrInvalidRequest, mentions: "response"},
		{says: "a request that is a response too", body: `{"jsonrpc":"2.0","id":1,"method":"m","result":null}`, id: "1", fails: ErrInvalidRequest, mentions: "response"},
		{says: "params as a list", body: `{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}`, id: "1", fails: ErrInvalidRequest, mentions: "params"},
		{says: "params as null", body: `{"jsonrpc":"2.0","id":1,"method":"m","params":null}`, id: "1", fails: ErrInvalidRequest, mentions: "params"},
		{says: "id null", body: `{"jsonrpc":"2.0","id":null,"method":"m"}`, fails: ErrInvalidRequest, mentions: "id"},
		{says: "a fractional id", body: `{"jsonrpc":"2.0","id":1.5,"method":"m"}`, fails: ErrInvalidRequest, mentions: "id"},
		{says: "a whole number written as a fraction", body: `{"jsonrpc":"2.0","id":1.0,"method":"m"}`, fails: ErrInvalidRequest, mentions: "id"},
		{says: "an id with an exponent", body: `{"jsonrpc":"2.0","id":1e3,"method":"m"}`, fails: ErrInvalidRequest, mentions: "id"},
		{says: "an id one past the largest exact integer", body: `{"jsonrpc":"2.0","id":9007199254740992,"method":"m"}`, fails: ErrInvalidRequest, mentions: "id"},
		{says: "an id one below the smallest exact integer", body: `{"jsonrpc":"2.0","id":-9007199254740992,"method":"m"}`, fails: ErrInvalidRequest, mentions: "id"},
		{says: "a huge id", body: `{"jsonrpc":"2.0","id":` + strings.Repeat("9", 400) + `,"method":"m"}`, fails: ErrInvalidRequest, mentions: "id"},
		{says: "an id one byte too long", body: `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", maxID-1) + `","method":"m"}`, fails: ErrInvalidRequest, mentions: "id"},
		{says: "id true", body: `{"jsonrpc":"2.0","id":true,"method":"m"}`, fails: ErrInvalidRequest, mentions: "id"},
		{says: "an id that is a list", body: `{"jsonrpc":"2.0","id":[1],"method":"m"}`, fails: ErrInvalidRequest, mentions: "id"},
	} {
		t.Run(row.says, func(t *testing.T) {
			message, failure := Decode([]byte(row.body))
			if string(message.ID) != row.id || message.Method != row.method || string(message.Params) != row.params {
				t.Errorf("got id %s, method %q, params %s; want id %s, method %q, params %s",
					message.ID, message.Method, message.Params, row.id, row.method, row.params)
			}
			if row.fails == nil {
				if failure != nil {
					t.Errorf("got error %v, want none", failure)
				}
				return
			}
			if failure == nil || !errors.Is(failure, row.fails) || !strings.Contains(failure.Message, row.mentions) {
				t.Errorf("got error %v, want %v mentioning %q", failure, row.fails, row.mentions)
			}
		})
	}
}

func TestErrorsOfOneKindAreTold(t *testing.T) {
	detailed := ErrInvalidParams.With("name is missing").WithData(1)
	if !errors.Is(detailed, ErrInvalidParams) {
		t.Error("a detailed error is no longer its kind")
	}
	if errors.Is(detailed, ErrInvalidRequest) {
		t.Error("two kinds of errors are taken for one")
	}
	if ErrInvalidParams.Message != "Invalid params" || ErrInvalidParams.Data != nil {
		t.Errorf("the package's own value was changed: %+v", ErrInvalidParams)
	}
}

func TestEncode(t *testing.T) {
	for _, row := range []struct{ says, got, want string }{
		{"a result repeats the id as it was written", string(AppendResult(nil, ID(`"\u0061"`), []byte(`{"a":1}`))),
			`{"jsonrpc":"2.0","id":"\u0061","result":{"a":1}}`},
		{"an error repeats the id", string(AppendError(nil, ID("7"), ErrParse)),
			`{"jsonrpc":"2.0","id":7,"error":{"code":-32700,"message":"Parse error"}}`},
		{"an error without a readable id has none", string(AppendError(nil, nil, ErrParse)),
			`{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}`},
		{"an error with data", string(AppendError(nil, ID("7"), ErrUnsupportedVersion.WithData(VersionData{[]string{"a"}, "b"}))),
			`{"jsonrpc":"2.0","id":7,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["a"],"requested":"b"}}}`},
		{"text that is not UTF-8 is mended", string(AppendError(nil, nil, ErrParse.With("\xff"))),
			"{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"Parse error: \ufffd\"}}"},
		{"data that does not encode is left out", string(AppendError(nil, nil, ErrInternal.WithData(func() {}))),
			`{"jsonrpc":"2.0","error":{"code":-32603,"message":"Internal error"}}`},
	} {
		if row.got != row.want {
			t.Errorf("%s:\n got %s\nwant %s", row.says, row.got, row.want)
		}
	}
}

// FuzzDecode: no input panics; what is accepted is what encoding/json reads too, and every part of it is the
// input's own bytes; what is refused gets an answer that is valid JSON.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":{"a":[1,2,{"b":null}]}}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled"}`,
		`{"jsonrpc":"2.0","id":"\u0061","\u006dethod":"m"}`,
		`{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}`,
		`[{"jsonrpc":"2.0","id":1,"method":"m"}]`, `{"id":1e400}`, `{"id":-0}`, "\xff", `{"a":"\ud800"}`, "",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := bytes.Clone(raw)
		message, failure := Decode(raw)
		if !bytes.Equal(before, raw) {
			t.Fatal("the input was changed")
		}
		answer := AppendResult(nil, message.ID, []byte("{}"))
		if failure != nil {
			answer = AppendError(nil, message.ID, failure)
		} else {
			checkAccepted(t, raw, message)
		}
		if failure == nil && message.IsNotification() {
			return
		}
		if !json.Valid(answer) || !utf8.Valid(answer) {
			t.Fatalf("answer is not valid JSON: %q", answer)
		}
	})
}

// checkAccepted compares an accepted message with what another reader makes of the same bytes.
func checkAccepted(t *testing.T, raw []byte, message Message) {
	t.Helper()
	var other map[string]json.RawMessage
	if err := json.Unmarshal(raw, &other); err != nil || !utf8.Valid(raw) {
		t.Fatalf("accepted what is not a JSON object: %q: %v", raw, err)
	}
	var method string
	if err := json.Unmarshal(other["method"], &method); err != nil || method == "" || method != message.Method {
		t.Fatalf("method %q, but encoding/json reads %q (%v)", message.Method, method, err)
	}
	if !bytes.Equal(other["id"], message.ID) || !bytes.Equal(other["params"], message.Params) {
		t.Fatalf("id %s and params %s, but encoding/json reads %s and %s", message.ID, message.Params, other["id"], other["params"])
	}
	if message.Params != nil && message.Params[0] != '{' {
		t.Fatalf("params are no object: %s", message.Params)
	}
	checkMembers(t, message.Params)
	if !message.IsNotification() && message.ID[0] != '"' {
		n, err := json.Number(message.ID).Int64()
		if err != nil || n > maxSafeInteger || n < -maxSafeInteger {
			t.Fatalf("id %s is no exact integer: %v", message.ID, err)
		}
	}
}

// checkMembers compares what MembersOf and Object make of an accepted value with what encoding/json does, at every level.
func checkMembers(t *testing.T, accepted json.RawMessage) {
	t.Helper()
	got := MembersOf(accepted)
	if len(accepted) == 0 || accepted[0] != '{' {
		if got != nil {
			t.Fatalf("members of %s: %v", accepted, got)
		}
		return
	}
	byName, err := Object(accepted)
	if err != nil {
		t.Fatalf("accepted, and now it is not: %v: %s", err, accepted)
	}
	var want map[string]json.RawMessage
	if err := json.Unmarshal(accepted, &want); err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) || len(byName) != len(want) {
		t.Fatalf("%d and %d members of %s, want %d", len(got), len(byName), accepted, len(want))
	}
	for name, value := range want {
		if !bytes.Equal(got.Get(name), value) || !bytes.Equal(byName[name], value) {
			t.Fatalf("member %q of %s is %s and %s, want %s", name, accepted, got.Get(name), byName[name], value)
		}
		checkMembers(t, value)
	}
}

func TestMembersAreThoseOfTheObject(t *testing.T) {
	for _, text := range []string{
		`{}`, ` { } `, `{"a":1}`, `{ "a" : -1.5e3 , "b" : "x\"y\\" , "c" : [ { "d" : [ ] } , "]" ] , "e" : { "}" : "{" } }`,
		`{"\u0061":null,"":true,"\"":false}`, `{"a":{"b":{"c":{}}}}`, "{\"a\":1\n}", `[]`, `"a"`, `1`,
	} {
		accepted := json.RawMessage(strings.TrimSpace(text))
		checkMembers(t, accepted)
	}
	if MembersOf(nil) != nil {
		t.Error("nothing has members")
	}
}
