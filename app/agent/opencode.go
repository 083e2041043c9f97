package agent

import (
	"time"

	"termic/app/settle"
)

// opencode is OpenCode. Facts: 1.18.33, tried 2026-11-29; --auto was read in its help, not run.
//
// Its titles carry no state, only that its screen is there: a prompt typed before that was lost. Until a plugin
// reports, quiet is all there is.
func opencode() Definition {
	return Definition{
		ID: "opencode", Title: "OpenCode",
		Command: []string{"opencode"},
		Prompt:  PromptArg{Style: PromptFlag, Flag: "--prompt"},
		Resume:  []string{"--session", "{session}"},
		Bypass:  []string{"--auto"},
		Cage: Cage{
			State: StateOpenCode,
			Hosts: []string{"models.dev"}, // its list of models; those of the login's provider are added
			Keys:  []string{"OPENCODE_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"},
		},
		MCP: MCP{Older: true, Env: map[string]string{
			"OPENCODE_CONFIG_CONTENT": `{"mcp":{"termic":{"type":"remote","url":"{url}","enabled":true,"oauth":false,"headers":{"Authorization":"Bearer {env:TERMIC_MCP_TOKEN}"}}}}`,
		}},
		Hooks:   HooksOpenCode, // a plugin in a directory of ours
		Version: []string{"--version"}, Tried: "1.18.33",
		Box: box(`^ *┃  $`, `^ *┃ *$`), // its second line looks the same: the first is below a blank one
		Settle: settle.Rules{
			Screen: settle.ScreenRules{
				Permission: settle.MustPatterns(`△ Permission required`),
				Question:   settle.MustPatterns(`enter (submit|select|confirm) .*esc dismiss`),
				Working:    settle.MustPatterns(`esc (again to )?interrupt`),
				Idle:       settle.MustPatterns(`ctrl\+p commands`),
			},
			Titles: settle.Titles{Ready: settle.MustPatterns(`^OpenCode`, `^OC \| `)},
			Quiet:  settle.Duration(2 * time.Second),
			Rank:   []settle.Signal{settle.Hook, settle.Screen},
		},
	}
}
