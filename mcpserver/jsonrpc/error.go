package jsonrpc

import "fmt"

// Error is a JSON-RPC error object. It says that a message was not served as a message; that a tool said no
// is a result, not an Error.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// The errors that this program answers with. Codes keep the meaning that their source gives them.
var (
	// ErrParse: the body is not JSON (JSON-RPC 2.0 section 5.1).
	ErrParse = &Error{Code: -32700, Message: "Parse error"}
	// ErrInvalidRequest: the body is JSON but not a request (JSON-RPC 2.0 section 5.1).
	ErrInvalidRequest = &Error{Code: -32600, Message: "Invalid request"}
	// ErrMethodNotFound: no such method here (JSON-RPC 2.0 section 5.1; MCP 2026-07-28, transports: at HTTP 404).
	ErrMethodNotFound = &Error{Code: -32601, Message: "Method not found"}
	// ErrInvalidParams: params break the method's schema, _meta lacks a required field, or the tool is
	// unknown (JSON-RPC 2.0 section 5.1; MCP 2026-07-28, basic and tools: at HTTP 400).
	ErrInvalidParams = &Error{Code: -32602, Message: "Invalid params"}
	// ErrInternal: this program failed (JSON-RPC 2.0 section 5.1).
	ErrInternal = &Error{Code: -32603, Message: "Internal error"}
	// ErrHeaderMismatch: a header that MCP requires is missing, doubled or malformed, or says something
	// else than the body (MCP 2026-07-28, transports, "Server Validation": at HTTP 400).
	ErrHeaderMismatch = &Error{Code: -32020, Message: "Header mismatch"}
	// ErrUnsupportedVersion: another revision is asked for than those served; Data is a VersionData
	// (MCP 2026-07-28, versioning: at HTTP 400).
	ErrUnsupportedVersion = &Error{Code: -32022, Message: "Unsupported protocol version"}
)

// VersionData is the data of ErrUnsupportedVersion, from which a client retries.
type VersionData struct {
	Supported []string `json:"supported"`
	Requested string   `json:"requested"`
}

// With returns a copy of e whose message says what exactly was wrong. Detail is one phrase without a period.
func (e *Error) With(detail string) *Error {
	c := *e
	c.Message += ": " + detail
	return &c
}

// WithData returns a copy of e that carries data.
func (e *Error) WithData(data any) *Error {
	c := *e
	c.Data = data
	return &c
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// Is tells whether target is the same kind of error: details and data do not matter.
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && other.Code == e.Code
}
