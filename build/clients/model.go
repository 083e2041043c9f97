package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// model is a fake vendor on a loopback port. It speaks as much of four vendors' protocols as their agents need, and
// follows one script with each: call our tool, have the endpoint rebound, call it again, say that it is done.
type model struct {
	server *http.Server
	url    string
	// rebind is called once, between the first and the second call.
	rebind func() error
	// dump is a directory for every request, for whoever wants to know why; empty: none.
	dump string

	mu       sync.Mutex
	requests int
	rebound  bool
	results  []string // what came back from our tool, each once
	trouble  error
}

// step is what the model does next.
type step int

const (
	callTool step = iota
	sayDone
)

func newModel(dump string, rebind func() error) (*model, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m := &model{url: "http://" + listener.Addr().String(), rebind: rebind, dump: dump}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", m.anthropic)
	mux.HandleFunc("POST /v1/responses", m.responses)
	mux.HandleFunc("POST /v1/chat/completions", m.chat)
	mux.HandleFunc("POST /v1beta/models/{call}", m.gemini)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		m.read(r)
		http.NotFound(w, r)
	})
	m.server = &http.Server{Handler: mux}
	go func() { _ = m.server.Serve(listener) }()
	return m, nil
}

func (m *model) close() { _ = m.server.Close() }

// read returns a request's body, and keeps it where that is wanted.
func (m *model) read(r *http.Request) []byte {
	body, err := io.ReadAll(r.Body)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests++
	if err != nil {
		m.trouble = err
	}
	if m.dump != "" {
		name := fmt.Sprintf("%03d%s", m.requests, strings.ReplaceAll(r.URL.Path, "/", "_"))
		_ = os.WriteFile(filepath.Join(m.dump, name), body, 0o600)
	}
	return body
}

// next decides by the tool results that a conversation holds so far.
func (m *model) next(results []string) step {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(results) > len(m.results) {
		m.results = results
	}
	switch {
	case len(results) == 0:
		return callTool
	case len(results) == 1:
		if !m.rebound {
			m.rebound = true
			m.trouble = m.rebind()
		}
		return callTool
	}
	return sayDone
}

// outcome returns what is wrong with what came back.
func (m *model) outcome() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.trouble != nil {
		return m.trouble
	}
	if len(m.results) < 2 {
		return fmt.Errorf("our tool answered %d times, want 2; the model was asked %d times", len(m.results), m.requests)
	}
	for i, result := range m.results {
		if !strings.Contains(result, `"tasks"`) && !strings.Contains(result, `\"tasks\"`) {
			return fmt.Errorf("answer %d of our tool: %s", i+1, result)
		}
	}
	return nil
}

// events writes server-sent events, each a name and its data.
func events(w http.ResponseWriter, list ...[2]any) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range list {
		data, err := json.Marshal(event[1])
		if err != nil {
			panic(err) // literals of ours
		}
		if name, _ := event[0].(string); name != "" {
			_, _ = fmt.Fprintf(w, "event: %s\n", name)
		}
		_, _ = fmt.Fprintf(w, "data: %s\n\n", data)
	}
}

type object = map[string]any

// anthropic is POST /v1/messages, streamed. Tools may be deferred: then the model has to search for ours first.
func (m *model) anthropic(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Tools    []struct{ Name string }
		Messages []struct{ Content json.RawMessage }
	}
	_ = json.Unmarshal(m.read(r), &in)
	tool := "mcp__termic__task_list"
	call := object{"name": tool, "input": "{}"}
	offered, search := false, false
	for _, t := range in.Tools {
		offered = offered || t.Name == tool
		search = search || t.Name == "ToolSearch"
	}
	if !offered && search {
		call = object{"name": "ToolSearch", "input": `{"query":"select:` + tool + `"}`}
	}
	ours := map[string]bool{}
	var results []string
	searched := false
	for _, message := range in.Messages {
		var blocks []struct {
			Type, Name, ID string
			ToolUseID      string `json:"tool_use_id"`
			Content        json.RawMessage
		}
		if json.Unmarshal(message.Content, &blocks) != nil {
			continue
		}
		for _, b := range blocks {
			if b.Type == "tool_use" {
				ours[b.ID] = b.Name == tool
				searched = searched || b.Name == "ToolSearch"
			}
			if b.Type == "tool_result" && ours[b.ToolUseID] {
				results = append(results, string(b.Content))
			}
		}
	}
	if searched {
		call = object{"name": tool, "input": "{}"}
	}
	next := sayDone
	if offered || search {
		next = m.next(results)
	}
	start := object{"type": "message_start", "message": object{"id": "msg_1", "type": "message", "role": "assistant", "model": "fake", "content": []any{}, "usage": object{"input_tokens": 1, "output_tokens": 1}}}
	block := object{"type": "text", "text": ""}
	delta := object{"type": "text_delta", "text": "done"}
	reason := "end_turn"
	if next == callTool {
		block = object{"type": "tool_use", "id": fmt.Sprintf("toolu_%d_%d", len(results), len(in.Messages)), "name": call["name"], "input": object{}}
		delta = object{"type": "input_json_delta", "partial_json": call["input"]}
		reason = "tool_use"
	}
	events(w, [2]any{"message_start", start},
		[2]any{"content_block_start", object{"type": "content_block_start", "index": 0, "content_block": block}},
		[2]any{"content_block_delta", object{"type": "content_block_delta", "index": 0, "delta": delta}},
		[2]any{"content_block_stop", object{"type": "content_block_stop", "index": 0}},
		[2]any{"message_delta", object{"type": "message_delta", "delta": object{"stop_reason": reason}, "usage": object{"output_tokens": 1}}},
		[2]any{"message_stop", object{"type": "message_stop"}})
}

// responses is OpenAI's POST /v1/responses, streamed, as Codex asks it: tools of a server are a namespace.
func (m *model) responses(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Input []struct {
			Type, Name string
			CallID     string `json:"call_id"`
			Output     json.RawMessage
		}
	}
	_ = json.Unmarshal(m.read(r), &in)
	ours := map[string]bool{}
	var results []string
	for _, item := range in.Input {
		switch item.Type {
		case "function_call":
			ours[item.CallID] = item.Name == "task_list"
		case "function_call_output":
			if ours[item.CallID] {
				results = append(results, string(item.Output))
			}
		}
	}
	item := object{"type": "message", "role": "assistant", "id": "m1", "content": []any{object{"type": "output_text", "text": "done"}}}
	if m.next(results) == callTool {
		item = object{"type": "function_call", "id": "f1", "call_id": fmt.Sprintf("call_%d", len(results)), "namespace": "mcp__termic", "name": "task_list", "arguments": "{}"}
	}
	events(w, [2]any{"response.created", object{"type": "response.created", "response": object{"id": "r1"}}},
		[2]any{"response.output_item.done", object{"type": "response.output_item.done", "item": item}},
		[2]any{"response.completed", object{"type": "response.completed", "response": object{"id": "r1", "usage": object{
			"input_tokens": 1, "input_tokens_details": nil, "output_tokens": 1, "output_tokens_details": nil, "total_tokens": 2,
		}}}})
}

// chat is OpenAI's POST /v1/chat/completions, streamed, as opencode asks it of a provider of one's own.
func (m *model) chat(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Tools    []any
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	_ = json.Unmarshal(m.read(r), &in)
	var results []string
	for _, message := range in.Messages {
		if message.Role == "tool" {
			results = append(results, string(message.Content))
		}
	}
	delta, reason := object{"role": "assistant", "content": "done"}, "stop"
	if len(in.Tools) > 0 && m.next(results) == callTool {
		reason = "tool_calls"
		delta = object{"role": "assistant", "tool_calls": []any{object{
			"index": 0, "id": fmt.Sprintf("call_%d", len(results)), "type": "function", "function": object{"name": "termic_task_list", "arguments": "{}"},
		}}}
	}
	chunk := func(delta object, reason any) [2]any {
		return [2]any{"", object{"id": "c1", "object": "chat.completion.chunk", "model": "fake", "choices": []any{object{"index": 0, "delta": delta, "finish_reason": reason}}}}
	}
	events(w, chunk(delta, nil), chunk(object{}, reason))
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

// gemini is POST /v1beta/models/NAME:generateContent and :streamGenerateContent.
func (m *model) gemini(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Tools    []any
		Contents []struct {
			Parts []struct{ FunctionResponse json.RawMessage }
		}
	}
	_ = json.Unmarshal(m.read(r), &in)
	var results []string
	for _, content := range in.Contents {
		for _, part := range content.Parts {
			if part.FunctionResponse != nil {
				results = append(results, string(part.FunctionResponse))
			}
		}
	}
	part := object{"text": "done"}
	if len(in.Tools) > 0 && m.next(results) == callTool {
		part = object{"functionCall": object{"name": "mcp_termic_task_list", "args": object{}}}
	}
	answer := object{
		"candidates":    []any{object{"content": object{"role": "model", "parts": []any{part}}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": object{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
	}
	if strings.HasSuffix(r.PathValue("call"), ":streamGenerateContent") {
		events(w, [2]any{"", answer})
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}
