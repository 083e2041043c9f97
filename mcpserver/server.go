// Package mcpserver serves verbs as MCP tools over HTTP on this machine: stateless, one revision of the
// protocol, every request authenticated by the token that it carries.
//
// It decides nothing about verbs: it checks that a message is well formed and carries a live credential, then
// hands it to the router. It opens no file and runs no program.
package mcpserver

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync"

	"termic/mcpserver/jsonrpc"
	"termic/registry"
)

// Revision is the revision of the Model Context Protocol that is served. No check of ours depends on any
// field of the protocol but the credential, so that a new revision cannot weaken one.
const Revision = "2026-07-28"

// Path is the one path that is served.
const Path = "/mcp"

// Calls is what callers may ask.
type Calls interface {
	// Verbs returns what caller is offered, in registry order.
	Verbs(caller registry.Caller) []*registry.Verb
	// Dispatch executes one call. Its errors are *refusal.Refusal. When ctx ends, reads and waits end; what
	// has begun to write is finished.
	Dispatch(ctx context.Context, caller registry.Caller, name string, arguments json.RawMessage) (json.RawMessage, error)
}

// Auth knows the live tokens.
type Auth interface {
	// Caller returns who holds token; ok is false for absent (""), malformed, unknown and revoked ones alike.
	// It must do the same work for each. It is called exactly once for each request that gets as far, and again from
	// time to time while a subscription is open.
	Caller(token string) (caller registry.Caller, ok bool)
}

// Server answers MCP requests. It is an http.Handler that compares Host with the connection's own address, so it must be
// served over TCP, or on a socket where Socket says so; Endpoint does that within all limits. Without Calls or Auth it serves
// nobody. A Server must not be copied after first use.
type Server struct {
	Calls Calls
	Auth  Auth
	// Socket: it is served on a unix socket whose listener lets nobody in but our own user.
	Socket bool
	// Version is what the server says of itself, for display.
	Version string
	Limits  Limits
	// Ended returns a channel that is closed when what caller's token stands for ends or shrinks; nil: no subscription
	// hears of that before its next keep-alive.
	Ended func(caller registry.Caller) <-chan struct{}
	// Log receives failed authentication and mistakes of ours; nil discards.
	Log *slog.Logger

	// OlderClients tells whether clients of the revisions before this one are served too (older.go); nil: never.
	OlderClients func() bool

	older     olderClients
	tarpit    tarpit
	rates     rates
	listeners listeners
	tools     sync.Map // toolFor → json.RawMessage
}

// ServeHTTP answers one request. The order of the checks is part of the contract and each answer is final:
// Origin, target, Host, path, credential, rate, method, Content-Type, size, JSON, notification, an older client's
// opening, headers, _meta, version, JSON-RPC method, tool.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	reply := newReply(w)
	defer s.recover(reply)
	if endsConnection(r) {
		reply.w.Header()["Connection"] = closing
	}
	fault := targetFault(r.URL)
	switch {
	case hasOrigin(r):
		reply.refuse(http.StatusForbidden, "")
	case fault != 0:
		reply.refuse(fault, "ask for "+Path+", or for http:// with the address and nothing else before it")
	case !s.isOwnAddress(r):
		reply.refuse(http.StatusMisdirectedRequest, "ask for the address itself: a name such as localhost may lead elsewhere")
	case r.URL.EscapedPath() != Path:
		reply.refuse(http.StatusNotFound, "")
	default:
		s.serveKnown(reply, r)
	}
}

// serveKnown answers a request that came to the right place: is there somebody behind it?
func (s *Server) serveKnown(reply *reply, r *http.Request) {
	conn := connOf(r)
	caller, ok := s.caller(r)
	if !ok {
		conn.fail()
		s.tarpit.hold(r.Context(), s.Limits.orDefault(), s.log())
		reply.w.Header().Set("WWW-Authenticate", "Bearer")
		reply.refuse(http.StatusUnauthorized, "")
		return
	}
	conn.begin()
	defer conn.end()
	release, ok := s.rates.take(caller, s.Limits.orDefault())
	if !ok {
		reply.tooMany("too many requests at once")
		return
	}
	reply.release = release
	defer reply.release()
	if r.Method != http.MethodPost {
		reply.w.Header().Set("Allow", http.MethodPost)
		reply.refuse(http.StatusMethodNotAllowed, "")
		return
	}
	if !isJSON(r) {
		reply.refuse(http.StatusUnsupportedMediaType, "Content-Type must be application/json, in UTF-8 and not compressed")
		return
	}
	body, status := reply.readBody(r)
	if status != 0 {
		reply.refuse(status, "")
		return
	}
	s.serveMessage(reply, r, caller, body)
}

// serveMessage answers a body that somebody with a live credential sent.
func (s *Server) serveMessage(reply *reply, r *http.Request, caller registry.Caller, body []byte) {
	message, failure := jsonrpc.Decode(body)
	if failure == nil && message.IsNotification() {
		// This revision has no notification that a client sends over HTTP; whatever it is, it is accepted
		// and nothing follows.
		reply.w.WriteHeader(http.StatusAccepted)
		return
	}
	if failure != nil {
		reply.fail(message.ID, failure)
		return
	}
	params := jsonrpc.MembersOf(message.Params)
	if isOlder(r.Header, message, params) && (message.Method == methodInitialize || s.servesOlder()) {
		s.serveOlder(reply, r, caller, message, params)
		return
	}
	request, failure := newRequest(r.Header, message, params, s.revisions())
	if failure != nil {
		reply.fail(message.ID, failure)
		return
	}
	if request.method == methodListen {
		s.listen(reply, r, caller, message.ID, request.params)
		return
	}
	reply.answer(message.ID, func(into []byte) ([]byte, *jsonrpc.Error) {
		return s.serveCall(r.Context(), into, reply, caller, request)
	})
}

// serveCall serves one method within the time that a call may take, and appends its result.
func (s *Server) serveCall(ctx context.Context, into []byte, reply *reply, caller registry.Caller, request request) ([]byte, *jsonrpc.Error) {
	ctx, over := within(ctx, callTimeout)
	defer over()
	ctx, stop := s.progress(ctx, reply, request)
	defer stop()
	return s.serveMethod(ctx, into, caller, request)
}

// recover turns a panic into an answer: a mistake of ours ends the request, not the connection or the app.
func (s *Server) recover(reply *reply) {
	if p := recover(); p != nil {
		s.log().Error("answering a request panicked", "panic", p, "stack", string(debug.Stack()))
		reply.fail(nil, jsonrpc.ErrInternal)
	}
}

func (s *Server) log() *slog.Logger {
	if s.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return s.Log
}
