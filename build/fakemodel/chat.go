package fakemodel

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// chat is OpenAI's POST /v1/chat/completions, streamed, as OpenCode asks a provider of one's own.
func chat(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Tools    []json.RawMessage
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	_ = json.NewDecoder(r.Body).Decode(&in)
	prompt, done := "", 0
	for _, message := range in.Messages {
		switch text := chatText(message.Content); {
		case message.Role == "tool":
			done++
		case message.Role == "user" && strings.Contains(text, "@@"):
			prompt, done = text, 0
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
	id := fmt.Sprintf("c%d", time.Now().UnixNano())
	chunk := func(delta object, reason any) {
		out.data(object{"id": id, "object": "chat.completion.chunk", "model": "fake", "choices": []any{object{"index": 0, "delta": delta, "finish_reason": reason}}})
	}
	reason := "stop"
	if name, arguments := chatTool(s); name != "" {
		text, _ := json.Marshal(arguments)
		reason = "tool_calls"
		chunk(object{"role": "assistant", "tool_calls": []any{object{
			"index": 0, "id": "call_" + id, "type": "function", "function": object{"name": name, "arguments": string(text)},
		}}}, nil)
	} else {
		words, pause := s.pieces()
		for _, word := range words {
			chunk(object{"role": "assistant", "content": word}, nil)
			time.Sleep(pause)
		}
	}
	chunk(object{}, reason)
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

// chatText is the text of a message, which is a string or a list of parts.
func chatText(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []struct{ Text string }
	_ = json.Unmarshal(content, &parts)
	for _, part := range parts {
		text += part.Text + "\n"
	}
	return text
}

func chatTool(s step) (name string, arguments object) {
	switch s.verb {
	case "bash", "esc":
		return "bash", object{"command": s.arg, "description": "what the prompt says"}
	case "ask":
		return "question", object{"questions": []any{object{
			"header": "Colour", "question": "Which colour?",
			"options": []any{object{"label": "Red", "description": "r"}, object{"label": "Blue", "description": "b"}},
		}}}
	}
	return "", nil
}
