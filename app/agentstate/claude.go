package agentstate

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"
)

// claude is Claude Code. Facts: 2.1.332, tried 2026-11-29. With CLAUDE_CONFIG_DIR, .claude.json lies in it too; without
// that file its first-run screen comes. On a 401 it reads the login again and goes on.
var claude = &layout{
	program: "claude",
	places:  whole,
	env: func(at paths) map[string]string {
		return map[string]string{
			"CLAUDE_CONFIG_DIR": at.at, "CLAUDE_SECURESTORAGE_CONFIG_DIR": at.credAt,
			"DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
		}
	},
	seeds: claudeSeeds,
	keep:  []string{"projects"},
	drop:  []string{"projects/*/memory"}, // it reads them as instructions
	login: login{
		file: func(p person) string {
			return filepath.Join(p.dir("CLAUDE_CONFIG_DIR", ".claude"), ".credentials.json")
		},
		copy:  claudeLogin,
		early: 4 * time.Minute, // it holds a login for expired 5 minutes before its end (read in the program)
		renew: renewal{args: []string{"auth", "status"}},
	},
}

func claudeSeeds(in seedInput) []seed {
	state := map[string]any{
		"hasCompletedOnboarding": true, "theme": "dark", "bypassPermissionsModeAccepted": true, "autoUpdates": false,
		"projects": map[string]any{in.checkout: map[string]any{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
	}
	if in.keyed == "ANTHROPIC_API_KEY" {
		// It asks about a key of the environment, the answer No preselected, and knows it again by its end.
		state["customApiKeyResponses"] = map[string]any{"approved": []string{in.key[max(0, len(in.key)-20):]}, "rejected": []string{}}
	}
	return []seed{
		{name: ".claude.json", content: encode(state), write: true},
		{name: "settings.json", content: encode(map[string]any{"skipDangerousModePermissionPrompt": true})},
		{name: "CLAUDE.md"},
	}
}

// claudeLogin keeps what a request needs. What else is in the file (tokens of MCP servers) stays outside.
func claudeLogin(_ person, data []byte) (copied, error) {
	var in struct {
		OAuth *struct {
			AccessToken      string   `json:"accessToken"`
			ExpiresAt        int64    `json:"expiresAt"` // Unix, ms
			Scopes           []string `json:"scopes"`
			SubscriptionType *string  `json:"subscriptionType"`
			RateLimitTier    *string  `json:"rateLimitTier,omitempty"`
			RefreshToken     string   `json:"refreshToken"`
		} `json:"claudeAiOauth"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return copied{}, fmt.Errorf("login of Claude Code: %w", err)
	}
	if in.OAuth == nil || in.OAuth.AccessToken == "" {
		return copied{}, nil
	}
	in.OAuth.RefreshToken = ""
	out := copied{files: map[string]string{".credentials.json": encode(in)}}
	if in.OAuth.ExpiresAt > 0 {
		out.expires = time.UnixMilli(in.OAuth.ExpiresAt)
	}
	return out, nil
}

// encode is for values that always can be.
func encode(v any) string {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		panic(err)
	}
	return string(data) + "\n"
}
