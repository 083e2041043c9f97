// Package repoconf reads what a repository (.termic.toml, committed) and the person (the same keys as JSON with comments)
// say of a project's tasks. It parses and merges; whoever calls decides what is trusted and what comes of it. Nothing
// that is not understood is passed over: it is named with its line and column.
package repoconf

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"termic/sandbox/capability"
)

// File is the name of the repository's file, at its top level.
const File = ".termic.toml"

// MaxBytes bounds either file: settings are short, and both are read into memory.
const MaxBytes = 64 << 10

// Settings are what one file says, or both.
type Settings struct {
	// Commands that a shell runs, in order; the first that fails ends the row.
	Setup, Run, Archive []string
	// Copy are files that git ignores, relative to the project's checkout, or patterns of them (checkCopy).
	Copy  []string
	Agent string
	// Hosts, Read and Write only narrow what the person set.
	Hosts, Read, Write []string
	// Given are the keys that are there, an empty list too.
	Given map[string]bool
}

// Problem is something in a file that was not understood, or has no effect.
type Problem struct {
	Line, Column int // from 1; columns count bytes
	What         string
	// Harmless: the key is known and has no effect here. Anything else takes the whole file's effect away.
	Harmless bool
}

func (p Problem) String() string {
	return fmt.Sprintf("line %d, column %d: %s", p.Line, p.Column, p.What)
}

// entry is one key of a file, whatever the file's language.
type entry struct {
	key          string
	line, column int
	kind         kind
	values       []string
}

type kind int

const (
	other kind = iota
	text
	list
)

// Keys are the keys that have an effect, in the order in which they are shown.
func Keys() []string {
	return []string{"setup", "run", "archive", "copy", "agent", "hosts", "read", "write"}
}

// withoutEffect are keys that one could take for settings of a repository, and who decides instead.
var withoutEffect = map[string]string{
	"mcp":      "only the person gives a task the control plane: termic project settings --mcp",
	"projects": "only the person says which projects a task may act on: termic project settings --projects",
	"cage":     "only the person chooses the cage: termic project settings --cage",
	"mode":     "only the person chooses the cage: termic project settings --cage",
	"env":      "only the person passes variables: termic project settings --env",
	"bypass":   "only the person lets an agent act without asking",
	"name":     "a project's name is given when it is added",
}

const (
	maxCommands = 32
	maxList     = 256
	maxText     = 4096 // bytes of one command or path: what a shell line has at most in practice
)

// understand turns entries into settings. With a problem that is not harmless the settings are empty.
func understand(entries []entry) (Settings, []Problem) {
	s := Settings{Given: map[string]bool{}}
	var problems []Problem
	for _, e := range entries {
		say := func(what string, harmless bool) {
			problems = append(problems, Problem{e.line, e.column, what, harmless})
		}
		if why, known := withoutEffect[e.key]; known {
			say(fmt.Sprintf("%s has no effect here: %s", e.key, why), true)
			continue
		}
		if s.Given[e.key] {
			say(e.key+" is there twice", false)
			continue
		}
		if why := s.set(e); why != "" {
			say(why, false)
			continue
		}
		s.Given[e.key] = true
	}
	for _, p := range problems {
		if !p.Harmless {
			return Settings{Given: map[string]bool{}}, problems
		}
	}
	return s, problems
}

// set takes one entry, or returns what is wrong with it.
func (s *Settings) set(e entry) string {
	into := map[string]*[]string{"setup": &s.Setup, "run": &s.Run, "archive": &s.Archive, "copy": &s.Copy, "hosts": &s.Hosts, "read": &s.Read, "write": &s.Write}[e.key]
	switch {
	case into == nil && e.key != "agent":
		return fmt.Sprintf("there is no key %q; the keys are %s", clip(e.key), strings.Join(Keys(), ", "))
	case e.key == "agent" && e.kind != text:
		return "agent has to be a text"
	case e.kind == other:
		return e.key + " has to be a text or a list of texts"
	}
	for _, v := range e.values {
		if v == "" || len(v) > maxText || !utf8.ValidString(v) || strings.ContainsFunc(v, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }) {
			return fmt.Sprintf("%s: %q is empty, longer than %d bytes, or holds control characters", e.key, clip(v), maxText)
		}
	}
	if e.key == "agent" {
		s.Agent = e.values[0]
		return ""
	}
	if why := checkList(e); why != "" {
		return why
	}
	*into = e.values
	return ""
}

func checkList(e entry) string {
	most, err := maxList, error(nil)
	switch e.key {
	case "setup", "run", "archive":
		most = maxCommands
	case "copy":
		for _, v := range e.values {
			if why := checkCopy(v); why != "" {
				return fmt.Sprintf("copy: %q %s", clip(v), why)
			}
		}
	case "hosts":
		_, err = capability.HostsOf(e.values...)
	case "read", "write":
		_, err = capability.PathsOf(e.values...)
	}
	switch {
	case err != nil:
		return fmt.Sprintf("%s: %v", e.key, err)
	case len(e.values) > most:
		return fmt.Sprintf("%s has %d items, %d is the most", e.key, len(e.values), most)
	}
	return ""
}

// checkCopy returns what is wrong with a name of files to copy: a path, or a pattern in which * and ? stand for parts of a
// name and ** for any number of directories.
func checkCopy(v string) string {
	names, deep := strings.Split(v, "/"), 0
	if !filepath.IsLocal(v) || path.Clean(v) == "." || slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, ".git") }) {
		return "is no path within the checkout"
	}
	for _, n := range names {
		if n == "**" {
			deep++
		} else if _, err := path.Match(n, ""); err != nil || strings.Contains(n, "**") {
			return "is no pattern: ** stands alone between slashes, and [ is closed"
		}
	}
	if deep > 2 { // what it takes to match grows with each
		return "has more than two **"
	}
	return ""
}

// Merge returns what counts when both files speak: the person's word wins, key by key.
func Merge(repo, mine Settings) Settings {
	out := repo
	out.Given = maps.Clone(repo.Given)
	if out.Given == nil {
		out.Given = map[string]bool{}
	}
	for key := range mine.Given {
		out.Given[key] = true
		switch key {
		case "setup":
			out.Setup = mine.Setup
		case "run":
			out.Run = mine.Run
		case "archive":
			out.Archive = mine.Archive
		case "copy":
			out.Copy = mine.Copy
		case "agent":
			out.Agent = mine.Agent
		case "hosts":
			out.Hosts = mine.Hosts
		case "read":
			out.Read = mine.Read
		case "write":
			out.Write = mine.Write
		}
	}
	return out
}

// Values returns the values of a key.
func (s Settings) Values(key string) []string {
	if key == "agent" {
		if s.Agent == "" {
			return nil
		}
		return []string{s.Agent}
	}
	return map[string][]string{"setup": s.Setup, "run": s.Run, "archive": s.Archive, "copy": s.Copy, "hosts": s.Hosts, "read": s.Read, "write": s.Write}[key]
}

// Commands reports whether there is anything to run.
func (s Settings) Commands() bool { return len(s.Setup)+len(s.Run)+len(s.Archive) > 0 }

func clip(s string) string { return s[:min(len(s), 80)] }
