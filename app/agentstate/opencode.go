package agentstate

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"termic/app/agent"
)

// opencode is OpenCode. Facts: 1.18.33, tried 2026-11-29. It reads its login at every request. Its directories are where
// they are by default: other programs of the cage read the XDG variables too.
var opencode = &layout{
	program: "opencode",
	places: func(at paths) []place {
		return []place{
			{"data", filepath.Join(at.home, ".local/share/opencode")}, {"config", filepath.Join(at.home, ".config/opencode")},
			{"state", filepath.Join(at.home, ".local/state/opencode")}, {"cache", filepath.Join(at.home, ".cache/opencode")},
		}
	},
	env: func(paths) map[string]string {
		// A plugin makes it ask npm's registry, whose absence it waits for a minute.
		return map[string]string{"OPENCODE_DISABLE_AUTOUPDATE": "true", "OPENCODE_DISABLE_SHARE": "true", "npm_config_fetch_retries": "0"}
	},
	seeds: func(in seedInput) []seed {
		seeds := []seed{{name: "config/opencode.jsonc", content: encode(map[string]any{"autoupdate": false, "share": "disabled"})}}
		if in.hook != "" {
			seeds = append(seeds, seed{name: "config/plugins/termic.js", content: agent.OpenCodePlugin})
		}
		return seeds
	},
	links: map[string]string{"data/auth.json": "auth.json"},
	keep:  []string{"data/opencode.db*", "data/snapshot"},
	drop:  []string{"data/snapshot"}, // git directories with a configuration, which git obeys
	login: login{
		file: func(p person) string { return p.xdg("XDG_DATA_HOME", ".local/share", "opencode", "auth.json") },
		copy: opencodeLogin,
	},
}

// providers are the hosts that the providers of opencode's models are reached at.
var providers = map[string][]string{
	"anthropic": {"api.anthropic.com"}, "openai": {"api.openai.com", "chatgpt.com"}, "google": {"generativelanguage.googleapis.com"},
	"openrouter": {"openrouter.ai"}, "opencode": {"opencode.ai"}, "groq": {"api.groq.com"}, "xai": {"api.x.ai"},
	"mistral": {"api.mistral.ai"}, "deepseek": {"api.deepseek.com"}, "cerebras": {"api.cerebras.ai"}, "togetherai": {"api.together.xyz"},
}

// opencodeLogin keeps the entry of the provider that is used, and no other.
func opencodeLogin(p person, data []byte) (copied, error) {
	type entry struct {
		Type    string `json:"type"`
		Key     string `json:"key,omitempty"`
		Access  string `json:"access,omitempty"`
		Refresh string `json:"refresh"`
		Expires int64  `json:"expires,omitempty"` // Unix, ms
		Account string `json:"accountId,omitempty"`
	}
	var in map[string]json.RawMessage
	if err := json.Unmarshal(data, &in); err != nil {
		return copied{}, fmt.Errorf("login of OpenCode: %w", err)
	}
	if len(in) == 0 {
		return copied{}, nil
	}
	used, ok := opencodeUses(p, in)
	if !ok {
		return copied{notes: []string{"OpenCode has several logins and names no model: choose one (model in opencode.json), and start the cage again"}}, nil
	}
	var e entry
	if err := json.Unmarshal(in[used], &e); err != nil {
		return copied{}, fmt.Errorf("login of OpenCode for %s: %w", used, err)
	}
	e.Refresh = ""
	out := copied{hosts: providers[used]}
	if len(out.hosts) == 0 {
		out.notes = append(out.notes, fmt.Sprintf("add the host of OpenCode's provider %s to the task", used))
	}
	switch {
	case e.Type == "oauth" && e.Access != "":
		if e.Expires > 0 {
			out.expires = time.UnixMilli(e.Expires)
		}
		out.files = map[string]string{"auth.json": encode(map[string]entry{used: e})}
	case e.Type == "api" && e.Key != "":
		key := map[string]string{"type": e.Type, "key": e.Key}
		out.files = map[string]string{"auth.json": encode(map[string]any{used: key})}
		out.notes = append(out.notes, "OpenCode logs in with an API key, which does not expire: every program of the cage can read it")
	default:
		out.notes = append(out.notes, fmt.Sprintf("OpenCode's login with %s cannot be used without what renews it: log in with an API key", used))
	}
	return out, nil
}

var modelPattern = regexp.MustCompile(`"model"\s*:\s*"([A-Za-z0-9._-]{1,64})/`)

// opencodeUses returns the provider with a login that the person's configuration names, else the one that was used
// last, else the only one.
func opencodeUses(p person, logins map[string]json.RawMessage) (string, bool) {
	var wanted []string
	for _, name := range []string{"opencode.jsonc", "opencode.json"} {
		data, _ := readOwn(p.xdg("XDG_CONFIG_HOME", ".config", "opencode", name)) // it only chooses among logins
		if found := modelPattern.FindSubmatch(data); found != nil {
			wanted = append(wanted, string(found[1]))
		}
	}
	var models struct {
		Recent []struct {
			Provider string `json:"providerID"`
		} `json:"recent"`
	}
	data, _ := readOwn(p.xdg("XDG_STATE_HOME", ".local/state", "opencode", "model.json"))
	if json.Unmarshal(data, &models) == nil && len(models.Recent) > 0 {
		wanted = append(wanted, models.Recent[0].Provider)
	}
	has := func(name string) bool { return logins[name] != nil }
	if i := slices.IndexFunc(wanted, has); i >= 0 {
		return wanted[i], true
	}
	for name := range logins {
		return name, len(logins) == 1
	}
	return "", false
}
