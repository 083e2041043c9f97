package fakemodel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// messages is POST /v1/messages, streamed.
func messages(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Tools    []struct{ Name string }
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	_ = json.NewDecoder(r.Body).Decode(&in)
	prompt, done := "", 0
	for _, message := range in.Messages {
		texts, calls := claudeBlocks(message.Content)
		for _, text := range texts {
			if message.Role == "user" && strings.Contains(text, "@@") {
				prompt, done = text, 0
			}
		}
		if message.Role == "assistant" {
			done += calls
		}
	}
	if len(in.Tools) == 0 { // it wants a title
		prompt = ""
	}
	s := stepOf(prompt, done)
	if s.fails(w) {
		return
	}
	out := begin(w)
	id := fmt.Sprintf("msg_%d_%d", len(in.Messages), time.Now().UnixNano())
	out.send("message_start", object{"type": "message_start", "message": object{"id": id, "type": "message", "role": "assistant", "model": "fake", "content": []any{}, "usage": object{"input_tokens": 1, "output_tokens": 1}}})
	reason := "end_turn"
	if name, input := claudeTool(s); name != "" {
		reason = "tool_use"
		out.send("content_block_start", object{"type": "content_block_start", "index": 0, "content_block": object{"type": "tool_use", "id": "toolu_" + id[4:], "name": name, "input": object{}}})
		text, _ := json.Marshal(input)
		out.send("content_block_delta", object{"type": "content_block_delta", "index": 0, "delta": object{"type": "input_json_delta", "partial_json": string(text)}})
	} else {
		out.send("content_block_start", object{"type": "content_block_start", "index": 0, "content_block": object{"type": "text", "text": ""}})
		words, pause := s.pieces()
		for _, word := range words {
			out.send("content_block_delta", object{"type": "content_block_delta", "index": 0, "delta": object{"type": "text_delta", "text": word}})
			time.Sleep(pause)
		}
	}
	out.send("content_block_stop", object{"type": "content_block_stop", "index": 0})
	out.send("message_delta", object{"type": "message_delta", "delta": object{"stop_reason": reason}, "usage": object{"output_tokens": 1}})
	out.send("message_stop", object{"type": "message_stop"})
}

// claudeBlocks returns the texts of a message and how many tools it calls.
func claudeBlocks(content json.RawMessage) (texts []string, calls int) {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []string{text}, 0
	}
	var blocks []struct{ Type, Text string }
	_ = json.Unmarshal(content, &blocks)
	for _, b := range blocks {
		switch b.Type {
		case "text":
			texts = append(texts, b.Text)
		case "tool_use":
			calls++
		}
	}
	return texts, calls
}

func claudeTool(s step) (name string, input object) {
	switch s.verb {
	case "bash", "esc":
		return "Bash", object{"command": s.arg, "description": "run"}
	case "bg":
		return "Bash", object{"command": s.arg, "description": "run", "run_in_background": true}
	case "ask":
		return "AskUserQuestion", object{"questions": []any{object{
			"question": "Which colour?", "header": "Colour", "multiSelect": false,
			"options": []any{object{"label": "Red", "description": "r"}, object{"label": "Blue", "description": "b"}},
		}}}
	case "agent":
		return "Agent", object{"description": "sub task", "prompt": "sub @@ " + s.arg, "subagent_type": "general-purpose"}
	}
	return "", nil
}
