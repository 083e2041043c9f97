package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"termic/app/agent"
)

// session is one agent and what is done in it.
type session struct {
	name, agent string
	// prepare writes what a person who uses the agent has in their home directory.
	prepare func(home, work, model string) error
	env     func(model string) []string
	args    []string // what a person adds
	steps   []step
}

const (
	second = time.Second
	// soon after the model was asked an agent works, whatever it does.
	soon = 300 * time.Millisecond
	// asked is how long an agent may take from the words of a picker to all of it, over for how long it is silent when a turn is.
	asked, over = 1500 * time.Millisecond, 2400 * time.Millisecond
)

func put(name, text string) error {
	return errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600))
}

func claudeHome(home, work, _ string) error {
	state, err := json.Marshal(map[string]any{
		"hasCompletedOnboarding": true, "theme": "dark", "autoUpdates": false,
		"projects":              map[string]any{work: map[string]any{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
		"customApiKeyResponses": map[string]any{"approved": []string{"none"}, "rejected": []string{}},
	})
	return errors.Join(err, put(filepath.Join(home, ".claude.json"), string(state)))
}

func claudeEnv(model string) []string {
	return []string{"ANTHROPIC_BASE_URL=" + model, "ANTHROPIC_API_KEY=none", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
}

// claudeUntrusted is a home in which the directory was never trusted.
func claudeUntrusted(home, _, _ string) error {
	return put(filepath.Join(home, ".claude.json"), `{"hasCompletedOnboarding":true,"theme":"dark","autoUpdates":false,"customApiKeyResponses":{"approved":["none"],"rejected":[]}}`)
}

func codexHome(home, work, model string) error {
	return put(filepath.Join(home, ".codex/config.toml"), `model = "fake"
model_provider = "fake"
check_for_update_on_startup = false

[model_providers.fake]
name = "fake"
base_url = "`+model+`/v1"
env_key = "FAKE_KEY"
wire_api = "responses"

[projects."`+work+`"]
trust_level = "trusted"
`)
}

func codexEnv(string) []string { return []string{"FAKE_KEY=none"} }

// geminiHome has the settings that a task's cage gets: gemini takes hooks from there alone.
func geminiHome(home, _, _ string) error {
	termic, err := filepath.Abs("build/bin/termic")
	if err != nil {
		return err
	}
	settings, err := json.Marshal(map[string]any{
		"general": map[string]any{"enableAutoUpdate": false, "enableAutoUpdateNotification": false}, "privacy": map[string]any{"usageStatisticsEnabled": false},
		"telemetry": map[string]any{"enabled": false}, "security": map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}},
		"hooks": agent.GeminiHooks(termic),
	})
	return errors.Join(err, put(filepath.Join(home, ".gemini/settings.json"), string(settings)))
}

func geminiEnv(model string) []string {
	return []string{"GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL=" + model, "GEMINI_CLI_TRUST_WORKSPACE=true"}
}

// opencodeHome says which commands a person is asked about; opencode's own choice is none.
func opencodeHome(home, _, _ string) error {
	return put(filepath.Join(home, ".config/opencode/opencode.jsonc"), `{"autoupdate":false,"share":"disabled","permission":{"bash":{"*":"allow","echo *":"ask"}}}`)
}

func opencodeEnv(model string) []string {
	return []string{`OPENCODE_CONFIG_CONTENT={"model":"fake/m","small_model":"fake/m","provider":{"fake":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"` + model + `/v1","apiKey":"none"},"models":{"m":{"name":"m"}}}}}`,
		"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1"}
}

func join(parts ...[]step) []step {
	var all []step
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// turn is a prompt whose end comes after about d.
func turn(text string, d time.Duration) []step {
	return []step{prompt(text), taken(soon), is("working"), wait(d), silent(over), is("done")}
}

// question is a prompt that leads to one, which is answered once it is drawn: says is of its own words.
func question(text, kind, says, answer string) []step {
	return []step{prompt(text), taken(0), shown(says), wait(asked), is("waiting " + kind), key(answer), silent(over), is("done")}
}

// interrupted is a turn that the person ends.
func interrupted(text string) []step {
	return []step{prompt(text), taken(2 * second), is("working"), key("\x1b"), silent(over), is("done")}
}

// behind is a turn whose answer comes at once while something of it runs on for d.
func behind(text string, d time.Duration) []step {
	return []step{prompt(text), taken(3 * second), is("working"), wait(d), silent(over), is("done")}
}

var sessions = []session{
	{
		// Else it offers a mode in which its vendor's server decides most permissions, or begins in it (2.1.332).
		name: "claude-turns", agent: "claude", prepare: claudeHome, env: claudeEnv, args: []string{"--permission-mode", "default"},
		steps: join(
			[]step{drawn("❯", 4*second), is("idle")},
			turn("T1 @@ bash sleep 2 ;; say END1.", 2*second),
			question("T2 @@ bash echo a > a.txt ;; say END2.", "permission", "Do you want to", "\r"),
			question("T3 @@ bash echo b > b.txt ;; say END3.", "permission", "Do you want to", "\x1b"),
			question("T4 @@ ask ;; say END4.", "question", "Which colour?", "\r"),
			interrupted("T5 @@ slow 8"),
			turn("T6 @@ err", 0)[:1], []step{taken(0), silent(over), is("done")},
			behind("T7 @@ bg sleep 6 ;; say END7.", 6*second),
			behind("T8 @@ agent bash sleep 5 ,, say SUB. ;; say END8.", 5*second),
			[]step{signal(syscall.SIGSTOP), prompt("T9 @@ say END9."), wait(6 * second), is("unknown"), signal(syscall.SIGCONT), taken(0), silent(2 * over), is("done")},
			[]step{prompt("/exit")},
		),
	},
	{
		name: "claude-trust", agent: "claude", prepare: claudeUntrusted, env: claudeEnv,
		steps: []step{drawn("trust", 3*second), is("waiting"), key("\r")}, // the answer that is chosen beforehand is No
	},
	{
		name: "codex-turns", agent: "codex", prepare: codexHome, env: codexEnv,
		steps: join(
			[]step{drawn("›", 4*second), is("idle")},
			turn("T1 @@ bash sleep 2 ;; say END1.", 2*second),
			question("T2 @@ esc echo a > a.txt ;; say END2.", "permission", "Would you like to run", "y"),
			question("T3 @@ esc echo b > b.txt ;; say END3.", "permission", "Would you like to run", "\x1b"),
			interrupted("T4 @@ slow 8"),
			turn("T5 @@ err", 0)[:1], []step{taken(0), silent(over), is("done")},
			behind("T6 @@ bg sleep 7 ;; say END6.", 7*second),
			[]step{prompt("/quit")},
		),
	},
	{
		name: "gemini-turns", agent: "gemini", prepare: geminiHome, env: geminiEnv, args: []string{"-m", "gemini-2.5-flash"},
		steps: join(
			[]step{drawn("Type your message", 4*second), is("idle")},
			turn("T1 @@ slow 4", 4*second),
			// It waits for its hooks, without a spinner, so that silence alone is not its end.
			[]step{prompt("T2 @@ bash echo a > a.txt ;; say END2."), taken(0), shown("Allow execution"), wait(asked), is("waiting permission")},
			[]step{key("\r"), shown("✦ END2."), silent(2 * over), is("done")},
			[]step{prompt("T3 @@ bash echo b > b.txt ;; say END3."), taken(0), shown("Allow execution"), wait(asked), is("waiting permission")},
			[]step{key("\x1b"), shown("cancelled"), silent(2 * over), is("done")},
			interrupted("T4 @@ slow 8"),
			turn("T5 @@ slow 3", 3*second),
			[]step{prompt("/quit")},
		),
	},
	{
		name: "opencode-turns", agent: "opencode", prepare: opencodeHome, env: opencodeEnv,
		steps: join(
			[]step{drawn("ctrl+p commands", 3*second), is("idle")},
			turn("T1 @@ slow 4", 4*second),
			question("T2 @@ bash echo a > a.txt ;; say END2.", "permission", "Permission required", "\r"),
			turn("T3 @@ bash sleep 3 ;; say END3.", 3*second),
			question("T4 @@ ask ;; say END4.", "question", "Which colour?", "\r"),
			turn("T5 @@ slow 3", 3*second),
			[]step{prompt("/exit")},
		),
	},
}
