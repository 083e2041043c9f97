package bridge

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"termic/mcpserver/jsonrpc"
)

// Revision is the revision that the endpoint serves.
const Revision = "2026-07-28"

// olderRevisions are those that the bridge answers an opening of, the newest first. Their messages for tools
// differ from the endpoint's in what surrounds them, not in what they say.
var olderRevisions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// The members that the endpoint's revision added to results, which older readers do not know.
var newMembers = []string{"resultType", "ttlMs", "cacheScope"}

// structured is the first revision that has tools with a title and a schema of what they return, and results that keep to it.
// Clients of earlier ones read the text of a result, which says the same; half of an answer is spared. Annotations and _meta stay:
// readers pass over what they do not know, and what is in them are hints for caution.
const structured = "2025-06-18"

var (
	structuredResult = []string{"structuredContent"}
	structuredTool   = []string{"title", "outputSchema"}
)

const (
	metaMember    = "_meta"
	versionKey    = "io.modelcontextprotocol/protocolVersion"
	capabilityKey = "io.modelcontextprotocol/clientCapabilities"
)

// request answers one request. Whether it is of an older revision is told by the message alone: newer ones state
// theirs in _meta. Nothing is remembered between messages but what may be left out of answers.
func (b *Bridge) request(ctx context.Context, message jsonrpc.Message) {
	params := map[string]json.RawMessage{}
	if message.Params != nil {
		var err error
		if params, err = jsonrpc.Object(message.Params); err != nil {
			b.fail(message.ID, jsonrpc.ErrInvalidRequest.With("params: "+err.Error()))
			return
		}
	}
	if statesRevision(params) {
		b.forward(ctx, message, params, nil)
		return
	}
	switch message.Method {
	case "initialize":
		b.initialize(message, params)
	case "ping":
		b.say(jsonrpc.AppendResult(nil, message.ID, []byte("{}")))
	default:
		b.forward(ctx, message, withRevision(params), func(response []byte) []byte { return older(response, b.revision()) })
	}
}

func statesRevision(params map[string]json.RawMessage) bool {
	meta, err := jsonrpc.Object(params[metaMember])
	return err == nil && meta[versionKey] != nil
}

// initialize answers the opening of an older revision: with the client's own if it is one of them, else with the
// newest of them, from which the client may turn away.
func (b *Bridge) initialize(message jsonrpc.Message, params map[string]json.RawMessage) {
	revision, _ := jsonrpc.String(params["protocolVersion"])
	if !slices.Contains(olderRevisions, revision) {
		revision = olderRevisions[0]
	}
	b.mu.Lock()
	b.opened = revision
	b.mu.Unlock()
	result, err := json.Marshal(map[string]any{
		"protocolVersion": revision,
		"capabilities":    map[string]any{"tools": map[string]any{}},
		"serverInfo":      map[string]any{"name": "termic", "version": b.Version},
		"instructions":    b.Instructions,
	})
	if err != nil {
		b.fail(message.ID, jsonrpc.ErrInternal)
		return
	}
	b.say(jsonrpc.AppendResult(nil, message.ID, result))
}

// revision is the older revision that answers are written in: the newest where the client did not say.
func (b *Bridge) revision() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return cmp.Or(b.opened, olderRevisions[0])
}

// withRevision returns an older request's parameters with what the endpoint's revision asks for in _meta.
func withRevision(params map[string]json.RawMessage) map[string]json.RawMessage {
	meta, err := jsonrpc.Object(params[metaMember])
	if err != nil {
		meta = map[string]json.RawMessage{}
	}
	meta[versionKey] = json.RawMessage(fmt.Sprintf("%q", Revision))
	meta[capabilityKey] = json.RawMessage("{}")
	params[metaMember], _ = json.Marshal(meta) // raw JSON always encodes
	return params
}

// older returns a response as an older revision has it. An error is the same in all.
func older(response []byte, revision string) []byte {
	members, err := jsonrpc.Object(response)
	if err != nil {
		return response
	}
	result, err := jsonrpc.Object(members["result"])
	if err != nil {
		return response
	}
	without(result, newMembers)
	if revision < structured { // dates
		without(result, structuredResult)
		withoutInTools(result, structuredTool)
	}
	text, err := json.Marshal(result)
	if err != nil {
		return response
	}
	return jsonrpc.AppendResult(nil, jsonrpc.ID(members["id"]), text)
}

func without(members map[string]json.RawMessage, names []string) {
	for _, name := range names {
		delete(members, name)
	}
}

// withoutInTools takes members out of each tool of a list; a result without one stays as it is.
func withoutInTools(result map[string]json.RawMessage, names []string) {
	var tools []map[string]json.RawMessage
	if json.Unmarshal(result["tools"], &tools) != nil {
		return
	}
	for _, tool := range tools {
		without(tool, names)
	}
	if text, err := json.Marshal(tools); err == nil {
		result["tools"] = text
	}
}
