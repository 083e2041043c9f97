package clients

import "path/filepath"

// What follows was written from each program's public documentation and tested on files only.

const throughBridge = "not known; works through the bridge whatever it speaks"

var vscode = Client{
	Name: "vscode", Title: "VS Code", Program: "code", Version: []string{"--version"},
	Speaks: throughBridge,
	Format: JSON, Path: []string{"servers", EntryName},
	Files: func(e Env) []string { return []string{e.support("Code", "User", "mcp.json")} },
	Entry: func(t Target) []Member {
		return append([]Member{{[]string{"type"}, "stdio"}}, commandAndArgs(t)...)
	},
	After: "start the server from the file mcp.json, or restart the window",
}

var cursor = Client{
	Name: "cursor", Title: "Cursor", Program: "cursor", Version: []string{"--version"},
	Speaks: throughBridge,
	Format: JSON, Path: []string{"mcpServers", EntryName},
	Files: func(e Env) []string { return []string{filepath.Join(e.Home, ".cursor", "mcp.json")} },
	Entry: commandAndArgs,
	After: "switch the server on in its settings",
}

var zed = Client{
	Name: "zed", Title: "Zed", Program: "zed", Version: []string{"--version"},
	Speaks: throughBridge,
	Format: JSON, Path: []string{"context_servers", EntryName},
	Files: func(e Env) []string {
		if e.Mac {
			return []string{filepath.Join(e.Home, ".config", "zed", "settings.json")}
		}
		return []string{filepath.Join(e.Config, "zed", "settings.json")}
	},
	Entry: commandAndArgs,
	After: "it sees the change at once",
}

// claudeDesktop has no release for Linux; its place there is the one that builds of others use.
var claudeDesktop = Client{
	Name: "claude-desktop", Title: "Claude Desktop",
	Speaks: throughBridge,
	Format: JSON, Path: []string{"mcpServers", EntryName},
	Files: func(e Env) []string { return []string{e.support("Claude", "claude_desktop_config.json")} },
	Entry: commandAndArgs,
	After: "restart it",
}
