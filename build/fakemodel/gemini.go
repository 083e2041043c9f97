package fakemodel

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// generate is POST /v1beta/models/NAME:generateContent and :streamGenerateContent, as Gemini CLI asks it.
func generate(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Tools    []json.RawMessage
		Contents []struct {
			Role  string
			Parts []struct {
				Text             string
				FunctionResponse json.RawMessage
			}
		}
	}
	_ = json.NewDecoder(r.Body).Decode(&in)
	prompt, done := "", 0
	for _, content := range in.Contents {
		for _, part := range content.Parts {
			if part.FunctionResponse != nil {
				done++
			}
			if content.Role == "user" && strings.Contains(part.Text, "@@") {
				prompt, done = part.Text, 0
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
	answer := func(part object, reason any) object {
		candidate := object{"content": object{"role": "model", "parts": []any{part}}, "index": 0}
		if reason != nil {
			candidate["finishReason"] = reason
		}
		return object{"candidates": []any{candidate}, "usageMetadata": object{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}}
	}
	words, pause := s.pieces()
	last := object{"text": words[len(words)-1]}
	if s.verb == "bash" || s.verb == "bg" {
		arguments := object{"command": s.arg, "description": "what the prompt says"}
		if s.verb == "bg" {
			arguments["is_background"] = true
		}
		last = object{"functionCall": object{"name": "run_shell_command", "args": arguments}}
	}
	if !strings.HasSuffix(r.PathValue("call"), ":streamGenerateContent") {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer(last, "STOP"))
		return
	}
	out := begin(w)
	for _, word := range words[:len(words)-1] {
		out.data(answer(object{"text": word}, nil))
		time.Sleep(pause)
	}
	out.data(answer(last, "STOP"))
}
