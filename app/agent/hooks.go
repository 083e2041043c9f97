package agent

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
)

// Hooks names whose hooks an agent has. They are set for one launch, on the command line or in a directory of ours, and never in a
// file of the person's. The zero value has none.
type Hooks string

// The kinds of hooks that we know how to set.
const (
	HooksClaude   Hooks = "claude"
	HooksCodex    Hooks = "codex"
	HooksGemini   Hooks = "gemini"
	HooksOpenCode Hooks = "opencode"
)

// claudeEvents are what claude is asked to tell: 2.1.332 fired each of them (tried 2026-11-29).
var claudeEvents = []string{
	"SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "PostToolBatch", "Notification",
	"SubagentStart", "SubagentStop", "Stop", "StopFailure", "PreCompact", "PostCompact", "SessionEnd",
}

// codexEvents are what codex is asked to tell (0.171.0, tried 2026-11-29), each by the name under which it keeps its trust.
var codexEvents = []struct{ name, key string }{
	{"SessionStart", "session_start"}, {"UserPromptSubmit", "user_prompt_submit"}, {"PreToolUse", "pre_tool_use"},
	{"PermissionRequest", "permission_request"}, {"PostToolUse", "post_tool_use"}, {"Stop", "stop"}, {"SubagentStart", "subagent_start"},
	{"SubagentStop", "subagent_stop"}, {"PreCompact", "pre_compact"}, {"PostCompact", "post_compact"}, {"Interrupt", "interrupt"},
	{"SessionEnd", "session_end"},
}

// GeminiEvents are what gemini's settings file names.
var GeminiEvents = []string{"SessionStart", "SessionEnd", "BeforeAgent", "AfterAgent", "BeforeTool", "AfterTool", "Notification", "PreCompress"}

// GeminiHooks is what gemini's settings file says under "hooks".
func GeminiHooks(hook string) map[string]any {
	hooks := map[string]any{}
	for _, event := range GeminiEvents {
		hooks[event] = []any{map[string]any{"hooks": []any{map[string]any{
			"name": "termic", "type": "command", "command": HookCommand(hook, HooksGemini), "timeout": hookSeconds * 1000, // ms
		}}}}
	}
	return hooks
}

// hookSeconds is how long a hook may take at most: claude's and codex's own limit for the hooks of a session's end is 3 s, and codex
// hashes that one. Ours takes some milliseconds.
const hookSeconds = 3

// hooks returns the arguments and variables that set the agent's hooks for this launch.
func (d Definition) hooks(o LaunchOptions) (args, env []string, err error) {
	if o.Hook != "" {
		if err := validHook(o.Hook); err != nil {
			return nil, nil, err
		}
	}
	bypass := o.Caged || o.Bypass
	switch d.Hooks {
	case HooksClaude:
		if settings := claudeSettings(o.Hook, bypass); settings != "" {
			args = []string{"--settings", settings}
		}
	case HooksCodex:
		if o.Hook != "" {
			args = codexHooks(HookCommand(o.Hook, HooksCodex))
		}
	case HooksOpenCode:
		if o.Plugins != "" {
			// Any plugin makes it ask npm's registry for a package of its own, for whose absence it waited 71 s (1.18.33).
			env = []string{"OPENCODE_CONFIG_DIR=" + o.Plugins, "npm_config_fetch_retries=0"}
		}
	}
	return args, env, nil
}

// Reports tells whether the agent's hooks report when it is launched so.
func (d Definition) Reports(o LaunchOptions) bool {
	switch d.Hooks {
	case HooksClaude, HooksCodex:
		return o.Hook != ""
	case HooksGemini:
		return o.Hook != "" && o.Caged
	case HooksOpenCode:
		return o.Plugins != "" || o.Hook != "" && o.Caged
	}
	return false
}

// validHook refuses a path that would be another in a shell's, a JSON or a TOML string.
func validHook(path string) error {
	bad := func(r rune) bool {
		return !unicode.IsPrint(r) || r == unicode.ReplacementChar || r == '\u2028' || r == '\u2029'
	}
	if !filepath.IsAbs(path) || strings.ContainsFunc(path, bad) {
		return invalid("hook", "%q is not an absolute path of printable characters", path)
	}
	return nil
}

// HookCommand is what a shell runs for each event.
func HookCommand(hook string, kind Hooks) string {
	return "'" + strings.ReplaceAll(hook, "'", `'\''`) + "' hook " + string(kind)
}

type claudeHook struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Async   bool   `json:"async"` // a hook that hangs would hold up the turn
	Timeout int    `json:"timeout"`
}

type claudeMatcher struct {
	Hooks []claudeHook `json:"hooks"`
}

// claudeSettings are settings for one launch, which claude reads beside the person's own: both one's hooks run.
func claudeSettings(hook string, bypass bool) string {
	settings := struct {
		Bypass bool                       `json:"skipDangerousModePermissionPrompt,omitempty"`
		Hooks  map[string][]claudeMatcher `json:"hooks,omitempty"`
	}{Bypass: bypass}
	if hook != "" {
		settings.Hooks = map[string][]claudeMatcher{}
		for _, event := range claudeEvents {
			settings.Hooks[event] = []claudeMatcher{{[]claudeHook{{"command", HookCommand(hook, HooksClaude), true, hookSeconds}}}}
		}
	}
	if !bypass && hook == "" {
		return ""
	}
	return plainJSON(settings)
}

// codexHooks set one hook an event and trust exactly these, by their digests. Otherwise codex asks at its start whether they are to be
// trusted; its flag that asks nothing would trust what a repository brings as well.
func codexHooks(command string) []string {
	var args, state []string
	for _, event := range codexEvents {
		args = append(args, "-c", fmt.Sprintf(`hooks.%s=[{hooks=[{type="command",command=%s,timeout=%d}]}]`, event.name, plainJSON(command), hookSeconds))
		state = append(state, fmt.Sprintf(`"/<session-flags>/config.toml:%s:0:0"={trusted_hash="sha256:%s"}`, event.key, codexTrust(event.key, command)))
	}
	return append(args, "-c", "hooks.state={"+strings.Join(state, ",")+"}")
}

// codexTrust is the digest by which codex knows a hook (0.171.0; 12 of 12 were as it wrote itself): of its JSON, keys sorted.
func codexTrust(key, command string) string {
	type hook struct {
		Async   bool   `json:"async"`
		Command string `json:"command"`
		Timeout int    `json:"timeout"`
		Type    string `json:"type"`
	}
	sum := sha256.Sum256([]byte(plainJSON(struct {
		Event string `json:"event_name"`
		Hooks []hook `json:"hooks"`
	}{key, []hook{{Command: command, Timeout: hookSeconds, Type: "command"}}})))
	return hex.EncodeToString(sum[:])
}

// plainJSON encodes what always can be, as other programs write it: < > & as they are.
func plainJSON(v any) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// OpenCodePlugin is a plugin of opencode that reports over the terminal. It runs in the agent's own process, takes nothing and changes
// nothing. Events as of 1.18.33 (tried 2026-11-29); those of child sessions are counted, not taken for the agent's own.
const OpenCodePlugin = `// Written by termic at each start. It reports what the session does over the terminal, to termic and nobody else.
import { openSync, writeSync } from "node:fs"
import { createHash } from "node:crypto"

const nonce = process.env.TERMIC_NONCE
const open = () => openSync(process.env.TERMIC_TTY || "/dev/tty", "w")

const report = (claim) => {
  try {
    const text = Buffer.from(JSON.stringify({ v: 1, agent: "opencode", ns: Date.now() * 1e6, ...claim })).toString("base64url")
    if (text.length < 3900) writeSync((report.fd ??= open()), "\x1b]7717;" + nonce + ";" + text + "\x1b\\")
  } catch {}
}

const children = new Set()
let root

export const Termic = async () => {
  if (!nonce) return {}
  return {
    event: async ({ event }) => {
      const p = event.properties ?? {}
      const id = p.sessionID ?? p.info?.id
      if (event.type === "session.created" && p.info?.parentID) children.add(id)
      if (event.type === "session.created" && !p.info?.parentID) root = id
      const child = children.has(id)
      switch (event.type) {
        case "session.status": {
          const busy = p.status?.type !== "idle"
          if (child) return report({ event: busy ? "SubagentStart" : "SubagentStop", agent_id: id })
          return report({ event: p.status?.type ?? "idle", session: id })
        }
        case "permission.asked": case "permission.replied": case "question.asked": case "question.replied": case "question.rejected":
          return report({ event: event.type, session: child ? root : id })
      }
    },
    "chat.message": async (input, output) => {
      if (children.has(input.sessionID)) return
      const text = (output.parts ?? []).filter((p) => p.type === "text" && !p.synthetic).map((p) => p.text).join("\n").trim()
      report({
        event: "UserPromptSubmit", session: input.sessionID,
        prompt_sha: createHash("sha256").update(text).digest("hex"), prompt_len: Buffer.byteLength(text),
      })
    },
  }
}
`
