package mcpserver

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"termic/mcpserver/jsonrpc"
)

// reply writes the one answer to a request: a body, or a stream of events of which the last is the answer.
type reply struct {
	w         http.ResponseWriter
	control   *http.ResponseController
	streaming bool
	// release gives back the place that the request took among its token's; it may be called more than once.
	release func()
}

// Values of headers that are on many answers; nobody changes them.
var noStore, noSniff, jsonType, closing = []string{"no-store"}, []string{"nosniff"}, []string{"application/json"}, []string{"close"}

func newReply(w http.ResponseWriter) *reply {
	w.Header()["Cache-Control"], w.Header()["X-Content-Type-Options"] = noStore, noSniff
	return &reply{w: w, control: http.NewResponseController(w)}
}

// refuse answers before the body was read, and closes the connection: what follows on it is the rest of a
// request that nobody wants. The text is for a person; strangers get none.
func (p *reply) refuse(status int, text string) {
	// Deadlines are best effort: a ResponseWriter that has none belongs to a test.
	_ = p.control.SetReadDeadline(time.Now().Add(lingerTimeout))
	p.w.Header()["Connection"] = closing
	if text == "" {
		p.send(status, "", nil)
		return
	}
	p.send(status, "text/plain; charset=utf-8", []byte(text+"\n"))
}

// tooMany refuses what may be asked again in a second.
func (p *reply) tooMany(text string) {
	p.w.Header().Set("Retry-After", "1")
	p.refuse(http.StatusTooManyRequests, text)
}

// readBody returns the whole body, or the status to refuse it with.
func (p *reply) readBody(r *http.Request) (body []byte, status int) {
	if r.ContentLength > maxBody {
		return nil, http.StatusRequestEntityTooLarge
	}
	_ = p.control.SetReadDeadline(time.Now().Add(bodyTimeout))
	// net/http lifts the deadline when it has read a body to its end; from then on it reads only to
	// learn that the client went away, however long the call takes.
	var err error
	if 0 <= r.ContentLength && r.ContentLength <= usualBody {
		body = make([]byte, r.ContentLength)
		_, err = io.ReadFull(r.Body, body)
	} else {
		body, err = io.ReadAll(http.MaxBytesReader(p.w, r.Body, maxBody))
	}
	var tooLarge *http.MaxBytesError
	switch {
	case err == nil:
		return body, 0
	case errors.As(err, &tooLarge):
		return nil, http.StatusRequestEntityTooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, http.StatusRequestTimeout
	}
	return nil, http.StatusBadRequest
}

// result answers request id with a JSON object.
func (p *reply) result(id jsonrpc.ID, result []byte) {
	p.sendJSON(http.StatusOK, jsonrpc.AppendResult(make([]byte, 0, len(result)+len(id)+64), id, result))
}

// answers are buffers in which answers are written, used again: an answer is the largest thing that most requests need memory
// for. maxAnswer is how large one may be to be kept, 64 KiB: more than almost any answer has.
var answers = sync.Pool{New: func() any { return new([]byte) }}

const maxAnswer = 64 << 10

// answer answers request id with what write appends, a JSON object, or with its failure.
func (p *reply) answer(id jsonrpc.ID, write func(into []byte) ([]byte, *jsonrpc.Error)) {
	room := answers.Get().(*[]byte)
	answer, failure := write(jsonrpc.AppendResultBegin((*room)[:0], id))
	if failure != nil {
		p.fail(id, failure)
		return
	}
	answer = jsonrpc.AppendResultEnd(answer)
	p.sendJSON(http.StatusOK, answer)
	if cap(answer) <= maxAnswer {
		*room = answer
		answers.Put(room)
	}
}

// fail answers that the message was not served.
func (p *reply) fail(id jsonrpc.ID, failure *jsonrpc.Error) {
	p.sendJSON(statusOf(failure), jsonrpc.AppendError(nil, id, failure))
}

// statusOf is the HTTP status of a JSON-RPC error (MCP 2026-07-28, basic and transports).
func statusOf(failure *jsonrpc.Error) int {
	switch {
	case errors.Is(failure, jsonrpc.ErrMethodNotFound):
		return http.StatusNotFound
	case errors.Is(failure, jsonrpc.ErrInternal):
		return http.StatusInternalServerError
	}
	return http.StatusBadRequest
}

func (p *reply) sendJSON(status int, body []byte) {
	if p.streaming {
		p.event(body)
		return
	}
	p.w.Header()["Content-Type"] = jsonType
	p.send(status, "", body)
}

func (p *reply) send(status int, contentType string, body []byte) {
	_ = p.control.SetWriteDeadline(time.Now().Add(writeTimeout))
	if contentType != "" {
		p.w.Header().Set("Content-Type", contentType)
	}
	p.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	p.w.WriteHeader(status)
	if len(body) > 0 {
		// A client that went away reads no answer, and there is nobody else to tell.
		_, _ = p.w.Write(body)
	}
}
