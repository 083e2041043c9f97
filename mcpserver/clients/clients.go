// Package clients knows the programs that can be told of the endpoint: where each keeps its configuration, what an
// entry for termic looks like there, and how to take it out again. Clients are data; Write and Drop are pure; all
// work on files is in file.go.
//
// No entry ever holds a token. A client reads it through a helper when it connects, or talks to a bridge that does.
package clients

import (
	"path/filepath"
	"slices"
	"strings"
)

// EntryName is what the endpoint is called in every configuration.
const EntryName = "termic"

// Format is how a client's configuration is written. The zero value is none that we edit.
type Format uint8

const (
	NoFile Format = iota
	// JSON may have comments and trailing commas.
	JSON
	TOML
)

// Client is one program that can be told of the endpoint.
type Client struct {
	// Name is what it is called on the command line and in the audit log, Title what people call it.
	Name, Title string
	// Program is looked up in PATH; Version are the arguments that make it print its version. Program is empty
	// where the client is no command.
	Program string
	Version []string
	// Speaks says in words what the client does with an endpoint of the revision 2026-07-28.
	Speaks string
	// Tried is the version with which the whole way was tried; empty: it was written from public documentation
	// and tested on files only.
	Tried string
	// Format is that of its configuration, Files are the places where that may be: the first that exists, else
	// the first. Path is where the entry goes within.
	Format Format
	Files  func(Env) []string
	Path   []string
	// Entry are the members of the entry, in order.
	Entry func(Target) []Member
	// Extra is a further key that the client needs, and that changes more than our entry. nil: none.
	Extra *Extra
	// Own is the client's own command line for changing its configuration. nil: its file is edited.
	Own *Own
	// Locks: the client takes FILE.lock, a directory, while it writes its configuration.
	Locks bool
	// After says what the person has to do until the client knows.
	After string
}

// Member is one key of an entry; several parts are nested tables. The value is a string, a bool or a []string.
type Member struct {
	Key   []string
	Value any
}

// Extra is a key beside the entry, set to true.
type Extra struct {
	Path []string
	// Asks is what the person must have said yes to.
	Asks string
}

// Own are the arguments of a client's program that add and remove the entry.
type Own struct {
	Add    func(value string) []string
	Remove []string
}

// Target is what an entry points to.
type Target struct {
	// Client is the name under which the helper and the bridge find the token.
	Client string
	// URL is the endpoint's; Program the absolute path of termic; DataDir the app's data directory.
	URL, Program, DataDir string
	// Reads are the tools that change nothing, which a client may call unasked.
	Reads []string
}

// Helper is the command line, for a shell, that prints the headers of a connection.
func (t Target) Helper() string {
	words := []string{t.Program, "mcp-headers", "--client", t.Client, "--url", t.URL, "--data-dir", t.DataDir}
	for i, word := range words {
		words[i] = shellWord(word)
	}
	return strings.Join(words, " ")
}

// Bridge are the arguments that make termic speak MCP on its standard input and output.
func (t Target) Bridge() []string {
	return []string{"mcp-stdio", "--client", t.Client, "--data-dir", t.DataDir}
}

// shellWord quotes a word for a POSIX shell where it must be.
func shellWord(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-:@%+=,", r)
	}
	if word != "" && strings.TrimFunc(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Env is what decides where configurations are.
type Env struct {
	// Home is the person's home directory, Config the base of XDG configurations, absolute.
	Home, Config string
	// Vars are the variables with which clients are told to look elsewhere.
	Vars map[string]string
	// Mac: places are those of macOS.
	Mac bool
}

// EnvOf returns what an environment ("NAME=value") says; mac tells the system. A relative path counts as unset,
// as the XDG specification has it.
func EnvOf(environ []string, mac bool) Env {
	e := Env{Vars: map[string]string{}, Mac: mac}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if filepath.IsAbs(value) {
			e.Vars[name] = value
		}
	}
	e.Home = e.Vars["HOME"]
	if e.Config = e.Vars["XDG_CONFIG_HOME"]; e.Config == "" && e.Home != "" {
		e.Config = filepath.Join(e.Home, ".config")
	}
	return e
}

// under returns a path beneath the directory that the variable names, else beneath the home directory.
func (e Env) under(variable, home string, elem ...string) string {
	if dir := e.Vars[variable]; dir != "" {
		return filepath.Join(append([]string{dir}, elem...)...)
	}
	return filepath.Join(append([]string{e.Home, home}, elem...)...)
}

// Support is where macOS programs keep what is theirs, and XDG's place elsewhere.
func (e Env) support(elem ...string) string {
	base := e.Config
	if e.Mac {
		base = filepath.Join(e.Home, "Library", "Application Support")
	}
	return filepath.Join(append([]string{base}, elem...)...)
}

// All returns every client there is, in the order in which they are shown.
func All() []Client {
	return []Client{claude, codex, gemini, opencode, vscode, cursor, zed, claudeDesktop}
}

// Find returns the client of that name.
func Find(name string) (Client, bool) {
	all := All()
	i := slices.IndexFunc(all, func(c Client) bool { return c.Name == name })
	if i < 0 {
		return Client{}, false
	}
	return all[i], true
}

// Another returns a client that we know nothing of: it is told by hand, and gets a token of its own.
func Another(name string) Client {
	return Client{
		Name: name, Title: "another client",
		Speaks: "unknown; one that starts its servers as programs works through the bridge whatever it speaks",
		After:  "tell it as shown by client show",
	}
}
