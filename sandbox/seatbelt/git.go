package seatbelt

import (
	_ "embed"
	"fmt"
	"path"
	"strings"

	"termic/sandbox/profile"
)

// gitProgram is the program that stands for git in a cage; see docs/decisions/0027-git-in-a-mac-cage.md.
//
//go:embed git.sh
var gitProgram string

// GitFile returns where the file is, on the host, that a cage sees as its checkout's .git elsewhere: it leads to the task's
// git directory. Empty: the task has none.
func GitFile(p profile.Profile) string {
	for _, r := range p.Rules {
		if r.Path == path.Join(p.Checkout, gitFile) && r.Own {
			return r.Source
		}
	}
	return ""
}

// Git returns the text of the program git of a cage: for at.Programs. file is the content of GitFile.
func Git(p profile.Profile, at Places, file string) (string, error) {
	private, ok := strings.CutPrefix(strings.TrimSuffix(file, "\n"), "gitdir: ")
	w := &writer{}
	for _, name := range []string{private, p.Checkout, at.Programs} {
		w.quote(name) // what a policy could not name is in no script either
	}
	if !ok || w.err != nil {
		return "", fmt.Errorf("make git for the cage: %q leads to no git directory: %w", file, w.err)
	}
	return strings.NewReplacer("@checkout@", shell(p.Checkout), "@private@", shell(private), "@programs@", shell(at.Programs)).Replace(gitProgram), nil
}

// shell returns a text as one word of sh.
func shell(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
