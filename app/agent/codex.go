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
		Bypass: []string{"--dangerously-bypass-approvals-and-sandbox",
			"-c", `projects={{dir}={trust_level="trusted"}}`}, // without it the trust dialog stays
		Version: []string{"--version"},
		Settle: settle.Rules{
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
