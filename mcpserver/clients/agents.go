package clients

import "path/filepath"

// claude is changed through its own command line: every running session of it writes its configuration, and only
// with its own lock held is nothing lost.
var claude = Client{
	Name: "claude", Title: "Claude Code", Program: "claude", Version: []string{"--version"},
	Speaks: "2026-07-28 as it is, with a helper that it runs at each connect and again after a 401",
	Tried:  "2.1.332",
	Format: JSON, Path: []string{"mcpServers", EntryName}, Locks: true,
	Files: func(e Env) []string { return []string{e.under("CLAUDE_CONFIG_DIR", "", ".claude.json")} },
	Entry: func(t Target) []Member {
		return []Member{
			{[]string{"type"}, "http"},
			{[]string{"url"}, t.URL},
			{[]string{"headersHelper"}, t.Helper()},
		}
	},
	Own: &Own{
		Add:    func(value string) []string { return []string{"mcp", "add-json", "-s", "user", EntryName, value} },
		Remove: []string{"mcp", "remove", "-s", "user", EntryName},
	},
	After: "sessions that run already see it after /mcp or a restart",
}

var codex = Client{
	Name: "codex", Title: "Codex", Program: "codex", Version: []string{"--version"},
	Speaks: "2026-07-28 with the feature mcp_2026_07_28, which it calls under development; without it it cannot connect",
	Tried:  "0.171.0",
	Format: TOML, Path: []string{"mcp_servers", EntryName},
	Files: func(e Env) []string { return []string{e.under("CODEX_HOME", ".codex", "config.toml")} },
	Entry: func(t Target) []Member {
		entry := []Member{
			{[]string{"url"}, t.URL},
			{[]string{"http_headers_helper"}, t.Helper()},
			{[]string{"default_tools_approval_mode"}, "prompt"},
		}
		for _, tool := range t.Reads {
			entry = append(entry, Member{[]string{"tools", tool, "approval_mode"}, "approve"})
		}
		return entry
	},
	Extra: &Extra{
		Path: []string{"features", "mcp_2026_07_28"},
		Asks: "Codex reaches the endpoint only with its feature mcp_2026_07_28 on, and that changes how it talks to all your MCP servers",
	},
	After: "sessions that run already see it after a restart",
}

var gemini = Client{
	Name: "gemini", Title: "Gemini CLI", Program: "gemini", Version: []string{"--version"},
	Speaks: "2025-06-18 only; works through the bridge",
	Tried:  "0.61.0",
	Format: JSON, Path: []string{"mcpServers", EntryName},
	Files: func(e Env) []string { return []string{filepath.Join(e.Home, ".gemini", "settings.json")} },
	Entry: commandAndArgs,
	After: "sessions that run already see it after a restart",
}

var opencode = Client{
	Name: "opencode", Title: "opencode", Program: "opencode", Version: []string{"--version"},
	Speaks: "2025-11-25 only; works through the bridge",
	Tried:  "1.18.33",
	Format: JSON, Path: []string{"mcp", EntryName},
	Files: func(e Env) []string {
		dir := filepath.Join(e.Config, "opencode")
		return []string{filepath.Join(dir, "opencode.jsonc"), filepath.Join(dir, "opencode.json")}
	},
	Entry: func(t Target) []Member {
		return []Member{
			{[]string{"type"}, "local"},
			{[]string{"command"}, append([]string{t.Program}, t.Bridge()...)},
			{[]string{"enabled"}, true},
		}
	},
	After: "sessions that run already see it after a restart",
}

// commandAndArgs is the entry that most clients take for a server that is a program.
func commandAndArgs(t Target) []Member {
	return []Member{
		{[]string{"command"}, t.Program},
		{[]string{"args"}, t.Bridge()},
	}
}
