package agentstate_test

import (
	"strings"
	"testing"

	"termic/sandbox/cagetest"
)

// TestRestart: what an agent plants beside its settings is gone at the next start, and its transcripts are there.
func TestRestart(t *testing.T) {
	if !cagetest.Inner() {
		cagetest.AgainAsUsers(t)
		return
	}
	tests := []struct {
		agent   string
		plant   []string // names that the cage writes, in the place of its state
		kept    []string // of them, what is there after a restart
		refused []string // names that it may not write
	}{
		{"claude",
			[]string{"$CLAUDE_CONFIG_DIR/projects/-x/1.jsonl", "$CLAUDE_CONFIG_DIR/skills/s/SKILL.md", "$CLAUDE_CONFIG_DIR/agents/a.md",
				"$CLAUDE_CONFIG_DIR/plugins/p.json", "$CLAUDE_CONFIG_DIR/settings.local.json", "$CLAUDE_CONFIG_DIR/hooks/h"},
			[]string{"$CLAUDE_CONFIG_DIR/projects/-x/1.jsonl"},
			[]string{"$CLAUDE_CONFIG_DIR/settings.json", "$CLAUDE_CONFIG_DIR/CLAUDE.md"}},
		{"codex",
			[]string{"$CODEX_HOME/sessions/2026/11/29/rollout-1.jsonl", "$CODEX_HOME/hooks.json", "$CODEX_HOME/prompts/p.md", "$CODEX_HOME/rules/r"},
			[]string{"$CODEX_HOME/sessions/2026/11/29/rollout-1.jsonl"},
			[]string{"$CODEX_HOME/config.toml", "$CODEX_HOME/AGENTS.md"}},
		{"gemini",
			[]string{"$GEMINI_CLI_HOME/.gemini/tmp/p/chats/session-1.jsonl", "$GEMINI_CLI_HOME/.gemini/projects.json",
				"$GEMINI_CLI_HOME/.gemini/extensions/e/x.json", "$GEMINI_CLI_HOME/.gemini/commands/c.toml", "$GEMINI_CLI_HOME/.gemini/.env"},
			[]string{"$GEMINI_CLI_HOME/.gemini/tmp/p/chats/session-1.jsonl", "$GEMINI_CLI_HOME/.gemini/projects.json"},
			[]string{"$GEMINI_CLI_HOME/.gemini/settings.json", "$GEMINI_CLI_HOME/.gemini/GEMINI.md"}},
		{"opencode",
			[]string{"$HOME/.local/share/opencode/opencode.db", "$HOME/.local/share/opencode/opencode.db-wal", "$HOME/.local/share/opencode/bin/x",
				"$HOME/.config/opencode/plugins/x.js", "$HOME/.config/opencode/AGENTS.md", "$HOME/.local/state/opencode/x", "$HOME/.cache/opencode/x"},
			[]string{"$HOME/.local/share/opencode/opencode.db", "$HOME/.local/share/opencode/opencode.db-wal"},
			[]string{"$HOME/.config/opencode/opencode.jsonc"}},
	}
	for _, tt := range tests {
		t.Run(tt.agent, func(t *testing.T) {
			r := newRig(t)
			task := r.task(t, tt.agent)
			plan := r.prepare(t, task)
			cage := r.cage(t, plan)
			for _, name := range tt.plant {
				r.sh(t, cage, plan, `mkdir -p "$(dirname "`+name+`")" && echo planted > "`+name+`" && cat "`+name+`"`)
			}
			for _, name := range tt.refused {
				for _, attack := range []string{`echo x >> "` + name + `"`, `rm "` + name + `"`, `mv "` + name + `" /tmp/x`,
					`mv "$(dirname "` + name + `")" "$(dirname "$(dirname "` + name + `")")/moved"`} {
					r.sh(t, cage, plan, "! { "+attack+"; } 2>/dev/null")
				}
			}
			if err := cage.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := r.keeper.Release(task.ID); err != nil {
				t.Fatal(err)
			}
			plan = r.prepare(t, task)
			cage = r.cage(t, plan)
			var left []string
			for _, name := range tt.plant {
				if r.sh(t, cage, plan, `test -e "`+name+`" && echo there || true`) != "" {
					left = append(left, name)
				}
			}
			if strings.Join(left, " ") != strings.Join(tt.kept, " ") {
				t.Errorf("after a restart there are %v, want %v", left, tt.kept)
			}
		})
	}
}
