package mcpserver

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"termic/mcpserver/jsonrpc"
	"termic/registry"
	"termic/registry/refusal"
	"termic/registry/render"
)

// ttl is how long a client may keep what discover and tools/list say. The tools of a token change only with
// its scope, its ceiling or a new version of the app, and a stale list costs one refused call, so minutes
// save a round trip a turn and lose nothing.
const ttl = 5 * time.Minute

// serverInfo tells who answers, for display.
type serverInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type resultMeta struct {
	ServerInfo serverInfo `json:"io.modelcontextprotocol/serverInfo,omitzero"`
	// Refusal is what a tool's no is as data, for programs.
	Refusal *refusal.Refusal `json:"termic/refusal,omitempty"`
}

// envelope is what every result has; in the older revisions nothing but a refusal.
type envelope struct {
	ResultType string     `json:"resultType,omitzero"`
	Meta       resultMeta `json:"_meta,omitzero"`
}

// cached is what every result has that a client may keep. Private: what a token is offered depends on it.
type cached struct {
	envelope
	TTL   int64  `json:"ttlMs"`
	Scope string `json:"cacheScope"`
}

type discoverResult struct {
	cached
	SupportedVersions []string     `json:"supportedVersions"`
	Capabilities      capabilities `json:"capabilities"`
	Instructions      string       `json:"instructions"`
}

type capabilities struct {
	Tools toolsCapability `json:"tools"`
}

// toolsCapability says that subscriptions/listen tells of changes to the list.
type toolsCapability struct {
	ListChanged bool `json:"listChanged"`
}

type listResult struct {
	cached
	Tools []json.RawMessage `json:"tools"`
}

type callResult struct {
	envelope
	Content    []textContent   `json:"content"`
	Structured json.RawMessage `json:"structuredContent,omitzero"`
	IsError    bool            `json:"isError"`
}

type textContent struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// serveMethod appends the result of one request, a JSON object.
func (s *Server) serveMethod(ctx context.Context, into []byte, caller registry.Caller, request request) ([]byte, *jsonrpc.Error) {
	switch request.method {
	case methodDiscover:
		return s.appendEncoded(into, discoverResult{
			cached:            s.cached(),
			SupportedVersions: s.revisions(),
			Capabilities:      capabilities{toolsCapability{true}},
			Instructions:      registry.Instructions,
		})
	case methodList:
		tools, failure := s.list(caller, request.params)
		if failure != nil {
			return nil, failure
		}
		return s.appendEncoded(into, listResult{s.cached(), tools})
	case methodCall:
		caller.Says = request.says()
		dialog, failure := request.dialog()
		if failure != nil {
			return nil, failure
		}
		done, no, failure := s.call(registry.WithDialog(ctx, dialog), caller, request.params)
		switch {
		case failure != nil:
			return nil, failure
		case dialog.Asks != nil:
			return s.ask(into, dialog.Asks)
		case no == nil:
			return s.appendDone(into, done), nil
		}
		result := refused(no)
		result.envelope.ResultType, result.Meta.ServerInfo = complete, s.serverInfo()
		return s.appendEncoded(into, result)
	}
	return nil, jsonrpc.ErrMethodNotFound
}

// list returns the tools that caller is offered. There is one page: no cursor is ever given out.
func (s *Server) list(caller registry.Caller, params jsonrpc.Members) ([]json.RawMessage, *jsonrpc.Error) {
	if params.Get("cursor") != nil {
		return nil, jsonrpc.ErrInvalidParams.With("cursor is none of ours: the list has one page")
	}
	tools := []json.RawMessage{}
	for _, verb := range s.Calls.Verbs(caller) {
		tool, failure := s.tool(toolAs(verb, caller))
		if failure != nil {
			return nil, failure
		}
		tools = append(tools, tool)
	}
	return tools, nil
}

// toolFor is a verb as a caller sees it: one above its ceiling is listed, and says so.
type toolFor struct {
	verb     *registry.Verb
	disabled bool
}

// toolAs is how a caller sees a verb.
func toolAs(verb *registry.Verb, caller registry.Caller) toolFor {
	return toolFor{verb, verb.Class > caller.Ceiling}
}

// tool returns a verb as a tool. Verbs never change, so each is rendered once.
func (s *Server) tool(key toolFor) (json.RawMessage, *jsonrpc.Error) {
	if tool, ok := s.tools.Load(key); ok {
		return tool.(json.RawMessage), nil
	}
	rendered := render.Tools([]*registry.Verb{key.verb})[0]
	if key.disabled {
		rendered = rendered.Disabled()
	}
	tool, err := json.Marshal(rendered)
	if err != nil {
		s.log().Error("render a tool", "verb", key.verb.Name, "cause", err)
		return nil, jsonrpc.ErrInternal
	}
	s.tools.Store(key, json.RawMessage(tool))
	return tool, nil
}

// call carries one tool call to the router, and returns what was done or the tool's no. That a tool says no is a result, which
// the model can act on; that there is no such tool is an error of the message (MCP 2026-07-28, tools, "Error Handling").
func (s *Server) call(ctx context.Context, caller registry.Caller, params jsonrpc.Members) (json.RawMessage, *refusal.Refusal, *jsonrpc.Error) {
	name, ok := jsonrpc.String(params.Get("name"))
	if !ok {
		return nil, nil, jsonrpc.ErrInvalidParams.With("name is not a text")
	}
	arguments := params.Get("arguments")
	if arguments != nil && !isObject(arguments) {
		return nil, nil, jsonrpc.ErrInvalidParams.With("arguments is not an object")
	}
	result, err := s.Calls.Dispatch(ctx, caller, name, arguments)
	if err != nil {
		no := refusal.Of(err)
		if no.Code == refusal.UnknownVerb {
			return nil, nil, jsonrpc.ErrInvalidParams.With("unknown tool; tools/list says which there are")
		}
		return nil, no, nil
	}
	return result, nil, nil
}

// appendDone appends the result of a tool that did what was asked. It writes by hand what encode would write of a
// callResult, since that reads again what the router has checked just now, and this is what callers wait for most.
func (s *Server) appendDone(into []byte, structured json.RawMessage) []byte {
	info := s.serverInfo()
	into = slices.Grow(into, 2*len(structured)+len(structured)/4+256) // quoted, an eighth of JSON is quotes to escape
	into = append(into, `{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":`...)
	into = appendText(into, info.Name)
	into = append(into, `,"version":`...)
	into = appendText(into, info.Version)
	into = append(into, `}},"content":[{"type":"text","text":`...)
	into = appendText(into, structured)
	into = append(into, `}],"structuredContent":`...)
	into = append(into, structured...)
	return append(into, `,"isError":false}`...)
}

// appendText appends a text as JSON, mended where it is not UTF-8.
func appendText[T ~string | ~[]byte](into []byte, text T) []byte {
	into, _ = jsontext.AppendQuote(into, text) // its one error is that it had to mend
	return into
}

// refused is the result of a tool that said no. The refusal is not structuredContent: that has to fit the
// tool's output schema, in an error too, and clients that check it would drop the answer.
func refused(no *refusal.Refusal) callResult {
	text := no.Error()
	if no.Request != "" {
		text += " [request " + no.Request + "]"
	}
	result := callResult{Content: []textContent{{"text", text}}, IsError: true}
	result.Meta.Refusal = no
	return result
}

// complete is the resultType of every result of ours that asks its client for nothing more (elicit.go).
const complete = "complete"

func (s *Server) serverInfo() serverInfo {
	if s.Version == "" {
		return serverInfo{"termic", "unknown"}
	}
	return serverInfo{"termic", s.Version}
}

func (s *Server) envelope() envelope {
	return envelope{ResultType: complete, Meta: resultMeta{ServerInfo: s.serverInfo()}}
}

func (s *Server) cached() cached {
	return cached{envelope: s.envelope(), TTL: ttl.Milliseconds(), Scope: "private"}
}

func (s *Server) appendEncoded(into []byte, result any) ([]byte, *jsonrpc.Error) {
	text, failure := s.encode(result)
	return append(into, text...), failure
}

func (s *Server) encode(result any) ([]byte, *jsonrpc.Error) {
	text, err := marshal(result)
	if err != nil {
		s.log().Error("encode a result", "cause", err)
		return nil, jsonrpc.ErrInternal
	}
	return text, nil
}

// marshal writes a message of ours: text that is not UTF-8 is mended, and JSON that is part of it stays as it was written.
func marshal(message any) ([]byte, error) {
	return jsonv2.Marshal(message, jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(true))
}
