package registry

import (
	"regexp"
	"strings"

	"termic/registry/refusal"
)

// Remedies are written for the command line, once: "termic diff", "--confirm WORD". To a caller over MCP they name what it has.
var (
	commandRE = regexp.MustCompile(`\btermic ([a-z]+(?:-[a-z]+)*)((?: [a-z]+(?:-[a-z]+)*)?)([^;,()]*)`)
	flagRE    = regexp.MustCompile(`--[a-z]+(?:-[a-z]+)*`)
)

// inWordsOf returns the refusal of a verb as its caller can follow it.
func (r *Router) inWordsOf(caller Caller, called *Verb, no *refusal.Refusal) *refusal.Refusal {
	if caller.Way != MCP || no.Remedy == "" {
		return no
	}
	named := []*Verb{called}
	text := commandRE.ReplaceAllStringFunc(no.Remedy, func(command string) string {
		part := commandRE.FindStringSubmatch(command)
		verb, rest := r.commanded(part[1]+part[2]), part[3]
		if verb == nil {
			verb, rest = r.commanded(part[1]), part[2]+part[3]
		}
		switch {
		case verb == nil:
			return command
		case !offered(verb, caller):
			return "ask the person (" + strings.TrimRight(command, " ") + ")"
		}
		named = append(named, verb)
		return verb.Name + rest
	})
	text = flagRE.ReplaceAllStringFunc(text, func(flag string) string {
		for _, verb := range named {
			if name := argumentOf(verb, flag); name != "" {
				return name
			}
		}
		return flag
	})
	c := *no
	c.Remedy = text
	return &c
}

// commanded returns the verb of a command's words, or nil.
func (r *Router) commanded(path string) *Verb {
	for _, verb := range r.verbs {
		if verb.CLI.Path != "" && verb.CLI.Path == path {
			return verb
		}
	}
	return nil
}

// argumentOf returns the argument that a flag stands for, "" when the verb has none of that name: --prompt-id is promptId.
func argumentOf(verb *Verb, flag string) string {
	if verb == nil {
		return ""
	}
	words := strings.Split(strings.TrimPrefix(flag, "--"), "-")
	for i, word := range words[1:] {
		words[i+1] = strings.ToUpper(word[:1]) + word[1:]
	}
	name := strings.Join(words, "")
	if _, ok := verb.InSchema().Properties[name]; !ok {
		return ""
	}
	return name
}
