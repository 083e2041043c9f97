package agent

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// LaunchOptions say how an agent is started this time. The zero value starts it fresh, without a prompt, uncaged.
type LaunchOptions struct {
	// Program is what Find returned; it becomes argv[0]. Empty leaves the definition's own word there.
	Program string
	// Prompt is a first prompt, or empty.
	Prompt string
	// Session is the id to start a session under, or with Resume the one to go on with; or empty.
	Session string
	Resume  bool
	// Caged says that the agent runs in an enforced cage; only then do its bypass arguments go in.
	Caged bool
	// Bypass says that the person wants the bypass arguments without a cage. The variables that tell an agent that it is
	// in one stay out: they would be lies.
	Bypass bool
	// Trusted says that the directory is one of ours with nothing in it, so that no question about trust need be asked.
	Trusted bool
	// Dir is the checkout, absolute; needed with Caged, Bypass and Trusted.
	Dir string
	// MCPURL is the address of the control plane for this launch, or empty: the agent is not told of it. OlderMCP says
	// that revisions before 2026-07-28 are served there. The token is in the tab's environment and nowhere else.
	MCPURL   string
	OlderMCP bool
	// Hook is the program that the agent's hooks run, by its absolute path where the agent runs (`Hook hook AGENT`), or empty:
	// the agent gets no hooks. Plugins is the directory with a plugin of ours for agents that have those instead, or empty.
	Hook    string
	Plugins string
}

// maxPromptArg bounds a prompt on the command line, well below the kernel's 128 KiB (MAX_ARG_STRLEN, execve(2)).
// A longer one is typed.
const maxPromptArg = 32 << 10

// urlPattern is what the address of an endpoint of ours looks like. It goes into quoted text of other programs.
var urlPattern = regexp.MustCompile(`^http://127\.0\.0\.1:[0-9]{1,5}/[a-z]{1,16}$`)

var sessionPattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_-]{0,127}$`)

// Launch returns the command line, the variables to add ("NAME=value", sorted), and whether the prompt is on the
// command line: when it is not, the caller types it. A command line can be read by everyone on the machine, so
// neither it nor the variables ever hold a credential of ours. Errors wrap ErrInvalid.
func (d Definition) Launch(o LaunchOptions) (argv, env []string, promptPassed bool, err error) {
	if strings.ContainsRune(o.Prompt, 0) {
		return nil, nil, false, invalid("prompt", "holds a NUL byte")
	}
	if o.Session != "" && !sessionPattern.MatchString(o.Session) {
		return nil, nil, false, invalid("session", "%q is no session id", o.Session)
	}
	if o.Resume && (o.Session == "" || len(d.Resume) == 0) {
		return nil, nil, false, invalid("resume", "%s has no session to go on with", d.ID)
	}
	if o.MCPURL != "" && !urlPattern.MatchString(o.MCPURL) {
		return nil, nil, false, invalid("mcpURL", "%q is no endpoint's address", o.MCPURL)
	}
	if (o.Caged || o.Bypass || o.Trusted) && o.Dir == "" {
		return nil, nil, false, invalid("dir", "a launch without questions needs the checkout")
	}
	argv = slices.Clone(d.Command)
	if o.Program != "" {
		argv[0] = o.Program
	}
	dir, err := json.Marshal(o.Dir)
	if err != nil {
		return nil, nil, false, invalid("dir", "%v", err)
	}
	values := strings.NewReplacer("{session}", o.Session, "{dir}", string(dir), "{url}", o.MCPURL)
	switch {
	case o.Resume:
		argv = append(argv, fill(d.Resume, values)...)
	case o.Session != "":
		argv = append(argv, fill(d.Fresh, values)...)
	}
	env = pairs(d.Env)
	if o.Caged || o.Bypass {
		argv = append(argv, fill(d.Bypass, values)...)
	}
	if o.Caged || o.Bypass || o.Trusted {
		argv = append(argv, fill(d.Trust, values)...)
	}
	if o.Caged {
		env = append(env, pairs(d.BypassEnv)...)
	}
	if o.Caged || o.Trusted {
		env = append(env, pairs(d.TrustEnv)...)
	}
	slices.Sort(env)
	hooks, more, err := d.hooks(o)
	if err != nil {
		return nil, nil, false, err
	}
	argv, env = append(argv, hooks...), append(env, more...)
	slices.Sort(env)
	if o.MCPURL != "" && (o.OlderMCP || !d.MCP.Older) && !d.MCP.isZero() {
		argv = append(argv, fill(d.MCP.Args, values)...)
		env = append(env, fill(pairs(d.MCP.Env), values)...)
		slices.Sort(env)
	}
	if args := d.promptArgs(o); args != nil {
		return append(argv, args...), env, true, nil
	}
	return argv, env, false, nil
}

// promptArgs returns the arguments that carry the prompt, or nil when it must be typed. A prompt never becomes
// anything but a prompt: as a last argument it is passed only when it can be neither a flag nor the name of a
// subcommand (`claude update`). Whether a resumed session takes one was not tried, so there it is typed.
func (d Definition) promptArgs(o LaunchOptions) []string {
	p := o.Prompt
	if p == "" || o.Resume || len(p) > maxPromptArg || unprintable(p) {
		return nil
	}
	switch d.Prompt.Style {
	case PromptFlag:
		return []string{d.Prompt.Flag + "=" + p}
	case PromptPositional:
		word := strings.TrimSpace(p)
		if strings.HasPrefix(word, "-") || !strings.ContainsAny(word, " \t\n") {
			return nil
		}
		return []string{p}
	}
	return nil
}

// unprintable says whether text holds control characters besides tab and line feed; such a prompt takes the way
// on which it is cleaned.
func unprintable(s string) bool {
	return hasControl(strings.NewReplacer("\t", "", "\n", "").Replace(s))
}

func fill(args []string, values *strings.Replacer) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = values.Replace(a)
	}
	return out
}

func pairs(env map[string]string) []string {
	out := make([]string, 0, len(env))
	for k, v := range env {
		out = append(out, k+"="+v)
	}
	slices.Sort(out)
	return out
}
