package agent

import (
	"time"

	"termic/app/settle"
)

// gemini is Gemini CLI. Facts: 0.61.0, tried 2026-11-29; --session-id, --prompt-interactive, --resume and
// --approval-mode were read in its help and documentation, not run.
//
// Titles are all that it gives, and they say Ready while its trust dialog is open.
func gemini() Definition {
	return Definition{
		ID: "gemini", Title: "Gemini CLI",
		Command:  []string{"gemini"},
		Prompt:   PromptArg{Style: PromptFlag, Flag: "--prompt-interactive"},
		Fresh:    []string{"--session-id", "{session}"},
		Resume:   []string{"--resume", "{session}"},
		Bypass:   []string{"--approval-mode", "yolo"},
		TrustEnv: map[string]string{"GEMINI_CLI_TRUST_WORKSPACE": "true"},
		Cage: Cage{
			State: StateGemini,
			// For a key; for a login, and for asking whether it is one, which is done before it is used.
			Hosts: []string{"generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com", "oauth2.googleapis.com"},
			Keys:  []string{"GEMINI_API_KEY"},
			Pass:  []string{"GOOGLE_CLOUD_PROJECT", "GEMINI_MODEL"},
		},
		Hooks:   HooksGemini,      // only in a settings file: agentstate writes them in a cage
		MCP:     MCP{Older: true}, // only in a settings file: agentstate writes it in a cage
		Version: []string{"--version"}, Tried: "0.61.0",
		Box: box(`^ > $`, `^▄`),
		Settle: settle.Rules{
			Screen: settle.ScreenRules{
				Permission: settle.MustPatterns(`(Allow execution of|Apply this change)[^>]*● ?\d\. [^>]*$`, `● 1\. Allow [^>]*$`),
				Question:   settle.MustPatterns(`● 1\. Trust [^>]*$`, `Enter to select[^>]{0,60}$`),
				Working:    settle.MustPatterns(`esc to cancel`),
				Idle:       settle.MustPatterns(`> Type your message`),
				Background: settle.MustPatterns(`(\d+) Background process`),
			},
			Titles: settle.Titles{
				Working: settle.MustPatterns(`^✦`),
				Waiting: settle.MustPatterns(`^✋`),
				Idle:    settle.MustPatterns(`^◇`),
			},
			Quiet: settle.Duration(2 * time.Second),
			Rank:  []settle.Signal{settle.Hook, settle.Title, settle.Screen},
		},
	}
}
