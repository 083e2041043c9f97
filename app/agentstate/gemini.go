package agentstate

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"termic/app/agent"
)

// gemini is Gemini CLI. Facts: 0.61.0, tried 2026-11-29. GEMINI_CLI_HOME is the parent of .gemini. It has no way to
// renew a login but to ask a model, and does not read one again: a copy lasts an hour, a key for ever.
var gemini = &layout{
	program: "gemini",
	places:  whole,
	env: func(at paths) map[string]string {
		return map[string]string{"GEMINI_CLI_HOME": at.at, "GEMINI_CLI_TRUST_WORKSPACE": "true"}
	},
	seeds:     geminiSeeds,
	links:     map[string]string{".gemini/oauth_creds.json": "oauth_creds.json"},
	keep:      []string{".gemini/tmp", ".gemini/history", ".gemini/projects.json"},
	drop:      []string{".gemini/history", ".gemini/tmp/bin"}, // git directories, whose configuration git obeys; programs that it fetched
	keysFirst: true,
	login: login{
		file: func(p person) string {
			return filepath.Join(p.dir("GEMINI_CLI_HOME", ""), ".gemini", "oauth_creds.json")
		},
		copy: geminiLogin,
	},
}

func geminiSeeds(in seedInput) []seed {
	settings := map[string]any{
		"general":   map[string]any{"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
		"privacy":   map[string]any{"usageStatisticsEnabled": false},
		"telemetry": map[string]any{"enabled": false},
	}
	switch {
	case in.keyed != "":
		settings["security"] = map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}}
	case in.hasLogin:
		settings["security"] = map[string]any{"auth": map[string]any{"selectedType": "oauth-personal"}}
	}
	if in.mcpURL != "" {
		settings["mcpServers"] = map[string]any{"termic": map[string]any{
			"httpUrl": in.mcpURL, "trust": true, "headers": map[string]any{"Authorization": "Bearer $TERMIC_MCP_TOKEN"},
		}}
	}
	if in.hook != "" {
		settings["hooks"] = agent.GeminiHooks(in.hook)
	}
	return []seed{
		{name: ".gemini/settings.json", content: encode(settings)},
		{name: ".gemini/GEMINI.md"},
	}
}

func geminiLogin(_ person, data []byte) (copied, error) {
	var in struct {
		Access string `json:"access_token"`
		Scope  string `json:"scope,omitempty"`
		Type   string `json:"token_type,omitempty"`
		ID     string `json:"id_token,omitempty"`
		Expiry int64  `json:"expiry_date,omitempty"` // Unix, ms
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return copied{}, fmt.Errorf("login of Gemini CLI: %w", err)
	}
	if in.Access == "" {
		return copied{}, nil
	}
	out := copied{files: map[string]string{"oauth_creds.json": encode(in)}}
	if in.Expiry > 0 {
		out.expires = time.UnixMilli(in.Expiry)
	}
	return out, nil
}
