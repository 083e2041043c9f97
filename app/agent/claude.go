package agent

import (
	"time"

	"termic/app/settle"
)

// claude is Claude Code. Facts: 2.1.332, tried 2026-11-29.
//
// It reports over OSC 7501 when its query is answered before DA1, and is then right at every checkpoint; its titles
// then say nothing. Not answered, its titles look idle while it asks for a permission.
func claude() Definition {
	return Definition{
		ID: "claude", Title: "Claude Code",
		Command:   []string{"claude"},
		Prompt:    PromptArg{Style: PromptPositional},
		Fresh:     []string{"--session-id", "{session}"},
		Resume:    []string{"--resume", "{session}"},
		Bypass:    []string{"--dangerously-skip-permissions"},
		Hooks:     HooksClaude,                          // with them its settings, which say that the bypass dialog was answered
		BypassEnv: map[string]string{"IS_SANDBOX": "1"}, // as uid 0 it exits without this
		TrustEnv:  map[string]string{"CLAUDE_CODE_SANDBOXED": "1"},
		Cage: Cage{
			State: StateClaude,
			Hosts: []string{"api.anthropic.com"},
			Keys:  []string{"CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"},
			Pass:  []string{"ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL"},
		},
		// It expands the variable itself, so the token is on no command line. One argument: as two it takes a prompt that
		// follows for another configuration.
		MCP: MCP{
			Args: []string{`--mcp-config={"mcpServers":{"termic":{"type":"http","url":"{url}","headers":{"Authorization":"Bearer ${TERMIC_MCP_TOKEN}"}}}}`},
			Env:  map[string]string{"MCP_PROTOCOL_NEGOTIATION": "auto"}, // else a switch of the vendor's decides
		},
		Version: []string{"--version"}, Tried: "2.1.332",
		Box: box(`^❯.$`, `^─`),
		Settle: settle.Rules{
			Screen: settle.ScreenRules{
				Permission: settle.MustPatterns(`Do you want to [^❯]*❯ ?(\d\.|No|Yes) [^❯]*$`),
				// The end of every picker, and of the dialogs at the start; below the input box there is no such line.
				Question: settle.MustPatterns(`Esc to cancel[^❯]{0,80}$`, `Enter to (confirm|select|submit)[^❯]{0,80}$`),
				Working:  settle.MustPatterns(`esc to interrupt`),
				Idle:     settle.MustPatterns(`❯.*\? for shortcuts`, `❯.*← for agents`),
			},
			Titles: settle.Titles{
				Working: settle.MustPatterns(`^[◐◑]`),
				Idle:    settle.MustPatterns(`^✳`),
			},
			App:   "claude-code",
			Quiet: settle.Duration(2 * time.Second),
			Rank:  []settle.Signal{settle.OSC, settle.Hook, settle.Screen, settle.Title},
		},
	}
}
