package task

import (
	"runtime"
	"slices"
	"strings"

	"termic/sandbox/capability"
)

// The variables that a tab gets besides the person's own.
const (
	EnvTask     = "TERMIC_TASK"
	EnvTaskID   = "TERMIC_TASK_ID"
	EnvCLI      = "TERMIC_CLI"
	EnvDataDir  = "TERMIC_DATA_DIR"
	EnvMCPURL   = "TERMIC_MCP_URL"
	EnvMCPToken = "TERMIC_MCP_TOKEN"
)

// dropped are variables that speak of the terminal or the program that the app itself was started from, and
// would be lies in a tab. A name that ends in * is a prefix.
var dropped = []string{
	"TERMIC_*", "TERM", "TERM_*", "COLORTERM", "COLUMNS", "LINES", "WINDOWID", "TMUX", "TMUX_*", "STY",
	"VSCODE_*", "VTE_VERSION", "KITTY_*", "WEZTERM_*", "ITERM_*", "GNOME_TERMINAL_*", "KONSOLE_*",
	// Agents that start agents: each takes these for "I run inside another one".
	"CLAUDECODE", "CLAUDE_CODE_*", "CODEX_SANDBOX*",
	// Programs that read these open a port or behave as inside a package script.
	"WEBKIT_INSPECTOR_*", "npm_*", "INIT_CWD",
	// make's own; a make inside a tab would take them for its parent's.
	"MAKEFLAGS", "MAKELEVEL", "MFLAGS",
}

// environment returns the whole environment of a new tab outside any cage, and the address of the control plane that is
// in it. A task without a cage has a full token of its own; no token is ever given to a tab beside a cage.
func (s *Tasks) environment(record Record) (env []string, url string) {
	return s.environmentOn(runtime.GOOS, record)
}

func (s *Tasks) environmentOn(system string, record Record) (env []string, url string) {
	env = slices.DeleteFunc(s.Environ(), func(entry string) bool {
		name, _, ok := strings.Cut(entry, "=")
		return !ok || isDropped(name)
	})
	env = append(env, terminalEnvironment(record)...)
	if record.Mode == capability.Monitor && record.MCP { // a scoped one, at the host's port
		url, token, ok := s.Credentials.Task(record, capability.Unbounded(), nil)
		return append(env, controlEnvironment(url, token, ok)...), url
	}
	if record.Mode != capability.Off {
		return env, ""
	}
	// With the data directory, so that the program finds this app and not another one's.
	env = append(env, EnvCLI+"="+s.CLI, EnvDataDir+"="+s.Store.Dir())
	if system == "darwin" { // any process of the user may be able to read another's there, in a cage too; the command line has a file
		return env, ""
	}
	url, token, ok := s.Credentials.Task(record, capability.Unbounded(), nil)
	return append(env, controlEnvironment(url, token, ok)...), url
}

// terminalEnvironment is what every tab is told of its terminal and its task.
func terminalEnvironment(record Record) []string {
	return []string{"TERM=xterm-256color", "COLORTERM=truecolor", EnvTask + "=" + record.Name, EnvTaskID + "=" + string(record.ID)}
}

// controlEnvironment is where a tab's agent finds the control plane; nothing, when nothing serves it.
func controlEnvironment(url, token string, ok bool) []string {
	if !ok {
		return nil
	}
	return []string{EnvMCPURL + "=" + url, EnvMCPToken + "=" + token}
}

func isDropped(name string) bool {
	return slices.ContainsFunc(dropped, func(pattern string) bool {
		if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
			return strings.HasPrefix(name, prefix)
		}
		return name == pattern
	})
}
