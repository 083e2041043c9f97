package mcpserver

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"termic/mcpserver/jsonrpc"
)

// The methods that are served.
const (
	methodDiscover = "server/discover"
	methodList     = "tools/list"
	methodCall     = "tools/call"
	methodListen   = "subscriptions/listen"
	// methodInitialize opens a session in the revisions before 2026-07-28. It is known only to be refused in
	// words that its client can show.
	methodInitialize = "initialize"
)

// The members of params and _meta that are read.
const (
	metaMember     = "_meta"
	versionKey     = "io.modelcontextprotocol/protocolVersion"
	capabilityKey  = "io.modelcontextprotocol/clientCapabilities"
	clientInfoKey  = "io.modelcontextprotocol/clientInfo"
	logLevelKey    = "io.modelcontextprotocol/logLevel"
	progressKey    = "progressToken"
	serverInfoKey  = "io.modelcontextprotocol/serverInfo"
	versionHeader  = "MCP-Protocol-Version"
	methodHeader   = "Mcp-Method"
	toolNameHeader = "Mcp-Name"
)

// logLevels are the values of logLevelKey (schema.json, LoggingLevel). We send no log messages.
var logLevels = []string{"alert", "critical", "debug", "emergency", "error", "info", "notice", "warning"}

// request is a message whose envelope is in order.
type request struct {
	method       string
	params, meta jsonrpc.Members
}

// newRequest checks, in this order: the headers, _meta, the version. supported are the revisions that are served now.
func newRequest(header http.Header, message jsonrpc.Message, params jsonrpc.Members, supported []string) (request, *jsonrpc.Error) {
	meta, noMeta := metaOf(params)
	version, stated := jsonrpc.String(meta.Get(versionKey))
	if failure := checkHeaders(header, message.Method, params, version, stated); failure != nil {
		return request{}, failure
	}
	if noMeta == nil {
		noMeta = checkMeta(meta)
	}
	if noMeta != nil {
		return request{}, noMeta
	}
	if version != Revision {
		return request{}, unsupported(version, supported)
	}
	return request{message.Method, params, meta}, nil
}

// says is what the caller's program calls itself, for the log: name and version.
func (r request) says() string {
	info := jsonrpc.MembersOf(r.meta.Get(clientInfoKey)) // it is part of a message that was accepted
	name, _ := jsonrpc.String(info.Get("name"))
	version, _ := jsonrpc.String(info.Get("version"))
	return strings.TrimSpace(name + " " + version)
}

// unsupported answers a client of another revision: data for a program, words for a person.
func unsupported(requested string, supported []string) *jsonrpc.Error {
	return jsonrpc.ErrUnsupportedVersion.
		With("this server speaks MCP " + strings.Join(supported, ", ") + " only; update the client, or switch that revision on in it").
		WithData(jsonrpc.VersionData{Supported: supported, Requested: requested})
}

// checkHeaders compares the headers with the body that they mirror. Version is compared only where the body
// states one: its absence is the fault of _meta.
func checkHeaders(header http.Header, method string, params jsonrpc.Members, version string, stated bool) *jsonrpc.Error {
	given, failure := single(header, versionHeader, true)
	if failure != nil {
		return failure
	}
	if stated && given != version {
		return mismatch(versionHeader, "does not match "+versionKey)
	}
	if given, failure = single(header, methodHeader, true); failure != nil {
		return failure
	}
	if given != method {
		return mismatch(methodHeader, "does not match method")
	}
	given, failure = single(header, toolNameHeader, method == methodCall)
	if failure != nil || method != methodCall {
		return failure
	}
	given, err := decodeSentinel(given)
	if err != nil {
		return mismatch(toolNameHeader, err.Error())
	}
	if name, ok := jsonrpc.String(params.Get("name")); !ok || name != given {
		return mismatch(toolNameHeader, "does not match params.name")
	}
	return nil
}

func mismatch(name, what string) *jsonrpc.Error {
	return jsonrpc.ErrHeaderMismatch.With(name + " " + what)
}

// single returns the value of a header that may come once at most, and is not empty then. Only visible ASCII, spaces and tabs can be
// in it (MCP 2026-07-28, transports, "Value Encoding").
func single(header http.Header, name string, required bool) (string, *jsonrpc.Error) {
	values := header.Values(name)
	switch {
	case len(values) > 1:
		return "", mismatch(name, "is there more than once")
	case len(values) == 0 && required:
		return "", mismatch(name, "is missing")
	case len(values) == 0:
		return "", nil
	case values[0] == "":
		return "", mismatch(name, "is empty")
	}
	for _, c := range []byte(values[0]) {
		if c != '\t' && (c < ' ' || c > '~') {
			return "", mismatch(name, "has characters that a header cannot carry")
		}
	}
	return values[0], nil
}

const (
	sentinelPrefix = "=?base64?"
	sentinelSuffix = "?="
)

// decodeSentinel returns what a header value stands for: itself, or the text within =?base64?…?=, whose
// markers are exact and whose encoding is the standard one with padding (MCP 2026-07-28, transports). One text has one
// encoding: line ends, which encoding/base64 passes over, are none of the alphabet.
func decodeSentinel(value string) (string, error) {
	encoded, ok := strings.CutPrefix(value, sentinelPrefix)
	if !ok {
		return value, nil
	}
	if encoded, ok = strings.CutSuffix(encoded, sentinelSuffix); !ok {
		return value, nil
	}
	text, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil || strings.ContainsAny(encoded, "\r\n") {
		return "", errors.New("is not valid base64 between its markers")
	}
	if !utf8.Valid(text) {
		return "", errors.New("is not UTF-8 between its markers")
	}
	return string(text), nil
}

// metaOf returns _meta, and why there is none.
func metaOf(params jsonrpc.Members) (jsonrpc.Members, *jsonrpc.Error) {
	raw := params.Get(metaMember)
	if raw == nil {
		return nil, jsonrpc.ErrInvalidParams.With("_meta is missing")
	}
	if !isObject(raw) {
		return nil, jsonrpc.ErrInvalidParams.With("_meta is not an object")
	}
	return jsonrpc.MembersOf(raw), nil
}

// checkMeta holds _meta against schema.json, RequestMetaObject, as far as it is ours to read.
func checkMeta(meta jsonrpc.Members) *jsonrpc.Error {
	if _, ok := jsonrpc.String(meta.Get(versionKey)); !ok {
		return jsonrpc.ErrInvalidParams.With("_meta needs " + versionKey + ", a string")
	}
	if !isObject(meta.Get(capabilityKey)) {
		return jsonrpc.ErrInvalidParams.With("_meta needs " + capabilityKey + ", an object")
	}
	if info := meta.Get(clientInfoKey); info != nil && !isImplementation(info) {
		return jsonrpc.ErrInvalidParams.With(clientInfoKey + " is not an object with name and version")
	}
	if level := meta.Get(logLevelKey); level != nil {
		if name, ok := jsonrpc.String(level); !ok || !slices.Contains(logLevels, name) {
			return jsonrpc.ErrInvalidParams.With(logLevelKey + " is no level")
		}
	}
	if token := meta.Get(progressKey); token != nil && !isProgressToken(token) {
		return jsonrpc.ErrInvalidParams.With(progressKey + " is neither a string nor an integer")
	}
	return nil
}

func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }

func isImplementation(raw json.RawMessage) bool {
	members := jsonrpc.MembersOf(raw)
	_, named := jsonrpc.String(members.Get("name"))
	_, versioned := jsonrpc.String(members.Get("version"))
	return named && versioned
}

func isProgressToken(raw json.RawMessage) bool {
	_, err := strconv.ParseInt(string(raw), 10, 64)
	return err == nil || raw[0] == '"'
}
