package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"termic/mcpserver/jsonrpc"
	"termic/registry"
)

// olderRevisions are what clients that cannot do better are served where OlderClients says so, the newest first. Served
// without a session: no id is given out and no stream is opened by GET, both of which these revisions leave to the server
// (MCP 2025-11-25, transports). What we answer is the same in both.
var olderRevisions = []string{"2025-11-25", "2025-06-18"}

func (s *Server) servesOlder() bool { return s.OlderClients != nil && s.OlderClients() }

// revisions are the revisions that are served now, the best first.
func (s *Server) revisions() []string {
	if s.servesOlder() {
		return append([]string{Revision}, olderRevisions...)
	}
	return onlyRevision
}

// onlyRevision is what is served where older clients are not; nobody changes it.
var onlyRevision = []string{Revision}

// isOlder tells whether a message is written as before 2026-07-28: nothing of it says otherwise. Some of those clients
// never send MCP-Protocol-Version (gemini 0.61), so its absence says nothing. initialize is how they begin, whatever else
// is in it.
func isOlder(header http.Header, message jsonrpc.Message, params jsonrpc.Members) bool {
	if len(header.Values(methodHeader)) > 0 {
		return false
	}
	meta, _ := metaOf(params)
	return message.Method == methodInitialize || meta.Get(versionKey) == nil
}

// serveOlder answers an older client, or tells it what is served instead. Errors of the message are HTTP 200 in these
// revisions, where clients take any other status for a broken connection.
func (s *Server) serveOlder(reply *reply, r *http.Request, caller registry.Caller, message jsonrpc.Message, params jsonrpc.Members) {
	if !s.servesOlder() {
		requested, _ := jsonrpc.String(params.Get("protocolVersion"))
		s.older.note(params.Get("clientInfo"), requested)
		reply.fail(message.ID, unsupported(requested, s.revisions()))
		return
	}
	// A page can send other kinds without asking first; here no Mcp-Method header makes it ask.
	if !strings.EqualFold(r.Header.Get("Content-Type"), "application/json") {
		reply.refuse(http.StatusUnsupportedMediaType, "Content-Type must be exactly application/json")
		return
	}
	if failure := checkOlderVersion(r.Header, s.revisions()); failure != nil {
		reply.fail(message.ID, failure)
		return
	}
	result, failure := s.serveOlderMethod(r.Context(), caller, message.Method, params)
	if failure != nil {
		reply.sendJSON(http.StatusOK, jsonrpc.AppendError(nil, message.ID, failure))
		return
	}
	reply.result(message.ID, result)
}

// checkOlderVersion holds the header against what is served; a request without it is taken at the revision that its
// client negotiated, whichever that was.
func checkOlderVersion(header http.Header, served []string) *jsonrpc.Error {
	version, failure := single(header, versionHeader, false)
	if failure != nil {
		return failure
	}
	if version != "" && !slices.Contains(olderRevisions, version) {
		return unsupported(version, served)
	}
	return nil
}

type initializeResult struct {
	ProtocolVersion string            `json:"protocolVersion"`
	Capabilities    olderCapabilities `json:"capabilities"`
	ServerInfo      serverInfo        `json:"serverInfo"`
	Instructions    string            `json:"instructions"`
}

// olderCapabilities: without a stream nobody can be told of changes.
type olderCapabilities struct {
	Tools struct{} `json:"tools"`
}

func (s *Server) serveOlderMethod(ctx context.Context, caller registry.Caller, method string, params jsonrpc.Members) ([]byte, *jsonrpc.Error) {
	ctx, over := within(ctx, callTimeout)
	defer over()
	switch method {
	case methodInitialize:
		return s.initialize(params)
	case "ping":
		return []byte("{}"), nil
	case methodList:
		tools, failure := s.list(caller, params)
		if failure != nil {
			return nil, failure
		}
		return s.encode(struct {
			Tools []json.RawMessage `json:"tools"`
		}{tools})
	case methodCall:
		done, no, failure := s.call(ctx, caller, params)
		switch {
		case failure != nil:
			return nil, failure
		case no != nil:
			return s.encode(refused(no))
		}
		return s.encode(callResult{Content: []textContent{{"text", string(done)}}, Structured: done})
	}
	return nil, jsonrpc.ErrMethodNotFound
}

// initialize agrees to the client's revision where it is served, else it offers the newest of the older ones, which the
// client may refuse (MCP 2025-11-25, lifecycle, "Version Negotiation").
func (s *Server) initialize(params jsonrpc.Members) ([]byte, *jsonrpc.Error) {
	version, ok := jsonrpc.String(params.Get("protocolVersion"))
	if !ok {
		return nil, jsonrpc.ErrInvalidParams.With("protocolVersion is not a text")
	}
	if !slices.Contains(olderRevisions, version) {
		version = olderRevisions[0]
	}
	return s.encode(initializeResult{ProtocolVersion: version, ServerInfo: s.serverInfo(), Instructions: registry.Instructions})
}

// OlderClient is a client that was refused for its revision. Name and Revision are its own words, made fit to be shown,
// and prove nothing.
type OlderClient struct {
	Name, Revision string
	// Last is when it was last refused.
	Last time.Time
}

// olderClients remembers who was refused. The zero value is ready.
type olderClients struct {
	mu   sync.Mutex
	seen []OlderClient
}

// maxOlder is how many refused clients are remembered, the latest: nobody uses more, and each is a line on a screen.
const maxOlder = 8

// note remembers a refused client by what it says of itself.
func (o *olderClients) note(info json.RawMessage, revision string) {
	members := jsonrpc.MembersOf(info)
	name, _ := jsonrpc.String(members.Get("name"))
	version, _ := jsonrpc.String(members.Get("version"))
	client := OlderClient{cmp.Or(shown(strings.TrimSpace(name+" "+version)), "a client without a name"), shown(revision), time.Now()}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seen = slices.DeleteFunc(o.seen, func(other OlderClient) bool {
		return other.Name == client.Name && other.Revision == client.Revision
	})
	o.seen = append(o.seen, client)
	o.seen = o.seen[max(0, len(o.seen)-maxOlder):]
}

// RefusedOlder returns the clients that were refused for their revision, the latest last. Where older clients are served
// by now there is nothing left to do for them, and so none.
func (s *Server) RefusedOlder() []OlderClient {
	if s.servesOlder() {
		return nil
	}
	s.older.mu.Lock()
	defer s.older.mu.Unlock()
	return slices.Clone(s.older.seen)
}

// maxShown is how much of a client's own words is shown, in characters: a name and a version.
const maxShown = 64

// shown makes a stranger's words fit for a terminal and a log: printable ASCII, and not many.
func shown(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, text)
	return text[:min(len(text), maxShown)]
}
