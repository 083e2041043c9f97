package main

// program is one agent program: how it is set up to ask the fake model, and how one turn is run without a terminal.
type program struct {
	name string
	// optional: it is no failure when it is not there.
	optional bool
	// config is the configuration that termic edits, below the home directory; files is what is there before.
	config string
	files  map[string]string
	env    func(model string) []string
	run    func(model string) []string
	// before is run once before the configuration is looked at for the first time: some write into it when they start.
	before []string
	// ownWrites: a session of it writes into its configuration.
	ownWrites bool
}

var programs = []program{claude, codex, gemini, opencode}

var claude = program{
	name: "claude", config: ".claude.json",
	files: map[string]string{".claude.json": "{\n  \"theme\": \"dark\"\n}"},
	env: func(model string) []string {
		return []string{
			"ANTHROPIC_BASE_URL=" + model, "ANTHROPIC_API_KEY=none", "MCP_PROTOCOL_NEGOTIATION=auto",
			"DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		}
	},
	run:    func(string) []string { return []string{"-p", "list the tasks", "--allowedTools", "mcp__termic"} },
	before: []string{"mcp", "list"}, ownWrites: true,
}

var codex = program{
	name: "codex", config: ".codex/config.toml",
	files: map[string]string{".codex/config.toml": "# mine\nmodel_reasoning_effort = \"low\" # quick\n\n[tui]\nnotifications = false"},
	env:   func(string) []string { return []string{"FAKE_KEY=none"} },
	run: func(model string) []string {
		return []string{
			"exec", "--skip-git-repo-check", "-c", `model_provider="fake"`, "-c", `model="fake"`,
			"-c", `model_providers.fake={name="fake",base_url="` + model + `/v1",env_key="FAKE_KEY",wire_api="responses"}`,
			"list the tasks",
		}
	},
}

var gemini = program{
	name: "gemini", config: ".gemini/settings.json",
	files: map[string]string{".gemini/settings.json": "{\n  // mine\n  \"security\": { \"auth\": { \"selectedType\": \"gemini-api-key\" } },\n  \"privacy\": { \"usageStatisticsEnabled\": false }\n}\n"},
	env: func(model string) []string {
		return []string{"GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL=" + model, "GEMINI_CLI_TRUST_WORKSPACE=true"}
	},
	run: func(string) []string {
		return []string{"-p", "list the tasks", "--approval-mode", "yolo", "-m", "gemini-2.5-flash"}
	},
}

var opencode = program{
	name: "opencode", optional: true, config: ".config/opencode/opencode.jsonc",
	files: map[string]string{".config/opencode/opencode.jsonc": "{\n  \"$schema\": \"https://opencode.ai/config.json\", // it adds this where it is missing\n  // mine\n  \"share\": \"disabled\",\n  \"autoupdate\": false, // no\n}\n"},
	env: func(model string) []string {
		return []string{`OPENCODE_CONFIG_CONTENT={"provider":{"fake":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"` + model + `/v1","apiKey":"none"},"models":{"m":{"name":"m"}}}}}`,
			"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1"}
	},
	run: func(string) []string { return []string{"run", "-m", "fake/m", "list the tasks"} },
}
