package agentstate

import (
	"path/filepath"

	"termic/app/agent"
)

// layout is how one agent's state is built. Names are relative to the state directory.
type layout struct {
	program string // the agent's own name for itself, as which the person installed it
	// places are the directories of the state and where the cage finds them.
	places func(at paths) []place
	env    func(at paths) map[string]string
	seeds  func(in seedInput) []seed
	// links are names in the state that lead to a file of the login directory, which the app may replace.
	links map[string]string
	// keep are patterns of what survives a restart, one component a star. drop are those of it that an agent follows
	// as instructions, or runs.
	keep, drop []string
	login      login
	// keysFirst: a key of the environment is better than a copy of the login.
	keysFirst bool
}

// paths are where things are: on the host, and in the cage.
type paths struct {
	home        string // in the cage
	state, cred string // on the host
	at, credAt  string // in the cage
	checkout    string
}

// place is one directory of a state.
type place struct {
	name string // in the state; "." is all of it
	at   string // in the cage
}

// seed is a file that is written new at each start.
type seed struct {
	name    string
	content string
	write   bool // the cage may change it until the next start
}

// seedInput is what seeds may depend on. Nothing in it is the person's configuration.
type seedInput struct {
	checkout string
	keyed    string // the variable whose key logs the agent in, or empty
	key      string // its value
	hasLogin bool
	hook     string // the hooks' program in the cage, or empty
	mcpURL   string // empty: the agent is not told of the control plane
}

// What there is of an agent in a task's directory.
const (
	stateDir = "state" // written by the cage
	keptDir  = "kept"  // what is kept of it, between two cages
	loginDir = "login" // copies of the login; read by the cage
)

// ownDir is in the cage's home directory, where nothing of the person's is.
const ownDir = ".termic"

// pathsFor returns where the state of a layout is. It is no directory below a temporary one: codex refuses helpers
// there (0.171.0, tried 2026-11-29).
func pathsFor(p person, dir, checkout, name string, inPlace bool) paths {
	at := paths{
		home: p.real, checkout: checkout,
		state: filepath.Join(dir, name, stateDir), cred: filepath.Join(dir, name, loginDir),
		at: filepath.Join(p.real, ownDir, name), credAt: filepath.Join(p.real, ownDir, name+"-login"),
	}
	if inPlace {
		at.at, at.credAt = at.state, at.cred
	}
	return at
}

// whole is the state in one directory.
func whole(at paths) []place { return []place{{name: ".", at: at.at}} }

var layouts = map[string]*layout{
	agent.StateClaude:   claude,
	agent.StateCodex:    codex,
	agent.StateGemini:   gemini,
	agent.StateOpenCode: opencode,
}
