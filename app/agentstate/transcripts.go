package agentstate

import (
	"errors"
	"fmt"
	"path/filepath"

	"termic/app/agent"
	"termic/registry/ident"
)

// ErrNoTranscripts: the agent keeps none that we know of.
var ErrNoTranscripts = errors.New("no transcripts are known of this agent")

// Transcripts returns the directory in which an agent of a task keeps its sessions: its state of the task's cage, or the person's own.
// What lies beneath a cage's is hostile.
func (k *Keeper) Transcripts(id ident.Task, state string, caged bool) (string, error) {
	p, err := k.person()
	if err != nil {
		return "", err
	}
	inside := filepath.Join(k.dir(id), state, stateDir)
	var own string
	switch state {
	case agent.StateClaude:
		own = p.dir("CLAUDE_CONFIG_DIR", ".claude")
	case agent.StateCodex:
		own = p.dir("CODEX_HOME", ".codex")
	case agent.StateGemini:
		own, inside = filepath.Join(p.dir("GEMINI_CLI_HOME", ""), ".gemini"), filepath.Join(inside, ".gemini")
	default:
		return "", fmt.Errorf("%s: %w", state, ErrNoTranscripts)
	}
	if caged {
		return inside, nil
	}
	// The person may keep it somewhere else, behind a link.
	return filepath.EvalSymlinks(own)
}
