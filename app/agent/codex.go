package agent

import (
	"time"

	"termic/app/settle"
)

// codex is OpenAI Codex. Facts: 0.171.0, tried 2026-11-29.
//
// Its OSC 7501 says done while a sub-agent or a background terminal still runs; so do its titles. It chooses its
// session ids itself.
func codex() Definition {
	return Definition{
		ID: "codex", Title: "Codex",
		Command: []string{"codex"},
		Prompt:  PromptArg{Style: PromptPositional},
		Resume:  []string{"resume", "{session}"},
		Bypass:  []string{"--dangerously-bypass-approvals-and-sandbox"},
		Trust:   []string{"-c", `projects={{dir}={trust_level="trusted"}}`}, // without it the trust dialog stays
		Hooks:   HooksCodex,
		Cage: Cage{
			State: StateCodex,
			Hosts: []string{"chatgpt.com", "api.openai.com"}, // for a login of a person, and for a key
			Keys:  []string{"CODEX_API_KEY", "OPENAI_API_KEY"},
			Pass:  []string{"OPENAI_BASE_URL"},
		},
		MCP: MCP{Args: []string{
			"-c", "features.mcp_2026_07_28=true", "-c", "suppress_unstable_features_warning=true",
			"-c", `mcp_servers.termic.url="{url}"`, "-c", `mcp_servers.termic.bearer_token_env_var="TERMIC_MCP_TOKEN"`,
			"-c", `mcp_servers.termic.default_tools_approval_mode="approve"`, // the control plane decides itself
		}},
		Version: []string{"--version"}, Tried: "0.171.0",
		Box: box(`^› $`, ""),
		Settle: settle.Rules{
			Screen: settle.ScreenRules{
				Permission: settle.MustPatterns(`Would you like to [^›]*› ?\d\. [^›]*$`, `enter to confirm or esc to cancel$`),
				Question:   settle.MustPatterns(`enter to submit answer[^›]*$`, `(?i)enter (to )?(select|continue)[^›]{0,40}$`),
				Working:    settle.MustPatterns(`esc to interrupt\)`),
				Idle:       settle.MustPatterns(`› Ask Codex to do anything`),
				Background: settle.MustPatterns(`(\d+) background terminals? running · /ps`),
			},
			Titles: settle.Titles{
				Working: settle.MustPatterns(`^[\x{2801}-\x{28FF}]`), // a braille spinner at 10 Hz
				Waiting: settle.MustPatterns(`^\[ [!.] \] Action Required`),
				Idle:    settle.MustPatterns(`^[^\x{2801}-\x{28FF}\[]`), // the directory, or the topic and it
			},
			App:   "codex",
			Quiet: settle.Duration(2 * time.Second),
		},
	}
}
