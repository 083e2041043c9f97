package render

import (
	"cmp"
	"slices"
	"strings"

	"termic/registry/refusal"
)

// Flag is a flag that comes from no verb's argument.
type Flag struct {
	Name string `json:"name"`
	// Value names what the flag takes; empty for a switch.
	Value string `json:"value,omitempty"`
	Doc   string `json:"doc"`
}

// Builtin is a command that is no verb: it works without the app, or is the app.
type Builtin struct {
	Name    string `json:"command"`
	Usage   string `json:"usage"`
	Summary string `json:"summary"`
	Doc     string `json:"doc"`
	Flags   []Flag `json:"flags,omitempty"`
}

// Builtins returns the commands that are no verbs, in the order of help.
func Builtins() []Builtin {
	return []Builtin{
		{
			Name: "serve", Usage: "serve", Summary: "run the app in the foreground, without a window",
			Doc: "Runs the whole app in the foreground until it is interrupted. A second one on the same data directory is refused.",
		},
		{
			Name: "version", Usage: "version", Summary: "print the version",
			Doc: "Prints the version of this program and of the verbs that it knows. It does not ask the app.",
		},
		{
			Name: "completion", Usage: "completion bash|zsh|fish", Summary: "print a completion script for a shell",
			Doc: "Prints a script that completes commands, flags and values. For bash: source <(termic completion bash).",
		},
		{
			Name: "mcp-headers", Usage: "mcp-headers --client NAME --url URL [flags]", Summary: "print the headers of a registered client's connection",
			Doc: "Prints one JSON object with the header Authorization, for a client that runs it when it connects. It prints only when the running app confirms that it holds exactly that address; else it says why in one line on standard error.",
			Flags: []Flag{
				{Name: "client", Value: "NAME", Doc: "name under which the client is registered"},
				{Name: "url", Value: "URL", Doc: "address that the client connects to"},
			},
		},
		{
			Name: "mcp-stdio", Usage: "mcp-stdio --client NAME [flags]", Summary: "speak MCP on standard input and output for a registered client",
			Doc:   "Carries MCP messages between a client that starts it and the app's endpoint, one by one. A client of an older revision is answered in its own; a client need not be restarted when the app is.",
			Flags: []Flag{{Name: "client", Value: "NAME", Doc: "name under which the client is registered"}},
		},
		{
			Name: "agents-md", Usage: "agents-md [--install FILE | --remove FILE] [flags]", Summary: "teach agents to use termic",
			Doc: "Prints a short text for a file such as AGENTS.md that teaches any agent the commands, the exit statuses and the manners. Inside a cage it says what a caged agent may do.",
			Flags: []Flag{
				{Name: "install", Value: "FILE", Doc: "put the text into FILE between two marks, or bring it up to date there"},
				{Name: "remove", Value: "FILE", Doc: "take the text out of FILE again"},
			},
		},
		{
			Name: "help", Usage: "help [COMMAND...]", Summary: "explain a command",
			Doc: "Explains a command. With --json: every verb, argument, flag, schema, refusal and exit status as one JSON document.",
		},
	}
}

// CommonFlags returns the flags of every command.
func CommonFlags() []Flag {
	return []Flag{
		{Name: "json", Doc: "print one JSON document on standard output, a refusal included"},
		{Name: "data-dir", Value: "DIR", Doc: "the app's data directory; default: TERMIC_DATA_DIR, else the platform's"},
	}
}

// TimeoutDoc describes the time limit of a wait on the command line, which asks again and again until then:
// it is not the limit of one call.
const TimeoutDoc = "give up waiting after this long, as 90s or 10m; default: wait on"

// WaitFlags returns the flags of commands whose verb names what --wait calls.
func WaitFlags() []Flag {
	return []Flag{
		{Name: "wait", Doc: "then wait until the task's agent has settled"},
		{Name: "timeout", Value: "DURATION", Doc: TimeoutDoc},
	}
}

// RawFlag prints an agent's words as they are. Where the verb has an argument of its name, that is the flag.
const RawFlag = "raw"

// OwnFlags returns the flags of the form's command that come from none of its arguments.
func (f *Form) OwnFlags() []Flag {
	var flags []Flag
	if f.Verb.CLI.Then != "" {
		flags = WaitFlags()
	}
	if slices.ContainsFunc(f.Result, func(m Member) bool { return m.Said }) && f.Argument(RawFlag) == nil {
		flags = append(flags, Flag{Name: RawFlag, Doc: "print it as it is, whatever it does to a terminal"})
	}
	return flags
}

// Exit is an exit status of the command line.
type Exit struct {
	Status int    `json:"status"`
	Means  string `json:"means"`
}

// Interrupted is the exit status after ctrl-c, as shells have it: 128 and the signal's number.
const Interrupted = 130

// Exits returns every exit status there is, smallest first.
func Exits() []Exit {
	return []Exit{
		{0, "done; after a wait: the agent has settled"},
		{1, "termic itself failed, or its disk did"},
		{2, "usage: the command line or an argument is malformed"},
		{3, "the agent waits for an answer that only a person may give"},
		{4, "refused"},
		{5, "not found"},
		{6, "the app is not running"},
		{7, "timed out; the task goes on"},
		{8, "the agent has exited"},
		{9, "the prompt was not delivered"},
		{10, "conflict: a taken or ambiguous name, work in progress, too much at once"},
		{11, "held for a person, who did not answer in time"},
		{12, "something must be looked at first, and confirmed"},
		{Interrupted, "interrupted; the task goes on"},
	}
}

// ExitMeaning returns what an exit status means.
func ExitMeaning(status int) (string, bool) {
	exits := Exits()
	i, found := slices.BinarySearchFunc(exits, status, func(e Exit, s int) int { return cmp.Compare(e.Status, s) })
	if !found {
		return "", false
	}
	return exits[i].Means, true
}

// Usage returns the command as the first line of its help shows it, without the leading program name:
// "send TASK TEXT... [flags]".
func (f *Form) Usage() string {
	words := []string{f.Verb.CLI.Path}
	for _, a := range f.Positional() {
		word := Placeholder(a)
		if a.Rest {
			word += "..."
		}
		if !a.Required {
			word = "[" + word + "]"
		}
		words = append(words, word)
	}
	for _, a := range f.Flags() {
		if a.Required {
			words = append(words, "--"+a.Flag+" "+Placeholder(a))
		}
	}
	return strings.Join(append(words, "[flags]"), " ")
}

// Placeholder is the word that stands for an argument's value in help.
func Placeholder(a Argument) string {
	switch {
	case a.Duration:
		return "DURATION"
	case a.Absolute:
		return "PATH"
	case a.Kind == Integer:
		return "N"
	case a.Positional, a.Kind == String && len(a.Enum) == 0:
		return strings.ToUpper(kebab(a.Name))
	case a.Split:
		return "A,B"
	}
	return strings.ToUpper(a.Flag)
}

// Describe returns an argument's description for help: its own, but for the time limit of a bounded verb,
// and with the values that it may have.
func (f *Form) Describe(a Argument) string {
	if f.Verb.Bounded && a.Duration {
		return TimeoutDoc
	}
	doc := a.Doc
	if len(a.Enum) > 0 {
		doc += " (" + strings.Join(a.Enum, ", ") + ")"
	}
	if a.Stdin {
		doc += `; "-" reads standard input`
	}
	return doc
}

// RouterRefusals are the codes that any call may be refused with, besides those that a verb names itself.
func RouterRefusals() []refusal.Code {
	return []refusal.Code{
		refusal.Internal, refusal.BadInput, refusal.NotPermitted, refusal.ExceedsGrant, refusal.Revoked,
		refusal.UnknownVerb, refusal.NotRunning, refusal.Busy, refusal.Cancelled, refusal.StorageFailed,
	}
}
