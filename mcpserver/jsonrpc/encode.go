package jsonrpc

import (
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// AppendResult appends the answer to request id. Result must be a JSON object.
func AppendResult(into []byte, id ID, result []byte) []byte {
	return AppendResultEnd(append(AppendResultBegin(into, id), result...))
}

// AppendResultBegin and AppendResultEnd append what is around the result, for one that is written in place.
func AppendResultBegin(into []byte, id ID) []byte {
	into = append(into, `{"jsonrpc":"2.0","id":`...)
	into = append(into, id...)
	return append(into, `,"result":`...)
}

// AppendResultEnd appends what follows the result.
func AppendResultEnd(into []byte) []byte { return append(into, '}') }

// AppendError appends an error answer; without an id where the request's could not be read. Text that is not
// UTF-8 is mended, since an answer that cannot be read says nothing.
func AppendError(into []byte, id ID, failure *Error) []byte {
	into = append(into, `{"jsonrpc":"2.0",`...)
	if id != nil {
		into = append(into, `"id":`...)
		into = append(into, id...)
		into = append(into, ',')
	}
	text, err := jsonv2.Marshal(failure, jsontext.AllowInvalidUTF8(true), jsonv2.Deterministic(true))
	if err != nil {
		// Data of ours that does not encode is a mistake of ours; the code and the message still stand.
		text, _ = jsonv2.Marshal(&Error{Code: failure.Code, Message: failure.Message}, jsontext.AllowInvalidUTF8(true))
	}
	into = append(into, `"error":`...)
	into = append(into, text...)
	return append(into, '}')
}
