package fakemodel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// responses is OpenAI's POST /v1/responses, streamed, as Codex asks it.
func responses(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Tools []json.RawMessage
		Input []struct {
			Type, Role string
			Content    []struct{ Text string }
		}
	}
	_ = json.NewDecoder(r.Body).Decode(&in)
	prompt, done := "", 0
	for _, item := range in.Input {
		switch item.Type {
		case "function_call", "custom_tool_call", "local_shell_call":
			done++
		case "message":
			for _, content := range item.Content {
				if item.Role == "user" && strings.Contains(content.Text, "@@") {
					prompt, done = content.Text, 0
				}
			}
		}
	}
	if len(in.Tools) == 0 {
		prompt = ""
	}
	s := stepOf(prompt, done)
	if s.fails(w) {
		return
	}
	out := begin(w)
	id := fmt.Sprintf("%d_%d", len(in.Input), time.Now().UnixNano())
	out.send("response.created", object{"type": "response.created", "response": object{"id": "r" + id}})
	item := object{"type": "message", "role": "assistant", "id": "m" + id}
	if name, arguments := codexTool(s); name != "" {
		text, _ := json.Marshal(arguments)
		item = object{"type": "function_call", "id": "f" + id, "call_id": "call_" + id, "name": name, "arguments": string(text)}
	} else {
		out.send("response.output_item.added", object{"type": "response.output_item.added", "item": object{"type": "message", "role": "assistant", "id": "m" + id, "content": []any{}}})
		words, pause := s.pieces()
		for _, word := range words {
			out.send("response.output_text.delta", object{"type": "response.output_text.delta", "item_id": "m" + id, "delta": word})
			time.Sleep(pause)
		}
		item["content"] = []any{object{"type": "output_text", "text": strings.Join(words, "")}}
	}
	out.send("response.output_item.done", object{"type": "response.output_item.done", "item": item})
	out.send("response.completed", object{"type": "response.completed", "response": object{"id": "r" + id, "usage": object{
		"input_tokens": 1, "input_tokens_details": nil, "output_tokens": 1, "output_tokens_details": nil, "total_tokens": 2,
	}}})
}

func codexTool(s step) (name string, arguments object) {
	switch s.verb {
	case "bash":
		return "exec_command", object{"cmd": s.arg}
	case "bg": // it yields before the command ends, and the command goes on
		return "exec_command", object{"cmd": s.arg, "yield_time_ms": 500}
	case "esc":
		return "exec_command", object{"cmd": s.arg, "sandbox_permissions": "require_escalated", "justification": "needs it"}
	case "ask":
		return "request_user_input", object{"questions": []any{object{
			"id": "colour", "header": "Colour", "question": "Which colour?",
			"options": []any{object{"label": "Red", "description": "r"}, object{"label": "Blue", "description": "b"}},
		}}}
	}
	return "", nil
}
