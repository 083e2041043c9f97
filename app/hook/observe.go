package hook

import (
	"termic/app/settle"
)

// Tracker turns one tab's claims into what its state machine observes. Its zero value is ready.
type Tracker struct {
	// children are the sub-agents that have started and not stopped, by the agent's id for them.
	children map[string]bool
	// background is what the last event that tells it said of commands that run on.
	background int
	session    string
	transcript string
	prompts    uint64
	last       Prompt
}

// Prompt is one that the agent said it took.
type Prompt struct {
	Number uint64 // counted from 1; 0 is none
	Digest string // as of Digest
	Length int    // bytes
}

// maxChildren bounds what is kept of sub-agents; an agent runs some at once.
const maxChildren = 256

// Session returns the agent's id of its session and where it says that it keeps it; empty before it said so.
func (t *Tracker) Session() (id, transcript string) { return t.session, t.transcript }

// Prompt returns the last prompt that the agent said it took.
func (t *Tracker) Prompt() Prompt { return t.last }

// Take takes a claim in and returns what it means for the state, in order.
func (t *Tracker) Take(c Claim) []settle.Observation {
	t.note(c)
	var out []settle.Observation
	if c.Child == "" {
		if state, ok := stateOf(c); ok {
			out = append(out, settle.Observation{Kind: settle.KindHook, State: state, Text: waitKind(c)})
		}
	}
	if t.count(c) {
		out = append(out, settle.Observation{Kind: settle.KindBackground, Source: settle.Hook, Count: t.background + len(t.children)})
	}
	return out
}

// note keeps what the claim says of session and prompts. Sub-agents have sessions of their own.
func (t *Tracker) note(c Claim) {
	if c.Child != "" {
		return
	}
	if c.Session != "" && c.Session != t.session {
		t.session, t.transcript = c.Session, ""
	}
	if c.Transcript != "" {
		t.transcript = c.Transcript
	}
	if c.Digest != "" {
		t.prompts++
		t.last = Prompt{t.prompts, c.Digest, c.Length}
	}
}

// count keeps the number of what works beside the agent and tells whether the claim is about it.
func (t *Tracker) count(c Claim) bool {
	switch {
	case c.Event == "SubagentStart" && c.Child != "":
		if t.children == nil {
			t.children = map[string]bool{}
		}
		if len(t.children) < maxChildren {
			t.children[c.Child] = true
		}
	case c.Event == "SubagentStop" && c.Child != "":
		delete(t.children, c.Child)
	case c.Event == "SessionStart", c.Event == "SessionEnd":
		t.children, t.background = nil, 0
	case c.Background != nil:
		// The list holds sub-agents as well, and is complete: those it does not count have ended.
		t.background = *c.Background
		t.children = nil
	default:
		return false
	}
	return true
}

// stateOf is what an event of the agent itself says of its state. Events that say nothing of it are not listed.
//
// No event comes when the person presses Esc or denies (claude), nor when a permission is granted: the machine lets later signals
// take these claims back.
func stateOf(c Claim) (settle.State, bool) {
	switch c.Event {
	case "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolBatch", "PreCompact", "BeforeAgent", "BeforeTool", "AfterTool":
		if asks(c) {
			return settle.Waiting, true
		}
		return settle.Working, true
	case "PermissionRequest":
		return settle.Waiting, true
	case "Notification":
		if c.Kind == "permission_prompt" || c.Kind == "ToolPermission" {
			return settle.Waiting, true
		}
	case "Stop", "StopFailure", "Interrupt", "AfterAgent":
		return settle.Idle, true
	case "SessionStart":
		if c.Kind != "compact" { // in the middle of a turn
			return settle.Idle, true
		}
	case "busy", "retry": // opencode's own words for the state of a session
		return settle.Working, true
	case "idle":
		return settle.Idle, true
	case "permission.asked", "question.asked":
		return settle.Waiting, true
	case "permission.replied", "question.replied", "question.rejected":
		return settle.Working, true
	}
	return settle.Unknown, false
}

// asks tells whether the tool that is about to run is a question to the person: codex announces one in no other way.
func asks(c Claim) bool { return c.Event == "PreToolUse" && isQuestion(c.Tool) }

func isQuestion(tool string) bool {
	return tool == "AskUserQuestion" || tool == "request_user_input" || tool == "ask_user"
}

// waitKind is what a waiting agent asks for, in the words of settle.Wait.
func waitKind(c Claim) string {
	switch {
	case isQuestion(c.Tool), c.Event == "question.asked":
		return "question"
	case c.Event == "PermissionRequest", c.Event == "Notification", c.Event == "permission.asked":
		return "permission"
	}
	return ""
}
