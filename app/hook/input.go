package hook

import (
	"encoding/json"
	"strings"
)

// input is what agents hand to a hook on its standard input, as far as it is read. Names as in claude 2.1.332, codex 0.171.0 and
// gemini 0.61.0 (2026-11-29), which agree where they mean the same.
type input struct {
	Event      string            `json:"hook_event_name"`
	Session    string            `json:"session_id"`
	Turn       string            `json:"turn_id"`
	PromptID   string            `json:"prompt_id"`
	Prompt     *string           `json:"prompt"`
	Tool       string            `json:"tool_name"`
	Child      string            `json:"agent_id"`
	Transcript string            `json:"transcript_path"`
	Source     string            `json:"source"`
	Reason     string            `json:"reason"`
	Notice     string            `json:"notification_type"`
	Background []json.RawMessage `json:"background_tasks"`
}

// claimOf makes a claim of an agent's words. Nothing of a prompt, an answer or a tool's arguments is in it.
func claimOf(agent string, data []byte) (Claim, bool) {
	var in input
	if err := json.Unmarshal(data, &in); err != nil || in.Event == "" {
		return Claim{}, false
	}
	c := Claim{
		Agent: agent, Event: in.Event, Session: in.Session, Turn: in.Turn, Tool: in.Tool, Child: in.Child, Transcript: in.Transcript,
	}
	if c.Turn == "" {
		c.Turn = in.PromptID
	}
	for _, kind := range []string{in.Notice, in.Source, in.Reason} {
		if kind != "" {
			c.Kind = kind
			break
		}
	}
	if in.Prompt != nil && takesPrompt(in.Event) {
		c.Digest, c.Length = Digest(unwrapped(*in.Prompt))
	}
	if in.Background != nil {
		running := running(in.Background)
		c.Background = &running
	}
	c.bound()
	return c, true
}

// takesPrompt tells whether the event is that of a prompt taken: claude's and codex's, and gemini's.
func takesPrompt(event string) bool { return event == "UserPromptSubmit" || event == "BeforeAgent" }

// running counts the background tasks that have not ended.
func running(tasks []json.RawMessage) int {
	n := 0
	for _, raw := range tasks {
		var task struct {
			Status string `json:"status"`
		}
		_ = json.Unmarshal(raw, &task) // one that is something else counts as running
		switch task.Status {
		case "completed", "failed", "killed", "stopped", "cancelled":
		default:
			n++
		}
	}
	return n
}

// unwrapped returns the text of a long paste that claude has wrapped (2.1.332).
func unwrapped(prompt string) string {
	text := strings.TrimSpace(prompt)
	head, rest, ok := strings.Cut(text, ">\n")
	if !ok || !strings.HasPrefix(head, "<pasted_content id=") || strings.ContainsAny(head, "\n>") {
		return prompt
	}
	inside, ok := strings.CutSuffix(rest, "\n</pasted_content"+strings.TrimPrefix(head, "<pasted_content")+">")
	if !ok {
		if inside, ok = strings.CutSuffix(rest, "\n</pasted_content>"); !ok {
			return prompt
		}
	}
	return inside
}
