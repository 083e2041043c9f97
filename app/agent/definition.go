// Package agent holds agent CLIs as data: how each is started, given a prompt, resumed and typed at, and how its
// state is read. It runs nothing but the version probe.
package agent

import (
	"time"

	"termic/app/settle"
)

// Definition is one agent CLI. It is plain data: JSON in, JSON out. Definitions of the person's own need only ID
// and Command; Normalize fills in the rest.
type Definition struct {
	ID    string `json:"id"`
	Title string `json:"title,omitempty"`
	// Command is the program and its fixed arguments. The program is a bare name to look up in PATH, an absolute
	// path, or LoginShell.
	Command []string `json:"command"`
	// Prompt says how a first prompt goes onto the command line.
	Prompt PromptArg `json:"prompt,omitzero"`
	// Fresh are the arguments that start a session under an id of our choice, Resume those that go on with one.
	// {session} stands for the id; empty means that the CLI has no such thing.
	Fresh  []string `json:"fresh,omitempty"`
	Resume []string `json:"resume,omitempty"`
	// Env is added to the tab's environment.
	Env map[string]string `json:"env,omitempty"`
	// Bypass are the arguments that turn the CLI's own permission questions and trust dialogs off, BypassEnv the
	// variables. They are used in a cage only, where the cage is the boundary. {dir} stands for the checkout as
	// a quoted string (JSON, which TOML reads too).
	Bypass    []string          `json:"bypass,omitempty"`
	BypassEnv map[string]string `json:"bypassEnv,omitempty"`
	// Trust are the arguments, and TrustEnv the variables, with which it takes the checkout for trusted and asks no question about
	// that. They go in with the bypass, and where the directory is one of ours with nothing in it.
	Trust    []string          `json:"trust,omitempty"`
	TrustEnv map[string]string `json:"trustEnv,omitempty"`
	// Cage is what it needs of a cage, MCP how it is told of the control plane.
	Cage Cage `json:"cage,omitzero"`
	MCP  MCP  `json:"mcp,omitzero"`
	// Hooks says whose hooks it has: they are set for each launch, and report over the terminal.
	Hooks Hooks `json:"hooks,omitempty"`
	// Version are the arguments that make the program print its version; empty means that it has none.
	Version []string `json:"version,omitempty"`
	// Tried is the version of the program that this definition was made from, as digits and dots; empty where nobody said. What an
	// older one or the next major one does, nobody looked at (Unsupported).
	Tried string `json:"tried,omitempty"`
	// Settle says how the state is read.
	Settle settle.Rules `json:"settle,omitzero"`
	// Paste says how text is typed.
	Paste PasteRules `json:"paste,omitzero"`
	// Box says how its input box looks while it is empty.
	Box Box `json:"box,omitzero"`
	// Shell marks a shell: a prompt is command lines, and it runs whatever it is given.
	Shell bool `json:"shell,omitempty"`
	// Builtin marks a definition that comes with the program. Set keeps it; it is not read from anywhere.
	Builtin bool `json:"-"`
}

// LoginShell, as a Definition's program, stands for the person's login shell.
const LoginShell = "$SHELL"

// PromptStyle says how a prompt goes onto the command line. The zero value passes none: the prompt is typed.
type PromptStyle string

// The styles.
const (
	PromptTyped      PromptStyle = ""
	PromptPositional PromptStyle = "positional" // the last argument
	PromptFlag       PromptStyle = "flag"       // PromptArg.Flag=TEXT as one argument
)

// PromptArg is a style with its flag.
type PromptArg struct {
	Style PromptStyle `json:"style,omitempty"`
	Flag  string      `json:"flag,omitempty"`
}

// Bracketing says when text is framed as a bracketed paste. The zero value frames when the program asked for it.
type Bracketing string

// The ways to frame.
const (
	BracketWhenOn Bracketing = ""       // only while DECSET 2004 is on
	BracketAlways Bracketing = "always" // for programs that read the frame without asking
	BracketNever  Bracketing = "never"  // for programs that ask and get it wrong
)

// PasteRules say how text is typed into an agent.
type PasteRules struct {
	Bracketed Bracketing `json:"bracketed,omitempty"`
	// EnterDelay is the least time between the end of a paste and Enter; MinEnterDelay or more.
	EnterDelay settle.Duration `json:"enterDelay,omitzero"`
	// MaxBytes is the longest text that the agent takes; a longer one is refused before anything is typed.
	MaxBytes int `json:"maxBytes,omitempty"`
}

const (
	// MinEnterDelay keeps Enter out of the paste: gemini takes an Enter 20 ms after a paste as part of it, one
	// after 50 ms as Enter (0.61.0, tried 2026-11-29); the rest is for a loaded machine.
	MinEnterDelay = 100 * time.Millisecond
	// DefaultEnterDelay was taken by all four agents (2026-11-29).
	DefaultEnterDelay = 150 * time.Millisecond
	// MaxPaste bounds every text: codex refuses more than 1,048,576 characters and leaves them in its box
	// (0.171.0, tried 2026-11-29); claude took as much in 1.7 s. A verb takes no longer prompt either.
	MaxPaste = 1 << 20
)

// Normalize returns the definition with what it leaves out filled in: title, paste rules, and for an agent without
// rules of its own those that read only what any program may send.
func (d Definition) Normalize() Definition {
	if d.Title == "" {
		d.Title = d.ID
	}
	if d.Paste.EnterDelay == 0 {
		d.Paste.EnterDelay = settle.Duration(DefaultEnterDelay)
	}
	if d.Paste.MaxBytes == 0 {
		d.Paste.MaxBytes = MaxPaste
	}
	if isZero(d.Settle) {
		d.Settle = commonRules()
		if d.Shell {
			d.Settle = shellRules()
		}
	}
	return d
}

// commonRules read what agents in general send: progress, a spinner before the title, the words with which codex
// and gemini ask for a permission; else quiet.
func commonRules() settle.Rules {
	return settle.Rules{
		Titles: settle.Titles{
			Working: settle.MustPatterns(`^[\x{2801}-\x{28FF}]`),
			Waiting: settle.MustPatterns(`\bAction Required\b`),
		},
		Progress: true,
		Quiet:    settle.Duration(2 * time.Second),
	}
}
