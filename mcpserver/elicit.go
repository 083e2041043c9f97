package mcpserver

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"termic/mcpserver/jsonrpc"
	"termic/registry"
)

// A call that the person has to confirm may be answered with a question for whoever sits at the client, where the person lets
// that client ask and it says that it can (MCP 2026-07-28, patterns, "Multi Round-Trip Requests", and elicitation in form mode).
// What decides is the router; here are only the words.

const (
	inputRequired = "input_required"
	// confirmKey names the one question that we ask.
	confirmKey = "confirm"
	// allowField is the one field of its form. Only true in it is a yes: accepting an empty form is none.
	allowField = "allow"
	// maxAsked is how much of a call's arguments a question shows, in bytes; the rest is counted.
	maxAsked = 2000
)

type inputRequiredResult struct {
	envelope
	InputRequests map[string]elicitRequest `json:"inputRequests"`
	RequestState  string                   `json:"requestState"`
}

type elicitRequest struct {
	Method string       `json:"method"`
	Params elicitParams `json:"params"`
}

type elicitParams struct {
	Mode            string         `json:"mode"`
	Message         string         `json:"message"`
	RequestedSchema jsontext.Value `json:"requestedSchema"`
}

var confirmForm = jsontext.Value(`{"type":"object","properties":{"` + allowField + `":{"type":"boolean","title":"Allow this call","description":"Whether termic may do this, once."}},"required":["` + allowField + `"]}`)

// dialog returns what a request says of questions to its person.
func (r request) dialog() (*registry.Dialog, *jsonrpc.Error) {
	dialog := &registry.Dialog{Offered: r.showsForms()}
	raw := r.params.Get("requestState")
	if raw == nil {
		return dialog, nil // answers without a state are answers to nothing of ours
	}
	state, ok := jsonrpc.String(raw)
	if !ok || state == "" {
		return nil, jsonrpc.ErrInvalidParams.With("requestState is not a text that this server gave out")
	}
	dialog.State = state
	responses := r.params.Get("inputResponses")
	if responses == nil {
		return dialog, nil
	}
	if !isObject(responses) {
		return nil, jsonrpc.ErrInvalidParams.With("inputResponses is not an object")
	}
	reply, failure := replyOf(jsonrpc.MembersOf(responses).Get(confirmKey))
	dialog.Reply = reply
	return dialog, failure
}

// showsForms tells whether the client declares that it can show its person a form. An empty declaration means forms (MCP
// 2026-07-28, elicitation, "Capabilities").
func (r request) showsForms() bool {
	declared := jsonrpc.MembersOf(r.meta.Get(capabilityKey)).Get("elicitation")
	if !isObject(declared) {
		return false
	}
	modes := jsonrpc.MembersOf(declared)
	return isObject(modes.Get("form")) || modes.Get("form") == nil && modes.Get("url") == nil
}

// actions are what a client can say that its person did (schema.json, ElicitResult).
var actions = []string{"accept", "cancel", "decline"}

// replyOf reads an answer to our question; nil is none.
func replyOf(raw json.RawMessage) (registry.Reply, *jsonrpc.Error) {
	if raw == nil {
		return registry.NoReply, nil
	}
	answer := jsonrpc.MembersOf(raw)
	action, ok := jsonrpc.String(answer.Get("action"))
	if !isObject(raw) || !ok || !slices.Contains(actions, action) {
		return registry.NoReply, jsonrpc.ErrInvalidParams.With("inputResponses." + confirmKey + " has no action that there is: accept, decline or cancel")
	}
	content := answer.Get("content")
	if action == "accept" && isObject(content) && string(jsonrpc.MembersOf(content).Get(allowField)) == "true" {
		return registry.Yes, nil
	}
	return registry.No, nil
}

// ask is the answer to a call that waits for its client's person.
func (s *Server) ask(into []byte, asks *registry.Asks) ([]byte, *jsonrpc.Error) {
	result := inputRequiredResult{
		envelope: s.envelope(),
		InputRequests: map[string]elicitRequest{confirmKey: {"elicitation/create", elicitParams{
			Mode: "form", Message: question(asks), RequestedSchema: confirmForm,
		}}},
		RequestState: asks.State,
	}
	result.ResultType = inputRequired
	return s.appendEncoded(into, result)
}

// question is what the person reads. Nothing of the arguments hides in it or acts on the terminal that shows it.
func question(asks *registry.Asks) string {
	arguments, more := string(asks.Arguments), ""
	if len(arguments) > maxAsked {
		more = fmt.Sprintf("… (%d bytes in all)", len(arguments))
		arguments = strings.ToValidUTF8(arguments[:maxAsked], "")
	}
	arguments = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, arguments)
	return fmt.Sprintf("May this program have termic do %s (%s) with %s%s?", asks.Verb.Name, asks.Verb.Class, arguments, more)
}
