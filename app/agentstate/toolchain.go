package agentstate

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"termic/app/agent"
	"termic/sandbox/profile"
)

// systemPrefixes need no entry of their own: every cage reads them.
var systemPrefixes = []string{"/usr/", "/bin/", "/sbin/", "/lib/", "/lib32/", "/lib64/", "/opt/", "/etc/", "/nix/store/", "/System/", "/Library/"}

// prefixes are package managers outside of the home directory.
var prefixes = []string{"/home/linuxbrew/.linuxbrew"}

// toolchains adds what the person develops with, as far as it is on the list.
func (b *builder) toolchains() {
	b.plan.Read = append(b.plan.Read, profile.Toolchains(profile.Machine{}, b.keeper.person.home)...)
	for _, dir := range prefixes {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			b.plan.Read = append(b.plan.Read, dir)
		}
	}
}

// install adds an agent's program, where the system's directories do not hold it: the file, or all of the packages that
// it is one of; and what interprets it. A program that is not installed adds nothing: starting it says so.
func (b *builder) install(definition agent.Definition) {
	program, err := agent.Find(definition, agent.WhereIn(b.keeper.person.environ))
	if err != nil {
		return
	}
	b.program(program)
	words := interpreter(program)
	if len(words) > 1 && filepath.Base(words[0]) == "env" {
		words = words[1:]
		if words[0] == "-S" {
			words = words[1:]
		}
	}
	if len(words) == 0 {
		return
	}
	if found, err := agent.Find(agent.Definition{ID: definition.ID, Command: words[:1]}, agent.WhereIn(b.keeper.person.environ)); err == nil {
		b.program(found)
	}
}

// program adds one program by the name it was found under, and what it needs beside it.
func (b *builder) program(found string) {
	real, err := filepath.EvalSymlinks(found)
	if err != nil {
		return
	}
	for _, name := range []string{packages(real), found} {
		if !slices.ContainsFunc(systemPrefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
			b.plan.Read = append(b.plan.Read, name)
		}
	}
}

// packages returns the outermost directory of Node packages that a program is in, since packages find each other there;
// else the program.
func packages(program string) string {
	const dir = "/node_modules/"
	if i := strings.Index(program, dir); i >= 0 {
		return program[:i+len(dir)-1]
	}
	return program
}

// interpreter returns the words of a script's first line after "#!", which execve(2) reads up to 255 bytes of.
func interpreter(program string) []string {
	f, err := os.Open(program) // a regular file: agent.Find
	if err != nil {
		return nil
	}
	defer f.Close()
	line, _ := bufio.NewReader(io.LimitReader(f, 255)).ReadString('\n')
	rest, ok := strings.CutPrefix(line, "#!")
	if !ok {
		return nil
	}
	return strings.Fields(rest)
}
