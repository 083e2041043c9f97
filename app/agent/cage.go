package agent

import (
	"termic/sandbox/capability"
)

// Cage is what an agent needs of a cage to work in it. The zero Cage needs nothing, and gets nothing.
type Cage struct {
	// State names how the agent's own state and login are laid out: that of the built-in agent of this name. A
	// definition of the person's own that starts one of them in another way names it too. Empty: the agent keeps
	// nothing, and has no login.
	State string `json:"state,omitempty"`
	// Hosts are the host patterns that it must reach (capability.HostsOf).
	Hosts []string `json:"hosts,omitempty"`
	// Keys are variables of the person's environment that log the agent in. They are passed only where there is no
	// login file whose copy does.
	Keys []string `json:"keys,omitempty"`
	// Pass are variables of the person's environment that are always passed, such as another address of the model.
	Pass []string `json:"pass,omitempty"`
}

// Layouts of state that Cage.State may name.
const (
	StateClaude   = "claude"
	StateCodex    = "codex"
	StateGemini   = "gemini"
	StateOpenCode = "opencode"
)

// MCP is how an agent is told of the control plane for one launch, in no file of the person's. Agents read the token
// from their environment (TERMIC_MCP_TOKEN): a command line can be read by everyone on the machine.
type MCP struct {
	// Args are arguments and Env variables that are added; {url} stands for the endpoint's address.
	Args []string          `json:"args,omitempty"`
	Env  map[string]string `json:"env,omitempty"`
	// Older says that the agent speaks only revisions before 2026-07-28: it is told only where they are served.
	Older bool `json:"older,omitempty"`
}

func (m MCP) isZero() bool { return len(m.Args) == 0 && len(m.Env) == 0 }

func validCage(c Cage) error {
	switch c.State {
	case "", StateClaude, StateCodex, StateGemini, StateOpenCode:
	default:
		return invalid("cage.state", "%q is none of %s, %s, %s, %s", c.State, StateClaude, StateCodex, StateGemini, StateOpenCode)
	}
	if len(c.Hosts) > maxEnv || len(c.Keys) > maxEnv || len(c.Pass) > maxEnv {
		return invalid("cage", "a list of more than %d", maxEnv)
	}
	if _, err := capability.HostsOf(c.Hosts...); err != nil {
		return invalid("cage.hosts", "%v", err)
	}
	for name, list := range map[string][]string{"cage.keys": c.Keys, "cage.pass": c.Pass} {
		for _, variable := range list {
			if err := validEnv(name, map[string]string{variable: ""}); err != nil {
				return err
			}
		}
	}
	return nil
}

func validMCP(m MCP) error {
	if err := validArgs("mcp.args", m.Args); err != nil {
		return err
	}
	return validEnv("mcp.env", m.Env)
}
